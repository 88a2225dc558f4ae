/* Owns copying parts of a document. yyjson keeps the values of a document in a row, a container before what is in it; so
 * does the copy, with its strings behind them. */
#include "object/copy.h"

#include "base/vec.h"
#include "object/doc_internal.h"

#include <stdlib.h>
#include <string.h>

struct copier {
	VEC(yyjson_val) values;
	VEC(uint32_t) texts; /* values whose text is in `bytes`, at the offset that they hold */
	struct buffer bytes;
};

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

static const struct copy_field *find(const struct copy_field *fields, const char *name, size_t length)
{
	for (; fields->name; fields++)
		if (fields->rest || (fields->length == length && memcmp(fields->name, name, length) == 0))
			return fields;
	return NULL;
}

/* Also numbers too large for yyjson, which are texts. */
static void add_text(struct copier *copier, const yyjson_val *text)
{
	yyjson_val copy = *text;
	size_t length = unsafe_yyjson_get_len((void *)(uintptr_t)text);
	copy.uni.u64 = copier->bytes.length;
	vec_push(&copier->texts, (uint32_t)copier->values.count);
	vec_push(&copier->values, copy);
	buffer_append(&copier->bytes, text->uni.str, length);
	buffer_append(&copier->bytes, "", 1);
}

static void add_name(struct copier *copier, const yyjson_val *name, const struct copy_field *field)
{
	if (!field || field->rest) {
		add_text(copier, name);
		return;
	}
	yyjson_val copy = *name;
	copy.uni.str = field->name;
	vec_push(&copier->values, copy);
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
			fields ? find(fields, unsafe_yyjson_get_str(name), unsafe_yyjson_get_len(name)) : NULL;
		if ((!fields || (field && !field->drop)) && !is_given(name, given, given_count)) {
			add_name(copier, name, field);
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
		add_text(copier, val);
		return;
	}
	size_t at = copier->values.count;
	vec_push(&copier->values, *val);
	if (type != YYJSON_TYPE_OBJ && type != YYJSON_TYPE_ARR)
		return;
	size_t kept =
		type == YYJSON_TYPE_OBJ ? add_members(copier, val, fields, NULL, 0) : add_items(copier, val, fields);
	yyjson_val *copy = &copier->values.items[at];
	copy->tag = ((uint64_t)kept << YYJSON_TAG_BIT) | unsafe_yyjson_get_tag(val);
	copy->uni.ofs = (copier->values.count - at) * sizeof(yyjson_val);
}

static struct doc *finish(struct copier *copier)
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

struct doc *doc_copy(struct copier *copier, const struct val *val, const struct copy_field *fields)
{
	yyjson_val null = {.tag = YYJSON_TYPE_NULL};
	begin(copier);
	add(copier, val ? val_json(val) : &null, fields);
	return finish(copier);
}

static yyjson_val text_value(const char *text)
{
	return (yyjson_val){.tag = ((uint64_t)strlen(text) << YYJSON_TAG_BIT) | YYJSON_TYPE_STR, .uni.str = text};
}

struct doc *doc_copy_with(struct copier *copier, const struct val *map, const struct copy_field *fields,
                          const struct copy_member *members, size_t count)
{
	begin(copier);
	vec_push(&copier->values, (yyjson_val){.tag = YYJSON_TYPE_OBJ});
	for (size_t i = 0; i < count; i++) {
		yyjson_val name = text_value(members[i].name), value = text_value(members[i].value);
		vec_push(&copier->values, name);
		add_text(copier, &value);
	}
	size_t kept = val_kind(map) == VAL_MAP ? add_members(copier, val_json(map), fields, members, count) : 0;
	yyjson_val *root = &copier->values.items[0];
	root->tag |= (uint64_t)(kept + count) << YYJSON_TAG_BIT;
	root->uni.ofs = copier->values.count * sizeof(yyjson_val);
	return finish(copier);
}
