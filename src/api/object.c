/* Counted immutable objects, their encodings, and those of other APIs of their type. */
#include "api/object.h"

#include "base/arena.h"
#include "base/strings.h"
#include "api/object_make.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The object as one more API shows it. */
struct variant {
	char *api_version;
	struct doc *doc;
	char *json;
	size_t length;
	struct variant *next;
};

/* The text of a field that selectors asked for; NULL when it is unset. */
struct cached_field {
	const char *path; /* compared by address: paths of selectors are shared */
	const char *text;
};

#define CACHED_FIELDS 2

struct object {
	struct store_object shown; /* first: the two are one pointer */
	unsigned references;
	unsigned length; /* of `json`; small, as there are many objects and none has gigabytes */
	struct doc *doc;
	char *json;
	struct variant *variants;
	struct derived *derived; /* NULL: nothing was derived */
	struct cached_field fields[CACHED_FIELDS];
	struct label labels[];
};

static struct object *inside(struct store_object *object)
{
	return (struct object *)object;
}

static void read_labels(struct labels *labels, const struct val *map)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		if (key)
			labels->items[labels->count++] = (struct label){.key = key, .value = val_str(item, "")};
	labels_sort(labels);
}

struct store_object *object_create(const struct store_type *type, struct doc *doc)
{
	const struct val *metadata = val_get(doc_root(doc), "metadata"), *labels = val_get(metadata, "labels");
	struct object *object = base_calloc(1, sizeof(*object) + val_count(labels) * sizeof(object->labels[0]));
	object->references = 1;
	object->doc = doc;
	struct store_object *shown = &object->shown;
	shown->type = type;
	shown->root = doc_root(doc);
	shown->labels.items = object->labels;
	shown->namespace_ = val_str(val_get(metadata, "namespace"), "");
	shown->name = val_str(val_get(metadata, "name"), "");
	shown->uid = val_str(val_get(metadata, "uid"), "");
	shown->version = strtoull(val_str(val_get(metadata, "resourceVersion"), "0"), NULL, 10);
	read_labels(&shown->labels, labels);
	return shown;
}

struct store_object *object_from_tree(const struct store_type *type, const struct tree *tree,
                                      struct string_pool *strings)
{
	struct doc *doc = tree_finish_sharing(tree, strings);
	return doc ? object_create(type, doc) : NULL;
}

struct store_object *object_with_version(struct store_object *object, uint64_t version)
{
	struct arena *arena = arena_create();
	struct tree *root = tree_of(arena, object->root);
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, version);
	tree_put_string(arena, tree_get(arena, root, "metadata"), "resourceVersion", text);
	struct store_object *copy = object_from_tree(object->type, root, NULL);
	arena_destroy(arena);
	return copy;
}

struct store_object *store_object_retain(struct store_object *object)
{
	if (object)
		inside(object)->references++;
	return object;
}

static void forget_derived(struct object *object)
{
	if (object->derived)
		object->derived->by->destroy(object->derived);
	object->derived = NULL;
}

void store_object_release(struct store_object *object)
{
	if (!object || --inside(object)->references > 0)
		return;
	struct object *gone = inside(object);
	for (struct variant *variant = gone->variants, *next; variant; variant = next) {
		next = variant->next;
		free(variant->api_version);
		free(variant->json);
		doc_destroy(variant->doc);
		free(variant);
	}
	free(gone->json);
	forget_derived(gone);
	doc_destroy(gone->doc);
	free(gone);
}

const void *store_object_derived(const struct store_object *object, const struct derivation *derivation)
{
	struct object *cache = (struct object *)(uintptr_t)object;
	if (!cache->derived) {
		cache->derived = derivation->derive(object->root, &object->labels);
		cache->derived->by = derivation;
		cache->derived->holders = 0;
	}
	if (cache->derived->by != derivation)
		abort();
	return cache->derived;
}

const void *store_object_derived_hold(struct store_object *object, const struct derivation *derivation)
{
	const void *derived = store_object_derived(object, derivation);
	inside(object)->derived->holders++;
	return derived;
}

void store_object_derived_drop(struct store_object *object)
{
	if (object && --inside(object)->derived->holders == 0)
		forget_derived(inside(object));
}

void object_forget_derived(struct store_object *object)
{
	if (object && inside(object)->derived && inside(object)->derived->holders == 0)
		forget_derived(inside(object));
}

void object_forget_json(struct store_object *object)
{
	if (!object)
		return;
	free(inside(object)->json);
	inside(object)->json = NULL;
	for (struct variant *variant = inside(object)->variants; variant; variant = variant->next) {
		free(variant->json);
		variant->json = NULL;
	}
}

/* ---- fields ---- */

static const struct val *at_path(const struct val *val, const char *path)
{
	char key[128];
	while (val && *path) {
		size_t length = strcspn(path, ".");
		if (length >= sizeof(key))
			return NULL;
		memcpy(key, path, length);
		key[length] = '\0';
		val = val_get(val, key);
		path += length + (path[length] == '.');
	}
	return val;
}

const char *object_field(const struct store_object *object, const char *path, char scratch[64])
{
	struct object *cache = (struct object *)(uintptr_t)object;
	size_t slot = 0;
	for (; slot < CACHED_FIELDS && cache->fields[slot].path; slot++)
		if (cache->fields[slot].path == path)
			return cache->fields[slot].text;
	const struct val *val = at_path(object->root, path);
	const char *text = NULL;
	if (val_kind(val) == VAL_BOOL)
		text = val_bool(val, false) ? "true" : "false";
	else
		text = val_scalar_text(val, scratch);
	if (slot < CACHED_FIELDS && text != scratch)
		cache->fields[slot] = (struct cached_field){.path = path, .text = text};
	return text;
}

/* ---- other APIs ---- */

struct doc *store_convert(const struct val *object, const char *api_version)
{
	struct arena *arena = arena_create();
	struct tree *root = tree_of(arena, object);
	kinds_convert(arena, root, api_version);
	struct doc *doc = tree_finish(root);
	arena_destroy(arena);
	return doc;
}

/* NULL: the object as stored is what `api` shows. */
static struct variant *variant_of(struct store_object *object, const struct store_api *api)
{
	if (!api || api->type != object->type)
		return NULL;
	const char *stored = val_str(val_get(object->root, "apiVersion"), "");
	/* A Scale and the like keep their own apiVersion. */
	if (strcmp(stored, api->api_version) == 0 ||
	    strcmp(val_str(val_get(object->root, "kind"), ""), api->type->kind) != 0)
		return NULL;
	struct variant *variant = inside(object)->variants;
	while (variant && strcmp(variant->api_version, api->api_version) != 0)
		variant = variant->next;
	if (variant)
		return variant;
	variant = base_calloc(1, sizeof(*variant));
	variant->api_version = base_strdup(api->api_version);
	variant->doc = store_convert(object->root, api->api_version);
	variant->next = inside(object)->variants;
	inside(object)->variants = variant;
	return variant;
}

const struct val *store_object_root(struct store_object *object, const struct store_api *api)
{
	struct variant *variant = variant_of(object, api);
	return variant ? doc_root(variant->doc) : object->root;
}

static char *encode(const struct val *root, size_t *length)
{
	struct buffer out = {0};
	val_write(root, DOC_JSON_COMPACT, &out);
	*length = out.length;
	return base_realloc_array(out.text, out.length + 1, 1); /* what the buffer had in reserve goes back */
}

const char *store_object_json(struct store_object *object, const struct store_api *api, size_t *length)
{
	struct variant *variant = variant_of(object, api);
	struct object *own = inside(object);
	if (variant) {
		if (!variant->json)
			variant->json = encode(doc_root(variant->doc), &variant->length);
		*length = variant->length;
		return variant->json;
	}
	*length = own->length;
	if (!own->json) {
		own->json = encode(object->root, length);
		own->length = (unsigned)*length;
	}
	return own->json;
}
