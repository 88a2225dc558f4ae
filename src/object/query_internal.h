/* What the files of the query language share: the tree, written by query_parse.c and walked by query_run.c, and the
 * values that run through it. */
#ifndef OBJECT_QUERY_INTERNAL_H
#define OBJECT_QUERY_INTERNAL_H

#include "object/query.h"

enum query_op {
	OP_INPUT,    /* . */
	OP_LITERAL,  /* value */
	OP_VARIABLE, /* $text */
	OP_FIELD,    /* a[b]: b is evaluated against the input of the whole */
	OP_EACH,     /* a[] */
	OP_TRY,      /* a? */
	OP_LIST,     /* [a]; a is NULL for [] */
	OP_PIPE,
	OP_COMMA,
	OP_ELSE, /* a // b */
	OP_OR,
	OP_AND,
	OP_COMPARE,
	OP_ARITHMETIC,
	OP_NEGATE,
	OP_AS,   /* a as $text | b */
	OP_IF,   /* if a then b else c; c is NULL for none */
	OP_CALL, /* function text with a and b, either may be NULL */
};

enum query_sign {
	SIGN_EQUAL,
	SIGN_NOT_EQUAL,
	SIGN_LESS,
	SIGN_LESS_EQUAL,
	SIGN_MORE,
	SIGN_MORE_EQUAL,
	SIGN_PLUS,
	SIGN_MINUS,
	SIGN_TIMES,
	SIGN_DIVIDE,
	SIGN_REMAINDER,
};

struct query {
	enum query_op op;
	enum query_sign sign;
	size_t function; /* of OP_CALL: row of the table in query_run.c */
	const char *text;
	struct query_value value;
	const struct query *a, *b, *c;
};

struct query_binding {
	const char *name;
	struct query_value value;
	const struct query_binding *outer;
};

struct query_run_state {
	struct arena *arena;
	struct error *error;
	unsigned steps;
};

struct query_results { /* a growing list in the arena */
	struct query_value *items;
	size_t count, capacity;
};

/* query_run.c: appends what the query makes of the input. False after an error. */
bool query_eval(struct query_run_state *run, const struct query *query, const struct query_value *input,
                const struct query_binding *bindings, struct query_results *out);

/* query_functions.c. The row of a function with that many arguments, SIZE_MAX when there is none. */
size_t query_function(const char *name, size_t arguments);
bool query_call(struct query_run_state *run, const struct query *query, const struct query_value *input,
                const struct query_binding *bindings, struct query_results *out);

/* query_values.c. All that can fail give false and set the error; results are appended. */
extern const char *const query_kind_names[];
bool query_fail(struct query_run_state *run, const char *format, const char *what)
	__attribute__((format(printf, 2, 0)));
bool query_push(struct query_run_state *run, struct query_results *results, struct query_value value);
struct query_value query_of_text(const char *text);
struct query_value query_of_int(int64_t number);
struct query_value query_of_bool(bool truth);
bool query_of_node(struct query_run_state *run, const struct val *node, struct query_value *out);
bool query_is_true(const struct query_value *value);
bool query_open(struct query_run_state *run, const struct query_value *list, struct query_results *out);
bool query_each(struct query_run_state *run, const struct query_value *value, struct query_results *out);
bool query_field(struct query_run_state *run, const struct query_value *value, const struct query_value *key,
                 struct query_results *out);
bool query_equal(struct query_run_state *run, const struct query_value *a, const struct query_value *b);
bool query_compare(struct query_run_state *run, enum query_sign sign, const struct query_value *a,
                   const struct query_value *b, struct query_results *out);
bool query_arithmetic(struct query_run_state *run, enum query_sign sign, const struct query_value *a,
                      const struct query_value *b, struct query_results *out);

#endif
