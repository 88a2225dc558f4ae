/* Writing JSON by hand: for streams of very many objects that are there as JSON, where building a document first would only
 * cost time. Everything else is built, see build.h. */
#ifndef OBJECT_JSON_H
#define OBJECT_JSON_H

#include "base/strings.h"

#include <stdint.h>

/* A string with its quotes. Bytes that are not UTF-8 are passed on as they are. */
void json_quote(struct buffer *out, const char *text);

/* One member of the map that is being written, with the comma it needs: none behind the brace that opens the map. */
void json_put_key(struct buffer *out, const char *key); /* its value follows */
void json_put_string(struct buffer *out, const char *key, const char *text);
void json_put_int(struct buffer *out, const char *key, int64_t number);

#endif
