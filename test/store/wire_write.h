/* Writes objects as protobuf, as an API server does: what the tests give to those who read it. */
#ifndef TEST_STORE_WIRE_WRITE_H
#define TEST_STORE_WIRE_WRITE_H

#include "object/doc.h"
#include "object/schema.h"

void wire_write_varint(struct buffer *out, uint64_t value);
void wire_write_bytes(struct buffer *out, uint32_t number, const char *bytes, size_t length);
/* The message; fields that the schema does not know are left out. */
void wire_write_message(struct buffer *out, const struct schema_type *type, const struct val *object);
/* The mark, the kind and a message around these bytes. */
void wire_write_envelope(struct buffer *out, const char *kind, const char *bytes, size_t length);
/* A list of pods, from JSON with ' for ". `continue_` "": the last page. */
void wire_write_pods(struct buffer *out, int version, const char *continue_, const char *const *pods, size_t count);
/* A frame of a watch: `kind` is Pod or Status. */
void wire_write_event(struct buffer *out, const char *type, const char *kind, const char *object);

#endif
