/* Reads an expression into a tree. Names and types are settled on the way, by nodes.c: all that a node stands on has
 * been read before it. */
#include "cel/parse_internal.h"

#include <string.h>

#define MAX_DEPTH 100

static struct node *parse_expression(struct parser *parser);

bool cel_parser_advance(struct parser *parser)
{
	return cel_lexer_next(&parser->lexer, &parser->token);
}

static bool at_symbol(const struct parser *parser, const char *symbol)
{
	return cel_token_is(&parser->token, symbol);
}

static bool at_word(const struct parser *parser, const char *word)
{
	return parser->token.kind == TOKEN_NAME && cel_text_equal(parser->token.text, cel_text_of(word));
}

static bool expect(struct parser *parser, const char *symbol)
{
	if (!at_symbol(parser, symbol))
		return cel_invalid(parser->error, parser->token.offset, "%s is missing", symbol);
	return cel_parser_advance(parser);
}

/* Values between here and the closing symbol, which is passed. */
static bool parse_arguments(struct parser *parser, const char *close, bool comma_may_end, struct node **nodes,
                            size_t most, size_t *count)
{
	while (!at_symbol(parser, close)) {
		if (*count == most)
			return cel_unsupported(parser->error, parser->token.offset, "more than %zu values", most);
		nodes[*count] = parse_expression(parser);
		if (!nodes[(*count)++])
			return false;
		if (!at_symbol(parser, ","))
			break;
		if (!cel_parser_advance(parser))
			return false;
		if (at_symbol(parser, close) && !comma_may_end)
			return cel_invalid(parser->error, parser->token.offset, "a value is missing");
	}
	return expect(parser, close);
}

/* ---- what binds a name ---- */

static bool is_reserved(struct cel_text name)
{
	static const char *const words[] = {"as",       "break",   "const",  "continue", "else", "false", "for",
	                                    "function", "if",      "import", "in",       "let",  "loop",  "namespace",
	                                    "null",     "package", "return", "true",     "var",  "void",  "while"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (cel_text_equal(name, cel_text_of(words[i])))
			return true;
	return false;
}

static bool parse_bound_name(struct parser *parser, struct cel_text *name)
{
	if (parser->token.kind != TOKEN_NAME || is_reserved(parser->token.text))
		return cel_invalid(parser->error, parser->token.offset, "the name of a variable is missing");
	*name = parser->token.text;
	return cel_parser_advance(parser) && expect(parser, ",");
}

/* cel.bind(name, value, result); the opening parenthesis is behind us. */
static struct node *parse_bind(struct parser *parser, size_t offset)
{
	struct cel_text name = {0};
	struct node *parts[2];
	if (!parse_bound_name(parser, &name) || !(parts[0] = parse_expression(parser)) || !expect(parser, ",") ||
	    !cel_scope_enter(parser, name, parts[0]->type, offset))
		return NULL;
	unsigned variable = (unsigned)parser->variable_count - 1;
	parts[1] = parse_expression(parser);
	cel_scope_leave(parser);
	if (!parts[1] || !expect(parser, ")"))
		return NULL;
	return cel_node_bind(parser, offset, variable, parts);
}

/* list.exists(name, condition) and its like; the opening parenthesis is behind us. */
static struct node *parse_quantifier(struct parser *parser, enum node_kind kind, struct node *range, size_t offset)
{
	struct cel_text name = {0};
	const struct type *type = cel_node_range_type(parser, range, offset);
	if (!type || !parse_bound_name(parser, &name) || !cel_scope_enter(parser, name, type, offset))
		return NULL;
	unsigned variable = (unsigned)parser->variable_count - 1;
	struct node *parts[2] = {range, parse_expression(parser)};
	cel_scope_leave(parser);
	if (!parts[1])
		return NULL;
	if (at_symbol(parser, ",")) {
		cel_unsupported(parser->error, offset, "a loop with two variables");
		return NULL;
	}
	return expect(parser, ")") ? cel_node_quantifier(parser, kind, offset, variable, parts) : NULL;
}

/* ---- names, literals, parentheses ---- */

static struct node *parse_has(struct parser *parser, size_t offset)
{
	struct node *argument = parse_expression(parser);
	return argument && expect(parser, ")") ? cel_node_has(parser, offset, argument) : NULL;
}

static struct node *parse_call(struct parser *parser, struct cel_text name, struct node *target, size_t offset)
{
	struct node *arguments[MAX_ARGUMENTS] = {target};
	size_t count = target != NULL;
	if (!cel_function_find(name, target != NULL) && !(target && cel_text_equal(name, cel_text_of("orValue")))) {
		cel_unsupported(parser->error, offset, "the function %.*s", (int)(name.length > 64 ? 64 : name.length),
		                name.text);
		return NULL;
	}
	if (!parse_arguments(parser, ")", false, arguments, MAX_ARGUMENTS, &count))
		return NULL;
	return cel_node_call(parser, name, target != NULL, arguments, count, offset);
}

static struct node *parse_name(struct parser *parser)
{
	struct token token = parser->token;
	if (is_reserved(token.text) && !at_word(parser, "true") && !at_word(parser, "false")) {
		if (at_word(parser, "null"))
			cel_unsupported(parser->error, token.offset, "null");
		else
			cel_invalid(parser->error, token.offset, "a reserved word");
		return NULL;
	}
	if (!cel_parser_advance(parser))
		return NULL;
	if (cel_text_equal(token.text, cel_text_of("true")) || cel_text_equal(token.text, cel_text_of("false")))
		return cel_node_literal(parser, token.offset, cel_value_of_bool(token.text.length == 4),
		                        &cel_type_bool);
	if (!at_symbol(parser, "("))
		return cel_node_name(parser, token.text, token.offset);
	if (!cel_parser_advance(parser))
		return NULL;
	if (cel_text_equal(token.text, cel_text_of("has")))
		return parse_has(parser, token.offset);
	return parse_call(parser, token.text, NULL, token.offset);
}

static struct node *parse_list(struct parser *parser)
{
	size_t offset = parser->token.offset, count = 0;
	struct node *items[MAX_LIST];
	if (!cel_parser_advance(parser) || !parse_arguments(parser, "]", true, items, MAX_LIST, &count))
		return NULL;
	return cel_node_list(parser, offset, items, count);
}

static struct node *parse_primary(struct parser *parser)
{
	struct token token = parser->token;
	struct node *node;
	switch (token.kind) {
	case TOKEN_NAME:
		return parse_name(parser);
	case TOKEN_STRING:
		node = cel_node_literal(parser, token.offset, cel_value_of_text(token.text.text, token.text.length),
		                        &cel_type_string);
		return cel_parser_advance(parser) ? node : NULL;
	case TOKEN_INT:
		if (token.number > INT64_MAX) {
			cel_invalid(parser->error, token.offset, "a number that does not fit 64 bits");
			return NULL;
		}
		node = cel_node_literal(parser, token.offset, cel_value_of_int((int64_t)token.number), &cel_type_int);
		return cel_parser_advance(parser) ? node : NULL;
	default:
		break;
	}
	if (at_symbol(parser, "["))
		return parse_list(parser);
	if (at_symbol(parser, "{") || at_symbol(parser, "."))
		cel_unsupported(parser->error, token.offset, at_symbol(parser, "{") ? "a map" : "a leading dot");
	else if (at_symbol(parser, "("))
		return cel_parser_advance(parser) && (node = parse_expression(parser)) && expect(parser, ")") ? node
		                                                                                              : NULL;
	else
		cel_invalid(parser->error, token.offset, "a value is missing");
	return NULL;
}

/* ---- what follows a value ---- */

static struct node *parse_method(struct parser *parser, struct node *target, struct cel_text name, size_t offset)
{
	static const struct {
		const char *name;
		enum node_kind kind;
	} quantifiers[] = {{"exists", NODE_EXISTS}, {"all", NODE_ALL}, {"exists_one", NODE_EXISTS_ONE}};
	if (!cel_parser_advance(parser))
		return NULL;
	for (size_t i = 0; i < sizeof(quantifiers) / sizeof(quantifiers[0]); i++)
		if (cel_text_equal(name, cel_text_of(quantifiers[i].name)))
			return parse_quantifier(parser, quantifiers[i].kind, target, offset);
	return parse_call(parser, name, target, offset);
}

/* cel.bind is a name with a dot, not a method of something called cel. */
static bool is_cel_namespace(struct parser *parser, const struct token *name)
{
	return cel_text_equal(name->text, cel_text_of("cel")) && at_symbol(parser, ".") &&
	       !cel_scope_has(parser, name->text);
}

static struct node *parse_cel_function(struct parser *parser, size_t offset)
{
	if (!cel_parser_advance(parser))
		return NULL;
	bool bind = at_word(parser, "bind");
	if (!bind) {
		cel_unsupported(parser->error, offset, "a function of cel other than cel.bind");
		return NULL;
	}
	return cel_parser_advance(parser) && expect(parser, "(") ? parse_bind(parser, offset) : NULL;
}

static struct node *parse_member(struct parser *parser, struct node *target)
{
	if (!cel_parser_advance(parser))
		return NULL;
	bool optional = at_symbol(parser, "?");
	if (optional && !cel_parser_advance(parser))
		return NULL;
	struct token name = parser->token;
	if (name.kind != TOKEN_NAME || cel_text_equal(name.text, cel_text_of("in")) ||
	    cel_text_equal(name.text, cel_text_of("true")) || cel_text_equal(name.text, cel_text_of("false")) ||
	    cel_text_equal(name.text, cel_text_of("null"))) {
		cel_invalid(parser->error, name.offset, "the name of a field is missing");
		return NULL;
	}
	if (!cel_parser_advance(parser))
		return NULL;
	if (at_symbol(parser, "(") && !optional)
		return parse_method(parser, target, name.text, name.offset);
	if (at_symbol(parser, "{")) {
		cel_unsupported(parser->error, name.offset, "an object");
		return NULL;
	}
	return cel_node_select(parser, target, name.text, optional, name.offset);
}

static struct node *parse_index(struct parser *parser, struct node *target)
{
	size_t offset = parser->token.offset;
	if (!cel_parser_advance(parser))
		return NULL;
	if (at_symbol(parser, "?")) {
		cel_unsupported(parser->error, offset, "an optional index");
		return NULL;
	}
	struct node *key = parse_expression(parser);
	return key && expect(parser, "]") ? cel_node_index(parser, target, key, offset) : NULL;
}

static struct node *parse_postfix(struct parser *parser)
{
	struct token first = parser->token;
	struct node *node;
	if (first.kind == TOKEN_NAME && cel_text_equal(first.text, cel_text_of("cel")) &&
	    !cel_scope_has(parser, first.text)) {
		if (!cel_parser_advance(parser))
			return NULL;
		node = is_cel_namespace(parser, &first) ? parse_cel_function(parser, first.offset)
		                                        : cel_node_name(parser, first.text, first.offset);
	} else {
		node = parse_primary(parser);
	}
	while (node && (at_symbol(parser, ".") || at_symbol(parser, "["))) {
		if (++parser->length > MAX_CHAIN) {
			cel_unsupported(parser->error, parser->token.offset, "an expression as long as this one");
			return NULL;
		}
		node = at_symbol(parser, ".") ? parse_member(parser, node) : parse_index(parser, node);
	}
	return node;
}

/* ---- operators ---- */

/* A minus before a number belongs to it: the lowest integer has no positive counterpart. `lowest` stays NULL when this
 * is not that. */
static bool parse_lowest(struct parser *parser, size_t offset, struct node **lowest)
{
	const uint64_t cel_beyond = (uint64_t)INT64_MAX + 1;
	if (parser->token.kind != TOKEN_INT || parser->token.number < cel_beyond)
		return true;
	if (parser->token.number > cel_beyond)
		return cel_invalid(parser->error, offset, "a number that does not fit 64 bits");
	*lowest = cel_node_literal(parser, offset, cel_value_of_int(INT64_MIN), &cel_type_int);
	return cel_parser_advance(parser);
}

/* One kind of sign, any number of times: two of them take each other away. */
static struct node *parse_unary(struct parser *parser)
{
	size_t offset = parser->token.offset, signs = 0;
	bool minus = at_symbol(parser, "-");
	struct node *lowest = NULL;
	for (const char *sign = minus ? "-" : "!"; at_symbol(parser, sign); signs++)
		if (!cel_parser_advance(parser))
			return NULL;
	if (minus && !parse_lowest(parser, offset, &lowest))
		return NULL;
	struct node *node = lowest ? lowest : parse_postfix(parser);
	signs -= lowest != NULL;
	return node && signs % 2 ? cel_node_unary(parser, minus ? NODE_NEGATE : NODE_NOT, node, offset) : node;
}

struct operator
{
	const char *symbol;
	enum node_kind kind;
};

static const struct operator sums[] = {{"+", NODE_ADD}, {"-", NODE_SUBTRACT}, {NULL, NODE_ADD}};
static const struct operator relations[] = {{"==", NODE_EQUAL},      {"!=", NODE_NOT_EQUAL}, {"<", NODE_LESS},
                                            {"<=", NODE_LESS_EQUAL}, {">", NODE_GREATER},    {">=", NODE_GREATER_EQUAL},
                                            {"in", NODE_IN},         {NULL, NODE_IN}};
static const struct operator ands[] = {{"&&", NODE_AND}, {NULL, NODE_AND}};
static const struct operator ors[] = {{"||", NODE_OR}, {NULL, NODE_OR}};
static const struct operator* const levels[] = {ors, ands, relations, sums};

static const struct operator* operator_here(const struct parser *parser, const struct operator* operators)
{
	for (; operators->symbol; operators++)
		if (at_symbol(parser, operators->symbol) ||
		    (operators->kind == NODE_IN && at_word(parser, operators->symbol)))
			return operators;
	return NULL;
}

/* Operators of one level take their left side first. */
static struct node *parse_level(struct parser *parser, size_t level)
{
	if (level == sizeof(levels) / sizeof(levels[0]))
		return parse_unary(parser);
	struct node *left = parse_level(parser, level + 1);
	const struct operator* found;
	while (left && (found = operator_here(parser, levels[level]))) {
		size_t offset = parser->token.offset;
		if (++parser->length > MAX_CHAIN) {
			cel_unsupported(parser->error, offset, "an expression as long as this one");
			return NULL;
		}
		struct node *right = cel_parser_advance(parser) ? parse_level(parser, level + 1) : NULL;
		left = right ? cel_node_binary(parser, found->kind, left, right, offset) : NULL;
	}
	if (left && level == 3 && (at_symbol(parser, "*") || at_symbol(parser, "/") || at_symbol(parser, "%"))) {
		cel_unsupported(parser->error, parser->token.offset, "the operator %s", parser->token.text.text);
		return NULL;
	}
	return left;
}

static struct node *parse_expression(struct parser *parser)
{
	if (++parser->depth > MAX_DEPTH) {
		cel_unsupported(parser->error, parser->token.offset, "an expression as deep as this one");
		return NULL;
	}
	struct node *parts[3] = {parse_level(parser, 0)};
	struct node *node = parts[0];
	size_t offset = parser->token.offset;
	if (node && at_symbol(parser, "?")) {
		node = cel_parser_advance(parser) && (parts[1] = parse_level(parser, 0)) && expect(parser, ":") &&
		                       (parts[2] = parse_expression(parser))
		               ? cel_node_condition(parser, parts, offset)
		               : NULL;
	}
	parser->depth--;
	return node;
}

const struct cel_program *cel_compile(struct arena *arena, const char *text, size_t length, struct error *error)
{
	struct error ignored;
	error = error ? error : &ignored;
	if (length > CEL_MAX_LENGTH) {
		error_set(error, ERROR_SYNTAX, "the expression has %zu bytes, more than %d", length, CEL_MAX_LENGTH);
		return NULL;
	}
	struct parser parser = {.arena = arena,
	                        .error = error,
	                        .lexer = {.arena = arena, .source = {text, length}, .error = error}};
	struct node *root = cel_parser_advance(&parser) ? parse_expression(&parser) : NULL;
	if (!root)
		return NULL;
	if (parser.token.kind != TOKEN_END) {
		cel_invalid(error, parser.token.offset, "the expression goes on where it should end,");
		return NULL;
	}
	if (root->type->kind != TYPE_BOOL && !cel_type_is_dynamic(root->type)) {
		error_set(error, ERROR_SYNTAX, "the result is %s, not true or false", cel_type_name(root->type));
		return NULL;
	}
	struct cel_program *program = arena_new(arena, struct cel_program);
	*program = (struct cel_program){root, {text, length}};
	return program;
}
