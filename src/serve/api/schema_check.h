/* Objects against schemas: fields nobody knows, values of the wrong type. For built-in kinds from the tables; for custom
 * ones see structural.h. */
#ifndef SERVE_API_SCHEMA_CHECK_H
#define SERVE_API_SCHEMA_CHECK_H

#include "base/problems.h"
#include "object/build.h"
#include "object/doc.h"
#include "object/schema.h"

/* Adds one problem per unknown field: its path is the path, its message `unknown field "spec.x"`. `patch` leaves out the
 * directives of strategic merge patches. At most SCHEMA_MAX_PROBLEMS. */
#define SCHEMA_MAX_PROBLEMS 64
void schema_unknown(const struct schema_type *type, const struct val *object, bool patch, struct problems *problems);
/* A copy without unknown fields. */
struct node *schema_prune(struct build *build, const struct schema_type *type, const struct val *object);
/* Adds one error per value whose JSON type cannot be that of its field. */
void schema_types(const struct schema_type *type, const struct val *object, struct problems *problems);

#endif
