/* Base64 of bytes, as JSON and YAML carry them. */
#ifndef SERVE_TLS_BASE64_H
#define SERVE_TLS_BASE64_H

#include "base/arena.h"
#include "base/strings.h"

/* NUL-terminated; "" for no bytes. */
char *base64_encode(struct arena *arena, const char *bytes, size_t length);
/* Appends the bytes; nothing when it is not base64. */
void base64_decode(const char *text, struct buffer *out);

#endif
