/* Base64 of bytes, as JSON and YAML carry them. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/arena.h"
#include "base/strings.h"

/* NUL-terminated; "" for no bytes. */
char *base64_encode(struct arena *arena, const void *bytes, size_t length);
/* Appends the bytes; -1 and nothing when it is not base64. Blanks and line breaks do not count. What was read on the way
 * stays nowhere else: it may be a key. */
int base64_decode(const char *text, struct buffer *out);

#endif
