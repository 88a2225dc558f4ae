/* Errors: a status of -1 plus an optional caller-owned text. The code table says what a user should do. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

enum error_code {
	ERROR_NONE = 0,
	ERROR_USAGE,   /* the command line is wrong */
	ERROR_IO,      /* a file cannot be read or written */
	ERROR_SYNTAX,  /* text is not YAML, JSON or a quantity */
	ERROR_LIMIT,   /* input is larger or deeper than we accept */
	ERROR_RANGE,   /* a number does not fit */
	ERROR_INVALID, /* an object breaks a rule */
	ERROR_NOT_FOUND,
	ERROR_CONFLICT,
	ERROR_INTERNAL,
};

struct error {
	enum error_code code;
	char text[512];
};

/* Fills *error (if not NULL) and returns -1, so that `return error_set(...)` reads well. */
int error_set(struct error *error, enum error_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* One sentence: what the user can do about this kind of error. Never NULL. */
const char *error_advice(enum error_code code);

#endif
