/* YAML in: a stream of documents, scalars resolved the way kubectl does (YAML 1.1: yes/no/on/off are booleans, octal
 * 0o and 0 prefixes, hexadecimal, .inf and .nan refused), anchors, aliases and merge keys expanded with a limit against
 * exponential growth. Tabs, bad indentation, duplicate keys: an error with line and column. */
#ifndef OBJECT_YAML_READ_H
#define OBJECT_YAML_READ_H

#include "object/doc.h"

struct yaml_document {
	struct doc *doc;
	size_t line; /* 1-based line on which the document starts */
};

/* Reads every document of the stream (empty ones are left out). On failure frees what was read, returns -1. The
 * array is malloc'ed; the caller destroys each doc and frees the array. JSON is YAML, but callers with JSON text
 * should prefer doc_parse_json: it is many times faster. */
int yaml_read(const char *text, size_t length, struct yaml_document **docs, size_t *count, struct error *error);

#endif
