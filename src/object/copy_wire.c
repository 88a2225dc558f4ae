#include "object/copy_wire.h"

#include "base/arena.h"
#include "base/clock.h"
#include "object/copy_internal.h"

#include <string.h>

#define MAX_DEPTH 64
#define MAX_NUMBER 64 /* of a field: more than any type has */

/* What is done with a field of a message. */
struct field_plan {
	char kind; /* see schema.h; 0: it is left out */
	bool list, map, inlined, keeps_zero;
	const char *name;
	size_t length;
	const struct copy_field *row;  /* that named it; NULL: none */
	const struct copy_field *keys; /* of a map: which are kept; NULL: all */
	const struct message_plan *message;
};

struct message_plan {
	struct message_plan *next;
	const struct schema_type *type;
	const struct copy_field *fields;
	struct field_plan numbered[MAX_NUMBER];
};

struct wire_plan {
	struct arena *arena;
	struct message_plan *messages;
	const struct message_plan *root;
};

/* ---- plans ---- */

static const struct message_plan *plan_message(struct wire_plan *plan, const struct schema_type *type,
                                               const struct copy_field *fields);

static void plan_field(struct wire_plan *plan, struct message_plan *message, const struct schema_field *field)
{
	const struct copy_field *fields = message->fields;
	const struct copy_field *row = fields ? copy_find(fields, field->name, field->name_length) : NULL;
	if (field->number == 0 || field->number >= MAX_NUMBER)
		return;
	if (!field->inlined && fields && (!row || row->drop))
		return;
	if (!strchr("silbqtuxT", field->kind)) /* the book-keeping of the server, and nothing else that pods have */
		return;
	const struct copy_field *below = field->inlined ? fields : row ? row->fields : NULL;
	message->numbered[field->number] = (struct field_plan){
		.kind = field->kind,
		.list = field->list,
		.map = field->map,
		.inlined = field->inlined,
		.keeps_zero = field->keeps_zero,
		.name = arena_strndup(plan->arena, field->name, field->name_length),
		.length = field->name_length,
		.row = row,
		.keys = field->map ? below : NULL,
		.message = field->kind == 'T' ? plan_message(plan, field->type, field->map ? NULL : below) : NULL,
	};
}

static const struct message_plan *plan_message(struct wire_plan *plan, const struct schema_type *type,
                                               const struct copy_field *fields)
{
	for (const struct message_plan *known = plan->messages; known; known = known->next)
		if (known->type == type && known->fields == fields)
			return known;
	struct message_plan *message = arena_new(plan->arena, struct message_plan);
	*message = (struct message_plan){.next = plan->messages, .type = type, .fields = fields};
	plan->messages = message;
	struct schema_field field;
	for (const char *at = type->fields; schema_next(&at, &field);)
		plan_field(plan, message, &field);
	return message;
}

struct wire_plan *wire_plan_create(const struct schema_type *type, const struct copy_field *fields)
{
	struct arena *arena = arena_create();
	struct wire_plan *plan = arena_new(arena, struct wire_plan);
	plan->arena = arena;
	plan->root = plan_message(plan, type, fields);
	return plan;
}

void wire_plan_destroy(struct wire_plan *plan)
{
	if (plan)
		arena_destroy(plan->arena);
}

/* ---- values ---- */

struct reader {
	struct copier *copier;
	const char *problem;
};

static void read_text(struct reader *reader, struct wire_span in)
{
	size_t length = (size_t)(in.end - in.at);
	const char *text = length ? (const char *)in.at : "";
	if (!text_is_utf8(text, length))
		reader->problem = "a text is not UTF-8";
	else
		copy_text(reader->copier, text, length, YYJSON_TYPE_STR);
}

static void read_number(struct reader *reader, char kind, uint64_t number)
{
	yyjson_val val = {.uni.u64 = number};
	int64_t whole = kind == 'i' ? (int64_t)(int32_t)number : (int64_t)number;
	if (kind == 'b') {
		val.tag = YYJSON_TYPE_BOOL | (number ? YYJSON_SUBTYPE_TRUE : YYJSON_SUBTYPE_FALSE);
	} else {
		val.tag = YYJSON_TYPE_NUM | (whole < 0 ? YYJSON_SUBTYPE_SINT : YYJSON_SUBTYPE_UINT);
		val.uni.i64 = whole;
	}
	vec_push(&reader->copier->values, val);
}

/* A field of a small message. */
static struct wire_value find(struct reader *reader, struct wire_span in, uint32_t number)
{
	struct wire_value found = {0};
	if (wire_find(in, number, &found) < 0)
		reader->problem = "a message is cut off";
	return found;
}

static void read_time(struct reader *reader, struct wire_span in, bool micro)
{
	char text[48];
	int64_t seconds = (int64_t)find(reader, in, 1).integer;
	if (micro)
		clock_print_micro(seconds, (unsigned)(find(reader, in, 2).integer / 1000 % 1000000), text);
	else
		clock_print_rfc3339(seconds, text);
	copy_text(reader->copier, text, strlen(text), YYJSON_TYPE_STR);
}

static void read_int_or_string(struct reader *reader, struct wire_span in)
{
	if (find(reader, in, 1).integer == 1)
		read_text(reader, find(reader, in, 3).bytes);
	else
		read_number(reader, 'i', find(reader, in, 2).integer);
}

static void read_message(struct reader *reader, const struct message_plan *plan, struct wire_span in, int depth);

static void read_value(struct reader *reader, const struct field_plan *field, const struct wire_value *value, int depth)
{
	bool is_number = strchr("ilb", field->kind) != NULL;
	if (value->wire != (is_number ? WIRE_VARINT : WIRE_BYTES)) {
		reader->problem = "a field has the wrong type";
		return;
	}
	switch (field->kind) {
	case 's':
		read_text(reader, value->bytes);
		break;
	case 'q':
		read_text(reader, find(reader, value->bytes, 1).bytes);
		break;
	case 't':
	case 'u':
		read_time(reader, value->bytes, field->kind == 'u');
		break;
	case 'x':
		read_int_or_string(reader, value->bytes);
		break;
	case 'T':
		read_message(reader, field->message, value->bytes, depth + 1);
		break;
	default:
		read_number(reader, field->kind, value->integer);
	}
}

/* ---- messages ---- */

/* Adds an entry of a map, a message of key and value; whether it is kept. */
static bool read_entry(struct reader *reader, const struct field_plan *field, struct wire_span in, int depth)
{
	struct wire_span key = find(reader, in, 1).bytes;
	struct wire_value value = find(reader, in, 2);
	size_t length = (size_t)(key.end - key.at);
	const char *name = length ? (const char *)key.at : "";
	const struct copy_field *row = field->keys ? copy_find(field->keys, name, length) : NULL;
	if (field->keys && (!row || row->drop))
		return false;
	if (!text_is_utf8(name, length))
		reader->problem = "a key is not UTF-8";
	if (value.number == 0) /* an empty one is not there at all */
		value.wire = strchr("ilb", field->kind) ? WIRE_VARINT : WIRE_BYTES;
	copy_name(reader->copier, name, length, row);
	read_value(reader, field, &value, depth);
	return true;
}

/* Reads the items of a list or the entries of a map, which come in a row. The status of what is behind, which is in
 * *value. */
static int read_many(struct reader *reader, const struct field_plan *field, struct wire_span *in,
                     struct wire_value *value, int depth)
{
	size_t at = reader->copier->values.count, count = 0;
	uint32_t number = value->number;
	int status = 1;
	vec_push(&reader->copier->values, (yyjson_val){0});
	while (status == 1 && value->number == number && !reader->problem) {
		if (value->wire != WIRE_BYTES && field->map)
			reader->problem = "a field has the wrong type";
		else if (field->map)
			count += read_entry(reader, field, value->bytes, depth);
		else
			read_value(reader, field, value, depth);
		count += field->list;
		status = wire_next(in, value);
	}
	copy_close(reader->copier, at, field->map ? YYJSON_TYPE_OBJ : YYJSON_TYPE_ARR, count);
	return status;
}

/* The sender writes fields that are no pointers even when they are empty; JSON leaves most of them out. */
static bool is_nothing(const struct field_plan *field, const struct wire_value *value)
{
	if (field->list || field->map || field->keeps_zero)
		return false;
	switch (field->kind) {
	case 'i':
	case 'l':
	case 'b':
		return value->integer == 0 && value->wire == WIRE_VARINT;
	case 'T':
		return false;
	default:
		return value->bytes.at == value->bytes.end && value->wire == WIRE_BYTES;
	}
}

/* Adds the members; how many. */
static size_t read_fields(struct reader *reader, const struct message_plan *plan, struct wire_span in, int depth)
{
	size_t kept = 0;
	uint64_t seen = 0;
	struct wire_value value;
	int status = wire_next(&in, &value);
	while (status == 1 && !reader->problem) {
		const struct field_plan *field = value.number < MAX_NUMBER ? &plan->numbered[value.number] : NULL;
		if (!field || !field->kind || is_nothing(field, &value)) {
			status = wire_next(&in, &value);
			continue;
		}
		if (seen >> value.number & 1) /* no sender does this, and here it would be a name that is there twice */
			reader->problem = "a field comes twice";
		seen |= UINT64_C(1) << value.number;
		if (depth > MAX_DEPTH)
			reader->problem = "messages are nested too deeply";
		if (reader->problem)
			break;
		if (field->inlined) {
			kept += value.wire == WIRE_BYTES ? read_fields(reader, field->message, value.bytes, depth + 1)
			                                 : 0;
			status = wire_next(&in, &value);
			continue;
		}
		kept++;
		copy_name(reader->copier, field->name, field->length, field->row);
		if (field->list || field->map) {
			status = read_many(reader, field, &in, &value, depth);
		} else {
			read_value(reader, field, &value, depth);
			status = wire_next(&in, &value);
		}
	}
	if (status < 0)
		reader->problem = "a message is cut off";
	return kept;
}

static void read_message(struct reader *reader, const struct message_plan *plan, struct wire_span in, int depth)
{
	size_t at = reader->copier->values.count;
	vec_push(&reader->copier->values, (yyjson_val){0});
	size_t kept = read_fields(reader, plan, in, depth);
	copy_close(reader->copier, at, YYJSON_TYPE_OBJ, kept);
}

struct doc *doc_copy_wire(struct copier *copier, const struct wire_plan *plan, struct wire_span in,
                          const struct copy_member *members, size_t count, struct error *error)
{
	struct reader reader = {.copier = copier};
	copy_open_root(copier, members, count);
	size_t kept = read_fields(&reader, plan->root, in, 0);
	copy_close(copier, 0, YYJSON_TYPE_OBJ, kept + count);
	if (reader.problem) {
		error_set(error, ERROR_SYNTAX, "protobuf: %s", reader.problem);
		return NULL;
	}
	return copy_finish(copier);
}
