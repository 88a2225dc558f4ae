/* A reader of the wire format, guided by the schema tables.
 *
 * The sender writes fields that are not pointers even when they are empty, so an empty value does not say that somebody
 * set it: those are left out, as JSON would, save for the fields where nothing and zero differ. */
#include "serve/api/protobuf.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/clock.h"
#include "object/build.h"
#include "kinds/schema.h"
#include "object/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

struct reader {
	struct build *build;
	const char *problem;
};

static struct node *text_node(struct reader *reader, struct wire_span bytes)
{
	char *copy = wire_text(bytes);
	if (!text_is_utf8(copy, (size_t)(bytes.end - bytes.at)))
		reader->problem = "a text is not UTF-8";
	struct node *node = reader->problem ? NULL : build_string(reader->build, copy);
	free(copy);
	return node;
}

static struct node *base64_node(struct reader *reader, struct wire_span bytes)
{
	struct arena *arena = arena_create();
	struct node *node = build_string(reader->build, base64_encode(arena, bytes.at, (size_t)(bytes.end - bytes.at)));
	arena_destroy(arena);
	return node;
}

/* A field of a small message. */
static bool find(struct reader *reader, struct wire_span in, uint32_t number, struct wire_value *found)
{
	if (wire_find(in, number, found) < 0)
		reader->problem = "a message is cut off";
	return found->number == number;
}

static struct node *time_node(struct reader *reader, struct wire_span in, bool micro)
{
	struct wire_value seconds = {0}, nanos = {0};
	char text[48];
	if (!find(reader, in, 1, &seconds))
		return NULL; /* the zero time */
	find(reader, in, 2, &nanos);
	if (micro)
		clock_print_micro((int64_t)seconds.integer, (unsigned)(nanos.integer / 1000 % 1000000), text);
	else
		clock_print_rfc3339((int64_t)seconds.integer, text);
	return build_string(reader->build, text);
}

static struct node *int_or_string(struct reader *reader, struct wire_span in)
{
	struct wire_value type = {0}, number = {0}, text = {0};
	find(reader, in, 1, &type);
	find(reader, in, 2, &number);
	if (type.integer == 1 && find(reader, in, 3, &text))
		return text_node(reader, text.bytes);
	return build_int(reader->build, (int32_t)number.integer);
}

static struct node *duration_node(struct reader *reader, struct wire_span in)
{
	struct wire_value ns = {0};
	char text[48];
	find(reader, in, 1, &ns);
	snprintf(text, sizeof(text), "%lldns", (long long)ns.integer);
	return build_string(reader->build, text);
}

/* RawExtension and the like hold JSON. */
static struct node *raw_node(struct reader *reader, struct wire_span in)
{
	struct wire_value raw = {0};
	if (!find(reader, in, 1, &raw) || raw.wire != 2)
		return NULL;
	struct doc *doc = doc_parse_json((const char *)raw.bytes.at, (size_t)(raw.bytes.end - raw.bytes.at), NULL);
	struct node *node = doc ? build_copy(reader->build, doc_root(doc)) : NULL;
	doc_destroy(doc);
	return node;
}

static struct node *read_message(struct reader *reader, const struct schema_type *type, struct wire_span in, int depth);

static struct node *number_node(struct reader *reader, const struct schema_field *field, const struct wire_value *value)
{
	if (field->kind == 'b')
		return build_bool(reader->build, value->integer != 0);
	if (field->kind == 'i')
		return build_int(reader->build, (int32_t)value->integer);
	return build_int(reader->build, (int64_t)value->integer);
}

static struct node *read_value(struct reader *reader, const struct schema_field *field, const struct wire_value *value,
                               int depth)
{
	struct wire_value inner = {0};
	if (field->kind == 'i' || field->kind == 'l' || field->kind == 'b')
		return number_node(reader, field, value);
	if (value->wire != 2) {
		reader->problem = "a field has the wrong type";
		return NULL;
	}
	switch (field->kind) {
	case 's':
		return text_node(reader, value->bytes);
	case 'y':
		return base64_node(reader, value->bytes);
	case 'q':
		return find(reader, value->bytes, 1, &inner) && inner.wire == 2 ? text_node(reader, inner.bytes) : NULL;
	case 't':
	case 'u':
		return time_node(reader, value->bytes, field->kind == 'u');
	case 'x':
		return int_or_string(reader, value->bytes);
	case 'd':
		return duration_node(reader, value->bytes);
	case 'T':
		return read_message(reader, field->type, value->bytes, depth + 1);
	default:
		return raw_node(reader, value->bytes);
	}
}

/* Structures that are always sent, and mean nothing when empty. */
static bool drops_empty(const struct schema_field *field)
{
	static const char *const names[] = {"status", "strategy", "updateStrategy", "resources", "creationTimestamp"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == field->name_length && memcmp(names[i], field->name, field->name_length) == 0)
			return true;
	}
	return false;
}

static bool is_empty(const struct schema_field *field, const struct wire_value *value)
{
	if (field->list || field->map)
		return false;
	if (field->kind == 'i' || field->kind == 'l' || field->kind == 'b')
		return value->integer == 0 && !field->keeps_zero;
	if (field->kind == 's')
		return value->bytes.at == value->bytes.end && !field->keeps_zero;
	return value->bytes.at == value->bytes.end && drops_empty(field);
}

/* Lists and maps of the message being read, by field number: they come one entry at a time. */
struct open_field {
	uint32_t number;
	struct node *node;
};

struct open_fields {
	struct open_field items[64];
	size_t count;
};

static struct node *container(struct reader *reader, struct open_fields *open, const struct schema_field *field,
                              struct node *map)
{
	for (size_t i = 0; i < open->count; i++) {
		if (open->items[i].number == field->number)
			return open->items[i].node;
	}
	if (open->count == sizeof(open->items) / sizeof(open->items[0])) {
		reader->problem = "a message has too many lists";
		return NULL;
	}
	char name[96];
	snprintf(name, sizeof(name), "%.*s", (int)field->name_length, field->name);
	struct node *node = field->map ? build_map(reader->build) : build_list(reader->build);
	build_put(reader->build, map, name, node);
	open->items[open->count++] = (struct open_field){field->number, node};
	return node;
}

static void put_entry(struct reader *reader, struct node *map, const struct schema_field *field, struct wire_span in,
                      int depth)
{
	struct wire_value key = {.wire = 2}, value = {.wire = 2};
	find(reader, in, 1, &key);
	find(reader, in, 2, &value);
	struct node *name = text_node(reader, key.bytes);
	if (!name)
		return;
	char *text = wire_text(key.bytes);
	build_put(reader->build, map, text, read_value(reader, field, &value, depth));
	free(text);
}

static void read_fields(struct reader *reader, struct node *map, const struct schema_type *type, struct wire_span in,
                        int depth)
{
	struct open_fields open = {.count = 0};
	struct schema_field field;
	struct wire_value value;
	char name[96];
	int status;
	while (!reader->problem && (status = wire_next(&in, &value)) != 0) {
		if (status < 0) {
			reader->problem = "a message is cut off";
		} else if (!schema_field_numbered(type, value.number, &field) || is_empty(&field, &value)) {
			continue; /* newer than we are, or nothing */
		} else if (field.inlined) {
			if (value.wire == 2 && field.type && depth < MAX_DEPTH)
				read_fields(reader, map, field.type, value.bytes, depth + 1);
		} else if (field.list || field.map) {
			struct node *holder = container(reader, &open, &field, map);
			if (holder && field.map && value.wire == 2)
				put_entry(reader, holder, &field, value.bytes, depth);
			else if (holder && field.list)
				build_append(reader->build, holder, read_value(reader, &field, &value, depth));
		} else {
			snprintf(name, sizeof(name), "%.*s", (int)field.name_length, field.name);
			struct node *node = read_value(reader, &field, &value, depth);
			if (node)
				build_put(reader->build, map, name, node);
		}
	}
}

static struct node *read_message(struct reader *reader, const struct schema_type *type, struct wire_span in, int depth)
{
	struct node *map = build_map(reader->build);
	if (depth > MAX_DEPTH)
		reader->problem = "messages are nested too deeply";
	else
		read_fields(reader, map, type, in, depth);
	return map;
}

static const char *copy_text(struct arena *arena, struct wire_span bytes)
{
	return arena_strndup(arena, bytes.at ? (const char *)bytes.at : "", (size_t)(bytes.end - bytes.at));
}

static const struct schema_type *type_of(struct arena *arena, const char *api_version, const char *kind)
{
	const char *slash = strchr(api_version, '/');
	if (strcmp(kind, "DeleteOptions") == 0)
		return schema_find(kind); /* sent with the version of whatever is to be deleted */
	if (!slash)
		return kinds_schema("", api_version, kind);
	return kinds_schema(arena_strndup(arena, api_version, (size_t)(slash - api_version)), slash + 1, kind);
}

struct doc *protobuf_read(const char *data, size_t length, struct error *error)
{
	const unsigned char *bytes = (const unsigned char *)data;
	if (length < WIRE_MARK_LENGTH || memcmp(bytes, WIRE_MARK, WIRE_MARK_LENGTH) != 0) {
		error_set(error, ERROR_SYNTAX, "protobuf: the body does not begin with the mark of Kubernetes");
		return NULL;
	}
	struct reader reader = {.build = build_create()};
	struct arena *arena = arena_create();
	struct wire_envelope envelope;
	if (wire_unwrap((struct wire_span){bytes, bytes + length}, &envelope) < 0)
		reader.problem = "a message is cut off";
	const char *api_version = copy_text(arena, envelope.api_version), *kind = copy_text(arena, envelope.kind);
	const struct schema_type *type = type_of(arena, api_version, kind);
	if (!type && !reader.problem)
		reader.problem = "objects of this kind are accepted as JSON only";
	struct node *root = build_map(reader.build);
	build_put_string(reader.build, root, "apiVersion", api_version);
	build_put_string(reader.build, root, "kind", kind);
	if (!reader.problem)
		read_fields(&reader, root, type, envelope.object, 0);
	if (reader.problem)
		error_set(error, ERROR_SYNTAX, "protobuf: %s", reader.problem);
	struct doc *doc = reader.problem ? NULL : build_finish(reader.build, root);
	arena_destroy(arena);
	build_destroy(reader.build);
	return doc;
}
