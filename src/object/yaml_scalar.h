/* What an unquoted YAML scalar means. One place for the reader, which must agree with kubectl, and the writer, which
 * must quote whatever would be read as something else. Only for the files of this folder. */
#ifndef OBJECT_YAML_SCALAR_H
#define OBJECT_YAML_SCALAR_H

#include "base/strings.h"

enum yaml_scalar {
	YAML_STRING,
	YAML_NULL, /* empty ~ null Null NULL */
	YAML_TRUE, /* true yes on, in lower, Title and UPPER case; y Y */
	YAML_FALSE,
	YAML_INTEGER,    /* 12, +1, -3, 1_000, 017, 0o17, 0xF, 0b11 */
	YAML_FLOAT,      /* 1.5 .5 1. 1e3 */
	YAML_NOT_FINITE, /* .inf .nan: JSON has no such numbers */
};

/* For numbers, *number receives the JSON form (decimal, no leading zeros); its old content is dropped. */
enum yaml_scalar yaml_scalar_resolve(const char *text, size_t length, struct buffer *number);

#endif
