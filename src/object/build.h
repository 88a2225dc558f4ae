/* Building documents: the writable counterpart of doc.h. A node belongs to its build; strings are copied. */
#ifndef OBJECT_BUILD_H
#define OBJECT_BUILD_H

#include "object/doc.h"

struct build;
struct node;
struct string_pool;

struct build *build_create(void);
void build_destroy(struct build *build);

struct node *build_map(struct build *build);
struct node *build_list(struct build *build);
struct node *build_string(struct build *build, const char *text); /* NULL gives null */
struct node *build_int(struct build *build, int64_t number);
struct node *build_bool(struct build *build, bool value);
struct node *build_null(struct build *build);
struct node *build_copy(struct build *build, const struct val *val); /* deep copy */

/* A put replaces the value of a key that is there already. A node stands in one place only; NULL is null. A map or list
 * of the wrong kind is left alone. */
void build_put(struct build *build, struct node *map, const char *key, struct node *value);
void build_put_string(struct build *build, struct node *map, const char *key, const char *text);
void build_put_int(struct build *build, struct node *map, const char *key, int64_t number);
void build_put_bool(struct build *build, struct node *map, const char *key, bool value);
/* The same, unless it is a map or list without entries. */
void build_put_filled(struct build *build, struct node *map, const char *key, struct node *value);
void build_append(struct build *build, struct node *list, struct node *value);

/* Turns the tree below `root` into an immutable doc. The build stays usable. */
struct doc *build_finish(struct build *build, struct node *root);
/* The same for one of many documents that are kept long: texts are shared through `strings` (NULL: none). */
struct doc *build_finish_sharing(struct build *build, struct node *root, struct string_pool *strings);
/* build_finish + val_write in one call. */
void build_write(struct build *build, struct node *root, enum doc_style style, struct buffer *out);

#endif
