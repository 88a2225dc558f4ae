/* Path elements of field sets, for the two files that make and apply them. */
#ifndef API_FIELDS_INTERNAL_H
#define API_FIELDS_INTERNAL_H

#include "api/shape.h"

#include "base/arena.h"

/* Of an item of a list that is a set or keyed; NULL when it has none. */
const char *fields_element(struct arena *arena, const struct val *item, const struct shape *shape);

#endif
