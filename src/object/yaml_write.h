/* YAML out: block style, keys in document order, strings quoted only where YAML 1.1 would read something else. */
#ifndef OBJECT_YAML_WRITE_H
#define OBJECT_YAML_WRITE_H

#include "object/doc.h"

void yaml_write(const struct val *val, struct buffer *out);

#endif
