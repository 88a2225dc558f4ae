/* Owns how the state of another server comes into a mirror. */
#include "local/internal.h"

#include <string.h>

void store_set_mirror(struct store *store, const struct store_mirror *mirror)
{
	store->mirror = mirror ? *mirror : (struct store_mirror){0};
}

bool store_is_assumed(const struct store *store, const struct store_type *type, const char *namespace_,
                      const char *name)
{
	if (store->mirror.is_assumed)
		return store->mirror.is_assumed(store->mirror.context, type, namespace_, name);
	const struct store_object *object = store_peek(store, type, namespace_, name);
	return object && object->version > store->committed;
}

static const char *version_of(const struct store_object *object)
{
	return val_str(val_path(object->root, "metadata", "resourceVersion", NULL), "");
}

void store_mirror_put(struct store *store, const struct store_type *type, struct doc *doc)
{
	struct bucket *bucket = bucket_of(type);
	struct store_object *now = object_create(type, doc);
	struct store_object *old = index_find(&bucket->index, now->namespace_, now->name);
	bool same = old && strcmp(old->uid, now->uid) == 0 && strcmp(version_of(old), version_of(now)) == 0 &&
	            val_equal(old->root, now->root);
	if (same) {
		store_object_release(now);
		return;
	}
	/* Another uid is another object: watches hear of the end of the first. */
	if (old && strcmp(old->uid, now->uid) != 0) {
		change_remove(store, old);
		old = NULL;
	}
	change_mirror(store, bucket, old, now);
}

void store_mirror_serve(struct store *store, const struct store_type *type, bool served)
{
	registry_serve(store, bucket_of(type), served);
}

void store_mirror_asked(struct store *store)
{
	store->generation++;
}

bool store_lacks(const struct store *store, const char *api_version, const char *kind, uint64_t since)
{
	const struct kind_row *row = store->mirror.lacks ? kinds_find(api_version, kind) : NULL;
	const struct store_type *type = row ? store_type_find(store, row->group, row->resource) : NULL;
	return !type || store->mirror.lacks(store->mirror.context, type, since);
}

void store_mirror_remove(struct store *store, const struct store_type *type, const char *namespace_, const char *name)
{
	struct store_object *old = index_find(&bucket_of(type)->index, namespace_, name);
	if (old)
		change_remove(store, old);
}
