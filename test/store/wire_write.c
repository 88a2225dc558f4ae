#include "wire_write.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wire_write_varint(struct buffer *out, uint64_t value)
{
	do {
		char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		buffer_append(out, &byte, 1);
		value >>= 7;
	} while (value);
}

static void write_key(struct buffer *out, uint32_t number, unsigned wire)
{
	wire_write_varint(out, (uint64_t)number << 3 | wire);
}

void wire_write_bytes(struct buffer *out, uint32_t number, const char *bytes, size_t length)
{
	write_key(out, number, 2);
	wire_write_varint(out, length);
	if (length)
		buffer_append(out, bytes, length);
}

static void write_text(struct buffer *out, uint32_t number, const char *text)
{
	wire_write_bytes(out, number, text, strlen(text));
}

static void write_number(struct buffer *out, uint32_t number, int64_t value)
{
	write_key(out, number, 0);
	wire_write_varint(out, (uint64_t)value);
}

static void write_time(struct buffer *out, const char *text)
{
	int64_t seconds;
	if (clock_parse_rfc3339(text, &seconds) < 0)
		return;
	write_number(out, 1, seconds);
	write_number(out, 2, 0);
}

static void write_int_or_string(struct buffer *out, const struct val *val)
{
	int64_t number = 0;
	bool is_text = val_kind(val) == VAL_STRING;
	val_int(val, &number);
	write_number(out, 1, is_text);
	write_number(out, 2, is_text ? 0 : number);
	write_text(out, 3, val_str(val, ""));
}

static void write_value(struct buffer *out, uint32_t number, const struct schema_field *field, const struct val *val)
{
	char scratch[64];
	struct buffer inner = {0};
	int64_t whole = 0;
	switch (field->kind) {
	case 'b':
		write_number(out, number, val_bool(val, false));
		return;
	case 'i':
	case 'l':
		val_int(val, &whole);
		write_number(out, number, whole);
		return;
	case 's':
		write_text(out, number, val_str(val, ""));
		return;
	case 'q':
		write_text(&inner, 1, val_scalar_text(val, scratch));
		break;
	case 't':
		write_time(&inner, val_str(val, ""));
		break;
	case 'x':
		write_int_or_string(&inner, val);
		break;
	case 'T':
		wire_write_message(&inner, field->type, val);
		break;
	default:
		return;
	}
	wire_write_bytes(out, number, inner.text, inner.length);
	buffer_free(&inner);
}

static void write_entries(struct buffer *out, const struct schema_field *field, const struct val *map)
{
	const char *key;
	const struct val *value;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);) {
		struct buffer entry = {0};
		write_text(&entry, 1, key);
		write_value(&entry, 2, field, value);
		wire_write_bytes(out, field->number, entry.text, entry.length);
		buffer_free(&entry);
	}
}

static void write_field(struct buffer *out, const struct schema_field *field, const struct val *object)
{
	char name[96];
	const struct val *item;
	snprintf(name, sizeof(name), "%.*s", (int)field->name_length, field->name);
	const struct val *val = val_get(object, name);
	/* A text that is no pointer is always on the wire; others that are not set are not. */
	if (!val && field->kind == 's' && !field->list && !field->map && !field->keeps_zero)
		write_text(out, field->number, "");
	if (!val)
		return;
	if (field->map)
		write_entries(out, field, val);
	else if (field->list)
		for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
			write_value(out, field->number, field, item);
	else
		write_value(out, field->number, field, val);
}

void wire_write_message(struct buffer *out, const struct schema_type *type, const struct val *object)
{
	struct schema_field field;
	for (const char *at = type->fields; schema_next(&at, &field);) {
		if (field.number == 0)
			continue;
		if (!field.inlined) {
			write_field(out, &field, object);
			continue;
		}
		struct buffer inner = {0};
		wire_write_message(&inner, field.type, object);
		wire_write_bytes(out, field.number, inner.text, inner.length);
		buffer_free(&inner);
	}
}

void wire_write_envelope(struct buffer *out, const char *kind, const char *bytes, size_t length)
{
	struct buffer type = {0};
	buffer_append(out, "k8s", 4);
	write_text(&type, 1, "v1");
	write_text(&type, 2, kind);
	wire_write_bytes(out, 1, type.text, type.length);
	wire_write_bytes(out, 2, bytes, length);
	write_text(out, 3, "");
	write_text(out, 4, "");
	buffer_free(&type);
}

static struct doc *parse(const char *text)
{
	char *json = base_strdup(text);
	for (char *at = json; (at = strchr(at, '\''));)
		*at = '"';
	struct doc *doc = doc_parse_json(json, strlen(json), NULL);
	free(json);
	return doc;
}

static void write_object(struct buffer *out, const char *kind, const char *text)
{
	struct doc *doc = parse(text);
	wire_write_message(out, schema_of_kind("", "v1", kind), doc_root(doc));
	doc_destroy(doc);
}

void wire_write_pods(struct buffer *out, int version, const char *continue_, const char *const *pods, size_t count)
{
	struct buffer list = {0}, part = {0};
	char text[16];
	snprintf(text, sizeof(text), "%d", version);
	write_text(&part, 2, text);
	write_text(&part, 3, continue_);
	wire_write_bytes(&list, 1, part.text, part.length);
	for (size_t i = 0; i < count; i++) {
		part.length = 0;
		write_object(&part, "Pod", pods[i]);
		wire_write_bytes(&list, 2, part.text, part.length);
	}
	wire_write_envelope(out, "PodList", list.text, list.length);
	buffer_free(&list);
	buffer_free(&part);
}

static void write_status(struct buffer *out, const char *text)
{
	struct doc *doc = parse(text);
	int64_t code = 0;
	val_int(val_get(doc_root(doc), "code"), &code);
	write_text(out, 3, val_str(val_get(doc_root(doc), "message"), ""));
	write_number(out, 6, code);
	doc_destroy(doc);
}

void wire_write_event(struct buffer *out, const char *type, const char *kind, const char *object)
{
	struct buffer inner = {0}, whole = {0}, raw = {0}, event = {0};
	if (strcmp(kind, "Status") == 0)
		write_status(&inner, object);
	else
		write_object(&inner, kind, object);
	wire_write_envelope(&whole, kind, inner.text, inner.length);
	wire_write_bytes(&raw, 1, whole.text, whole.length);
	write_text(&event, 1, type);
	wire_write_bytes(&event, 2, raw.text, raw.length);
	size_t size = event.length;
	char head[4] = {(char)(size >> 24), (char)(size >> 16), (char)(size >> 8), (char)size};
	buffer_append(out, head, 4);
	buffer_append(out, event.text, event.length);
	buffer_free(&inner);
	buffer_free(&whole);
	buffer_free(&raw);
	buffer_free(&event);
}
