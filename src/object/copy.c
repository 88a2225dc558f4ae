/* Owns copying parts of a document. yyjson keeps the values of a document in a row, a container before what is in it; so
 * does the copy, with its strings behind them. */
#include "object/copy_internal.h"

#include <stdlib.h>
#include <string.h>

struct copier *copier_create(void)
{
	return base_calloc(1, sizeof(struct copier));
}

void copier_destroy(struct copier *copier)
{
	if (!copier)
		return;
	vec_free(&copier->values);
	vec_free(&copier->texts);
	buffer_free(&copier->bytes);
	free(copier);
}

const struct copy_field *copy_find(const struct copy_field *fields, const char *name, size_t length)
{
	for (; fields->name; fields++)
		if (fields->rest || (fields->length == length && memcmp(fields->name, name, length) == 0))
			return fields;
	return NULL;
}

void copy_text(struct copier *copier, const char *text, size_t length, yyjson_type type)
{
	yyjson_val copy = {.tag = ((uint64_t)length << YYJSON_TAG_BIT) | type, .uni.u64 = copier->bytes.length};
	vec_push(&copier->texts, (uint32_t)copier->values.count);
	vec_push(&copier->values, copy);
	buffer_append(&copier->bytes, text, length);
	buffer_append(&copier->bytes, "", 1);
}

static void add_static(struct copier *copier, const char *text, size_t length)
{
	yyjson_val copy = {.tag = ((uint64_t)length << YYJSON_TAG_BIT) | YYJSON_TYPE_STR, .uni.str = text};
	vec_push(&copier->values, copy);
}

void copy_name(struct copier *copier, const char *name, size_t length, const struct copy_field *field)
{
	if (!field || field->rest)
		copy_text(copier, name, length, YYJSON_TYPE_STR);
	else
		add_static(copier, field->name, length);
}

void copy_close(struct copier *copier, size_t at, yyjson_type type, size_t count)
{
	yyjson_val *container = &copier->values.items[at];
	container->tag = ((uint64_t)count << YYJSON_TAG_BIT) | type;
	container->uni.ofs = (copier->values.count - at) * sizeof(yyjson_val);
}

static void add(struct copier *copier, yyjson_val *val, const struct copy_field *fields);

static bool is_given(const yyjson_val *name, const struct copy_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name->uni.str, members[i].name) == 0)
			return true;
	return false;
}

static size_t add_members(struct copier *copier, yyjson_val *map, const struct copy_field *fields,
                          const struct copy_member *given, size_t given_count)
{
	size_t kept = 0;
	yyjson_val *name = unsafe_yyjson_get_first(map);
	for (size_t left = unsafe_yyjson_get_len(map); left > 0; left--) {
		yyjson_val *val = name + 1;
		const struct copy_field *field =
			fields ? copy_find(fields, unsafe_yyjson_get_str(name), unsafe_yyjson_get_len(name)) : NULL;
		if ((!fields || (field && !field->drop)) && !is_given(name, given, given_count)) {
			copy_name(copier, unsafe_yyjson_get_str(name), unsafe_yyjson_get_len(name), field);
			add(copier, val, field ? field->fields : NULL);
			kept++;
		}
		name = unsafe_yyjson_get_next(val);
	}
	return kept;
}

static size_t add_items(struct copier *copier, yyjson_val *list, const struct copy_field *fields)
{
	size_t count = unsafe_yyjson_get_len(list);
	yyjson_val *item = unsafe_yyjson_get_first(list);
	for (size_t left = count; left > 0; left--) {
		add(copier, item, fields);
		item = unsafe_yyjson_get_next(item);
	}
	return count;
}

/* Recursive: documents are at most DOC_MAX_DEPTH deep. */
static void add(struct copier *copier, yyjson_val *val, const struct copy_field *fields)
{
	yyjson_type type = unsafe_yyjson_get_type(val);
	if (type == YYJSON_TYPE_STR || type == YYJSON_TYPE_RAW) {
		copy_text(copier, val->uni.str, unsafe_yyjson_get_len(val), type);
		return;
	}
	size_t at = copier->values.count;
	vec_push(&copier->values, *val);
	if (type != YYJSON_TYPE_OBJ && type != YYJSON_TYPE_ARR)
		return;
	size_t kept =
		type == YYJSON_TYPE_OBJ ? add_members(copier, val, fields, NULL, 0) : add_items(copier, val, fields);
	copy_close(copier, at, type, kept);
}

struct doc *copy_finish(struct copier *copier)
{
	size_t values = copier->values.count * sizeof(yyjson_val);
	struct doc *doc = base_malloc(sizeof(*doc) + values + copier->bytes.length);
	yyjson_val *root = (yyjson_val *)(void *)(doc + 1);
	char *text = (char *)root + values;
	memcpy(root, copier->values.items, values);
	if (copier->bytes.length)
		memcpy(text, copier->bytes.text, copier->bytes.length);
	for (size_t i = 0; i < copier->texts.count; i++) {
		yyjson_val *at = &root[copier->texts.items[i]];
		at->uni.str = text + at->uni.u64;
	}
	*doc = (struct doc){.root = root};
	return doc;
}

static void begin(struct copier *copier)
{
	copier->values.count = copier->texts.count = copier->bytes.length = 0;
}

void copy_open_root(struct copier *copier, const struct copy_member *members, size_t count)
{
	begin(copier);
	vec_push(&copier->values, (yyjson_val){.tag = YYJSON_TYPE_OBJ});
	for (size_t i = 0; i < count; i++) {
		add_static(copier, members[i].name, strlen(members[i].name));
		copy_text(copier, members[i].value, strlen(members[i].value), YYJSON_TYPE_STR);
	}
}

struct doc *doc_copy_with(struct copier *copier, const struct val *map, const struct copy_field *fields,
                          const struct copy_member *members, size_t count)
{
	copy_open_root(copier, members, count);
	size_t kept = val_kind(map) == VAL_MAP ? add_members(copier, val_json(map), fields, members, count) : 0;
	copy_close(copier, 0, YYJSON_TYPE_OBJ, kept + count);
	return copy_finish(copier);
}
