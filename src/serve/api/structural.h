/* Objects of custom types against the OpenAPI schema of their definition: unknown fields, defaults, values. */
#ifndef SERVE_API_STRUCTURAL_H
#define SERVE_API_STRUCTURAL_H

#include "base/problems.h"
#include "object/doc.h"

/* Adds a warning `unknown field "spec.x"` per field that the schema does not have. */
void structural_unknown(const struct val *schema, const struct val *object, struct problems *problems);
/* The object without unknown fields and with defaults filled in; NULL when that changes nothing. */
struct doc *structural_shape(const struct val *schema, const struct val *object);
/* Adds an error for every rule that is broken. Rules in CEL are not looked at. */
void structural_validate(const struct val *schema, const struct val *object, struct problems *problems);

#endif
