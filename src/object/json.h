/* Writing JSON by hand, where building a document first would only cost time. */
#ifndef OBJECT_JSON_H
#define OBJECT_JSON_H

#include "base/strings.h"

/* A string with its quotes. Bytes that are not UTF-8 are passed on as they are. */
void json_quote(struct buffer *out, const char *text);

#endif
