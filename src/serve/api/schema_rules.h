/* What values of our kinds must be, as far as an API server can tell by itself: the definitions carry it, so that it holds
 * while no webhook answers. What depends on other objects, or counts without bound, is left to admission. */
#ifndef SERVE_API_SCHEMA_RULES_H
#define SERVE_API_SCHEMA_RULES_H

#include "object/build.h"

/* Adds the keywords of a field of a type, or of the type itself (field NULL), to its schema. */
void schema_rules_put(struct build *build, struct node *schema, const char *type, const char *field,
                      size_t field_length);

#endif
