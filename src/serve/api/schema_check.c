/* Walks an object and its schema side by side. */
#include "serve/api/schema_check.h"

#include "base/quantity.h"

#include <string.h>

/* The way to a value, printed only when there is something to say. */
struct place {
	const struct place *up;
	const char *key; /* NULL: an index */
	size_t index;
};

static void print_place(const struct place *place, struct buffer *out)
{
	if (!place)
		return;
	print_place(place->up, out);
	if (place->key)
		buffer_printf(out, "%s%s", out->length ? "." : "", place->key);
	else
		buffer_printf(out, "[%zu]", place->index);
}

static const char *path_text(const struct place *place, struct problems *problems)
{
	struct buffer text = {0};
	print_place(place, &text);
	const char *copy = arena_strdup(problems->arena, text.text ? text.text : "");
	buffer_free(&text);
	return copy;
}

static bool is_common(const struct place *up, const char *key)
{
	return !up && (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0);
}

/* ---- unknown fields ---- */

struct search {
	struct problems *problems;
	bool patch;
};

static void unknown_in(struct search *search, const struct schema_type *type, const struct val *map,
                       const struct place *up);

static void unknown_below(struct search *search, const struct schema_field *field, const struct val *val,
                          const struct place *place)
{
	const char *key;
	const struct val *item;
	size_t index = 0;
	if (field->kind != 'T')
		return;
	if (!field->list && !field->map) {
		unknown_in(search, field->type, val, place);
		return;
	}
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item); index++) {
		struct place here = {.up = place, .key = key, .index = index};
		unknown_in(search, field->type, item, &here);
	}
}

static void unknown_in(struct search *search, const struct schema_type *type, const struct val *map,
                       const struct place *up)
{
	const char *key;
	const struct val *item;
	struct schema_field field;
	if (val_kind(map) != VAL_MAP)
		return;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		struct place here = {.up = up, .key = key};
		if (is_common(up, key) || (search->patch && key[0] == '$'))
			continue;
		if (schema_field_named(type, key, &field)) {
			unknown_below(search, &field, item, &here);
		} else if (!schema_is_open(type) && search->problems->count < SCHEMA_MAX_PROBLEMS) {
			const char *path = path_text(&here, search->problems);
			problem_add(search->problems, SEVERITY_WARNING, path, NULL, "unknown field \"%s\"", path);
		}
	}
}

void schema_unknown(const struct schema_type *type, const struct val *object, bool patch, struct problems *problems)
{
	struct search search = {.problems = problems, .patch = patch};
	unknown_in(&search, type, object, NULL);
}

/* ---- pruning ---- */

static struct node *prune_map(struct build *build, const struct schema_type *type, const struct val *map, bool root);

static struct node *prune_field(struct build *build, const struct schema_field *field, const struct val *val)
{
	const char *key;
	const struct val *item;
	if (field->kind != 'T')
		return build_copy(build, val);
	if (!field->list && !field->map)
		return prune_map(build, field->type, val, false);
	if (val_kind(val) != VAL_LIST && val_kind(val) != VAL_MAP)
		return build_copy(build, val);
	bool list = val_kind(val) == VAL_LIST;
	struct node *copy = list ? build_list(build) : build_map(build);
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);) {
		struct node *inner = prune_map(build, field->type, item, false);
		if (list)
			build_append(build, copy, inner);
		else
			build_put(build, copy, key, inner);
	}
	return copy;
}

static struct node *prune_map(struct build *build, const struct schema_type *type, const struct val *map, bool root)
{
	const char *key;
	const struct val *item;
	struct schema_field field;
	if (val_kind(map) != VAL_MAP)
		return build_copy(build, map);
	struct node *copy = build_map(build);
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		if (schema_field_named(type, key, &field))
			build_put(build, copy, key, prune_field(build, &field, item));
		else if (key[0] == '$' || schema_is_open(type) ||
		         (root && (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0)))
			build_put(build, copy, key, build_copy(build, item));
	}
	return copy;
}

struct node *schema_prune(struct build *build, const struct schema_type *type, const struct val *object)
{
	return prune_map(build, type, object, true);
}

/* ---- types ---- */

static void types_in(struct problems *problems, const struct schema_type *type, const struct val *map,
                     const struct place *up);

static const char *wanted_name(char kind)
{
	switch (kind) {
	case 'i':
	case 'l':
		return "a whole number";
	case 'b':
		return "true or false";
	case 'f':
		return "a number";
	case 'q':
		return "a quantity such as 500m or 2Gi";
	case 'x':
		return "a whole number or a string";
	case 'T':
		return "a map";
	default:
		return "a string";
	}
}

static bool fits(const struct schema_field *field, const struct val *val)
{
	enum val_kind kind = val_kind(val);
	int64_t number;
	char scratch[64];
	const char *text;
	switch (field->kind) {
	case 'i':
		return val_int(val, &number) == 0 && number >= INT32_MIN && number <= INT32_MAX;
	case 'l':
		return val_int(val, &number) == 0;
	case 'b':
		return kind == VAL_BOOL;
	case 'f':
		return kind == VAL_INT || kind == VAL_REAL;
	case 'q':
		text = val_scalar_text(val, scratch);
		return text && quantity_parse(text, strlen(text), QUANTITY_MILLI, &number, NULL) == 0;
	case 'x':
		return kind == VAL_STRING || val_int(val, &number) == 0;
	case 'T':
		return kind == VAL_MAP;
	case 'a':
		return true;
	default:
		return kind == VAL_STRING;
	}
}

static void check_value(struct problems *problems, const struct schema_field *field, const struct val *val,
                        const struct place *place)
{
	if (val_kind(val) == VAL_NULL || problems->count >= SCHEMA_MAX_PROBLEMS)
		return;
	if (!fits(field, val))
		problem_add(problems, SEVERITY_ERROR, path_text(place, problems), NULL, "must be %s, not a %s",
		            wanted_name(field->kind), val_kind_name(val_kind(val)));
	else if (field->kind == 'T')
		types_in(problems, field->type, val, place);
}

static void check_field(struct problems *problems, const struct schema_field *field, const struct val *val,
                        const struct place *place)
{
	const char *key;
	const struct val *item;
	size_t index = 0;
	enum val_kind kind = val_kind(val);
	if (!field->list && !field->map) {
		check_value(problems, field, val, place);
		return;
	}
	if (kind == VAL_NULL)
		return;
	if (kind != (field->list ? VAL_LIST : VAL_MAP)) {
		problem_add(problems, SEVERITY_ERROR, path_text(place, problems), NULL, "must be a %s, not a %s",
		            field->list ? "list" : "map", val_kind_name(kind));
		return;
	}
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item); index++) {
		struct place here = {.up = place, .key = key, .index = index};
		check_value(problems, field, item, &here);
	}
}

static void types_in(struct problems *problems, const struct schema_type *type, const struct val *map,
                     const struct place *up)
{
	const char *key;
	const struct val *item;
	struct schema_field field;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		struct place here = {.up = up, .key = key};
		if (!is_common(up, key) && schema_field_named(type, key, &field))
			check_field(problems, &field, item, &here);
	}
}

void schema_types(const struct schema_type *type, const struct val *object, struct problems *problems)
{
	types_in(problems, type, object, NULL);
}
