/* Owns reading the text of a query: from characters straight to the tree, by descent. */
#include "object/query_internal.h"

#include <ctype.h>
#include <string.h>

struct parser {
	const char *text, *at;
	struct arena *arena;
	struct error *error;
	unsigned depth;
};

static const struct query *parse_pipe(struct parser *parser);
static const struct query *parse_term(struct parser *parser);

static void *refuse(struct parser *parser, const char *what)
{
	if (parser->error && parser->error->code == ERROR_NONE) {
		size_t length = strcspn(parser->at, " \t\r\n");
		error_set(parser->error, ERROR_SYNTAX, "%s at character %zu, before \"%.*s\"", what,
		          (size_t)(parser->at - parser->text) + 1, length > 20 ? 20 : (int)length, parser->at);
	}
	return NULL;
}

static void skip_space(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool take(struct parser *parser, const char *sign)
{
	skip_space(parser);
	size_t length = strlen(sign);
	if (strncmp(parser->at, sign, length) != 0)
		return false;
	parser->at += length;
	return true;
}

static size_t word_length(const char *at)
{
	size_t length = 0;
	if (isalpha((unsigned char)*at) || *at == '_')
		while (isalnum((unsigned char)at[length]) || at[length] == '_')
			length++;
	return length;
}

static bool take_word(struct parser *parser, const char *word)
{
	skip_space(parser);
	size_t length = word_length(parser->at);
	if (length != strlen(word) || strncmp(parser->at, word, length) != 0)
		return false;
	parser->at += length;
	return true;
}

static struct query *make(struct parser *parser, enum query_op op, const struct query *a, const struct query *b)
{
	struct query *query = arena_new(parser->arena, struct query);
	query->op = op;
	query->a = a;
	query->b = b;
	return query;
}

static const struct query *make_text(struct parser *parser, const char *text)
{
	struct query *query = make(parser, OP_LITERAL, NULL, NULL);
	query->value = (struct query_value){.kind = QUERY_TEXT, .text = text};
	return query;
}

/* ---- literals ---- */

/* After the opening quote. */
static const char *parse_text(struct parser *parser)
{
	char *text = arena_alloc(parser->arena, strlen(parser->at) + 1);
	size_t length = 0;
	for (; *parser->at != '"'; parser->at++) {
		if (*parser->at == '\0')
			return refuse(parser, "a text without its closing quote");
		if (*parser->at == '\\') {
			parser->at++;
			if (!*parser->at || !strchr("\"\\/", *parser->at))
				return refuse(parser, "a backslash that is not before a quote, a slash or a backslash");
		}
		text[length++] = *parser->at;
	}
	parser->at++;
	return text;
}

static const struct query *parse_number(struct parser *parser)
{
	struct query *query = make(parser, OP_LITERAL, NULL, NULL);
	query->value.kind = QUERY_INT;
	for (; isdigit((unsigned char)*parser->at); parser->at++) {
		int64_t digit = *parser->at - '0';
		if (query->value.number > (INT64_MAX - digit) / 10)
			return refuse(parser, "a number that is too large");
		query->value.number = query->value.number * 10 + digit;
	}
	if ((*parser->at == '.' && isdigit((unsigned char)parser->at[1])) || *parser->at == 'e' || *parser->at == 'E')
		return refuse(parser, "a number that is not whole");
	return query;
}

/* ---- terms ---- */

static const struct query *parse_arguments(struct parser *parser, struct query *call, size_t *count)
{
	*count = 0;
	if (!take(parser, "("))
		return call;
	do {
		const struct query *argument = parse_pipe(parser);
		if (!argument)
			return NULL;
		if (*count == 0)
			call->a = argument;
		else
			call->b = argument;
		if (++*count > 2)
			return refuse(parser, "more arguments than any function takes");
	} while (take(parser, ";"));
	return take(parser, ")") ? call : refuse(parser, "a missing )");
}

static const struct query *parse_if(struct parser *parser)
{
	struct query *query = make(parser, OP_IF, parse_pipe(parser), NULL);
	if (!query->a)
		return NULL;
	if (!take_word(parser, "then"))
		return refuse(parser, "an if without then");
	query->b = parse_pipe(parser);
	if (!query->b)
		return NULL;
	if (take_word(parser, "elif")) {
		if (++parser->depth > QUERY_MAX_DEPTH)
			return refuse(parser, "nesting that is too deep");
		query->c = parse_if(parser);
		parser->depth--;
		return query->c ? query : NULL;
	}
	if (take_word(parser, "else") && !(query->c = parse_pipe(parser)))
		return NULL;
	return take_word(parser, "end") ? query : refuse(parser, "an if without end");
}

static const struct query *parse_word(struct parser *parser)
{
	static const struct {
		const char *word;
		struct query_value value;
	} constants[] = {
		{"null", {.kind = QUERY_NULL}},
		{"true", {.kind = QUERY_BOOL, .truth = true}},
		{"false", {.kind = QUERY_BOOL}},
	};
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (take_word(parser, constants[i].word)) {
			struct query *query = make(parser, OP_LITERAL, NULL, NULL);
			query->value = constants[i].value;
			return query;
		}
	if (take_word(parser, "if"))
		return parse_if(parser);
	struct query *call = make(parser, OP_CALL, NULL, NULL);
	const char *start = parser->at;
	size_t length = word_length(start), arguments;
	parser->at += length;
	call->text = arena_strndup(parser->arena, start, length);
	if (!parse_arguments(parser, call, &arguments))
		return NULL;
	call->function = query_function(call->text, arguments);
	if (call->function != SIZE_MAX)
		return call;
	parser->at = start;
	return refuse(parser, "a function that is not known here");
}

static const struct query *parse_list(struct parser *parser)
{
	struct query *list = make(parser, OP_LIST, NULL, NULL);
	if (take(parser, "]"))
		return list;
	list->a = parse_pipe(parser);
	if (!list->a)
		return NULL;
	return take(parser, "]") ? list : refuse(parser, "a missing ]");
}

static const struct query *parse_variable(struct parser *parser)
{
	size_t length = word_length(parser->at);
	if (length == 0)
		return refuse(parser, "a $ without a name");
	struct query *query = make(parser, OP_VARIABLE, NULL, NULL);
	query->text = arena_strndup(parser->arena, parser->at, length);
	parser->at += length;
	return query;
}

/* The name after a dot, NULL when none stands there. */
static const struct query *parse_name(struct parser *parser)
{
	if (*parser->at == '"') {
		parser->at++;
		const char *text = parse_text(parser);
		return text ? make_text(parser, text) : NULL;
	}
	size_t length = word_length(parser->at);
	if (length == 0)
		return NULL;
	const char *name = arena_strndup(parser->arena, parser->at, length);
	parser->at += length;
	return make_text(parser, name);
}

static const struct query *parse_dot(struct parser *parser)
{
	const struct query *input = make(parser, OP_INPUT, NULL, NULL), *name;
	if (*parser->at == '.')
		return refuse(parser, "recursive descent (..), which is not known here");
	name = parse_name(parser);
	return name ? make(parser, OP_FIELD, input, name) : input;
}

static const struct query *parse_primary(struct parser *parser)
{
	skip_space(parser);
	if (isdigit((unsigned char)*parser->at))
		return parse_number(parser);
	if (word_length(parser->at))
		return parse_word(parser);
	if (take(parser, "\"")) {
		const char *text = parse_text(parser);
		return text ? make_text(parser, text) : NULL;
	}
	if (take(parser, "$"))
		return parse_variable(parser);
	if (take(parser, "["))
		return parse_list(parser);
	if (take(parser, ".")) {
		const struct query *dot = parse_dot(parser);
		return parser->error->code == ERROR_NONE ? dot : NULL;
	}
	if (!take(parser, "("))
		return refuse(parser, *parser->at ? "something that is not known here" : "an end that comes too early");
	const struct query *inner = parse_pipe(parser);
	if (!inner)
		return NULL;
	return take(parser, ")") ? inner : refuse(parser, "a missing )");
}

static const struct query *parse_bracket(struct parser *parser, const struct query *term)
{
	if (take(parser, "]"))
		return make(parser, OP_EACH, term, NULL);
	const struct query *key = parse_pipe(parser);
	if (!key)
		return NULL;
	if (take(parser, ":"))
		return refuse(parser, "a slice, which is not known here");
	return take(parser, "]") ? make(parser, OP_FIELD, term, key) : refuse(parser, "a missing ]");
}

static const struct query *parse_postfix(struct parser *parser)
{
	const struct query *term = parse_primary(parser);
	for (unsigned length = 0; term; length++) {
		if (length == QUERY_MAX_DEPTH)
			return refuse(parser, "a path that is too long");
		if (take(parser, "?")) {
			term = make(parser, OP_TRY, term, NULL);
		} else if (take(parser, "[")) {
			term = parse_bracket(parser, term);
		} else if (*parser->at == '.' && parser->at[1] == '[') {
			parser->at++;
		} else if (*parser->at == '.' && (parser->at[1] == '"' || word_length(parser->at + 1))) {
			parser->at++;
			const struct query *name = parse_name(parser);
			term = name ? make(parser, OP_FIELD, term, name) : NULL;
		} else {
			return term;
		}
	}
	return NULL;
}

static const struct query *parse_term(struct parser *parser)
{
	const struct query *result = NULL;
	if (++parser->depth > QUERY_MAX_DEPTH)
		refuse(parser, "nesting that is too deep");
	else if (take(parser, "-"))
		result = (result = parse_term(parser)) ? make(parser, OP_NEGATE, result, NULL) : NULL;
	else
		result = parse_postfix(parser);
	parser->depth--;
	return result;
}

/* ---- signs between terms, from the tightest to the loosest ---- */

static bool take_sign(struct parser *parser, unsigned level, struct query *out)
{
	static const struct {
		const char *text;
		unsigned level;
		enum query_op op;
		enum query_sign sign;
	} signs[] = {
		{"*", 0, OP_ARITHMETIC, SIGN_TIMES},    {"%", 0, OP_ARITHMETIC, SIGN_REMAINDER},
		{"/", 0, OP_ARITHMETIC, SIGN_DIVIDE},   {"+", 1, OP_ARITHMETIC, SIGN_PLUS},
		{"-", 1, OP_ARITHMETIC, SIGN_MINUS},    {"==", 2, OP_COMPARE, SIGN_EQUAL},
		{"!=", 2, OP_COMPARE, SIGN_NOT_EQUAL},  {"<=", 2, OP_COMPARE, SIGN_LESS_EQUAL},
		{">=", 2, OP_COMPARE, SIGN_MORE_EQUAL}, {"<", 2, OP_COMPARE, SIGN_LESS},
		{">", 2, OP_COMPARE, SIGN_MORE},        {"and", 3, OP_AND, SIGN_EQUAL},
		{"or", 4, OP_OR, SIGN_EQUAL},
	};
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (signs[i].level != level)
			continue;
		skip_space(parser);
		if (signs[i].sign == SIGN_DIVIDE && parser->at[0] == '/' && parser->at[1] == '/')
			continue;
		bool word = isalpha((unsigned char)*signs[i].text);
		if (word ? take_word(parser, signs[i].text) : take(parser, signs[i].text)) {
			out->op = signs[i].op;
			out->sign = signs[i].sign;
			return true;
		}
	}
	return false;
}

#define LEVEL_COMPARE 2
#define LEVEL_LOOSEST 4

static const struct query *parse_level(struct parser *parser, unsigned level)
{
	const struct query *left = level == 0 ? parse_term(parser) : parse_level(parser, level - 1);
	struct query sign = {0};
	for (unsigned length = 0; left && take_sign(parser, level, &sign); length++) {
		if (length == QUERY_MAX_DEPTH || (length && level == LEVEL_COMPARE))
			return refuse(parser, "too many signs in a row");
		const struct query *right = level == 0 ? parse_term(parser) : parse_level(parser, level - 1);
		if (!right)
			return NULL;
		struct query *query = make(parser, sign.op, left, right);
		query->sign = sign.sign;
		left = query;
	}
	return left;
}

static const struct query *parse_else(struct parser *parser)
{
	const struct query *left = parse_level(parser, LEVEL_LOOSEST), *right;
	if (!left || !take(parser, "//"))
		return left;
	if (++parser->depth > QUERY_MAX_DEPTH)
		return refuse(parser, "nesting that is too deep");
	right = parse_else(parser);
	parser->depth--;
	return right ? make(parser, OP_ELSE, left, right) : NULL;
}

static const struct query *parse_comma(struct parser *parser)
{
	const struct query *left = parse_else(parser);
	for (unsigned length = 0; left && take(parser, ","); length++) {
		if (length == QUERY_MAX_DEPTH)
			return refuse(parser, "too many parts");
		const struct query *right = parse_else(parser);
		left = right ? make(parser, OP_COMMA, left, right) : NULL;
	}
	return left;
}

static const struct query *parse_as(struct parser *parser, const struct query *value)
{
	if (!take(parser, "$"))
		return refuse(parser, "an `as` without $name");
	const struct query *variable = parse_variable(parser);
	if (!variable)
		return NULL;
	if (!take(parser, "|"))
		return refuse(parser, "a missing | after the name");
	struct query *query = make(parser, OP_AS, value, parse_pipe(parser));
	query->text = variable->text;
	return query->b ? query : NULL;
}

static const struct query *parse_pipe(struct parser *parser)
{
	const struct query *left = NULL, *result = NULL;
	if (++parser->depth > QUERY_MAX_DEPTH)
		refuse(parser, "nesting that is too deep");
	else
		left = parse_comma(parser);
	if (left && take_word(parser, "as"))
		result = parse_as(parser, left);
	else if (left && take(parser, "|"))
		result = (result = parse_pipe(parser)) ? make(parser, OP_PIPE, left, result) : NULL;
	else
		result = left;
	parser->depth--;
	return result;
}

const struct query *query_parse(const char *text, struct arena *arena, struct error *error)
{
	struct error unused;
	struct parser parser = {.text = text, .at = text, .arena = arena, .error = error ? error : &unused};
	*parser.error = (struct error){0};
	if (strlen(text) > QUERY_MAX_TEXT) {
		error_set(parser.error, ERROR_LIMIT, "longer than %d characters", QUERY_MAX_TEXT);
		return NULL;
	}
	const struct query *query = parse_pipe(&parser);
	skip_space(&parser);
	if (query && *parser.at)
		return refuse(&parser, "something that does not belong");
	return query;
}
