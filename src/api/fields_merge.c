/* Field sets put to use: merging a configuration into an object, taking fields away from one. */
#include "api/fields.h"

#include "api/fields_internal.h"

#include <string.h>

/* ---- merging ---- */

static struct tree *merge_map(struct arena *arena, struct tree *object, const struct val *config,
                              const struct shape *shape)
{
	if (tree_kind(object) != VAL_MAP)
		object = tree_map(arena);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(config); val_next(&it, &key, &item);) {
		if (val_kind(item) == VAL_NULL) {
			tree_remove(arena, object, key);
			continue;
		}
		struct shape below = shape_child(shape, key);
		struct tree *old = tree_get(arena, object, key), *merged = fields_merge(arena, old, item, &below);
		if (merged != old)
			tree_put(arena, object, key, merged);
	}
	return object;
}

/* The element of an item that may have been changed already. */
static const char *element_of(struct arena *arena, struct tree *item, const struct shape *shape, struct doc **doc)
{
	*doc = NULL;
	if (tree_val(item))
		return fields_element(arena, tree_val(item), shape);
	*doc = tree_finish(item);
	return fields_element(arena, doc_root(*doc), shape);
}

static struct tree *merge_list(struct arena *arena, struct tree *object, const struct val *config,
                               const struct shape *shape)
{
	if (tree_kind(object) != VAL_LIST)
		object = tree_list(arena);
	struct tree *index = tree_map(arena), *node;
	struct shape below = shape_item(shape);
	struct doc *doc;
	size_t at = 0;
	while ((node = tree_walk(arena, object, &at, NULL))) {
		const char *element = element_of(arena, node, shape, &doc);
		if (element && !tree_get(arena, index, element))
			tree_put(arena, index, element, node);
		doc_destroy(doc);
	}
	const struct val *item;
	for (struct val_iter it = val_iter(config); val_next(&it, NULL, &item);) {
		const char *element = fields_element(arena, item, shape);
		struct tree *old = element ? tree_get(arena, index, element) : NULL;
		if (old && shape->list == SHAPE_KEYED) {
			fields_merge(arena, old, item, &below);
		} else if (!old) {
			struct tree *fresh = fields_merge(arena, NULL, item, &below);
			tree_append(arena, object, fresh);
			if (element)
				tree_put(arena, index, element, fresh);
		}
	}
	return object;
}

struct tree *fields_merge(struct arena *arena, struct tree *object, const struct val *config, const struct shape *shape)
{
	if (val_kind(config) == VAL_MAP && !shape->atomic)
		return merge_map(arena, object, config, shape);
	if (val_kind(config) == VAL_LIST && shape->list != SHAPE_ATOMIC)
		return merge_list(arena, object, config, shape);
	return tree_of(arena, config);
}

/* ---- taking away ---- */

static void take_items(struct arena *arena, struct tree *list, struct tree *set, const struct shape *shape)
{
	struct shape below = shape_item(shape);
	for (size_t i = 0; i < tree_count(list);) {
		struct tree *item = tree_item(arena, list, i);
		struct doc *doc;
		const char *element = element_of(arena, item, shape, &doc);
		struct tree *taken = element ? tree_get(arena, set, element) : NULL;
		doc_destroy(doc);
		if (taken && tree_get(arena, taken, ".")) {
			tree_remove_item(arena, list, i);
			continue;
		}
		if (taken)
			fields_take(arena, item, taken, &below);
		i++;
	}
}

static void take_fields(struct arena *arena, struct tree *map, struct tree *set, const struct shape *shape)
{
	struct tree *taken;
	const char *element;
	size_t at = 0;
	while ((taken = tree_walk(arena, set, &at, &element))) {
		if (strncmp(element, "f:", 2) != 0)
			continue;
		const char *key = element + 2;
		struct tree *child = tree_get(arena, map, key);
		if (!child)
			continue;
		struct shape below = shape_child(shape, key);
		bool container = tree_kind(child) == VAL_MAP || tree_kind(child) == VAL_LIST;
		bool had = tree_count(child) > 0;
		if (tree_count(taken) > 1 || !tree_get(arena, taken, "."))
			fields_take(arena, child, taken, &below);
		else if (!container || !had || below.atomic ||
		         (tree_kind(child) == VAL_LIST && below.list == SHAPE_ATOMIC))
			tree_remove(arena, map, key);
		if (container && had && tree_count(child) == 0)
			tree_remove(arena, map, key);
	}
}

void fields_take(struct arena *arena, struct tree *object, struct tree *set, const struct shape *shape)
{
	if (tree_kind(object) == VAL_MAP)
		take_fields(arena, object, set, shape);
	else if (tree_kind(object) == VAL_LIST)
		take_items(arena, object, set, shape);
}
