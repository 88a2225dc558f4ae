/* YAML in: a stream of documents, scalars resolved the way kubectl does (YAML 1.1).
 *
 * Booleans are true/yes/on/y and false/no/off/n in lower, Title and UPPER case. Null is empty, ~ or null. Integers may be
 * decimal (with _), octal (017, 0o17), hexadecimal or binary; a decimal number without a fraction is an integer (1e3 is
 * 1000). .inf and .nan are refused. Quoted text, times and base-60 numbers are strings. A key that is not a string is
 * turned into one (on: becomes "true", as in kubectl); null, lists and maps cannot be keys. The tags !!str !!int
 * !!float !!bool !!null !!map !!seq !!timestamp are honoured, others refused.
 *
 * Anchors, aliases and merge keys are expanded; explicit keys win over merged ones wherever they stand. Against
 * exponential growth, all that aliases add to a stream may take at most YAML_ALIAS_BYTES plus ten times the text.
 * Tabs, bad indentation, duplicate keys: an error with line and column. */
#ifndef OBJECT_YAML_READ_H
#define OBJECT_YAML_READ_H

#include "object/doc.h"

#define YAML_ALIAS_BYTES ((size_t)64 << 20)

struct yaml_document {
	struct doc *doc;
	size_t line; /* 1-based line of the first value of the document */
};

/* Reads every document of the stream (empty and null ones are left out). On failure frees what was read, returns -1.
 * The array is malloc'ed; the caller destroys each doc and frees the array. JSON is YAML, but callers with JSON text
 * should prefer doc_parse_json: it is many times faster. */
int yaml_read(const char *text, size_t length, struct yaml_document **docs, size_t *count, struct error *error);

#endif
