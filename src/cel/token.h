/* Tokens of an expression. */
#ifndef CEL_TOKEN_H
#define CEL_TOKEN_H

#include "cel/cel.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_INT,
	TOKEN_STRING,
	TOKEN_SYMBOL, /* an operator or a mark: `text` is it */
};

struct token {
	enum token_kind kind;
	size_t offset;
	struct cel_text text; /* as written; of a string: what it says */
	uint64_t number;      /* TOKEN_INT */
};

struct lexer {
	struct arena *arena;
	struct cel_text source;
	size_t at;
	struct error *error;
};

/* False with *error set when what follows is no token. */
bool cel_lexer_next(struct lexer *lexer, struct token *token);
bool cel_token_is(const struct token *token, const char *symbol);
/* Both return false, so that `return cel_invalid(...)` reads well. */
bool cel_invalid(struct error *error, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool cel_unsupported(struct error *error, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
