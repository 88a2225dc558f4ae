/* Unknown fields and defaults by a structural schema. */
#include "serve/api/structural.h"

#include "object/build.h"
#include "serve/api/schema_check.h"

#include <string.h>

static bool keeps_unknown(const struct val *schema)
{
	return val_bool(val_get(schema, "x-kubernetes-preserve-unknown-fields"), false);
}

/* Fields that the server itself looks after, at the root and in embedded objects. */
static bool is_common(const char *key)
{
	return strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 || strcmp(key, "metadata") == 0;
}

static bool has_common(const struct val *schema, bool root)
{
	return root || val_bool(val_get(schema, "x-kubernetes-embedded-resource"), false);
}

/* The schema of one key of a map; NULL when nothing is said about it. *known says whether it may be there. */
static const struct val *key_schema(const struct val *schema, const char *key, bool *known)
{
	const struct val *property = val_get(val_get(schema, "properties"), key);
	const struct val *others = val_get(schema, "additionalProperties");
	*known = property || val_kind(others) == VAL_MAP || val_bool(others, false) || keeps_unknown(schema);
	return property ? property : val_kind(others) == VAL_MAP ? others : NULL;
}

/* ---- unknown fields ---- */

static void unknown_in(const struct val *schema, const struct val *val, const char *path, bool root,
                       struct problems *problems)
{
	const char *key;
	const struct val *item;
	size_t index = 0;
	bool map = val_kind(val) == VAL_MAP;
	if (!schema || problems->count >= SCHEMA_MAX_PROBLEMS)
		return;
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item); index++) {
		bool known = true;
		if (map && has_common(schema, root) && is_common(key))
			continue;
		if (val_kind(item) != VAL_MAP && val_kind(item) != VAL_LIST) {
			if (map)
				key_schema(schema, key, &known);
			if (known)
				continue;
		}
		const char *here = map ? problem_path(problems, "%s%s%s", path, *path ? "." : "", key)
		                       : problem_path(problems, "%s[%zu]", path, index);
		const struct val *inner = map ? key_schema(schema, key, &known) : val_get(schema, "items");
		if (known)
			unknown_in(inner, item, here, false, problems);
		else if (problems->count < SCHEMA_MAX_PROBLEMS)
			problem_add(problems, SEVERITY_WARNING, here, NULL, "unknown field \"%s\"", here);
	}
}

void structural_unknown(const struct val *schema, const struct val *object, struct problems *problems)
{
	unknown_in(schema, object, "", true, problems);
}

/* ---- shaping ---- */

struct shaping {
	struct build *build;
	bool changed;
};

static struct node *shape(struct shaping *shaping, const struct val *schema, const struct val *val, bool root);

static void add_defaults(struct shaping *shaping, const struct val *schema, const struct val *val, struct node *copy)
{
	const char *key;
	const struct val *property;
	for (struct val_iter it = val_iter(val_get(schema, "properties")); val_next(&it, &key, &property);) {
		const struct val *fallback = val_get(property, "default"), *present = val_get(val, key);
		bool missing =
			!present || (val_kind(present) == VAL_NULL && !val_bool(val_get(property, "nullable"), false));
		if (!fallback || !missing)
			continue;
		build_put(shaping->build, copy, key, shape(shaping, property, fallback, false));
		shaping->changed = true;
	}
}

static struct node *shape_map(struct shaping *shaping, const struct val *schema, const struct val *val, bool root)
{
	const char *key;
	const struct val *item;
	struct node *copy = build_map(shaping->build);
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);) {
		bool known;
		const struct val *inner = key_schema(schema, key, &known);
		if (has_common(schema, root) && is_common(key)) {
			inner = NULL;
			known = true;
		}
		if (known)
			build_put(shaping->build, copy, key, shape(shaping, inner, item, false));
		else
			shaping->changed = true;
	}
	add_defaults(shaping, schema, val, copy);
	return copy;
}

static struct node *shape(struct shaping *shaping, const struct val *schema, const struct val *val, bool root)
{
	const struct val *item, *items = val_get(schema, "items");
	if (schema && val_kind(val) == VAL_MAP)
		return shape_map(shaping, schema, val, root);
	if (!items || val_kind(val) != VAL_LIST)
		return build_copy(shaping->build, val);
	struct node *copy = build_list(shaping->build);
	for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
		build_append(shaping->build, copy, shape(shaping, items, item, false));
	return copy;
}

struct doc *structural_shape(const struct val *schema, const struct val *object)
{
	struct shaping shaping = {.build = build_create()};
	struct node *root = shape(&shaping, schema, object, true);
	struct doc *doc = shaping.changed ? build_finish(shaping.build, root) : NULL;
	build_destroy(shaping.build);
	return doc;
}
