/* Which schema the objects of a kind have. */
#ifndef KINDS_SCHEMA_H
#define KINDS_SCHEMA_H

#include "object/schema.h"

/* The fields of what has this kind, an object or the body of a request; NULL when they are not known. */
const struct schema_type *kinds_schema(const char *group, const char *version, const char *kind);

#endif
