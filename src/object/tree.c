/* The writable view: nodes expand from a value when they are first looked into. */
#include "object/tree.h"

#include "base/hash.h"
#include "object/build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define INDEX_FROM 16

enum tree_form { FORM_VAL, FORM_STRING, FORM_INT, FORM_BOOL, FORM_MAP, FORM_LIST };

struct tree_entry {
	const char *key;   /* NULL in lists */
	struct tree *node; /* NULL: removed from a map */
};

struct tree {
	enum tree_form form;
	const struct val *val; /* FORM_VAL */
	const char *text;      /* FORM_STRING */
	int64_t number;        /* FORM_INT, FORM_BOOL */
	struct tree_entry *items;
	size_t count, capacity; /* slots in use, removed keys among them */
	size_t removed;
	uint32_t *slots; /* of a large map: position of a key plus 1, 0 is free */
	size_t slot_count;
};

static struct tree *fresh(struct arena *arena, enum tree_form form)
{
	struct tree *tree = arena_new(arena, struct tree);
	tree->form = form;
	return tree;
}

struct tree *tree_of(struct arena *arena, const struct val *val)
{
	struct tree *tree = fresh(arena, FORM_VAL);
	tree->val = val;
	return tree;
}

struct tree *tree_map(struct arena *arena)
{
	return fresh(arena, FORM_MAP);
}

struct tree *tree_list(struct arena *arena)
{
	return fresh(arena, FORM_LIST);
}

struct tree *tree_string(struct arena *arena, const char *text)
{
	struct tree *tree = fresh(arena, FORM_STRING);
	tree->text = arena_strdup(arena, text);
	return tree;
}

struct tree *tree_int(struct arena *arena, int64_t number)
{
	struct tree *tree = fresh(arena, FORM_INT);
	tree->number = number;
	return tree;
}

struct tree *tree_bool(struct arena *arena, bool value)
{
	struct tree *tree = fresh(arena, FORM_BOOL);
	tree->number = value;
	return tree;
}

enum val_kind tree_kind(const struct tree *tree)
{
	if (!tree)
		return VAL_NULL;
	switch (tree->form) {
	case FORM_VAL:
		return val_kind(tree->val);
	case FORM_STRING:
		return VAL_STRING;
	case FORM_INT:
		return VAL_INT;
	case FORM_BOOL:
		return VAL_BOOL;
	case FORM_MAP:
		return VAL_MAP;
	case FORM_LIST:
		return VAL_LIST;
	}
	return VAL_NULL;
}

size_t tree_count(const struct tree *tree)
{
	if (!tree)
		return 0;
	return tree->form == FORM_VAL ? val_count(tree->val) : tree->count - tree->removed;
}

const char *tree_str(const struct tree *tree, const char *fallback)
{
	if (!tree)
		return fallback;
	if (tree->form == FORM_VAL)
		return val_str(tree->val, fallback);
	return tree->form == FORM_STRING ? tree->text : fallback;
}

const struct val *tree_val(const struct tree *tree)
{
	return tree && tree->form == FORM_VAL ? tree->val : NULL;
}

const char *tree_scalar(struct arena *arena, const struct tree *tree)
{
	char scratch[64];
	switch (tree_kind(tree)) {
	case VAL_STRING:
		return tree_str(tree, "");
	case VAL_BOOL:
		return (tree->form == FORM_VAL ? val_bool(tree->val, false) : tree->number != 0) ? "true" : "false";
	case VAL_INT:
	case VAL_REAL:
		if (tree->form == FORM_VAL)
			return arena_strdup(arena, val_scalar_text(tree->val, scratch));
		return arena_printf(arena, "%" PRId64, tree->number);
	default:
		return NULL;
	}
}

/* ---- maps ---- */

static size_t hash_key(const char *key)
{
	return (size_t)XXH3_64bits(key, strlen(key));
}

static void index_key(struct tree *map, size_t position)
{
	size_t mask = map->slot_count - 1;
	size_t at = hash_key(map->items[position].key) & mask;
	while (map->slots[at])
		at = (at + 1) & mask;
	map->slots[at] = (uint32_t)(position + 1);
}

static void index_all(struct arena *arena, struct tree *map)
{
	size_t want = 64;
	while (want < map->count * 4)
		want *= 2;
	map->slots = arena_array(arena, uint32_t, want);
	map->slot_count = want;
	for (size_t i = 0; i < map->count; i++)
		index_key(map, i);
}

static void reserve(struct arena *arena, struct tree *tree, size_t want)
{
	if (tree->capacity >= want)
		return;
	size_t capacity = tree->capacity ? tree->capacity * 2 : 8;
	if (capacity < want)
		capacity = want;
	struct tree_entry *items = arena_array(arena, struct tree_entry, capacity);
	if (tree->count)
		memcpy(items, tree->items, tree->count * sizeof(*items));
	tree->items = items;
	tree->capacity = capacity;
}

/* Makes a FORM_VAL container a FORM_MAP or FORM_LIST whose children are views of their own. */
static void expand(struct arena *arena, struct tree *tree)
{
	if (tree->form != FORM_VAL)
		return;
	enum val_kind kind = val_kind(tree->val);
	if (kind != VAL_MAP && kind != VAL_LIST)
		return;
	size_t count = val_count(tree->val);
	reserve(arena, tree, count + 4);
	struct tree *children = arena_array(arena, struct tree, count);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(tree->val); val_next(&it, &key, &item);) {
		struct tree *child = &children[tree->count];
		child->form = FORM_VAL;
		child->val = item;
		tree->items[tree->count++] = (struct tree_entry){.key = key, .node = child};
	}
	tree->form = kind == VAL_MAP ? FORM_MAP : FORM_LIST;
	if (kind == VAL_MAP && count > INDEX_FROM)
		index_all(arena, tree);
}

static bool opened(struct arena *arena, struct tree *tree, enum tree_form form)
{
	if (!tree)
		return false;
	expand(arena, tree);
	return tree->form == form;
}

/* The slot of a key, removed ones too; NULL when it never was there. */
static struct tree_entry *find(struct tree *map, const char *key)
{
	if (!map->slots) {
		for (size_t i = 0; i < map->count; i++)
			if (strcmp(map->items[i].key, key) == 0)
				return &map->items[i];
		return NULL;
	}
	size_t mask = map->slot_count - 1;
	for (size_t at = hash_key(key) & mask; map->slots[at]; at = (at + 1) & mask) {
		struct tree_entry *entry = &map->items[map->slots[at] - 1];
		if (strcmp(entry->key, key) == 0)
			return entry;
	}
	return NULL;
}

struct tree *tree_get(struct arena *arena, struct tree *map, const char *key)
{
	if (!opened(arena, map, FORM_MAP))
		return NULL;
	struct tree_entry *entry = find(map, key);
	return entry ? entry->node : NULL;
}

struct tree *tree_path(struct arena *arena, struct tree *map, ...)
{
	va_list args;
	va_start(args, map);
	for (const char *key; map && (key = va_arg(args, const char *));)
		map = tree_get(arena, map, key);
	va_end(args);
	return map;
}

void tree_put(struct arena *arena, struct tree *map, const char *key, struct tree *child)
{
	if (!opened(arena, map, FORM_MAP))
		return;
	if (!child)
		child = tree_of(arena, NULL);
	struct tree_entry *entry = find(map, key);
	if (entry) {
		if (!entry->node)
			map->removed--;
		entry->node = child;
		return;
	}
	reserve(arena, map, map->count + 1);
	map->items[map->count++] = (struct tree_entry){.key = arena_strdup(arena, key), .node = child};
	if (map->slots && map->slot_count >= map->count * 2)
		index_key(map, map->count - 1);
	else if (map->count > INDEX_FROM)
		index_all(arena, map);
}

void tree_put_string(struct arena *arena, struct tree *map, const char *key, const char *text)
{
	tree_put(arena, map, key, tree_string(arena, text));
}

bool tree_remove(struct arena *arena, struct tree *map, const char *key)
{
	if (!opened(arena, map, FORM_MAP))
		return false;
	struct tree_entry *entry = find(map, key);
	if (!entry || !entry->node)
		return false;
	entry->node = NULL;
	map->removed++;
	return true;
}

struct tree *tree_need_map(struct arena *arena, struct tree *map, const char *key)
{
	struct tree *child = tree_get(arena, map, key);
	if (tree_kind(child) != VAL_MAP) {
		child = tree_map(arena);
		tree_put(arena, map, key, child);
	}
	return child;
}

/* ---- lists ---- */

struct tree *tree_item(struct arena *arena, struct tree *list, size_t index)
{
	if (!opened(arena, list, FORM_LIST) || index >= list->count)
		return NULL;
	return list->items[index].node;
}

bool tree_insert(struct arena *arena, struct tree *list, size_t index, struct tree *item)
{
	if (!opened(arena, list, FORM_LIST) || index > list->count)
		return false;
	reserve(arena, list, list->count + 1);
	memmove(&list->items[index + 1], &list->items[index], (list->count - index) * sizeof(*list->items));
	list->items[index] = (struct tree_entry){.node = item ? item : tree_of(arena, NULL)};
	list->count++;
	return true;
}

void tree_append(struct arena *arena, struct tree *list, struct tree *item)
{
	if (opened(arena, list, FORM_LIST))
		tree_insert(arena, list, list->count, item);
}

bool tree_remove_item(struct arena *arena, struct tree *list, size_t index)
{
	if (!opened(arena, list, FORM_LIST) || index >= list->count)
		return false;
	list->count--;
	memmove(&list->items[index], &list->items[index + 1], (list->count - index) * sizeof(*list->items));
	return true;
}

/* ---- whole trees ---- */

struct tree *tree_walk(struct arena *arena, struct tree *tree, size_t *at, const char **key)
{
	if (!tree)
		return NULL;
	expand(arena, tree);
	if (tree->form != FORM_MAP && tree->form != FORM_LIST)
		return NULL;
	while (*at < tree->count && !tree->items[*at].node)
		++*at;
	if (*at >= tree->count)
		return NULL;
	if (key)
		*key = tree->items[*at].key;
	return tree->items[(*at)++].node;
}

struct tree *tree_copy(struct arena *arena, const struct tree *tree)
{
	struct tree *copy = arena_new(arena, struct tree);
	*copy = *tree;
	if (tree->form != FORM_MAP && tree->form != FORM_LIST)
		return copy;
	copy->items = arena_array(arena, struct tree_entry, tree->count);
	copy->count = copy->capacity = copy->removed = 0;
	copy->slots = NULL;
	for (size_t i = 0; i < tree->count; i++) {
		if (!tree->items[i].node)
			continue;
		copy->items[copy->count++] =
			(struct tree_entry){.key = tree->items[i].key, .node = tree_copy(arena, tree->items[i].node)};
	}
	copy->capacity = tree->count;
	if (copy->form == FORM_MAP && copy->count > INDEX_FROM)
		index_all(arena, copy);
	return copy;
}

bool tree_equal(struct arena *arena, struct tree *tree, const struct val *val)
{
	if (!tree)
		return val_kind(val) == VAL_NULL;
	if (tree->form == FORM_VAL)
		return tree->val == val || val_equal(tree->val, val);
	if (tree_kind(tree) != val_kind(val))
		return false;
	if (tree->form == FORM_MAP || tree->form == FORM_LIST) {
		/* Looking up in the tree, which has an index, keeps large maps linear. */
		if (tree_count(tree) != val_count(val))
			return false;
		const char *key;
		const struct val *item;
		size_t index = 0;
		for (struct val_iter it = val_iter(val); val_next(&it, &key, &item); index++) {
			struct tree *child = key ? tree_get(arena, tree, key) : tree_item(arena, tree, index);
			if (!child || !tree_equal(arena, child, item))
				return false;
		}
		return true;
	}
	if (tree->form == FORM_STRING)
		return strcmp(tree->text, val_str(val, "")) == 0;
	int64_t number = val_bool(val, false);
	return (tree->form == FORM_BOOL || val_int(val, &number) == 0) && number == tree->number;
}

static size_t val_size(const struct val *val, size_t limit, int depth)
{
	if (depth > DOC_MAX_DEPTH)
		return SIZE_MAX;
	if (val_kind(val) == VAL_STRING)
		return strlen(val_str(val, "")) + 2;
	size_t size = 8;
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);) {
		size_t more = val_size(item, limit, depth + 1);
		size += (key ? strlen(key) + 4 : 1);
		if (more > limit || size + more > limit)
			return SIZE_MAX;
		size += more;
	}
	return size;
}

static size_t size_at(const struct tree *tree, size_t limit, int depth)
{
	if (depth > DOC_MAX_DEPTH)
		return SIZE_MAX;
	if (tree->form == FORM_VAL)
		return val_size(tree->val, limit, depth);
	if (tree->form == FORM_STRING)
		return strlen(tree->text) + 2;
	size_t size = 8;
	for (size_t i = 0; i < tree->count; i++) {
		if (!tree->items[i].node)
			continue;
		size_t more = size_at(tree->items[i].node, limit, depth + 1);
		size += tree->items[i].key ? strlen(tree->items[i].key) + 4 : 1;
		if (more > limit || size + more > limit)
			return SIZE_MAX;
		size += more;
	}
	return size;
}

size_t tree_size(const struct tree *tree, size_t limit)
{
	return tree ? size_at(tree, limit, 1) : 4;
}

static struct node *finish_at(struct build *build, const struct tree *tree)
{
	switch (tree->form) {
	case FORM_VAL:
		return build_copy(build, tree->val);
	case FORM_STRING:
		return build_string(build, tree->text);
	case FORM_INT:
		return build_int(build, tree->number);
	case FORM_BOOL:
		return build_bool(build, tree->number != 0);
	case FORM_MAP:
	case FORM_LIST:
		break;
	}
	struct node *node = tree->form == FORM_MAP ? build_map(build) : build_list(build);
	for (size_t i = 0; i < tree->count; i++) {
		if (!tree->items[i].node)
			continue;
		struct node *child = finish_at(build, tree->items[i].node);
		if (tree->form == FORM_MAP)
			build_put(build, node, tree->items[i].key, child);
		else
			build_append(build, node, child);
	}
	return node;
}

struct doc *tree_finish(const struct tree *tree)
{
	return tree_finish_sharing(tree, NULL);
}

struct doc *tree_finish_sharing(const struct tree *tree, struct string_pool *strings)
{
	if (tree_size(tree, DOC_MAX_BYTES) == SIZE_MAX)
		return NULL;
	struct build *build = build_create();
	struct doc *doc = build_finish_sharing(build, tree ? finish_at(build, tree) : NULL, strings);
	build_destroy(build);
	return doc;
}
