/* What reading an expression needs: the parser's state, and how each kind of node is built and typed. */
#ifndef CEL_PARSE_INTERNAL_H
#define CEL_PARSE_INTERNAL_H

#include "cel/internal.h"
#include "cel/token.h"

#define MAX_LIST 64
#define MAX_CHAIN 1000 /* operators and members of one expression */

struct scope_entry {
	struct cel_text name;
	const struct type *type;
};

struct parser {
	struct arena *arena;
	struct error *error;
	struct lexer lexer;
	struct token token; /* the next one */
	size_t depth;
	size_t length;
	struct scope_entry variables[MAX_VARIABLES];
	size_t variable_count;
};

bool cel_parser_advance(struct parser *parser);
struct cel_text cel_text_of(const char *text);
const char *cel_type_name(const struct type *type);

/* Variables. The innermost of a name counts. */
bool cel_scope_enter(struct parser *parser, struct cel_text name, const struct type *type, size_t offset);
void cel_scope_leave(struct parser *parser);
bool cel_scope_has(const struct parser *parser, struct cel_text name);

/* Each gives NULL with the parser's error set when the parts do not agree. */
struct node *cel_node_literal(struct parser *parser, size_t offset, struct value value, const struct type *type);
struct node *cel_node_name(struct parser *parser, struct cel_text name, size_t offset);
struct node *cel_node_list(struct parser *parser, size_t offset, struct node **items, size_t count);
struct node *cel_node_select(struct parser *parser, struct node *target, struct cel_text name, bool optional,
                             size_t offset);
struct node *cel_node_has(struct parser *parser, size_t offset, struct node *argument);
struct node *cel_node_index(struct parser *parser, struct node *target, struct node *key, size_t offset);
struct node *cel_node_unary(struct parser *parser, enum node_kind kind, struct node *operand, size_t offset);
struct node *cel_node_binary(struct parser *parser, enum node_kind kind, struct node *left, struct node *right,
                             size_t offset);
struct node *cel_node_condition(struct parser *parser, struct node **parts, size_t offset);
/* A function that cel_function_find knows, or orValue. */
struct node *cel_node_call(struct parser *parser, struct cel_text name, bool member, struct node **arguments,
                           size_t count, size_t offset);
struct node *cel_node_bind(struct parser *parser, size_t offset, unsigned variable, struct node **parts);
/* The type of the elements that a loop over this sees. */
const struct type *cel_node_range_type(struct parser *parser, const struct node *range, size_t offset);
struct node *cel_node_quantifier(struct parser *parser, enum node_kind kind, size_t offset, unsigned variable,
                                 struct node **parts);

#endif
