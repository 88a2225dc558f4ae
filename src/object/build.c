/* Building over yyjson's writable values. */
#include "object/build.h"

#include "base/arena.h"
#include "base/hash.h"
#include "object/doc_internal.h"
#include "object/keyset.h"

#include <stdlib.h>
#include <string.h>

/* Maps above this many keys get a key set, because looking through all keys at each put would be quadratic. */
#define INDEX_FROM 32

struct map_index {
	struct node *map;
	struct keyset keys;
	UT_hash_handle hh;
};

struct build {
	yyjson_mut_doc *json;
	struct map_index *indexes;
};

static yyjson_mut_val *node_json(struct node *node)
{
	return (yyjson_mut_val *)node;
}

static struct node *node_of(yyjson_mut_val *json)
{
	return (struct node *)json;
}

struct build *build_create(void)
{
	struct build *build = base_calloc(1, sizeof(*build));
	build->json = yyjson_mut_doc_new(doc_allocator());
	return build;
}

void build_destroy(struct build *build)
{
	if (!build)
		return;
	struct map_index *index, *next;
	HASH_ITER(hh, build->indexes, index, next) {
		HASH_DEL(build->indexes, index);
		keyset_free(&index->keys);
		free(index);
	}
	yyjson_mut_doc_free(build->json);
	free(build);
}

struct node *build_map(struct build *build)
{
	return node_of(yyjson_mut_obj(build->json));
}

struct node *build_list(struct build *build)
{
	return node_of(yyjson_mut_arr(build->json));
}

/* Bytes that are not UTF-8 (an argument of a command line, a file name) become U+FFFD: JSON cannot hold them. */
static yyjson_mut_val *string_value(struct build *build, const char *text)
{
	size_t length = strlen(text);
	uint32_t codepoint;
	if (text_is_utf8(text, length))
		return yyjson_mut_strncpy(build->json, text, length);
	struct buffer clean = {0};
	for (size_t at = 0; at < length;) {
		size_t size = text_utf8(text + at, length - at, &codepoint);
		if (size)
			buffer_append(&clean, text + at, size);
		else
			buffer_puts(&clean, "\xef\xbf\xbd");
		at += size ? size : 1;
	}
	yyjson_mut_val *json = yyjson_mut_strncpy(build->json, clean.text, clean.length);
	buffer_free(&clean);
	return json;
}

struct node *build_string(struct build *build, const char *text)
{
	return text ? node_of(string_value(build, text)) : build_null(build);
}

struct node *build_int(struct build *build, int64_t number)
{
	/* Like the parser: not negative means unsigned, so that equal numbers look equal. */
	if (number >= 0)
		return node_of(yyjson_mut_uint(build->json, (uint64_t)number));
	return node_of(yyjson_mut_sint(build->json, number));
}

struct node *build_bool(struct build *build, bool value)
{
	return node_of(yyjson_mut_bool(build->json, value));
}

struct node *build_null(struct build *build)
{
	return node_of(yyjson_mut_null(build->json));
}

struct node *build_copy(struct build *build, const struct val *val)
{
	return val ? node_of(yyjson_val_mut_copy(build->json, val_json(val))) : build_null(build);
}

/* The key set of a large map, made on first use. */
static struct keyset *index_of(struct build *build, struct node *map)
{
	struct map_index *index;
	HASH_FIND_PTR(build->indexes, &map, index);
	if (!index) {
		index = base_calloc(1, sizeof(*index));
		index->map = map;
		yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(node_json(map));
		for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
			keyset_add(&index->keys, yyjson_mut_get_str(key), yyjson_mut_get_len(key));
		HASH_ADD_PTR(build->indexes, map, index);
	}
	return &index->keys;
}

void build_put(struct build *build, struct node *map, const char *key, struct node *value)
{
	yyjson_mut_val *object = node_json(map);
	if (!yyjson_mut_is_obj(object) || !key)
		return;
	yyjson_mut_val *name = string_value(build, key);
	yyjson_mut_val *json = value ? node_json(value) : yyjson_mut_null(build->json);
	bool fresh;
	if (yyjson_mut_obj_size(object) < INDEX_FROM)
		fresh = !yyjson_mut_obj_getn(object, yyjson_mut_get_str(name), yyjson_mut_get_len(name));
	else
		fresh = keyset_add(index_of(build, map), yyjson_mut_get_str(name), yyjson_mut_get_len(name));
	if (fresh)
		yyjson_mut_obj_add(object, name, json);
	else
		yyjson_mut_obj_replace(object, name, json);
}

void build_put_string(struct build *build, struct node *map, const char *key, const char *text)
{
	build_put(build, map, key, build_string(build, text));
}

void build_put_int(struct build *build, struct node *map, const char *key, int64_t number)
{
	build_put(build, map, key, build_int(build, number));
}

void build_put_bool(struct build *build, struct node *map, const char *key, bool value)
{
	build_put(build, map, key, build_bool(build, value));
}

void build_put_filled(struct build *build, struct node *map, const char *key, struct node *value)
{
	if (yyjson_mut_get_len(node_json(value)) > 0)
		build_put(build, map, key, value);
}

void build_append(struct build *build, struct node *list, struct node *value)
{
	yyjson_mut_arr_append(node_json(list), value ? node_json(value) : yyjson_mut_null(build->json));
}

struct doc *build_finish_sharing(struct build *build, struct node *root, struct string_pool *strings)
{
	return doc_pack(root ? node_json(root) : yyjson_mut_null(build->json), strings);
}

struct doc *build_finish(struct build *build, struct node *root)
{
	return build_finish_sharing(build, root, NULL);
}

void build_write(struct build *build, struct node *root, enum doc_style style, struct buffer *out)
{
	struct doc *doc = build_finish(build, root);
	val_write(doc_root(doc), style, out);
	doc_destroy(doc);
}
