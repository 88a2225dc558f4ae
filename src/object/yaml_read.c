/* YAML events of libyaml into a tree of yyjson values. libyaml keeps only what it needs to look ahead, and the depth is
 * checked at every event, so memory stays in proportion to the text whatever it says. */
#include "object/yaml_read.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "object/doc_internal.h"
#include "object/keyset.h"
#include "object/yaml_scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define SHOWN_TEXT 100
#define VALUE_BYTES 64 /* what one value costs on its way into a doc, charged for each that an alias adds */
#define WHOLE_REAL_LIMIT 9007199254740992.0
#define YAML_TAG_PREFIX "tag:yaml.org,2002:"

struct anchor {
	const char *name;
	yyjson_mut_val *value;
	bool open; /* its list or map has not ended: an alias to it would contain itself */
	UT_hash_handle hh;
};

/* One list or map that has not ended. */
struct frame {
	yyjson_mut_val *container;
	bool is_map;
	yyjson_mut_val *key; /* maps: the key whose value comes next */
	bool merging;        /* maps: the value that comes next belongs to << */
	struct keyset keys;
	VEC(yyjson_mut_val *) merges;
	struct anchor *anchor;
};

struct reader {
	yaml_parser_t parser;
	const char *text;
	size_t length;
	struct error *error;
	yyjson_mut_doc *json; /* of the current document */
	yyjson_mut_val *root;
	size_t root_line;
	struct frame frames[DOC_MAX_DEPTH];
	size_t depth;
	struct arena *arena; /* anchors of the current document */
	struct anchor *anchors;
	size_t alias_bytes, alias_limit;
	struct buffer number;
	VEC(struct yaml_document) docs;
};

static int fail(struct reader *reader, const yaml_mark_t *mark, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(struct reader *reader, const yaml_mark_t *mark, enum error_code code, const char *format, ...)
{
	char what[400];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return error_set(reader->error, code, "line %zu, column %zu: %s", mark->line + 1, mark->column + 1, what);
}

/* libyaml says only that a character cannot start a token; the usual cause deserves its own words. */
static bool line_has_tab(const struct reader *reader, size_t line)
{
	const char *at = reader->text, *end = reader->text + reader->length;
	for (; line > 0 && at < end; line--) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			return false;
		at = newline + 1;
	}
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '\t';
}

static int fail_parse(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem ? parser->problem : "the text is not YAML";
	if (parser->error == YAML_MEMORY_ERROR)
		return error_set(reader->error, ERROR_LIMIT, "not enough memory to read the text");
	if (parser->error == YAML_READER_ERROR) {
		size_t line, column;
		size_t offset = parser->problem_offset < reader->length ? parser->problem_offset : reader->length;
		doc_locate(reader->text, offset, &line, &column);
		return error_set(reader->error, ERROR_SYNTAX, "line %zu, column %zu: %s", line, column, problem);
	}
	if (line_has_tab(reader, parser->problem_mark.line))
		return fail(reader, &parser->problem_mark, ERROR_SYNTAX, "%s (a tab indents this line: use spaces)",
		            problem);
	if (parser->context)
		return fail(reader, &parser->problem_mark, ERROR_SYNTAX, "%s, %s that starts in line %zu", problem,
		            parser->context, parser->context_mark.line + 1);
	return fail(reader, &parser->problem_mark, ERROR_SYNTAX, "%s", problem);
}

static struct anchor *anchor_find(struct reader *reader, const char *name)
{
	struct anchor *anchor;
	size_t length = strlen(name);
	HASH_FIND(hh, reader->anchors, name, length, anchor);
	return anchor;
}

/* The anchor of a node; a later anchor of the same name replaces the earlier one. NULL when the node has none. */
static struct anchor *anchor_set(struct reader *reader, const yaml_char_t *text, yyjson_mut_val *value, bool open)
{
	if (!text)
		return NULL;
	const char *name = (const char *)text;
	struct anchor *anchor = anchor_find(reader, name);
	if (anchor)
		HASH_DEL(reader->anchors, anchor);
	anchor = arena_new(reader->arena, struct anchor);
	*anchor = (struct anchor){.name = arena_strdup(reader->arena, name), .value = value, .open = open};
	size_t length = strlen(name);
	HASH_ADD_KEYPTR(hh, reader->anchors, anchor->name, length, anchor);
	return anchor;
}

static bool is_container(yyjson_mut_val *value)
{
	return yyjson_mut_is_arr(value) || yyjson_mut_is_obj(value);
}

/* A deep copy for an alias or a merge. Strings are shared here but not in the finished doc, so they are charged in
 * full. `depth` is how many lists and maps stand around the copy; recursion is bounded by it. */
static yyjson_mut_val *copy_value(struct reader *reader, const yaml_mark_t *mark, yyjson_mut_val *from, size_t depth)
{
	bool container = is_container(from);
	size_t bytes = VALUE_BYTES + (container ? 0 : yyjson_mut_get_len(from));
	if (bytes > reader->alias_limit - reader->alias_bytes) {
		fail(reader, mark, ERROR_LIMIT, "aliases expand to more than %zu bytes", reader->alias_limit);
		return NULL;
	}
	reader->alias_bytes += bytes;
	if (container && depth >= DOC_MAX_DEPTH) {
		fail(reader, mark, ERROR_LIMIT, "nested deeper than %d levels", DOC_MAX_DEPTH);
		return NULL;
	}
	if (yyjson_mut_is_arr(from)) {
		yyjson_mut_val *list = yyjson_mut_arr(reader->json);
		yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(from);
		for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
			yyjson_mut_val *copy = copy_value(reader, mark, item, depth + 1);
			if (!copy)
				return NULL;
			yyjson_mut_arr_append(list, copy);
		}
		return list;
	}
	if (yyjson_mut_is_obj(from)) {
		yyjson_mut_val *map = yyjson_mut_obj(reader->json);
		yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(from);
		for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
			yyjson_mut_val *name = copy_value(reader, mark, key, depth + 1);
			yyjson_mut_val *copy =
				name ? copy_value(reader, mark, yyjson_mut_obj_iter_get_val(key), depth + 1) : NULL;
			if (!copy)
				return NULL;
			yyjson_mut_obj_add(map, name, copy);
		}
		return map;
	}
	yyjson_mut_val *scalar = yyjson_mut_null(reader->json);
	scalar->tag = from->tag;
	scalar->uni = from->uni;
	return scalar;
}

/* The JSON text of a number in reader->number as a value. NULL when it is too large for a double. */
static yyjson_mut_val *number_value(struct reader *reader, bool integer)
{
	yyjson_mut_val *value = yyjson_mut_null(reader->json);
	if (!yyjson_mut_read_number(reader->number.text, value, YYJSON_READ_NOFLAG, doc_allocator(), NULL))
		return integer ? yyjson_mut_rawncpy(reader->json, reader->number.text, reader->number.length) : NULL;
	if (!yyjson_mut_is_real(value))
		return value;
	if (integer) /* beyond 64 bits: keep every digit */
		return yyjson_mut_rawncpy(reader->json, reader->number.text, reader->number.length);
	double real = yyjson_mut_get_real(value);
	if (real >= -WHOLE_REAL_LIMIT && real <= WHOLE_REAL_LIMIT && real == (double)(int64_t)real) {
		int64_t whole = (int64_t)real;
		return whole >= 0 ? yyjson_mut_uint(reader->json, (uint64_t)whole)
		                  : yyjson_mut_sint(reader->json, whole);
	}
	return value;
}

enum wanted { WANT_UNKNOWN, WANT_ANY, WANT_STRING, WANT_INTEGER, WANT_FLOAT, WANT_BOOL, WANT_NULL };

/* What the tag or, without one, the style of a scalar asks for. */
static enum wanted wanted_of(const yaml_event_t *event)
{
	static const struct {
		const char *tag;
		enum wanted wanted;
	} tags[] = {
		{"str", WANT_STRING}, {"int", WANT_INTEGER},      {"float", WANT_FLOAT},  {"bool", WANT_BOOL},
		{"null", WANT_NULL},  {"timestamp", WANT_STRING}, {"merge", WANT_STRING},
	};
	const char *tag = (const char *)event->data.scalar.tag;
	if (!tag)
		return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? WANT_ANY : WANT_STRING;
	if (text_equal(tag, "!"))
		return WANT_STRING;
	if (text_starts_with(tag, YAML_TAG_PREFIX))
		for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
			if (text_equal(tag + strlen(YAML_TAG_PREFIX), tags[i].tag))
				return tags[i].wanted;
	return WANT_UNKNOWN;
}

static bool kind_fits(enum wanted wanted, enum yaml_scalar kind)
{
	switch (wanted) {
	case WANT_INTEGER:
		return kind == YAML_INTEGER;
	case WANT_FLOAT:
		return kind == YAML_INTEGER || kind == YAML_FLOAT;
	case WANT_BOOL:
		return kind == YAML_TRUE || kind == YAML_FALSE;
	case WANT_NULL:
		return kind == YAML_NULL;
	default:
		return true;
	}
}

static yyjson_mut_val *refuse_tag(struct reader *reader, const yaml_mark_t *mark, const yaml_char_t *tag)
{
	fail(reader, mark, ERROR_SYNTAX, "the tag \"%.*s\" is not supported: remove it", SHOWN_TEXT, (const char *)tag);
	return NULL;
}

static yyjson_mut_val *scalar_value(struct reader *reader, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	enum wanted wanted = wanted_of(event);
	if (wanted == WANT_UNKNOWN)
		return refuse_tag(reader, &event->start_mark, event->data.scalar.tag);
	if (wanted == WANT_STRING)
		return yyjson_mut_strncpy(reader->json, text, length);
	enum yaml_scalar kind = yaml_scalar_resolve(text, length, &reader->number);
	yyjson_mut_val *value = NULL;
	if (!kind_fits(wanted, kind)) {
		fail(reader, &event->start_mark, ERROR_SYNTAX, "\"%.*s\" is not what its tag \"%.*s\" says", SHOWN_TEXT,
		     text, SHOWN_TEXT, (const char *)event->data.scalar.tag);
		return NULL;
	}
	switch (kind) {
	case YAML_NULL:
		return yyjson_mut_null(reader->json);
	case YAML_TRUE:
	case YAML_FALSE:
		return yyjson_mut_bool(reader->json, kind == YAML_TRUE);
	case YAML_NOT_FINITE:
		fail(reader, &event->start_mark, ERROR_SYNTAX, "%s cannot be stored as JSON; quote it to have a string",
		     text);
		return NULL;
	case YAML_INTEGER:
	case YAML_FLOAT:
		value = number_value(reader, kind == YAML_INTEGER);
		break;
	default:
		break;
	}
	return value ? value : yyjson_mut_strncpy(reader->json, text, length);
}

/* JSON keys are strings: numbers and booleans are written out, the rest cannot be a key. */
static yyjson_mut_val *key_value(struct reader *reader, const yaml_mark_t *mark, yyjson_mut_val *value)
{
	if (yyjson_mut_is_str(value))
		return value;
	if (yyjson_mut_is_bool(value))
		return yyjson_mut_str(reader->json, yyjson_mut_get_bool(value) ? "true" : "false");
	if (yyjson_mut_is_num(value) || yyjson_mut_is_raw(value)) {
		size_t length;
		char *text = yyjson_mut_val_write_opts(value, YYJSON_WRITE_NOFLAG, doc_allocator(), &length, NULL);
		yyjson_mut_val *key = text ? yyjson_mut_strncpy(reader->json, text, length) : NULL;
		free(text);
		if (key)
			return key;
	}
	fail(reader, mark, ERROR_SYNTAX, "a map key must be a string, not %s",
	     yyjson_mut_is_null(value) ? "null (quote it)" : "a list or a map");
	return NULL;
}

static int take_key(struct reader *reader, struct frame *frame, const yaml_mark_t *mark, yyjson_mut_val *value)
{
	yyjson_mut_val *key = key_value(reader, mark, value);
	if (!key)
		return -1;
	if (!keyset_add(&frame->keys, yyjson_mut_get_str(key), yyjson_mut_get_len(key)))
		return fail(reader, mark, ERROR_SYNTAX, "duplicate key \"%.*s\"", SHOWN_TEXT, yyjson_mut_get_str(key));
	/* An anchored key is a value of its own; a value can stand in one place only. */
	frame->key =
		key == value ? yyjson_mut_strn(reader->json, yyjson_mut_get_str(key), yyjson_mut_get_len(key)) : key;
	return 0;
}

static int take_merge(struct reader *reader, struct frame *frame, const yaml_mark_t *mark, yyjson_mut_val *value)
{
	bool fits = yyjson_mut_is_obj(value);
	if (yyjson_mut_is_arr(value)) {
		yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
		fits = true;
		for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
			fits = fits && yyjson_mut_is_obj(item);
	}
	if (!fits)
		return fail(reader, mark, ERROR_SYNTAX, "<< takes a map or a list of maps");
	frame->merging = false;
	vec_push(&frame->merges, value);
	return 0;
}

/* Puts a finished value (a scalar, an alias, or a list or map that ended) where it belongs. */
static int take_value(struct reader *reader, const yaml_mark_t *mark, yyjson_mut_val *value)
{
	if (!value)
		return -1;
	if (reader->depth == 0) {
		reader->root = value;
		return 0;
	}
	struct frame *frame = &reader->frames[reader->depth - 1];
	if (!frame->is_map) {
		yyjson_mut_arr_append(frame->container, value);
		return 0;
	}
	if (frame->merging)
		return take_merge(reader, frame, mark, value);
	if (!frame->key)
		return take_key(reader, frame, mark, value);
	yyjson_mut_obj_add(frame->container, frame->key, value);
	frame->key = NULL;
	return 0;
}

static int merge_map(struct reader *reader, struct frame *frame, const yaml_mark_t *mark, yyjson_mut_val *source)
{
	yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(source);
	for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
		if (!keyset_add(&frame->keys, yyjson_mut_get_str(key), yyjson_mut_get_len(key)))
			continue;
		yyjson_mut_val *name = copy_value(reader, mark, key, reader->depth);
		yyjson_mut_val *value =
			name ? copy_value(reader, mark, yyjson_mut_obj_iter_get_val(key), reader->depth) : NULL;
		if (!value)
			return -1;
		yyjson_mut_obj_add(frame->container, name, value);
	}
	return 0;
}

/* At the end of a map, so that its own keys win wherever they stand; earlier merges win over later ones. */
static int apply_merges(struct reader *reader, struct frame *frame, const yaml_mark_t *mark)
{
	for (size_t i = 0; i < frame->merges.count; i++) {
		yyjson_mut_val *source = frame->merges.items[i];
		if (yyjson_mut_is_obj(source)) {
			if (merge_map(reader, frame, mark, source) < 0)
				return -1;
			continue;
		}
		yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(source);
		for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
			if (merge_map(reader, frame, mark, item) < 0)
				return -1;
	}
	frame->merges.count = 0;
	return 0;
}

static int begin_container(struct reader *reader, const yaml_event_t *event)
{
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *tag = is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
	const yaml_char_t *anchor = is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
	if (tag && !text_equal((const char *)tag, is_map ? YAML_TAG_PREFIX "map" : YAML_TAG_PREFIX "seq") &&
	    !text_equal((const char *)tag, "!")) {
		refuse_tag(reader, &event->start_mark, tag);
		return -1;
	}
	if (reader->depth == DOC_MAX_DEPTH)
		return fail(reader, &event->start_mark, ERROR_LIMIT, "nested deeper than %d levels", DOC_MAX_DEPTH);
	struct frame *frame = &reader->frames[reader->depth++];
	frame->container = is_map ? yyjson_mut_obj(reader->json) : yyjson_mut_arr(reader->json);
	frame->is_map = is_map;
	frame->key = NULL;
	frame->merging = false;
	keyset_clear(&frame->keys);
	frame->merges.count = 0;
	frame->anchor = anchor_set(reader, anchor, frame->container, true);
	return 0;
}

static int end_container(struct reader *reader, const yaml_event_t *event)
{
	struct frame *frame = &reader->frames[reader->depth - 1];
	if (apply_merges(reader, frame, &event->start_mark) < 0)
		return -1;
	if (frame->anchor)
		frame->anchor->open = false;
	reader->depth--;
	return take_value(reader, &event->start_mark, frame->container);
}

static bool is_merge_key(const struct reader *reader, const yaml_event_t *event)
{
	if (reader->depth == 0)
		return false;
	const struct frame *frame = &reader->frames[reader->depth - 1];
	return frame->is_map && !frame->key && !frame->merging && event->data.scalar.length == 2 &&
	       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && memcmp(event->data.scalar.value, "<<", 2) == 0 &&
	       (!event->data.scalar.tag || text_equal((const char *)event->data.scalar.tag, YAML_TAG_PREFIX "merge"));
}

static int take_scalar(struct reader *reader, const yaml_event_t *event)
{
	if (is_merge_key(reader, event)) {
		reader->frames[reader->depth - 1].merging = true;
		return 0;
	}
	yyjson_mut_val *value = scalar_value(reader, event);
	if (!value)
		return -1;
	anchor_set(reader, event->data.scalar.anchor, value, false);
	return take_value(reader, &event->start_mark, value);
}

static int take_alias(struct reader *reader, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct anchor *anchor = anchor_find(reader, name);
	if (!anchor)
		return fail(reader, &event->start_mark, ERROR_SYNTAX, "no anchor \"&%.*s\" stands before this alias",
		            SHOWN_TEXT, name);
	if (anchor->open)
		return fail(reader, &event->start_mark, ERROR_SYNTAX, "the alias \"*%.*s\" would contain itself",
		            SHOWN_TEXT, name);
	return take_value(reader, &event->start_mark,
	                  copy_value(reader, &event->start_mark, anchor->value, reader->depth));
}

static void drop_document(struct reader *reader)
{
	HASH_CLEAR(hh, reader->anchors);
	arena_reset(reader->arena);
	yyjson_mut_doc_free(reader->json);
	reader->json = NULL;
	reader->root = NULL;
	reader->depth = 0;
	reader->root_line = 0;
}

static void end_document(struct reader *reader)
{
	if (reader->root && !yyjson_mut_is_null(reader->root)) {
		struct doc *doc = doc_pack(reader->root, NULL);
		vec_push(&reader->docs, (struct yaml_document){.doc = doc, .line = reader->root_line});
	}
	drop_document(reader);
}

static int take_event(struct reader *reader, const yaml_event_t *event)
{
	if (reader->json && reader->root_line == 0)
		reader->root_line = event->start_mark.line + 1;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		reader->json = yyjson_mut_doc_new(doc_allocator());
		return 0;
	case YAML_DOCUMENT_END_EVENT:
		end_document(reader);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return begin_container(reader, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return end_container(reader, event);
	case YAML_SCALAR_EVENT:
		return take_scalar(reader, event);
	case YAML_ALIAS_EVENT:
		return take_alias(reader, event);
	default:
		return 0;
	}
}

static int read_events(struct reader *reader)
{
	for (bool done = false; !done;) {
		yaml_event_t event;
		if (!yaml_parser_parse(&reader->parser, &event))
			return fail_parse(reader);
		done = event.type == YAML_STREAM_END_EVENT;
		int status = take_event(reader, &event);
		yaml_event_delete(&event);
		if (status < 0)
			return -1;
	}
	return 0;
}

static void reader_free(struct reader *reader)
{
	drop_document(reader);
	for (size_t i = 0; i < DOC_MAX_DEPTH; i++) {
		keyset_free(&reader->frames[i].keys);
		vec_free(&reader->frames[i].merges);
	}
	arena_destroy(reader->arena);
	buffer_free(&reader->number);
	yaml_parser_delete(&reader->parser);
	free(reader);
}

int yaml_read(const char *text, size_t length, struct yaml_document **docs, size_t *count, struct error *error)
{
	*docs = NULL;
	*count = 0;
	if (length > DOC_MAX_BYTES)
		return error_set(error, ERROR_LIMIT, "the text has %zu bytes, more than the %zu accepted", length,
		                 DOC_MAX_BYTES);
	struct reader *reader = base_calloc(1, sizeof(*reader));
	if (!yaml_parser_initialize(&reader->parser)) {
		free(reader);
		return error_set(error, ERROR_LIMIT, "not enough memory to read the text");
	}
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, length);
	reader->text = text;
	reader->length = length;
	reader->error = error;
	reader->arena = arena_create();
	reader->alias_limit = YAML_ALIAS_BYTES + 10 * length;
	int status = read_events(reader);
	if (status == 0) {
		*docs = reader->docs.items;
		*count = reader->docs.count;
	} else {
		for (size_t i = 0; i < reader->docs.count; i++)
			doc_destroy(reader->docs.items[i].doc);
		free(reader->docs.items);
	}
	reader_free(reader);
	return status;
}
