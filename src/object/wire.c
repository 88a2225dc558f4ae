#include "object/wire.h"

#include "base/arena.h"

#include <string.h>

#define MAX_HEAD 20 /* two numbers of at most ten bytes each */

static int read_varint(struct wire_span *in, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		unsigned char byte = *in->at++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return 0;
	}
	return -1;
}

static int read_fixed(struct wire_span *in, size_t size, uint64_t *value)
{
	*value = 0;
	if ((size_t)(in->end - in->at) < size)
		return -1;
	for (size_t i = 0; i < size; i++)
		*value |= (uint64_t)in->at[i] << (8 * i);
	in->at += size;
	return 0;
}

static int read_key(struct wire_span *in, struct wire_value *value)
{
	uint64_t key;
	if (read_varint(in, &key) || key >> 3 == 0 || key >> 3 > INT32_MAX)
		return -1;
	*value = (struct wire_value){.number = (uint32_t)(key >> 3), .wire = (unsigned)(key & 7)};
	return 0;
}

int wire_next(struct wire_span *in, struct wire_value *value)
{
	uint64_t length;
	if (in->at == in->end)
		return 0;
	if (read_key(in, value))
		return -1;
	switch (value->wire) {
	case WIRE_VARINT:
		return read_varint(in, &value->integer) ? -1 : 1;
	case WIRE_EIGHT:
		return read_fixed(in, 8, &value->integer) ? -1 : 1;
	case WIRE_BYTES:
		if (read_varint(in, &length) || length > (uint64_t)(in->end - in->at))
			return -1;
		value->bytes = (struct wire_span){in->at, in->at + length};
		in->at += length;
		return 1;
	case WIRE_FOUR:
		return read_fixed(in, 4, &value->integer) ? -1 : 1;
	default:
		return -1;
	}
}

int wire_head(struct wire_span *in, struct wire_value *value, uint64_t *length)
{
	struct wire_span from = *in;
	if (read_key(in, value) == 0 && value->wire == WIRE_BYTES && read_varint(in, length) == 0)
		return 1;
	return from.end - from.at < MAX_HEAD && in->at == in->end ? 0 : -1;
}

int wire_find(struct wire_span in, uint32_t number, struct wire_value *found)
{
	struct wire_value value;
	int status;
	while ((status = wire_next(&in, &value)) == 1)
		if (value.number == number)
			*found = value;
	return status;
}

char *wire_text(struct wire_span bytes)
{
	size_t length = (size_t)(bytes.end - bytes.at);
	char *text = base_malloc(length + 1);
	if (length)
		memcpy(text, bytes.at, length);
	text[length] = '\0';
	return text;
}

int wire_unwrap_type(struct wire_span in, struct wire_envelope *envelope)
{
	struct wire_value value;
	int status;
	while ((status = wire_next(&in, &value)) == 1) {
		if (value.wire == WIRE_BYTES && value.number == 1)
			envelope->api_version = value.bytes;
		else if (value.wire == WIRE_BYTES && value.number == 2)
			envelope->kind = value.bytes;
	}
	return status;
}

int wire_unwrap(struct wire_span in, struct wire_envelope *envelope)
{
	*envelope = (struct wire_envelope){0};
	if (in.end - in.at < WIRE_MARK_LENGTH || memcmp(in.at, WIRE_MARK, WIRE_MARK_LENGTH) != 0)
		return -1;
	in.at += WIRE_MARK_LENGTH;
	struct wire_value value;
	int status;
	while ((status = wire_next(&in, &value)) == 1) {
		if (value.wire != WIRE_BYTES)
			continue;
		if (value.number == 1 && wire_unwrap_type(value.bytes, envelope) < 0)
			return -1;
		if (value.number == 2)
			envelope->object = value.bytes;
	}
	return status;
}
