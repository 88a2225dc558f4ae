/* What the files that make copies share: a copy being made. */
#ifndef OBJECT_COPY_INTERNAL_H
#define OBJECT_COPY_INTERNAL_H

#include "base/vec.h"
#include "object/copy.h"
#include "object/doc_internal.h"

struct copier {
	VEC(yyjson_val) values;
	VEC(uint32_t) texts; /* values whose text is in `bytes`, at the offset that they hold */
	struct buffer bytes;
};

/* A map with these members, and more that are added then; copy_close() it. */
void copy_open_root(struct copier *copier, const struct copy_member *members, size_t count);
/* Adds a text, or with `type` YYJSON_TYPE_RAW a number too large for yyjson, which is one. */
void copy_text(struct copier *copier, const char *text, size_t length, yyjson_type type);
/* The container that begins at value `at` has so many members or items, and ends here. */
void copy_close(struct copier *copier, size_t at, yyjson_type type, size_t count);
/* The row for the name; NULL when there is none. */
const struct copy_field *copy_find(const struct copy_field *fields, const char *name, size_t length);
/* The name of a member: that of its row, or (NULL, or one for the rest) a text of the copy. */
void copy_name(struct copier *copier, const char *name, size_t length, const struct copy_field *field);
struct doc *copy_finish(struct copier *copier);

#endif
