/* The wire format of protobuf: fields with a number and a value, one behind the other. What they mean, schema.h says. */
#ifndef OBJECT_WIRE_H
#define OBJECT_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire_span {
	const unsigned char *at, *end;
};

enum { WIRE_VARINT = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2, WIRE_FOUR = 5 };

struct wire_value {
	uint32_t number;
	unsigned wire;
	uint64_t integer;
	struct wire_span bytes;
};

/* 1 a field, 0 the end, -1 malformed. */
int wire_next(struct wire_span *in, struct wire_value *value);

/* The beginning of a field: its number and wire type, and the length of its bytes. 1 it is there, 0 it is not complete, -1
 * malformed. */
int wire_head(struct wire_span *in, struct wire_value *value, uint64_t *length);

/* A field of a small message: the last one with this number; without one *found stays as it is. -1 when the message is
 * malformed, also behind that field. */
int wire_find(struct wire_span in, uint32_t number, struct wire_value *found);
/* The bytes as a text; the caller frees it. */
char *wire_text(struct wire_span bytes);

/* Kubernetes puts its messages into an envelope: a mark, and then what kind of object it is, and the object. */
#define WIRE_MARK "k8s"
#define WIRE_MARK_LENGTH 4 /* with its final zero */

struct wire_envelope {
	struct wire_span api_version, kind, object;
};

/* -1 when it is malformed. */
int wire_unwrap(struct wire_span in, struct wire_envelope *envelope);
/* Its type, field 1 of the envelope. */
int wire_unwrap_type(struct wire_span in, struct wire_envelope *envelope);

#endif
