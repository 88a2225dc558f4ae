/* Queries over documents: the part of the jq language that descriptions of workloads are written in.
 *
 * Understood: `.`, `.a."b".["c"]`, `.[0]`, `.[]`, `?`, `|`, `,`, `//`, `or`, `and`, comparisons, `+ - * / %`, `[ ]`,
 * literals, `x as $v | ...`, `if ... then ... elif ... else ... end`, and the functions of query_run.c. Numbers are whole.
 * Everything else is refused with its place. A query comes from users, so text, depth, steps and results are bounded;
 * there are no definitions and no recursion, so that every query ends. */
#ifndef OBJECT_QUERY_H
#define OBJECT_QUERY_H

#include "base/arena.h"
#include "base/error.h"
#include "object/doc.h"

#define QUERY_MAX_TEXT 4096
#define QUERY_MAX_DEPTH 64
#define QUERY_MAX_STEPS 20000
#define QUERY_MAX_RESULTS 10000

enum query_kind {
	QUERY_NULL,
	QUERY_BOOL,
	QUERY_INT,
	QUERY_TEXT,
	QUERY_LIST,  /* items, count */
	QUERY_MAP,   /* node */
	QUERY_ENTRY, /* of to_entries: a map with "key" (text) and "value" (items[0]) */
};

struct query_value {
	enum query_kind kind;
	bool truth;
	int64_t number;
	const char *text;
	const struct val *node;
	const struct query_value *items;
	size_t count;
};

struct query_values {
	struct query_value *items;
	size_t count;
};

struct query;

/* NULL and *error: what is not understood, and at which character (from 1). Lives in the arena. */
const struct query *query_parse(const char *text, struct arena *arena, struct error *error);
/* All results in order; they point into the input and the arena. 0, or -1 and *error. */
int query_run(const struct query *query, const struct val *input, struct arena *arena, struct query_values *out,
              struct error *error);
/* A text, number or truth value as text; NULL for the others. */
const char *query_value_text(const struct query_value *value, struct arena *arena);

#endif
