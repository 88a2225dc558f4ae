/* Copies of objects that came as protobuf: read and cut down to a table of fields in one step.
 *
 * A plan joins what the schema says of a type (which number is which field) with what is kept of it. The copy is what
 * doc_copy_with() would make of the same object in JSON, but that structures and times without content may be missing. */
#ifndef OBJECT_COPY_WIRE_H
#define OBJECT_COPY_WIRE_H

#include "object/copy.h"
#include "object/schema.h"
#include "object/wire.h"

struct wire_plan;

/* The tables must outlive the plan and its copies; the copies do not need the plan. */
struct wire_plan *wire_plan_create(const struct schema_type *type, const struct copy_field *fields);
void wire_plan_destroy(struct wire_plan *plan); /* NULL is a no-op */

/* With these members first. NULL and *error when it is malformed. */
struct doc *doc_copy_wire(struct copier *copier, const struct wire_plan *plan, struct wire_span in,
                          const struct copy_member *members, size_t count, struct error *error);

#endif
