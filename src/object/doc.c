/* The immutable tree over yyjson: reading JSON with the limits yyjson lacks, looking at values, writing JSON. */
#include "object/doc.h"

#include "base/arena.h"
#include "object/doc_internal.h"
#include "object/keyset.h"
#include "object/yaml_write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_KEY 100
#define WHOLE_REAL_LIMIT 9007199254740992.0 /* 2^53: above it a double no longer names one integer */

static void *alloc_bytes(void *context, size_t size)
{
	return base_malloc(size);
}

static void *realloc_bytes(void *context, void *block, size_t old_size, size_t size)
{
	return base_realloc_array(block, size, 1);
}

static void free_bytes(void *context, void *block)
{
	free(block);
}

const yyjson_alc *doc_allocator(void)
{
	static const yyjson_alc allocator = {alloc_bytes, realloc_bytes, free_bytes, NULL};
	return &allocator;
}

void doc_destroy(struct doc *doc)
{
	if (!doc)
		return;
	yyjson_doc_free(doc->json);
	free(doc->text);
	free(doc);
}

const struct val *doc_root(const struct doc *doc)
{
	return doc ? val_of(doc->root) : NULL;
}

void doc_locate(const char *text, size_t offset, size_t *line, size_t *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) { /* not inside a UTF-8 character */
			++*column;
		}
	}
}

static int fail_at(const char *text, size_t offset, enum error_code code, struct error *error, const char *what)
{
	size_t line, column;
	doc_locate(text, offset, &line, &column);
	return error_set(error, code, "line %zu, column %zu: %s", line, column, what);
}

/* The offset behind the string that opens at `at`. */
static size_t skip_string(const char *text, size_t at, size_t end)
{
	for (at++; at < end && text[at] != '"'; at++)
		if (text[at] == '\\')
			at++;
	return at < end ? at + 1 : end;
}

/* Walks brackets outside strings. yyjson itself takes any depth and 16 bytes for each bracket, so this must come first.
 * The walk agrees with yyjson as far as the text is valid, and yyjson stops where it is not. */
static int scan_nesting(const char *text, size_t begin, size_t length, bool one_value, size_t *end, struct error *error)
{
	size_t depth = 0;
	for (size_t at = begin; at < length; at++) {
		switch (text[at]) {
		case '"':
			at = skip_string(text, at, length) - 1;
			break;
		case '[':
		case '{':
			if (++depth > DOC_MAX_DEPTH) {
				char what[64];
				snprintf(what, sizeof(what), "nested deeper than %d levels", DOC_MAX_DEPTH);
				return fail_at(text, at, ERROR_LIMIT, error, what);
			}
			break;
		case ']':
		case '}':
			if (depth > 0)
				depth--;
			if (depth == 0 && one_value) {
				*end = at + 1;
				return 0;
			}
			break;
		default:
			break;
		}
	}
	*end = length;
	return 0;
}

int doc_json_end(const char *text, size_t begin, size_t length, size_t *end, struct error *error)
{
	return scan_nesting(text, begin, length, true, end, error);
}

/* yyjson accepts duplicate keys. Values of a document stand one after the other in memory, so one loop sees every map
 * without recursion; in-place parsing tells where a key was written. */
static int check_duplicates(const struct doc *doc, const char *text, size_t begin, struct error *error)
{
	struct keyset keys = {0};
	int status = 0;
	yyjson_val *val = doc->root;
	for (size_t i = 0; i < doc->json->val_read && status == 0; i++) {
		if (!unsafe_yyjson_is_obj(&val[i]))
			continue;
		keyset_clear(&keys);
		yyjson_val *key = unsafe_yyjson_get_first(&val[i]);
		for (size_t left = unsafe_yyjson_get_len(&val[i]); left > 0; left--) {
			const char *name = unsafe_yyjson_get_str(key);
			size_t length = unsafe_yyjson_get_len(key);
			if (!keyset_add(&keys, name, length)) {
				char what[SHOWN_KEY + 64];
				snprintf(what, sizeof(what), "duplicate key \"%.*s\"", SHOWN_KEY, name);
				/* One back from the first character: the opening quote. */
				size_t offset = begin + (size_t)(name - doc->text) - 1;
				status = fail_at(text, offset, ERROR_SYNTAX, error, what);
				break;
			}
			key = unsafe_yyjson_get_next(key + 1);
		}
	}
	keyset_free(&keys);
	return status;
}

struct doc *doc_parse_json_part(const char *text, size_t begin, size_t end, struct error *error)
{
	size_t length = end - begin;
	char *copy = base_malloc(length + YYJSON_PADDING_SIZE);
	if (length)
		memcpy(copy, text + begin, length);
	memset(copy + length, 0, YYJSON_PADDING_SIZE);
	yyjson_read_err problem;
	yyjson_doc *json =
		yyjson_read_opts(copy, length, YYJSON_READ_INSITU | YYJSON_READ_BIGNUM_AS_RAW, NULL, &problem);
	if (!json) {
		bool memory = problem.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION;
		bool empty = problem.code == YYJSON_READ_ERROR_EMPTY_CONTENT || length == 0;
		size_t offset = begin + (problem.pos < length ? problem.pos : length);
		fail_at(text, offset, memory ? ERROR_LIMIT : ERROR_SYNTAX, error,
		        empty ? "the text is empty" : problem.msg);
		free(copy);
		return NULL;
	}
	struct doc *doc = base_malloc(sizeof(*doc));
	*doc = (struct doc){.root = json->root, .json = json, .text = copy};
	if (check_duplicates(doc, text, begin, error) < 0) {
		doc_destroy(doc);
		return NULL;
	}
	return doc;
}

struct doc *doc_parse_json(const char *text, size_t length, struct error *error)
{
	size_t begin = 0, end;
	if (length > DOC_MAX_BYTES) {
		error_set(error, ERROR_LIMIT, "the text has %zu bytes, more than the %zu accepted", length,
		          DOC_MAX_BYTES);
		return NULL;
	}
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		begin = 3; /* a byte order mark, as some Windows editors write */
	if (scan_nesting(text, begin, length, false, &end, error) < 0)
		return NULL;
	return doc_parse_json_part(text, begin, length, error);
}

struct doc *doc_parse_json_scanned(const char *text, size_t length, struct error *error)
{
	return doc_parse_json_part(text, 0, length, error);
}

/* Numbers too large for yyjson are kept as their text. */
static bool raw_is_int(yyjson_val *json)
{
	return !strpbrk(unsafe_yyjson_get_raw(json), ".eE");
}

enum val_kind val_kind(const struct val *val)
{
	yyjson_val *json = val_json(val);
	switch (yyjson_get_type(json)) {
	case YYJSON_TYPE_BOOL:
		return VAL_BOOL;
	case YYJSON_TYPE_NUM:
		return unsafe_yyjson_is_real(json) ? VAL_REAL : VAL_INT;
	case YYJSON_TYPE_RAW:
		return raw_is_int(json) ? VAL_INT : VAL_REAL;
	case YYJSON_TYPE_STR:
		return VAL_STRING;
	case YYJSON_TYPE_ARR:
		return VAL_LIST;
	case YYJSON_TYPE_OBJ:
		return VAL_MAP;
	default:
		return VAL_NULL;
	}
}

const char *val_kind_name(enum val_kind kind)
{
	static const char *const names[] = {"null", "boolean", "integer", "decimal number", "string", "list", "map"};
	return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

const struct val *val_get(const struct val *map, const char *key)
{
	return val_of(yyjson_obj_get(val_json(map), key));
}

const struct val *val_path(const struct val *map, ...)
{
	va_list args;
	va_start(args, map);
	for (const char *key; map && (key = va_arg(args, const char *));)
		map = val_get(map, key);
	va_end(args);
	return map;
}

const struct val *val_item(const struct val *list, size_t index)
{
	return val_of(yyjson_arr_get(val_json(list), index));
}

size_t val_count(const struct val *list_or_map)
{
	yyjson_val *json = val_json(list_or_map);
	return yyjson_is_ctn(json) ? unsafe_yyjson_get_len(json) : 0;
}

const char *val_str(const struct val *val, const char *fallback)
{
	const char *text = yyjson_get_str(val_json(val));
	return text ? text : fallback;
}

bool val_bool(const struct val *val, bool fallback)
{
	yyjson_val *json = val_json(val);
	return yyjson_is_bool(json) ? unsafe_yyjson_get_bool(json) : fallback;
}

int val_int(const struct val *val, int64_t *out)
{
	yyjson_val *json = val_json(val);
	if (yyjson_is_sint(json)) {
		*out = unsafe_yyjson_get_sint(json);
		return 0;
	}
	if (yyjson_is_uint(json) && unsafe_yyjson_get_uint(json) <= INT64_MAX) {
		*out = (int64_t)unsafe_yyjson_get_uint(json);
		return 0;
	}
	if (yyjson_is_real(json)) {
		double real = unsafe_yyjson_get_real(json);
		if (real >= -WHOLE_REAL_LIMIT && real <= WHOLE_REAL_LIMIT && real == (double)(int64_t)real) {
			*out = (int64_t)real;
			return 0;
		}
	}
	return -1;
}

const char *val_scalar_text(const struct val *val, char scratch[64])
{
	yyjson_val *json = val_json(val);
	if (yyjson_is_str(json))
		return unsafe_yyjson_get_str(json);
	if (yyjson_is_raw(json))
		return unsafe_yyjson_get_raw(json);
	if (!yyjson_is_num(json))
		return NULL;
	if (unsafe_yyjson_is_sint(json)) {
		snprintf(scratch, 64, "%" PRId64, unsafe_yyjson_get_sint(json));
	} else if (unsafe_yyjson_is_uint(json)) {
		snprintf(scratch, 64, "%" PRIu64, unsafe_yyjson_get_uint(json));
	} else {
		char *text = yyjson_val_write_opts(json, YYJSON_WRITE_NOFLAG, doc_allocator(), NULL, NULL);
		snprintf(scratch, 64, "%s", text ? text : "0");
		free(text);
	}
	return scratch;
}

struct val_iter val_iter(const struct val *list_or_map)
{
	yyjson_val *json = val_json(list_or_map);
	struct val_iter iter = {.container = list_or_map, .count = val_count(list_or_map)};
	if (iter.count)
		iter.cursor = unsafe_yyjson_get_first(json);
	return iter;
}

bool val_next(struct val_iter *iter, const char **key, const struct val **item)
{
	if (iter->index >= iter->count)
		return false;
	iter->index++;
	yyjson_val *at = iter->cursor;
	const char *name = NULL;
	if (unsafe_yyjson_is_obj(val_json(iter->container)))
		name = unsafe_yyjson_get_str(at++);
	if (key)
		*key = name;
	if (item)
		*item = val_of(at);
	iter->cursor = unsafe_yyjson_get_next(at);
	return true;
}

const struct val *val_named(const struct val *list, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return item;
	return NULL;
}

void val_write(const struct val *val, enum doc_style style, struct buffer *out)
{
	if (style == DOC_YAML) {
		yaml_write(val, out);
		return;
	}
	yyjson_write_flag flags = style == DOC_JSON_PRETTY ? YYJSON_WRITE_PRETTY_TWO_SPACES : YYJSON_WRITE_NOFLAG;
	size_t length = 0;
	char *text = val ? yyjson_val_write_opts(val_json(val), flags, doc_allocator(), &length, NULL) : NULL;
	if (text)
		buffer_append(out, text, length);
	else
		buffer_puts(out, "null");
	free(text);
}
