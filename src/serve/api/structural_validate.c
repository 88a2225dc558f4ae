/* Values against a structural schema. Messages follow what the Kubernetes API server says. */
#include "serve/api/structural.h"

#include "object/pattern.h"
#include "serve/api/schema_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MATCHED ((size_t)64 << 10)

struct check {
	struct problems *problems;
};

static void validate(struct check *check, const struct val *schema, const struct val *val, const char *path, bool root);

static bool full(const struct check *check)
{
	return check->problems->count >= SCHEMA_MAX_PROBLEMS;
}

/* A value as it is shown in a message, shortened when it is long. */
static const char *shown(struct check *check, const struct val *val)
{
	struct buffer text = {0};
	val_write(val, DOC_JSON_COMPACT, &text);
	const char *copy = text.length > 200 ? arena_printf(check->problems->arena, "%.200s...", text.text)
	                                     : arena_strdup(check->problems->arena, text.text);
	buffer_free(&text);
	return copy;
}

static void invalid(struct check *check, const char *path, const struct val *val, const char *rule)
{
	problem_add(check->problems, SEVERITY_ERROR, path, NULL, "Invalid value: %s: %s in body %s", shown(check, val),
	            path, rule);
}

/* ---- scalars ---- */

static bool is_type(const struct val *val, const char *type)
{
	enum val_kind kind = val_kind(val);
	int64_t number;
	if (strcmp(type, "object") == 0)
		return kind == VAL_MAP;
	if (strcmp(type, "array") == 0)
		return kind == VAL_LIST;
	if (strcmp(type, "string") == 0)
		return kind == VAL_STRING;
	if (strcmp(type, "boolean") == 0)
		return kind == VAL_BOOL;
	if (strcmp(type, "integer") == 0)
		return val_int(val, &number) == 0;
	if (strcmp(type, "number") == 0)
		return kind == VAL_INT || kind == VAL_REAL;
	return true;
}

static bool type_fits(struct check *check, const struct val *schema, const struct val *val, const char *path)
{
	const char *type = val_str(val_get(schema, "type"), "");
	int64_t number;
	if (val_bool(val_get(schema, "x-kubernetes-int-or-string"), false)) {
		if (val_kind(val) == VAL_STRING || val_int(val, &number) == 0)
			return true;
		type = "integer or string";
	} else if (!*type || is_type(val, type)) {
		return true;
	}
	problem_add(check->problems, SEVERITY_ERROR, path, NULL,
	            "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", val_kind_name(val_kind(val)), path,
	            type, val_kind_name(val_kind(val)));
	return false;
}

static void check_enum(struct check *check, const struct val *schema, const struct val *val, const char *path)
{
	const struct val *choices = val_get(schema, "enum"), *item;
	struct buffer names = {0};
	for (struct val_iter it = val_iter(choices); val_next(&it, NULL, &item);) {
		if (val_equal(item, val)) {
			buffer_free(&names);
			return;
		}
		buffer_puts(&names, names.length ? ", " : "");
		val_write(item, DOC_JSON_COMPACT, &names);
	}
	if (names.length)
		problem_add_error(check->problems, PROBLEM_UNSUPPORTED, path, NULL,
		                  "Unsupported value: %s: supported values: %s", shown(check, val), names.text);
	buffer_free(&names);
}

static double number_of(const struct val *val)
{
	char scratch[64];
	const char *text = val_scalar_text(val, scratch);
	return text ? strtod(text, NULL) : 0;
}

/* Bounds are compared as whole numbers when both are, so that large ones are exact. */
static int compare_numbers(const struct val *a, const struct val *b)
{
	int64_t x, y;
	if (val_int(a, &x) == 0 && val_int(b, &y) == 0)
		return (x > y) - (x < y);
	double p = number_of(a), q = number_of(b);
	return (p > q) - (p < q);
}

static bool is_number(const struct val *val)
{
	return val_kind(val) == VAL_INT || val_kind(val) == VAL_REAL;
}

static void check_number(struct check *check, const struct val *schema, const struct val *val, const char *path)
{
	const struct val *least = val_get(schema, "minimum"), *most = val_get(schema, "maximum");
	int64_t number, step;
	if (!is_number(val))
		return;
	if (is_number(least)) {
		bool open = val_bool(val_get(schema, "exclusiveMinimum"), false);
		int order = compare_numbers(val, least);
		if (order < 0 || (open && order == 0))
			invalid(check, path, val,
			        arena_printf(check->problems->arena, "should be greater than %s%s",
			                     open ? "" : "or equal to ", shown(check, least)));
	}
	if (is_number(most)) {
		bool open = val_bool(val_get(schema, "exclusiveMaximum"), false);
		int order = compare_numbers(val, most);
		if (order > 0 || (open && order == 0))
			invalid(check, path, val,
			        arena_printf(check->problems->arena, "should be less than %s%s",
			                     open ? "" : "or equal to ", shown(check, most)));
	}
	if (val_int(val_get(schema, "multipleOf"), &step) == 0 && step > 0 && val_int(val, &number) == 0 &&
	    number % step != 0)
		invalid(check, path, val,
		        arena_printf(check->problems->arena, "should be a multiple of %lld", (long long)step));
}

static void check_pattern(struct check *check, const char *text, const struct val *val, const char *path)
{
	struct arena *arena = check->problems->arena;
	const char *value = val_str(val, "");
	struct error error = {0};
	const struct pattern *pattern = pattern_compile(arena, text, strlen(text), &error);
	enum pattern_result result = pattern && strlen(value) <= MAX_MATCHED
	                                     ? pattern_match(pattern, value, strlen(value))
	                                     : PATTERN_UNDECIDED;
	if (result == PATTERN_NO)
		invalid(check, path, val, arena_printf(arena, "should match '%s'", text));
	else if (result == PATTERN_UNDECIDED)
		invalid(check, path, val, arena_printf(arena, "cannot be checked against the pattern '%s'", text));
}

static size_t characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static void check_size(struct check *check, const struct val *schema, const char *path, const char *least,
                       const char *most, int64_t size, const char *unit)
{
	int64_t bound;
	if (val_int(val_get(schema, least), &bound) == 0 && size < bound)
		problem_add(check->problems, SEVERITY_ERROR, path, NULL,
		            "Invalid value: %s in body should have at least %lld %s, has %lld", path, (long long)bound,
		            unit, (long long)size);
	if (val_int(val_get(schema, most), &bound) == 0 && size > bound)
		problem_add(check->problems, SEVERITY_ERROR, path, NULL, "Too many: %lld: must have at most %lld %s",
		            (long long)size, (long long)bound, unit);
}

/* ---- containers ---- */

static void check_map(struct check *check, const struct val *schema, const struct val *val, const char *path, bool root)
{
	const char *key;
	const struct val *item;
	const struct val *properties = val_get(schema, "properties"), *others = val_get(schema, "additionalProperties");
	check_size(check, schema, path, "minProperties", "maxProperties", (int64_t)val_count(val), "properties");
	for (struct val_iter it = val_iter(val_get(schema, "required")); val_next(&it, NULL, &item);) {
		const char *name = val_str(item, "");
		if (!full(check) && *name && !val_get(val, name))
			problem_add_error(check->problems, PROBLEM_REQUIRED,
			                  problem_path(check->problems, "%s%s%s", path, *path ? "." : "", name), NULL,
			                  "Required value");
	}
	for (struct val_iter it = val_iter(val); !full(check) && val_next(&it, &key, &item);) {
		const struct val *inner = val_get(properties, key);
		if (!inner && val_kind(others) == VAL_MAP)
			inner = others;
		if (root &&
		    (strcmp(key, "metadata") == 0 || strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0))
			continue;
		if (inner)
			validate(check, inner, item,
			         problem_path(check->problems, "%s%s%s", path, *path ? "." : "", key), false);
	}
}

/* What tells the items of a set or a keyed list apart, as text; NULL when it is another list. */
static const char *item_key(struct check *check, const struct val *schema, const struct val *item)
{
	const char *type = val_str(val_get(schema, "x-kubernetes-list-type"), "");
	const struct val *name;
	struct buffer text = {0};
	if (strcmp(type, "set") == 0) {
		val_write(item, DOC_JSON_COMPACT, &text);
	} else if (strcmp(type, "map") == 0) {
		buffer_puts(&text, "{");
		for (struct val_iter it = val_iter(val_get(schema, "x-kubernetes-list-map-keys"));
		     val_next(&it, NULL, &name);) {
			buffer_printf(&text, "%s\"%s\":", text.length > 1 ? "," : "", val_str(name, ""));
			val_write(val_get(item, val_str(name, "")), DOC_JSON_COMPACT, &text);
		}
		buffer_puts(&text, "}");
	}
	const char *copy = arena_strdup(check->problems->arena, text.text);
	buffer_free(&text);
	return copy;
}

static void check_duplicates(struct check *check, const struct val *schema, const struct val *val, const char *path)
{
	const struct val *item;
	size_t index = 0;
	struct interner *seen = interner_create();
	for (struct val_iter it = val_iter(val); !full(check) && val_next(&it, NULL, &item); index++) {
		const char *key = item_key(check, schema, item);
		if (!key)
			break;
		if (interner_find(seen, key) != UINT32_MAX)
			problem_add_error(check->problems, PROBLEM_DUPLICATE,
			                  problem_path(check->problems, "%s[%zu]", path, index), NULL,
			                  "Duplicate value: %s", key);
		interner_id(seen, key);
	}
	interner_destroy(seen);
}

static void check_list(struct check *check, const struct val *schema, const struct val *val, const char *path)
{
	const struct val *item, *items = val_get(schema, "items");
	size_t index = 0;
	check_duplicates(check, schema, val, path);
	check_size(check, schema, path, "minItems", "maxItems", (int64_t)val_count(val), "items");
	if (!items)
		return;
	for (struct val_iter it = val_iter(val); !full(check) && val_next(&it, NULL, &item); index++)
		validate(check, items, item, problem_path(check->problems, "%s[%zu]", path, index), false);
}

static bool holds(const struct val *schema, const struct val *val, const char *path, struct arena *arena)
{
	struct problems problems = {.arena = arena};
	struct check check = {.problems = &problems};
	validate(&check, schema, val, path, false);
	return problems.errors == 0;
}

static void check_choices(struct check *check, const struct val *schema, const struct val *val, const char *path)
{
	static const char *const keys[] = {"allOf", "anyOf", "oneOf"};
	const struct val *item, *forbidden = val_get(schema, "not");
	struct arena *arena = check->problems->arena;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct val *choices = val_get(schema, keys[i]);
		size_t met = 0, count = val_count(choices);
		for (struct val_iter it = val_iter(choices); val_next(&it, NULL, &item);)
			met += holds(item, val, path, arena);
		if (count && ((i == 0 && met < count) || (i == 1 && met == 0) || (i == 2 && met != 1)))
			invalid(check, path, val,
			        arena_printf(arena, "must validate %s of the schemas (%s)",
			                     i == 0   ? "all"
			                     : i == 1 ? "at least one"
			                              : "one and only one",
			                     keys[i]));
	}
	if (val_kind(forbidden) == VAL_MAP && holds(forbidden, val, path, arena))
		invalid(check, path, val, "must not validate the schema (not)");
}

static void validate(struct check *check, const struct val *schema, const struct val *val, const char *path, bool root)
{
	if (full(check))
		return;
	if (val_kind(val) == VAL_NULL) {
		if (!val_bool(val_get(schema, "nullable"), false) && val_get(schema, "type"))
			problem_add(check->problems, SEVERITY_ERROR, path, NULL,
			            "Invalid value: \"null\": %s in body must be of type %s: \"null\"", path,
			            val_str(val_get(schema, "type"), ""));
		return;
	}
	if (!type_fits(check, schema, val, path))
		return;
	check_enum(check, schema, val, path);
	check_choices(check, schema, val, path);
	check_number(check, schema, val, path);
	if (val_kind(val) == VAL_STRING) {
		const char *pattern = val_str(val_get(schema, "pattern"), "");
		check_size(check, schema, path, "minLength", "maxLength", (int64_t)characters(val_str(val, "")),
		           "characters");
		if (*pattern)
			check_pattern(check, pattern, val, path);
	} else if (val_kind(val) == VAL_MAP) {
		check_map(check, schema, val, path, root);
	} else if (val_kind(val) == VAL_LIST) {
		check_list(check, schema, val, path);
	}
}

void structural_validate(const struct val *schema, const struct val *object, struct problems *problems)
{
	struct check check = {.problems = problems};
	validate(&check, schema, object, "", true);
}
