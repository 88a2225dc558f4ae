/* Schemas: which fields the built-in kinds have. One compact table serves strict field validation, OpenAPI documents
 * (kubectl explain) and the reading of protobuf bodies. */
#ifndef OBJECT_SCHEMA_H
#define OBJECT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schema_type {
	const char *name;
	const char *fields; /* see the tables */
};

struct schema_field {
	const char *name; /* not terminated */
	size_t name_length;
	uint32_t number; /* protobuf; 0 when it has none */
	bool list, map;  /* of what follows */
	bool inlined;    /* its fields stand in the outer type */
	bool keeps_zero; /* zero and nothing differ, or JSON always has it */
	char kind;       /* a letter of the tables, 'T' for `type` */
	const struct schema_type *type;
};

/* NULL when unknown. */
const struct schema_type *schema_find(const char *name);
/* Walks the fields: `const char *at = type->fields; while (schema_next(&at, &field)) ...` */
bool schema_next(const char **at, struct schema_field *field);
/* Also finds fields of inlined types. */
bool schema_field_named(const struct schema_type *type, const char *name, struct schema_field *field);
bool schema_field_numbered(const struct schema_type *type, uint32_t number, struct schema_field *field);
/* The type knows only some of its fields: others are not an error. */
bool schema_is_open(const struct schema_type *type);

/* ---- tables: schema_core.c, schema_groups.c, schema_platoon.c; sorted by name ---- */
extern const struct schema_type schema_core[], schema_groups[], schema_platoon[];
extern const size_t schema_core_count, schema_groups_count, schema_platoon_count;

#endif
