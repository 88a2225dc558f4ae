/* What the files of this folder know of each other: a doc is a yyjson document, a val is a yyjson value. Nobody else
 * includes this or yyjson. */
#ifndef OBJECT_DOC_INTERNAL_H
#define OBJECT_DOC_INTERNAL_H

#include "object/doc.h"

#include <yyjson.h>

struct doc {
	yyjson_doc *json;
	char *text; /* parsed in place: the strings of `json` live here; NULL for docs that were built */
};

static inline yyjson_val *val_json(const struct val *val)
{
	return (yyjson_val *)(uintptr_t)val; /* yyjson takes pointers to non-const but does not write */
}

static inline const struct val *val_of(yyjson_val *json)
{
	return (const struct val *)json;
}

/* Takes ownership of json. */
struct doc *doc_wrap(yyjson_doc *json);
/* Allocation that never returns NULL, for documents that we build ourselves. */
const yyjson_alc *doc_allocator(void);
/* 1-based line and column (in characters) of a byte offset. */
void doc_locate(const char *text, size_t offset, size_t *line, size_t *column);
/* Parses the bytes [begin, end) of a text; error positions count from the start of the text. */
struct doc *doc_parse_json_part(const char *text, size_t begin, size_t end, struct error *error);
/* Finds where the JSON value that starts at `begin` ends (at `length` when it does not) and checks its nesting. */
int doc_json_end(const char *text, size_t begin, size_t length, size_t *end, struct error *error);

#endif
