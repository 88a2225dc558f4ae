/* What the types and fields of the schemas are for, in words: for kubectl explain and the reference. */
#ifndef SERVE_API_SCHEMA_WORDS_H
#define SERVE_API_SCHEMA_WORDS_H

#include <stddef.h>

/* What a type, or a field of it (NULL: the type itself), is for; "" when nobody wrote it down. */
const char *schema_words(const char *type, const char *field, size_t field_length);

/* What is known of the inside of a field that may hold anything: one text after the other, "type|meaning", with *path to
 * what it is about; NULL at the end. Begin with *at 0. */
const char *schema_words_below(const char *type, const char *field, size_t field_length, size_t *at, const char **path);

#endif
