/* The JSONPath of printer columns: .a.b, ['a.b'], [0], [*], [?(@.type=="Ready")]; a leading $ and braces are allowed. */
#ifndef OBJECT_JSONPATH_H
#define OBJECT_JSONPATH_H

#include "object/doc.h"

/* Calls back for every match, in order, until it returns false. A path that cannot be read has no matches. */
void jsonpath_each(const struct val *root, const char *path, bool (*found)(void *context, const struct val *val),
                   void *context);
/* The first match, or NULL. */
const struct val *jsonpath_first(const struct val *root, const char *path);

#endif
