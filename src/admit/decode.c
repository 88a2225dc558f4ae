/* Typed reading of fields: wrong kinds become problems with a path, never a stop. Owns no rule of any one kind. */
#include "admit/decode.h"

#include "base/clock.h"
#include "base/strings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 80

const char decode_label_key_fix[] =
	"write a label key such as example.com/rack: an optional DNS prefix and a name of at "
	"most 63 letters, digits, '-', '_' and '.'";

const char *decode_show(struct arena *arena, const char *text)
{
	size_t length = strlen(text), shown = length;
	if (shown > SHOWN_BYTES) {
		shown = SHOWN_BYTES;
		/* do not cut a UTF-8 sequence in two */
		while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--;
	}
	char *out = arena_printf(arena, "\"%.*s%s\"", (int)shown, text, shown < length ? "..." : "");
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return out;
}

const char *decode_path_text(struct arena *arena, const struct decode_path *path)
{
	if (!path)
		return "";
	size_t depth = 0;
	for (const struct decode_path *step = path; step; step = step->up)
		depth++;
	const struct decode_path **steps = arena_array(arena, const struct decode_path *, depth);
	for (const struct decode_path *step = path; step; step = step->up)
		steps[--depth] = step;
	struct buffer text = {0};
	for (const struct decode_path **step = steps;; step++) {
		if (!(*step)->key)
			buffer_printf(&text, "[%zu]", (*step)->index);
		else
			buffer_printf(&text, "%s%.*s", text.length ? "." : "", 2 * SHOWN_BYTES, (*step)->key);
		if (*step == path)
			break;
	}
	char *copy = arena_strndup(arena, text.text, text.length);
	buffer_free(&text);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return copy;
}

void decode_error(const struct decode *decode, const struct decode_path *path, const char *fix, const char *format, ...)
{
	struct arena *arena = decode->problems->arena;
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(arena, format, args);
	va_end(args);
	problem_add(decode->problems, SEVERITY_ERROR, decode_path_text(arena, path), fix, "%s", text);
}

void decode_warning(const struct decode *decode, const struct decode_path *path, const char *fix, const char *format,
                    ...)
{
	struct arena *arena = decode->problems->arena;
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(arena, format, args);
	va_end(args);
	problem_add(decode->problems, SEVERITY_WARNING, decode_path_text(arena, path), fix, "%s", text);
}

static const char *kind_with_article(enum val_kind kind)
{
	switch (kind) {
	case VAL_NULL:
		return "null";
	case VAL_BOOL:
		return "true or false";
	case VAL_INT:
		return "a whole number";
	case VAL_REAL:
		return "a fraction";
	case VAL_STRING:
		return "a string";
	case VAL_LIST:
		return "a list";
	case VAL_MAP:
		return "a map";
	}
	return "something else";
}

static const char *kind_fix(enum val_kind wanted)
{
	switch (wanted) {
	case VAL_BOOL:
		return "write true or false without quotes";
	case VAL_STRING:
		return "write text; put numbers, true and false in quotes";
	case VAL_LIST:
		return "write a list: items after '- ', or in [ ]";
	case VAL_MAP:
		return "write fields as key: value";
	default:
		return "write a number without quotes";
	}
}

bool decode_is(const struct decode *decode, const struct decode_path *path, const struct val *val, enum val_kind kind)
{
	if (val && val_kind(val) == kind)
		return true;
	decode_error(decode, path, kind_fix(kind), "must be %s, not %s", kind_with_article(kind),
	             kind_with_article(val_kind(val)));
	return false;
}

static const struct val *get_kind(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                  const char *key, enum val_kind kind)
{
	const struct val *val = val_get(map, key);
	if (!val || val_kind(val) == VAL_NULL)
		return NULL;
	return decode_is(decode, PATH_KEY(up, key), val, kind) ? val : NULL;
}

const struct val *decode_map(const struct decode *decode, const struct decode_path *up, const struct val *map,
                             const char *key)
{
	return get_kind(decode, up, map, key, VAL_MAP);
}

const struct val *decode_list(const struct decode *decode, const struct decode_path *up, const struct val *map,
                              const char *key)
{
	return get_kind(decode, up, map, key, VAL_LIST);
}

const char *decode_string(const struct decode *decode, const struct decode_path *up, const struct val *map,
                          const char *key)
{
	const char *text = val_str(get_kind(decode, up, map, key, VAL_STRING), NULL);
	return text && *text ? text : NULL;
}

bool decode_bool(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                 bool fallback)
{
	return val_bool(get_kind(decode, up, map, key, VAL_BOOL), fallback);
}

bool decode_int(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                int64_t low, int64_t high, int64_t *out)
{
	const struct val *val = val_get(map, key);
	enum val_kind kind = val ? val_kind(val) : VAL_NULL;
	if (kind == VAL_NULL)
		return false;
	int64_t number = 0;
	bool whole = (kind == VAL_INT || kind == VAL_REAL) && val_int(val, &number) == 0;
	if (!whole || number < low || number > high) {
		const struct decode_path *path = PATH_KEY(up, key);
		const char *fix =
			arena_printf(decode->problems->arena, "write a whole number from %" PRId64 " to %" PRId64 "%s",
		                     low, high, kind == VAL_STRING ? " without quotes" : "");
		if (whole)
			decode_error(decode, path, fix, "must be between %" PRId64 " and %" PRId64 ", not %" PRId64,
			             low, high, number);
		else if (kind == VAL_INT)
			decode_error(decode, path, fix, "the number is too large");
		else
			decode_error(decode, path, fix, "must be a whole number, not %s", kind_with_article(kind));
		return false;
	}
	*out = number;
	return true;
}

bool decode_duration(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                     int64_t *ns)
{
	const struct val *val = get_kind(decode, up, map, key, VAL_STRING);
	if (!val)
		return false;
	const char *text = val_str(val, "");
	if (clock_parse_duration(text, ns) < 0) {
		decode_error(decode, PATH_KEY(up, key), "write a duration such as 30s, 5m or 1h30m",
		             "%s is not a duration", decode_show(decode->problems->arena, text));
		return false;
	}
	return true;
}

const char **decode_strings(const struct decode *decode, const struct decode_path *up, const struct val *map,
                            const char *key, size_t *count)
{
	const struct val *list = decode_list(decode, up, map, key);
	const char **out = arena_array(decode->arena, const char *, val_count(list));
	const struct val *item;
	const char *unused;
	size_t index = 0;
	*count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++)
		if (decode_is(decode, PATH_INDEX(PATH_KEY(up, key), index), item, VAL_STRING))
			out[(*count)++] = val_str(item, "");
	return out;
}

struct labels decode_labels(const struct decode *decode, const struct decode_path *up, const struct val *map,
                            const char *key)
{
	const struct val *val = decode_map(decode, up, map, key);
	struct labels labels = {.items = arena_array(decode->arena, struct label, val_count(val))};
	const struct val *item;
	const char *name;
	for (struct val_iter it = val_iter(val); val_next(&it, &name, &item);)
		if (decode_is(decode, PATH_KEY(PATH_KEY(up, key), name), item, VAL_STRING))
			labels.items[labels.count++] = (struct label){.key = name, .value = val_str(item, "")};
	labels_sort(&labels);
	return labels;
}

void decode_known(const struct decode *decode, const struct decode_path *path, const struct val *map,
                  const char *const *names, size_t count)
{
	const char *key;
	const struct val *item;
	if (val_kind(map) != VAL_MAP)
		return;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		bool known = false;
		for (size_t i = 0; i < count && !known; i++)
			known = strcmp(key, names[i]) == 0;
		if (known)
			continue;
		const char *near = text_nearest(key, names, count);
		decode_warning(decode, PATH_KEY(path, key),
		               near ? arena_printf(decode->problems->arena, "write %s", near) : "remove it",
		               "there is no such field, so it has no effect");
	}
}

int decode_enum(const struct decode *decode, const struct decode_path *path, const char *text, const char *const *names,
                size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(text, names[i]) == 0)
			return (int)i;
	struct buffer choices = {0};
	for (size_t i = 0; i < count; i++)
		buffer_printf(&choices, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", names[i]);
	struct arena *arena = decode->problems->arena;
	decode_error(decode, path, arena_printf(arena, "write %s", choices.text), "%s is not one of %s",
	             decode_show(arena, text), choices.text);
	buffer_free(&choices);
	return -1;
}

static int64_t decode_time(const struct decode *decode, const struct decode_path *up, const struct val *map,
                           const char *key)
{
	int64_t seconds = INT64_MIN;
	const char *text = decode_string(decode, up, map, key);
	if (text && clock_parse_rfc3339(text, &seconds) < 0) {
		seconds = INT64_MIN;
		decode_error(decode, PATH_KEY(up, key), "write it as 2025-01-31T12:00:00Z", "%s is not a time stamp",
		             decode_show(decode->problems->arena, text));
	}
	return seconds;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

struct metadata decode_metadata(const struct decode *decode, const struct val *object, bool namespaced)
{
	const struct decode_path *path = PATH_KEY(NULL, "metadata");
	const struct val *map = decode_map(decode, NULL, object, "metadata");
	struct arena *arena = decode->problems->arena;
	struct metadata meta = {.val = map};
	meta.name = or_empty(decode_string(decode, path, map, "name"));
	meta.namespace_ = or_empty(decode_string(decode, path, map, "namespace"));
	meta.uid = or_empty(decode_string(decode, path, map, "uid"));
	meta.creation_seconds = decode_time(decode, path, map, "creationTimestamp");
	meta.deleting = decode_time(decode, path, map, "deletionTimestamp") != INT64_MIN;
	if (!*meta.name && !decode_string(decode, path, map, "generateName"))
		decode_error(decode, PATH_KEY(path, "name"), "add metadata.name", "the object has no name");
	else if (*meta.name && !name_is_subdomain(meta.name))
		decode_error(decode, PATH_KEY(path, "name"),
		             "use lower-case letters, digits, '-' and '.', at most 253 characters",
		             "%s is not a valid object name", decode_show(arena, meta.name));
	if (namespaced && *meta.namespace_ && !name_is_label(meta.namespace_))
		decode_error(decode, PATH_KEY(path, "namespace"),
		             "use lower-case letters, digits and '-', at most 63 characters",
		             "%s is not a valid namespace", decode_show(arena, meta.namespace_));
	if (!namespaced)
		meta.namespace_ = "";
	else if (!*meta.namespace_)
		meta.namespace_ = "default";
	return meta;
}

const struct val *decode_spec(const struct decode *decode, const struct val *object)
{
	if (!decode_is(decode, NULL, object, VAL_MAP))
		return NULL;
	return decode_map(decode, NULL, object, "spec");
}

static bool is_lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* One RFC 1123 label in text[0..length). */
static bool label_span(const char *text, size_t length)
{
	if (length == 0 || length > 63 || !is_lower_or_digit(text[0]) || !is_lower_or_digit(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_lower_or_digit(text[i]) && text[i] != '-')
			return false;
	return true;
}

/* Labels joined by dots. Kubernetes bounds the whole, not each part. */
static bool subdomain_span(const char *text, size_t length)
{
	if (length == 0 || length > 253)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool edge = i == 0 || i + 1 == length || text[i - 1] == '.' || text[i + 1] == '.';
		if (is_lower_or_digit(text[i]) || (!edge && text[i] == '-'))
			continue;
		/* a dot may stand only between two label characters */
		if (text[i] != '.' || edge)
			return false;
	}
	return true;
}

bool name_is_label(const char *text)
{
	return label_span(text, strnlen(text, 64));
}

bool name_is_subdomain(const char *text)
{
	return subdomain_span(text, strnlen(text, 254));
}

bool name_is_label_key(const char *text)
{
	const char *slash = strchr(text, '/');
	if (slash && !subdomain_span(text, (size_t)(slash - text)))
		return false;
	const char *name = slash ? slash + 1 : text;
	size_t length = strnlen(name, 64);
	if (length == 0 || length > 63)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = name[i];
		bool inner = i > 0 && i + 1 < length;
		bool plain = is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
		if (!plain && !(inner && (c == '-' || c == '_' || c == '.')))
			return false;
	}
	return true;
}
