/* Cuts an expression into tokens. */
#include "cel/token.h"

#include "base/strings.h"

#include <stdio.h>
#include <string.h>

static bool refuse(struct error *error, enum error_code code, size_t offset, const char *format, va_list arguments)
{
	char text[256];
	vsnprintf(text, sizeof(text), format, arguments);
	error_set(error, code, "%s at character %zu", text, offset + 1);
	return false;
}

bool cel_invalid(struct error *error, size_t offset, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	refuse(error, ERROR_SYNTAX, offset, format, arguments);
	va_end(arguments);
	return false;
}

bool cel_unsupported(struct error *error, size_t offset, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	refuse(error, ERROR_LIMIT, offset, format, arguments);
	va_end(arguments);
	return false;
}

bool cel_token_is(const struct token *token, const char *symbol)
{
	return token->kind == TOKEN_SYMBOL && strlen(symbol) == token->text.length &&
	       memcmp(symbol, token->text.text, token->text.length) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char peek(const struct lexer *lexer, size_t ahead)
{
	return lexer->at + ahead < lexer->source.length ? lexer->source.text[lexer->at + ahead] : '\0';
}

static bool skip_space(struct lexer *lexer)
{
	for (; lexer->at < lexer->source.length; lexer->at++) {
		char c = peek(lexer, 0);
		if (c == '/' && peek(lexer, 1) == '/') {
			while (lexer->at < lexer->source.length && peek(lexer, 0) != '\n')
				lexer->at++;
			if (lexer->at == lexer->source.length)
				break;
		} else if (c == '\0' || !strchr(" \t\r\n\f", c)) {
			return true;
		}
	}
	return false;
}

/* ---- numbers ---- */

static bool lex_number(struct lexer *lexer, struct token *token)
{
	bool hex = peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X');
	uint64_t base = hex ? 16 : 10;
	lexer->at += hex ? 2 : 0;
	size_t digits = 0;
	bool fits = true;
	token->kind = TOKEN_INT;
	token->number = 0;
	for (; hex ? hex_value(peek(lexer, 0)) >= 0 : is_digit(peek(lexer, 0)); digits++) {
		fits = fits && !__builtin_mul_overflow(token->number, base, &token->number) &&
		       !__builtin_add_overflow(token->number, (uint64_t)hex_value(peek(lexer, 0)), &token->number);
		lexer->at++;
	}
	char c = peek(lexer, 0);
	if (digits == 0)
		return cel_invalid(lexer->error, token->offset, "a number without digits");
	if (c == 'u' || c == 'U')
		return cel_unsupported(lexer->error, token->offset, "an unsigned number");
	if ((c == '.' && is_digit(peek(lexer, 1))) || (!hex && (c == 'e' || c == 'E')))
		return cel_unsupported(lexer->error, token->offset, "a number with a fraction or an exponent");
	if (!fits)
		return cel_invalid(lexer->error, token->offset, "a number that does not fit 64 bits");
	return true;
}

/* ---- strings ---- */

static void append_character(struct buffer *out, uint32_t c)
{
	char bytes[4];
	size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = length; i-- > 1; c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(marks[length] | c);
	buffer_append(out, bytes, length);
}

/* The digits of \x41, \u00e9, \U0001f600 or \101. */
static bool numeric_escape(struct lexer *lexer, size_t digits, uint32_t base, struct buffer *out)
{
	uint32_t value = 0;
	for (size_t i = 0; i < digits; i++) {
		int digit = hex_value(peek(lexer, 0));
		if (digit < 0 || (uint32_t)digit >= base)
			return cel_invalid(lexer->error, lexer->at, "an incomplete escape in a string");
		value = value * base + (uint32_t)digit;
		lexer->at++;
	}
	if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) || (base == 8 && value > 0xff))
		return cel_invalid(lexer->error, lexer->at, "an escape that is no character");
	if (value == 0)
		return cel_unsupported(lexer->error, lexer->at, "a zero in a string");
	append_character(out, value);
	return true;
}

static bool lex_escape(struct lexer *lexer, struct buffer *out)
{
	static const char letters[] = "abfnrtv\\'\"`?", values[] = "\a\b\f\n\r\t\v\\'\"`?";
	char c = peek(lexer, 1);
	lexer->at += 2;
	const char *letter = c ? strchr(letters, c) : NULL;
	if (letter) {
		buffer_append(out, &values[letter - letters], 1);
		return true;
	}
	switch (c) {
	case 'x':
	case 'X':
		return numeric_escape(lexer, 2, 16, out);
	case 'u':
		return numeric_escape(lexer, 4, 16, out);
	case 'U':
		return numeric_escape(lexer, 8, 16, out);
	case '0':
	case '1':
	case '2':
	case '3':
		lexer->at--;
		return numeric_escape(lexer, 3, 8, out);
	default:
		return cel_invalid(lexer->error, lexer->at - 2, "an unknown escape in a string");
	}
}

/* The text between quotes, which begin here. */
static bool lex_quoted(struct lexer *lexer, bool raw, struct buffer *out)
{
	char quote = peek(lexer, 0);
	size_t marks = peek(lexer, 1) == quote && peek(lexer, 2) == quote ? 3 : 1, start = lexer->at;
	lexer->at += marks;
	while (lexer->at < lexer->source.length) {
		char c = peek(lexer, 0);
		if (c == quote && (marks == 1 || (peek(lexer, 1) == quote && peek(lexer, 2) == quote))) {
			lexer->at += marks;
			return true;
		}
		if (marks == 1 && (c == '\n' || c == '\r'))
			break;
		if (c == '\r')
			return cel_unsupported(lexer->error, lexer->at, "a carriage return in a string");
		if (c == '\\' && !raw) {
			if (!lex_escape(lexer, out))
				return false;
		} else {
			buffer_append(out, &c, 1);
			lexer->at++;
		}
	}
	return cel_invalid(lexer->error, start, "a string that does not end");
}

static bool lex_string(struct lexer *lexer, struct token *token)
{
	bool raw = false;
	for (; peek(lexer, 0) != '"' && peek(lexer, 0) != '\''; lexer->at++) {
		if (peek(lexer, 0) == 'b' || peek(lexer, 0) == 'B')
			return cel_unsupported(lexer->error, token->offset, "a literal of bytes");
		raw = true;
	}
	struct buffer out = {0};
	bool valid = lex_quoted(lexer, raw, &out);
	token->kind = TOKEN_STRING;
	token->text = (struct cel_text){arena_strndup(lexer->arena, out.text ? out.text : "", out.length), out.length};
	buffer_free(&out);
	return valid;
}

static bool begins_string(const struct lexer *lexer)
{
	size_t prefix = 0;
	while (prefix < 2 && peek(lexer, prefix) && strchr("rRbB", peek(lexer, prefix)))
		prefix++;
	return peek(lexer, prefix) == '"' || peek(lexer, prefix) == '\'';
}

/* ---- the rest ---- */

static bool lex_symbol(struct lexer *lexer, struct token *token)
{
	static const char *const symbols[] = {"==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*",
	                                      "/",  "%",  "?",  ":",  ".",  ",",  "(", ")", "[", "]", "{", "}"};
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		size_t length = strlen(symbols[i]);
		if (lexer->source.length - lexer->at >= length &&
		    memcmp(lexer->source.text + lexer->at, symbols[i], length) == 0) {
			token->kind = TOKEN_SYMBOL;
			token->text = (struct cel_text){symbols[i], length};
			lexer->at += length;
			return true;
		}
	}
	if (peek(lexer, 0) == '`')
		return cel_unsupported(lexer->error, token->offset, "a name in backquotes");
	return cel_invalid(lexer->error, token->offset, "a character that means nothing");
}

bool cel_lexer_next(struct lexer *lexer, struct token *token)
{
	*token = (struct token){.kind = TOKEN_END};
	bool more = skip_space(lexer);
	token->offset = lexer->at;
	if (!more)
		return true;
	if (begins_string(lexer))
		return lex_string(lexer, token);
	char c = peek(lexer, 0);
	if (c == '.' && is_digit(peek(lexer, 1)))
		return cel_unsupported(lexer->error, token->offset, "a number with a fraction");
	if (is_digit(c))
		return lex_number(lexer, token);
	if (!is_name_start(c))
		return lex_symbol(lexer, token);
	size_t start = lexer->at;
	while (is_name_start(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
		lexer->at++;
	token->kind = TOKEN_NAME;
	token->text = (struct cel_text){lexer->source.text + start, lexer->at - start};
	return true;
}
