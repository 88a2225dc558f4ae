/* Strategic merge patch: a merge patch that knows which lists are maps by a key, with the directives $patch,
 * $retainKeys, $setElementOrder and $deleteFromPrimitiveList. */
#include "api/patch.h"

#include <string.h>

#define DELETE_FROM "$deleteFromPrimitiveList/"
#define SET_ORDER "$setElementOrder/"

struct strategic {
	struct arena *arena;
	struct store_error *error;
	bool failed;
};

static struct tree *merge_map(struct strategic *run, struct tree *target, const struct val *patch,
                              const struct shape *shape);

static void fail(struct strategic *run, const char *what, const char *where)
{
	if (!run->failed)
		store_fail(run->arena, run->error, 400, "BadRequest", "strategic merge patch: %s: %s", where, what);
	run->failed = true;
}

static const char *directive_of(const struct val *map)
{
	return val_str(val_get(map, "$patch"), "");
}

static bool is_directive(const char *key)
{
	return strcmp(key, "$patch") == 0 || strcmp(key, "$retainKeys") == 0 || text_starts_with(key, DELETE_FROM) ||
	       text_starts_with(key, SET_ORDER);
}

/* ---- lists of scalars that are sets ---- */

/* A map from the text of each value to something, used as a set. */
static struct tree *as_set(struct strategic *run, const struct val *list)
{
	struct tree *set = tree_map(run->arena);
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *text = tree_scalar(run->arena, tree_of(run->arena, item));
		if (text)
			tree_put(run->arena, set, text, tree_bool(run->arena, true));
	}
	return set;
}

static struct tree *merge_set(struct strategic *run, struct tree *target, const struct val *patch)
{
	struct tree *seen = tree_map(run->arena), *item;
	size_t at = 0;
	while ((item = tree_walk(run->arena, target, &at, NULL))) {
		const char *text = tree_scalar(run->arena, item);
		if (text)
			tree_put(run->arena, seen, text, tree_bool(run->arena, true));
	}
	const struct val *value;
	for (struct val_iter it = val_iter(patch); val_next(&it, NULL, &value);) {
		const char *text = tree_scalar(run->arena, tree_of(run->arena, value));
		if (text && tree_get(run->arena, seen, text))
			continue;
		if (text)
			tree_put(run->arena, seen, text, tree_bool(run->arena, true));
		tree_append(run->arena, target, tree_of(run->arena, value));
	}
	return target;
}

static void delete_from(struct strategic *run, struct tree *map, const char *key, const struct val *values)
{
	struct tree *list = tree_get(run->arena, map, key), *kept = tree_list(run->arena), *item;
	if (tree_kind(list) != VAL_LIST)
		return;
	struct tree *unwanted = as_set(run, values);
	size_t at = 0;
	while ((item = tree_walk(run->arena, list, &at, NULL))) {
		const char *text = tree_scalar(run->arena, item);
		if (!text || !tree_get(run->arena, unwanted, text))
			tree_append(run->arena, kept, item);
	}
	tree_put(run->arena, map, key, kept);
}

/* ---- lists of maps with a key ---- */

static const char *key_text(struct strategic *run, struct tree *item, const char *key)
{
	return tree_scalar(run->arena, tree_get(run->arena, item, key));
}

static bool replaces_list(const struct val *patch)
{
	const struct val *item;
	for (struct val_iter it = val_iter(patch); val_next(&it, NULL, &item);)
		if (strcmp(directive_of(item), "replace") == 0 && val_count(item) == 1)
			return true;
	return false;
}

/* Merges the items of the patch into `by_key`; new ones go to `added`, deleted keys to `deleted`. */
static void merge_items(struct strategic *run, const struct val *patch, const struct shape *shape, struct tree *by_key,
                        struct tree *added, struct tree *deleted)
{
	const char *key = shape->keys[0];
	struct shape below = shape_item(shape);
	const struct val *item;
	for (struct val_iter it = val_iter(patch); !run->failed && val_next(&it, NULL, &item);) {
		const char *directive = directive_of(item);
		if (strcmp(directive, "replace") == 0 && val_count(item) == 1)
			continue;
		const char *text = tree_scalar(run->arena, tree_of(run->arena, val_get(item, key)));
		if (!text) {
			fail(run, "an item does not have the merge key", key);
			return;
		}
		if (strcmp(directive, "delete") == 0) {
			tree_put(run->arena, deleted, text, tree_bool(run->arena, true));
			continue;
		}
		struct tree *old = tree_get(run->arena, by_key, text);
		if (old && strcmp(directive, "replace") != 0) {
			merge_map(run, old, item, &below);
			continue;
		}
		struct tree *fresh = merge_map(run, tree_map(run->arena), item, &below);
		if (old) {
			tree_put(run->arena, deleted, text, tree_bool(run->arena, true));
		}
		tree_append(run->arena, added, fresh);
		tree_put(run->arena, by_key, text, fresh);
	}
}

static struct tree *merge_keyed(struct strategic *run, struct tree *target, const struct val *patch,
                                const struct shape *shape)
{
	struct tree *by_key = tree_map(run->arena), *added = tree_list(run->arena), *deleted = tree_map(run->arena),
		    *item;
	struct tree *merged = tree_list(run->arena);
	if (replaces_list(patch))
		target = tree_list(run->arena);
	size_t at = 0;
	while ((item = tree_walk(run->arena, target, &at, NULL))) {
		const char *text = key_text(run, item, shape->keys[0]);
		if (text && !tree_get(run->arena, by_key, text))
			tree_put(run->arena, by_key, text, item);
	}
	merge_items(run, patch, shape, by_key, added, deleted);
	at = 0;
	while ((item = tree_walk(run->arena, target, &at, NULL))) {
		const char *text = key_text(run, item, shape->keys[0]);
		if (!text || !tree_get(run->arena, deleted, text))
			tree_append(run->arena, merged, item);
	}
	at = 0;
	while ((item = tree_walk(run->arena, added, &at, NULL)))
		tree_append(run->arena, merged, item);
	return merged;
}

static struct tree *merge_list(struct strategic *run, struct tree *target, const struct val *patch,
                               const struct shape *shape)
{
	if (tree_kind(target) != VAL_LIST)
		target = tree_list(run->arena);
	if (shape->list == SHAPE_SET)
		return merge_set(run, target, patch);
	if (shape->list == SHAPE_KEYED)
		return merge_keyed(run, target, patch, shape);
	return tree_of(run->arena, patch);
}

/* ---- order ---- */

static const char *order_text(struct strategic *run, struct tree *item, const struct shape *shape)
{
	return shape->list == SHAPE_KEYED && tree_kind(item) == VAL_MAP ? key_text(run, item, shape->keys[0])
	                                                                : tree_scalar(run->arena, item);
}

/* Items that the order names change places among themselves; those it does not know stay where they are. */
static void set_order(struct strategic *run, struct tree *map, const char *key, const struct val *order)
{
	struct tree *list = tree_get(run->arena, map, key), *item;
	struct shape by = {.list = SHAPE_ATOMIC};
	const struct val *first = val_item(order, 0), *value;
	const char *name = NULL;
	if (val_kind(first) == VAL_MAP) { /* [{"name":"a"},...]: the only key is the merge key */
		struct val_iter it = val_iter(first);
		if (!val_next(&it, &name, NULL))
			return;
		by = (struct shape){.list = SHAPE_KEYED, .keys = {name}, .key_count = 1};
	}
	struct tree *by_text = tree_map(run->arena), *sorted = tree_list(run->arena), *merged = tree_list(run->arena);
	size_t at = 0;
	while ((item = tree_walk(run->arena, list, &at, NULL))) {
		const char *text = order_text(run, item, &by);
		if (text)
			tree_put(run->arena, by_text, text, item);
	}
	struct tree *moving = tree_map(run->arena);
	for (struct val_iter it = val_iter(order); val_next(&it, NULL, &value);) {
		const char *text = order_text(run, tree_of(run->arena, value), &by);
		item = text ? tree_get(run->arena, by_text, text) : NULL;
		if (!item || tree_get(run->arena, moving, text))
			continue;
		tree_put(run->arena, moving, text, tree_bool(run->arena, true));
		tree_append(run->arena, sorted, item);
	}
	at = 0;
	size_t next = 0;
	while ((item = tree_walk(run->arena, list, &at, NULL))) {
		const char *text = order_text(run, item, &by);
		bool moves = text && tree_get(run->arena, moving, text) && tree_get(run->arena, by_text, text) == item;
		tree_append(run->arena, merged, moves ? tree_item(run->arena, sorted, next++) : item);
	}
	if (tree_kind(list) == VAL_LIST)
		tree_put(run->arena, map, key, merged);
}

/* ---- maps ---- */

static void retain_keys(struct strategic *run, struct tree *target, const struct val *keys)
{
	struct tree *kept = as_set(run, keys);
	const char *key;
	size_t at = 0;
	while (tree_walk(run->arena, target, &at, &key))
		if (!tree_get(run->arena, kept, key))
			tree_remove(run->arena, target, key);
}

static void merge_field(struct strategic *run, struct tree *target, const char *key, const struct val *item,
                        const struct shape *shape)
{
	struct shape below = shape_child(shape, key);
	struct tree *old = tree_get(run->arena, target, key), *merged;
	switch (val_kind(item)) {
	case VAL_NULL:
		tree_remove(run->arena, target, key);
		return;
	case VAL_MAP:
		merged = merge_map(run, old, item, &below);
		break;
	case VAL_LIST:
		merged = merge_list(run, old, item, &below);
		break;
	default:
		merged = tree_of(run->arena, item);
		break;
	}
	if (merged != old)
		tree_put(run->arena, target, key, merged);
}

static struct tree *merge_map(struct strategic *run, struct tree *target, const struct val *patch,
                              const struct shape *shape)
{
	const char *directive = directive_of(patch);
	bool fresh = strcmp(directive, "replace") == 0 || strcmp(directive, "delete") == 0;
	if (tree_kind(target) != VAL_MAP || fresh)
		target = tree_map(run->arena);
	if (strcmp(directive, "delete") == 0)
		return target;
	if (*directive && !fresh && strcmp(directive, "merge") != 0)
		fail(run, "$patch must be merge, replace or delete", directive);
	const struct val *retained = val_get(patch, "$retainKeys");
	if (retained)
		retain_keys(run, target, retained);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(patch); !run->failed && val_next(&it, &key, &item);)
		if (text_starts_with(key, DELETE_FROM))
			delete_from(run, target, key + strlen(DELETE_FROM), item);
	for (struct val_iter it = val_iter(patch); !run->failed && val_next(&it, &key, &item);)
		if (!is_directive(key))
			merge_field(run, target, key, item, shape);
	for (struct val_iter it = val_iter(patch); !run->failed && val_next(&it, &key, &item);)
		if (text_starts_with(key, SET_ORDER))
			set_order(run, target, key + strlen(SET_ORDER), item);
	return target;
}

struct tree *patch_strategic(struct arena *arena, struct tree *target, const struct val *patch,
                             const struct shape *shape, struct store_error *error)
{
	if (val_kind(patch) != VAL_MAP) {
		store_fail(arena, error, 400, "BadRequest", "a strategic merge patch must be a map, but it is a %s",
		           val_kind_name(val_kind(patch)));
		return NULL;
	}
	struct strategic run = {.arena = arena, .error = error};
	struct tree *merged = merge_map(&run, target, patch, shape);
	return run.failed ? NULL : merged;
}
