/* Selectors: reading the texts of the API, matching objects. */
#include "api/selector.h"

#include "api/object_make.h"
#include "api/selector_match.h"

#include <ctype.h>
#include <string.h>

/* ---- labels ---- */

struct reader {
	struct arena *arena;
	const char *text, *at;
	struct store_error *error;
};

static int fail(struct reader *reader, const char *what)
{
	return store_fail(reader->arena, reader->error, 400, "BadRequest",
	                  "unable to parse selector \"%s\": %s at \"%s\"", reader->text, what, reader->at);
}

static void skip_spaces(struct reader *reader)
{
	while (*reader->at == ' ' || *reader->at == '\t')
		reader->at++;
}

static bool is_word(char letter)
{
	return isalnum((unsigned char)letter) || strchr("-_./", letter);
}

/* A key or value; "" when there is none here. */
static char *word(struct reader *reader)
{
	skip_spaces(reader);
	const char *start = reader->at;
	while (*reader->at && is_word(*reader->at))
		reader->at++;
	char *text = arena_strndup(reader->arena, start, (size_t)(reader->at - start));
	skip_spaces(reader);
	return text;
}

static bool accept(struct reader *reader, const char *token)
{
	if (!text_starts_with(reader->at, token))
		return false;
	reader->at += strlen(token);
	return true;
}

static void add_value(struct reader *reader, struct match *match, const char *value)
{
	if ((match->value_count & (match->value_count - 1)) == 0) { /* full at each power of two */
		size_t room = match->value_count ? match->value_count * 2 : 1;
		const char **values = arena_array(reader->arena, const char *, room);
		if (match->value_count)
			memcpy(values, match->values, match->value_count * sizeof(*values));
		match->values = values;
	}
	match->values[match->value_count++] = value;
}

/* (a,b,c) */
static int value_set(struct reader *reader, struct match *match)
{
	skip_spaces(reader);
	if (!accept(reader, "("))
		return fail(reader, "expected (");
	do {
		add_value(reader, match, word(reader));
	} while (accept(reader, ","));
	return accept(reader, ")") ? 0 : fail(reader, "expected , or )");
}

static int single(struct reader *reader, struct match *match, enum match_op op)
{
	match->op = op;
	add_value(reader, match, word(reader));
	return 0;
}

/* Greater and less are about whole numbers. */
static int bound(struct reader *reader, struct match *match, enum match_op op)
{
	single(reader, match, op);
	const char *digits = match->values[0] + (*match->values[0] == '-');
	bool number = *digits && digits[strspn(digits, "0123456789")] == '\0' && strlen(digits) < 19;
	return number ? 0 : fail(reader, "expected a whole number");
}

static int requirement(struct reader *reader, struct match *match)
{
	skip_spaces(reader);
	if (accept(reader, "!")) {
		match->op = MATCH_NOT_EXISTS;
		match->key = word(reader);
		return *match->key ? 0 : fail(reader, "expected a label key");
	}
	match->key = word(reader);
	if (!*match->key)
		return fail(reader, "expected a label key");
	if (accept(reader, "!="))
		return single(reader, match, MATCH_NOT_IN);
	if (accept(reader, "==") || accept(reader, "="))
		return single(reader, match, MATCH_IN);
	if (accept(reader, ">"))
		return bound(reader, match, MATCH_GT);
	if (accept(reader, "<"))
		return bound(reader, match, MATCH_LT);
	if (accept(reader, "notin")) {
		match->op = MATCH_NOT_IN;
		return value_set(reader, match);
	}
	if (accept(reader, "in")) {
		match->op = MATCH_IN;
		return value_set(reader, match);
	}
	match->op = MATCH_EXISTS;
	return 0;
}

static int parse_labels(struct arena *arena, const char *text, struct selector *selector, struct store_error *error)
{
	size_t most = 1;
	for (const char *at = text; *at; at++)
		most += *at == ',';
	selector->items = arena_array(arena, struct match, most);
	struct reader reader = {.arena = arena, .text = text, .at = text, .error = error};
	do {
		if (requirement(&reader, &selector->items[selector->count++]) < 0)
			return -1;
		skip_spaces(&reader);
	} while (accept(&reader, ","));
	return *reader.at ? fail(&reader, "expected , or the end") : 0;
}

/* ---- fields ---- */

/* Names that stand for another place in what is stored. */
static const char *stored_path(const char *path)
{
	static const char *const places[][2] = {
		{"regarding.kind", "involvedObject.kind"},     {"regarding.namespace", "involvedObject.namespace"},
		{"regarding.name", "involvedObject.name"},     {"regarding.uid", "involvedObject.uid"},
		{"reportingController", "reportingComponent"}, {"source", "source.component"},
	};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(path, places[i][0]) == 0)
			return places[i][1];
	return path;
}

/* The path as the type offers it, in memory that lives as long as the store; NULL when it does not. */
static const char *offered(const struct store_api *api, const char *path)
{
	static const char *const always[] = {"metadata.name", "metadata.namespace"};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (strcmp(path, always[i]) == 0)
			return always[i];
	const struct kind_row *row = kinds_resource(api->group, api->type->resource);
	for (const char *const *field = row ? row->fields : NULL; field && *field; field++)
		if (strcmp(*field, path) == 0)
			return *field;
	return definition_selects(api, path);
}

static int parse_fields(struct arena *arena, const struct store_api *api, const char *text,
                        struct store_selector *selector, struct store_error *error)
{
	size_t most = 1;
	for (const char *at = text; *at; at++)
		most += *at == ',';
	selector->fields = arena_array(arena, struct store_field_match, most);
	for (char *rest = arena_strdup(arena, text), *term; (term = strsep(&rest, ","));) {
		if (!*term)
			continue;
		char *value = strchr(term, '=');
		if (!value || value == term)
			return store_fail(arena, error, 400, "BadRequest",
			                  "invalid field selector \"%s\": write path=value or path!=value", term);
		struct store_field_match *match = &selector->fields[selector->field_count++];
		match->negate = value[-1] == '!';
		value[match->negate ? -1 : 0] = '\0';
		*value++ = '\0';
		match->value = *value == '=' ? value + 1 : value;
		const char *path = offered(api, term);
		if (!path)
			return store_fail(arena, error, 400, "BadRequest", "field label not supported: %s", term);
		match->path = stored_path(path);
	}
	return 0;
}

int store_selector_parse(struct arena *arena, const struct store_api *api, const char *labels, const char *fields,
                         struct store_selector *selector, struct store_error *error)
{
	*selector = (struct store_selector){0};
	if (labels && *labels && parse_labels(arena, labels, &selector->labels, error) < 0)
		return -1;
	return fields && *fields ? parse_fields(arena, api, fields, selector, error) : 0;
}

/* ---- matching ---- */

const char *selector_value(const struct store_object *object, const char *path, char scratch[64])
{
	if (strcmp(path, "metadata.name") == 0)
		return object->name;
	if (strcmp(path, "metadata.namespace") == 0)
		return object->namespace_;
	return object_field(object, path, scratch);
}

/* An unset switch is off. */
static bool is_switch(const char *value)
{
	return strcmp(value, "false") == 0 || strcmp(value, "true") == 0;
}

static bool field_matches(const struct store_field_match *match, const struct store_object *object)
{
	char scratch[64];
	const char *text = selector_value(object, match->path, scratch);
	if (!text)
		text = is_switch(match->value) ? "false" : "";
	return (strcmp(text, match->value) == 0) != match->negate;
}

const struct store_field_match *selector_key(const struct store_selector *selector)
{
	const struct store_field_match *found = NULL;
	for (size_t i = 0; i < selector->field_count; i++) {
		const struct store_field_match *match = &selector->fields[i];
		if (match->negate || is_switch(match->value))
			continue;
		if (strcmp(match->path, "metadata.name") == 0)
			return match;
		found = match;
	}
	return found;
}

bool store_selector_matches(const struct store_selector *selector, const struct store_object *object)
{
	for (size_t i = 0; i < selector->field_count; i++)
		if (!field_matches(&selector->fields[i], object))
			return false;
	return selector_matches(&selector->labels, &object->labels, object->name);
}

/* ---- LabelSelector of specs ---- */

static enum match_op operator_of(const char *text)
{
	static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist"};
	for (unsigned i = 0; i < 4; i++)
		if (strcmp(text, names[i]) == 0)
			return (enum match_op)i;
	return MATCH_IN; /* without values: matches nothing */
}

void selector_of_spec(struct arena *arena, const struct val *spec, struct selector *selector)
{
	const struct val *labels = val_get(spec, "matchLabels"), *expressions = val_get(spec, "matchExpressions"),
			 *item;
	struct reader reader = {.arena = arena};
	const char *key;
	*selector = (struct selector){
		.items = arena_array(arena, struct match, val_count(labels) + val_count(expressions)),
	};
	for (struct val_iter it = val_iter(labels); val_next(&it, &key, &item);) {
		struct match *match = &selector->items[selector->count++];
		*match = (struct match){.key = key ? key : "", .op = MATCH_IN};
		add_value(&reader, match, val_str(item, ""));
	}
	for (struct val_iter it = val_iter(expressions); val_next(&it, NULL, &item);) {
		struct match *match = &selector->items[selector->count++];
		*match = (struct match){
			.key = val_str(val_get(item, "key"), ""),
			.op = operator_of(val_str(val_get(item, "operator"), "")),
		};
		const struct val *value;
		for (struct val_iter values = val_iter(val_get(item, "values")); val_next(&values, NULL, &value);)
			add_value(&reader, match, val_str(value, ""));
	}
}

void selector_print(const struct selector *selector, struct buffer *out)
{
	for (size_t i = 0; i < selector->count; i++) {
		const struct match *match = &selector->items[i];
		bool set = match->op == MATCH_IN || match->op == MATCH_NOT_IN;
		if (i)
			buffer_puts(out, ",");
		if (match->op == MATCH_NOT_EXISTS)
			buffer_puts(out, "!");
		buffer_puts(out, match->key);
		if (match->op == MATCH_GT || match->op == MATCH_LT)
			buffer_printf(out, "%s%s", match->op == MATCH_GT ? ">" : "<", match->values[0]);
		if (!set)
			continue;
		if (match->value_count == 1) {
			buffer_printf(out, "%s%s", match->op == MATCH_IN ? "=" : "!=", match->values[0]);
			continue;
		}
		buffer_puts(out, match->op == MATCH_IN ? " in (" : " notin (");
		for (size_t j = 0; j < match->value_count; j++)
			buffer_printf(out, "%s%s", j ? "," : "", match->values[j]);
		buffer_puts(out, ")");
	}
}

/* ---- copies ---- */

/* Writes the parts of a selector one after the other; without memory it only counts. */
struct packer {
	char *memory;
	size_t used;
};

static void *pack(struct packer *packer, const void *from, size_t size, size_t align)
{
	packer->used = (packer->used + align - 1) / align * align;
	void *to = packer->memory ? packer->memory + packer->used : NULL;
	if (to && size)
		memcpy(to, from, size);
	packer->used += size;
	return to;
}

static const char *pack_text(struct packer *packer, const char *text)
{
	return pack(packer, text, strlen(text) + 1, 1);
}

static void pack_selector(struct packer *packer, const struct store_selector *from, struct store_selector *to)
{
	struct match *matches = pack(packer, from->labels.items, from->labels.count * sizeof(struct match), 8);
	struct store_field_match *fields = pack(packer, from->fields, from->field_count * sizeof(*fields), 8);
	for (size_t i = 0; i < from->labels.count; i++) {
		const struct match *match = &from->labels.items[i];
		const char **values = pack(packer, match->values, match->value_count * sizeof(*values), 8);
		const char *key = pack_text(packer, match->key);
		for (size_t j = 0; j < match->value_count; j++) {
			const char *value = pack_text(packer, match->values[j]);
			if (values)
				values[j] = value;
		}
		if (matches) {
			matches[i].key = key;
			matches[i].values = values;
		}
	}
	for (size_t i = 0; i < from->field_count; i++) {
		const char *value = pack_text(packer, from->fields[i].value);
		if (fields)
			fields[i].value = value;
	}
	*to = (struct store_selector){
		.labels = {.items = matches, .count = from->labels.count},
		.fields = fields,
		.field_count = from->field_count,
	};
}

void *selector_copy(const struct store_selector *from, struct store_selector *to)
{
	*to = (struct store_selector){0};
	if (!from || (from->labels.count == 0 && from->field_count == 0))
		return NULL;
	struct packer packer = {0};
	pack_selector(&packer, from, to);
	packer.memory = base_malloc(packer.used);
	packer.used = 0;
	pack_selector(&packer, from, to);
	return packer.memory;
}
