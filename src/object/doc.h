/* Documents: JSON and YAML text read into one immutable tree.
 *
 * A doc owns all of its values; a val pointer lives as long as its doc. Every accessor takes NULL and the wrong kind
 * without harm (missing behaves like null), so that decoders can ask for deep paths in one line.
 * Object keys keep their order; a duplicate key is a syntax error. Nesting deeper than DOC_MAX_DEPTH is refused. */
#ifndef OBJECT_DOC_H
#define OBJECT_DOC_H

#include "base/error.h"
#include "base/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOC_MAX_DEPTH 512
#define DOC_MAX_BYTES ((size_t)1 << 30)

struct doc;
struct val;

enum val_kind { VAL_NULL, VAL_BOOL, VAL_INT, VAL_REAL, VAL_STRING, VAL_LIST, VAL_MAP };

/* NULL and *error on failure; the text names line and column. The text is copied. */
struct doc *doc_parse_json(const char *text, size_t length, struct error *error);
/* The same of a text whose nesting the caller has seen to be within DOC_MAX_DEPTH. */
struct doc *doc_parse_json_scanned(const char *text, size_t length, struct error *error);
void doc_destroy(struct doc *doc);
const struct val *doc_root(const struct doc *doc);

enum val_kind val_kind(const struct val *val);
const char *val_kind_name(enum val_kind kind); /* "string", "list", ... for messages */
const struct val *val_get(const struct val *map, const char *key);
/* val_path(v, "spec", "template", NULL) */
const struct val *val_path(const struct val *map, ...) __attribute__((sentinel));
/* The first map in the list that has this name; NULL when there is none. */
const struct val *val_named(const struct val *list, const char *name);
const struct val *val_item(const struct val *list, size_t index); /* may walk the list: loops use val_iter */
size_t val_count(const struct val *list_or_map);
/* Fallback unless a string. A string may hold U+0000: the text then ends there, writing keeps it whole. */
const char *val_str(const struct val *val, const char *fallback);
/* Whether a string or a key in it holds U+0000; *path then says where: "metadata.labels.x", a key as far as it can be read. */
bool val_find_nul(const struct val *val, struct buffer *path);
bool val_bool(const struct val *val, bool fallback);
/* 0 when it is a whole number that fits int64 (3.0 is one); -1 otherwise (*out untouched). */
int val_int(const struct val *val, int64_t *out);
/* The number as text for quantities: a string as is, a number in its shortest exact form; NULL otherwise. */
const char *val_scalar_text(const struct val *val, char scratch[64]);
/* Deep; the order of map keys does not matter, 1 equals 1.0, missing equals null. */
bool val_equal(const struct val *a, const struct val *b);

struct val_iter {
	const struct val *container;
	size_t index, count;
	void *cursor;
};
/* for (struct val_iter it = val_iter(v); val_next(&it, &key, &item);) - key is NULL for lists. */
struct val_iter val_iter(const struct val *list_or_map);
bool val_next(struct val_iter *iter, const char **key, const struct val **item);

enum doc_style { DOC_JSON_COMPACT, DOC_JSON_PRETTY, DOC_YAML };
/* YAML ends with a newline, JSON does not. */
void val_write(const struct val *val, enum doc_style style, struct buffer *out);

#endif
