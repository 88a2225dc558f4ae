/* String buffer and interner. */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growable text; `text` is always NUL-terminated once something was appended. Free with buffer_free. */
struct buffer {
	char *text;
	size_t length;
	size_t capacity;
};

void buffer_append(struct buffer *buffer, const char *text, size_t length);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_free(struct buffer *buffer);

/* Interner: equal strings get equal small numbers, in order of first appearance from 0. */
struct interner;
struct interner *interner_create(void);
void interner_destroy(struct interner *interner);
uint32_t interner_id(struct interner *interner, const char *text);
/* UINT32_MAX when never seen. */
uint32_t interner_find(const struct interner *interner, const char *text);
const char *interner_text(const struct interner *interner, uint32_t id);
uint32_t interner_count(const struct interner *interner);

bool text_starts_with(const char *text, const char *prefix);
bool text_ends_with(const char *text, const char *suffix);
bool text_equal(const char *a, const char *b); /* NULL equals only NULL */
/* Edits between two words: insert, delete, replace, swap of neighbours. Words longer than 40 bytes are never near. */
size_t text_distance(const char *a, const char *b);
/* The name that a word was meant to be, which is none of them. */
struct nearest_name {
	const char *word;
	const char *name; /* of those considered so far; borrowed; NULL: none is near */
	size_t distance;
};
/* True when the name is nearer than those before. Near is what differs in a quarter of its letters at most, or in upper and
 * lower case alone, or begins with the word. */
bool text_consider(struct nearest_name *nearest, const char *name);
/* The nearest of a list, NULL when none is near. */
const char *text_nearest(const char *word, const char *const *names, size_t count);
/* Decodes the UTF-8 character at the start of the text; the bytes it takes, 0 when there is no valid one. */
size_t text_utf8(const char *text, size_t length, uint32_t *codepoint);
/* Whether all of it is UTF-8 without zeros. */
bool text_is_utf8(const char *text, size_t length);

#endif
