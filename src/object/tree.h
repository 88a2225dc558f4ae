/* Changing documents: a writable view over immutable values. A node stands for a value as it is until somebody changes
 * something below it, so that editing one field of a large object touches only the path to it.
 *
 * Nodes live in the arena given; the values they were made from must outlive them. Accessors take NULL and the wrong
 * kind without harm, like those of doc.h. */
#ifndef OBJECT_TREE_H
#define OBJECT_TREE_H

#include "base/arena.h"
#include "object/doc.h"

struct tree;
struct string_pool;

struct tree *tree_of(struct arena *arena, const struct val *val); /* NULL gives null */
struct tree *tree_map(struct arena *arena);
struct tree *tree_list(struct arena *arena);
struct tree *tree_string(struct arena *arena, const char *text); /* copied */
struct tree *tree_int(struct arena *arena, int64_t number);
struct tree *tree_bool(struct arena *arena, bool value);
/* A deep copy that shares no nodes. */
struct tree *tree_copy(struct arena *arena, const struct tree *tree);

enum val_kind tree_kind(const struct tree *tree);
/* Items of a list or keys of a map that are there. */
size_t tree_count(const struct tree *tree);
/* The text of a string node; fallback otherwise. */
const char *tree_str(const struct tree *tree, const char *fallback);
/* The value behind a node that nobody looked into or changed; NULL otherwise. */
const struct val *tree_val(const struct tree *tree);
/* Text of a scalar (string, number, boolean) for comparing keys; NULL otherwise. */
const char *tree_scalar(struct arena *arena, const struct tree *tree);
/* Does not look at the order of keys. */
bool tree_equal(struct arena *arena, struct tree *tree, const struct val *val);

struct tree *tree_get(struct arena *arena, struct tree *map, const char *key);
/* tree_path(arena, t, "metadata", "labels", NULL) */
struct tree *tree_path(struct arena *arena, struct tree *map, ...) __attribute__((sentinel));
void tree_put(struct arena *arena, struct tree *map, const char *key, struct tree *child);
void tree_put_string(struct arena *arena, struct tree *map, const char *key, const char *text);
/* False when the key was not there. */
bool tree_remove(struct arena *arena, struct tree *map, const char *key);
/* The map below `key`, made (also in place of something that is no map) when missing. */
struct tree *tree_need_map(struct arena *arena, struct tree *map, const char *key);

struct tree *tree_item(struct arena *arena, struct tree *list, size_t index);
/* index may be the count; larger ones are left alone (false). */
bool tree_insert(struct arena *arena, struct tree *list, size_t index, struct tree *item);
void tree_append(struct arena *arena, struct tree *list, struct tree *item);
bool tree_remove_item(struct arena *arena, struct tree *list, size_t index);

/* Walks a map or list: starts at *at = 0; key is NULL for lists. Changing the container while walking is not allowed,
 * removing the current key is. */
struct tree *tree_walk(struct arena *arena, struct tree *tree, size_t *at, const char **key);

/* Bytes of JSON, roughly; SIZE_MAX when more than `limit` or nested deeper than DOC_MAX_DEPTH. */
size_t tree_size(const struct tree *tree, size_t limit);
/* NULL when nested deeper than DOC_MAX_DEPTH. */
struct doc *tree_finish(const struct tree *tree);
/* The same for a document that is kept: texts are shared through `strings` (NULL: none). */
struct doc *tree_finish_sharing(const struct tree *tree, struct string_pool *strings);

#endif
