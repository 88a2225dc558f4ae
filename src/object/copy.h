/* Copies of documents with only some of their fields, in one block of memory.
 *
 * A table says what is kept of a map; for a list it holds for each item. Names that a table has cost nothing in the copy. */
#ifndef OBJECT_COPY_H
#define OBJECT_COPY_H

#include "object/doc.h"

struct copy_field {
	const char *name; /* NULL ends the table */
	size_t length;
	const struct copy_field *fields; /* of its value when that is a map or a list of maps; NULL: all of it */
	bool drop;
	bool rest; /* what the table does not name is kept too */
};

#define COPY_FIELD(text)                                                                                               \
	{                                                                                                              \
		.name = (text), .length = sizeof(text) - 1                                                             \
	}
#define COPY_PART(text, table)                                                                                         \
	{                                                                                                              \
		.name = (text), .length = sizeof(text) - 1, .fields = (table)                                          \
	}
#define COPY_DROP(text)                                                                                                \
	{                                                                                                              \
		.name = (text), .length = sizeof(text) - 1, .drop = true                                               \
	}
#define COPY_REST                                                                                                      \
	{                                                                                                              \
		.name = "", .rest = true                                                                               \
	}
#define COPY_END                                                                                                       \
	{                                                                                                              \
		.name = NULL                                                                                           \
	}

/* What copies need while they are made: used again and again. */
struct copier;
struct copier *copier_create(void);
void copier_destroy(struct copier *copier); /* NULL is a no-op; copies live on */

struct copy_member {       /* a text to put in front */
	const char *name;  /* must outlive the copy */
	const char *value; /* copied */
};

/* A copy of a map, with these members first, instead of its own of the same names. `fields` NULL: everything. The tables
 * must outlive the copy. */
struct doc *doc_copy_with(struct copier *copier, const struct val *map, const struct copy_field *fields,
                          const struct copy_member *members, size_t count);

#endif
