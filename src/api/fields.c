/* Sets of fields: made from values, compared, printed. */
#include "api/fields.h"

#include "api/fields_internal.h"

#include <stdlib.h>
#include <string.h>

static void add_self(struct arena *arena, struct tree *set)
{
	tree_put(arena, set, ".", tree_map(arena));
}

bool fields_empty(const struct tree *set)
{
	return tree_count(set) == 0;
}

static void put_unless_empty(struct arena *arena, struct tree *set, const char *element, struct tree *below)
{
	if (!fields_empty(below))
		tree_put(arena, set, element, below);
}

/* ---- path elements ---- */

static const char *field_element(struct arena *arena, const char *key)
{
	return arena_printf(arena, "f:%s", key);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* k:{"containerPort":80,"protocol":"TCP"} with the keys in order; NULL when a key is missing. */
static const char *keyed_element(struct arena *arena, const struct val *item, const struct shape *shape)
{
	const char *keys[SHAPE_KEYS];
	memcpy(keys, shape->keys, sizeof(keys));
	qsort(keys, shape->key_count, sizeof(*keys), by_text);
	struct buffer text = {0};
	buffer_puts(&text, "k:{");
	bool whole = val_kind(item) == VAL_MAP;
	for (size_t i = 0; i < shape->key_count && whole; i++) {
		const struct val *value = val_get(item, keys[i]);
		buffer_printf(&text, "%s\"%s\":", i ? "," : "", keys[i]);
		enum val_kind kind = val_kind(value);
		if (kind != VAL_NULL && kind != VAL_MAP && kind != VAL_LIST)
			val_write(value, DOC_JSON_COMPACT, &text);
		else if (kind == VAL_NULL &&
		         strcmp(keys[i], "protocol") == 0) /* the one key of core kinds that has a default */
			buffer_puts(&text, "\"TCP\"");
		else
			whole = false;
	}
	buffer_puts(&text, "}");
	const char *element = whole ? arena_strndup(arena, text.text, text.length) : NULL;
	buffer_free(&text);
	return element;
}

const char *fields_element(struct arena *arena, const struct val *item, const struct shape *shape)
{
	if (shape->list == SHAPE_KEYED)
		return keyed_element(arena, item, shape);
	enum val_kind kind = val_kind(item);
	if (kind == VAL_MAP || kind == VAL_LIST || kind == VAL_NULL)
		return NULL;
	struct buffer text = {0};
	buffer_puts(&text, "v:");
	val_write(item, DOC_JSON_COMPACT, &text);
	const char *element = arena_strndup(arena, text.text, text.length);
	buffer_free(&text);
	return element;
}

/* Whether the value is owned in one piece. */
static bool is_whole(const struct val *value, const struct shape *shape)
{
	switch (val_kind(value)) {
	case VAL_MAP:
		return shape->atomic || val_count(value) == 0;
	case VAL_LIST:
		return shape->list == SHAPE_ATOMIC || val_count(value) == 0;
	default:
		return true;
	}
}

/* ---- sets of values ---- */

struct tree *fields_of(struct arena *arena, const struct val *value, const struct shape *shape)
{
	struct tree *set = tree_map(arena);
	const char *key;
	const struct val *item;
	if (is_whole(value, shape)) {
		add_self(arena, set);
		return set;
	}
	struct shape item_shape = shape_item(shape);
	for (struct val_iter it = val_iter(value); val_next(&it, &key, &item);) {
		struct shape below = key ? shape_child(shape, key) : item_shape;
		const char *element = key ? field_element(arena, key) : fields_element(arena, item, shape);
		if (!element)
			continue;
		struct tree *child = fields_of(arena, item, &below);
		if (!key)
			add_self(arena, child);
		tree_put(arena, set, element, child);
	}
	if (fields_empty(set)) /* a list none of whose items can be told apart */
		add_self(arena, set);
	return set;
}

const char *fields_misfit(struct arena *arena, const struct val *config, const struct shape *shape)
{
	if (is_whole(config, shape))
		return NULL;
	struct tree *seen = tree_map(arena);
	struct shape item_shape = shape_item(shape);
	const char *key, *problem = NULL;
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(config); !problem && val_next(&it, &key, &item); index++) {
		struct shape below = key ? shape_child(shape, key) : item_shape;
		const char *inner = fields_misfit(arena, item, &below);
		if (inner)
			problem = key ? arena_printf(arena, ".%s%s", key, inner)
			              : arena_printf(arena, "[%zu]%s", index, inner);
		if (key || problem)
			continue;
		const char *element = fields_element(arena, item, shape);
		if (!element)
			problem = arena_printf(arena, "[%zu]: the item has no %s", index,
			                       shape->list == SHAPE_SET ? "simple value" : shape->keys[0]);
		else if (tree_get(arena, seen, element))
			problem = arena_printf(arena, "[%zu]: the list already has an item with this key", index);
		else
			tree_put(arena, seen, element, tree_map(arena));
	}
	return problem;
}

/* The items of a list by their path element. */
static struct tree *by_element(struct arena *arena, const struct val *list, const struct shape *shape)
{
	struct tree *index = tree_map(arena);
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *element = fields_element(arena, item, shape);
		if (element && !tree_get(arena, index, element))
			tree_put(arena, index, element, tree_of(arena, item));
	}
	return index;
}

/* The children of a map or list, as a map from path element to value. */
static struct tree *children(struct arena *arena, const struct val *value, const struct shape *shape)
{
	if (val_kind(value) == VAL_LIST)
		return by_element(arena, value, shape);
	struct tree *index = tree_map(arena);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(value); val_next(&it, &key, &item);)
		tree_put(arena, index, field_element(arena, key), tree_of(arena, item));
	return index;
}

static struct shape below_element(const struct shape *shape, const char *element)
{
	return element[0] == 'f' ? shape_child(shape, element + 2) : shape_item(shape);
}

static void one_sided(struct arena *arena, struct tree *set, const char *element, const struct val *value,
                      const struct shape *below)
{
	struct tree *fields = fields_of(arena, value, below);
	if (element[0] != 'f')
		add_self(arena, fields);
	tree_put(arena, set, element, fields);
}

struct tree *fields_changed(struct arena *arena, const struct val *before, const struct val *after,
                            const struct shape *shape)
{
	struct tree *set = tree_map(arena);
	if (val_equal(before, after))
		return set;
	if (val_kind(before) != val_kind(after) || is_whole(before, shape) || is_whole(after, shape)) {
		/* Of the side that has fields, all of them changed. */
		if (!is_whole(before, shape))
			set = fields_of(arena, before, shape);
		if (!is_whole(after, shape))
			set = fields_union(arena, set, fields_of(arena, after, shape));
		add_self(arena, set);
		return set;
	}
	struct tree *old = children(arena, before, shape), *now = children(arena, after, shape), *node;
	const char *element;
	size_t at = 0;
	while ((node = tree_walk(arena, old, &at, &element))) {
		struct shape below = below_element(shape, element);
		struct tree *other = tree_get(arena, now, element);
		if (other)
			put_unless_empty(arena, set, element,
			                 fields_changed(arena, tree_val(node), tree_val(other), &below));
		else
			one_sided(arena, set, element, tree_val(node), &below);
	}
	at = 0;
	while ((node = tree_walk(arena, now, &at, &element))) {
		struct shape below = below_element(shape, element);
		if (!tree_get(arena, old, element))
			one_sided(arena, set, element, tree_val(node), &below);
	}
	if (fields_empty(set)) /* another order, or items that cannot be told apart */
		add_self(arena, set);
	return set;
}

/* ---- stored form ---- */

struct tree *fields_read(struct arena *arena, const struct val *fields_v1)
{
	struct tree *set = tree_map(arena);
	const char *key;
	const struct val *item;
	if (val_count(fields_v1) == 0)
		add_self(arena, set);
	for (struct val_iter it = val_iter(fields_v1); val_next(&it, &key, &item);) {
		if (!key)
			continue;
		if (strcmp(key, ".") == 0)
			add_self(arena, set);
		else
			tree_put(arena, set, key, fields_read(arena, item));
	}
	return set;
}

struct tree *fields_write(struct arena *arena, struct tree *set)
{
	struct tree *out = tree_map(arena), *node;
	const char *element;
	size_t at = 0;
	bool alone = tree_count(set) == 1;
	while ((node = tree_walk(arena, set, &at, &element))) {
		if (strcmp(element, ".") != 0)
			tree_put(arena, out, element, fields_write(arena, node));
		else if (!alone)
			add_self(arena, out);
	}
	return out;
}

/* ---- operations ---- */

struct tree *fields_union(struct arena *arena, struct tree *a, struct tree *b)
{
	struct tree *set = tree_copy(arena, a), *node;
	const char *element;
	size_t at = 0;
	while ((node = tree_walk(arena, b, &at, &element))) {
		struct tree *mine = tree_get(arena, set, element);
		tree_put(arena, set, element, mine ? fields_union(arena, mine, node) : tree_copy(arena, node));
	}
	return set;
}

struct tree *fields_without(struct arena *arena, struct tree *a, struct tree *b)
{
	struct tree *set = tree_map(arena), *node;
	const char *element;
	size_t at = 0;
	while ((node = tree_walk(arena, a, &at, &element))) {
		struct tree *other = tree_get(arena, b, element);
		if (strcmp(element, ".") == 0) {
			if (!other)
				add_self(arena, set);
		} else {
			put_unless_empty(arena, set, element,
			                 other ? fields_without(arena, node, other) : tree_copy(arena, node));
		}
	}
	return set;
}

struct tree *fields_common(struct arena *arena, struct tree *a, struct tree *b)
{
	struct tree *set = tree_map(arena), *node;
	const char *element;
	size_t at = 0;
	while ((node = tree_walk(arena, a, &at, &element))) {
		struct tree *other = tree_get(arena, b, element);
		if (!other)
			continue;
		if (strcmp(element, ".") == 0)
			add_self(arena, set);
		else
			put_unless_empty(arena, set, element, fields_common(arena, node, other));
	}
	return set;
}

void fields_drop(struct arena *arena, struct tree *set, const char *const *path)
{
	struct tree *parents[8];
	const char *elements[8];
	size_t depth = 0;
	for (; path[depth] && depth < 8; depth++) {
		parents[depth] = set;
		elements[depth] = field_element(arena, path[depth]);
		if (path[depth + 1])
			set = tree_get(arena, set, elements[depth]);
	}
	while (depth-- > 0) { /* and what that leaves empty */
		tree_remove(arena, parents[depth], elements[depth]);
		if (!fields_empty(parents[depth]))
			return;
	}
}

/* ---- text ---- */

static void print_element(struct arena *arena, const char *element, struct buffer *path)
{
	const char *text = element + 2;
	if (element[0] == 'f') {
		buffer_printf(path, ".%s", text);
		return;
	}
	if (element[0] != 'k') {
		buffer_printf(path, "[%s%s]", element[0] == 'v' ? "=" : "", text);
		return;
	}
	struct doc *doc = doc_parse_json(text, strlen(text), NULL);
	const char *key;
	const struct val *value;
	size_t count = 0;
	buffer_puts(path, "[");
	for (struct val_iter it = val_iter(doc_root(doc)); val_next(&it, &key, &value);) {
		buffer_printf(path, "%s%s=", count++ ? "," : "", key ? key : "");
		val_write(value, DOC_JSON_COMPACT, path);
	}
	buffer_puts(path, "]");
	doc_destroy(doc);
}

static void each(struct arena *arena, struct tree *set, struct buffer *path,
                 void (*visit)(void *context, const char *path), void *context)
{
	struct tree *node;
	const char *element;
	size_t at = 0, length = path->length;
	while ((node = tree_walk(arena, set, &at, &element))) {
		if (strcmp(element, ".") == 0) {
			visit(context, path->text ? path->text : "");
			continue;
		}
		if (strlen(element) < 2)
			continue;
		print_element(arena, element, path);
		each(arena, node, path, visit, context);
		path->length = length;
		if (path->text)
			path->text[length] = '\0';
	}
}

void fields_each(struct arena *arena, struct tree *set, void (*visit)(void *context, const char *path), void *context)
{
	struct buffer path = {0};
	each(arena, set, &path, visit, context);
	buffer_free(&path);
}
