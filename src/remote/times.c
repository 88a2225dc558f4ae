/* Owns mirrors with a clock of their own, which simulations have: the server writes its own time into what it creates,
 * deletes and binds; the mirror has assumed the same at its own time, and that is the one that stays. */
#include "remote/internal.h"

#include "object/build.h"

#include <string.h>

static const struct val *scheduled(const struct val *root)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(root, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "PodScheduled") == 0)
			return item;
	return NULL;
}

/* A copy of a map with these texts instead of its own, where they are given. */
static struct node *with(struct build *build, const struct val *map, const char *const *keys,
                         const struct val *const *values, size_t count)
{
	struct node *out = build_copy(build, map);
	for (size_t i = 0; i < count; i++)
		if (val_str(values[i], NULL) && val_str(val_get(map, keys[i]), NULL))
			build_put(build, out, keys[i], build_copy(build, values[i]));
	return out;
}

static struct node *status_with(struct build *build, const struct val *status, const struct val *old)
{
	static const char *const keys[] = {"lastTransitionTime"};
	const struct val *values[] = {val_get(old, "lastTransitionTime")}, *item;
	struct node *out = build_copy(build, status), *list = build_list(build);
	for (struct val_iter it = val_iter(val_get(status, "conditions")); val_next(&it, NULL, &item);) {
		bool same = strcmp(val_str(val_get(item, "type"), ""), "PodScheduled") == 0 &&
		            val_equal(val_get(item, "status"), val_get(old, "status"));
		build_append(build, list, same ? with(build, item, keys, values, 1) : build_copy(build, item));
	}
	build_put(build, out, "conditions", list);
	return out;
}

void times_put(struct remote *remote, const struct store_type *type, struct doc *doc)
{
	const struct val *root = doc_root(doc), *metadata = val_get(root, "metadata");
	const struct store_object *old =
		remote->options.mirror_clock
			? store_peek(remote->store, type, val_str(val_get(metadata, "namespace"), ""),
	                             val_str(val_get(metadata, "name"), ""))
			: NULL;
	if (!old || strcmp(old->uid, val_str(val_get(metadata, "uid"), "")) != 0) {
		store_mirror_put(remote->store, type, doc);
		return;
	}
	static const char *const keys[] = {"creationTimestamp", "deletionTimestamp"};
	const struct val *known = val_get(old->root, "metadata"),
			 *values[] = {val_get(known, keys[0]), val_get(known, keys[1])};
	struct build *build = build_create();
	struct node *out = build_copy(build, root);
	build_put(build, out, "metadata", with(build, metadata, keys, values, 2));
	if (scheduled(root) && scheduled(old->root))
		build_put(build, out, "status", status_with(build, val_get(root, "status"), scheduled(old->root)));
	struct doc *changed = build_finish(build, out);
	build_destroy(build);
	doc_destroy(doc);
	store_mirror_put(remote->store, type, changed);
}
