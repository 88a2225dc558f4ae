/* What the files of this folder know of each other: a doc is a yyjson document, a val is a yyjson value. Nobody else
 * includes this or yyjson. */
#ifndef OBJECT_DOC_INTERNAL_H
#define OBJECT_DOC_INTERNAL_H

#include "object/doc.h"

#include <yyjson.h>

struct doc {
	yyjson_val *root;
	/* Of docs that were parsed, NULL for those that were packed: the block of the values, and the text in which the
	 * strings live. */
	yyjson_doc *json;
	char *text;
};

struct string_pool;

static inline yyjson_val *val_json(const struct val *val)
{
	return (yyjson_val *)(uintptr_t)val; /* yyjson takes pointers to non-const but does not write */
}

static inline const struct val *val_of(yyjson_val *json)
{
	return (const struct val *)json;
}

/* A document of its own with the same content, in one block. `strings` (NULL: none) are texts it may share. */
struct doc *doc_pack(yyjson_mut_val *json, struct string_pool *strings);
/* Allocation that never returns NULL, for documents that we build ourselves. */
const yyjson_alc *doc_allocator(void);
/* 1-based line and column (in characters) of a byte offset. */
void doc_locate(const char *text, size_t offset, size_t *line, size_t *column);
/* Parses the bytes [begin, end) of a text; error positions count from the start of the text. */
struct doc *doc_parse_json_part(const char *text, size_t begin, size_t end, struct error *error);
/* Finds where the JSON value that starts at `begin` ends (at `length` when it does not) and checks its nesting. */
int doc_json_end(const char *text, size_t begin, size_t length, size_t *end, struct error *error);

#endif
