/* Metadata and fields of documents: labels as sorted pairs, identity of an object, numbers with their type checked. */
#include "group/internal.h"

#include <stdint.h>
#include <string.h>

const char *meta_scalar(struct arena *arena, const struct val *val)
{
	char scratch[64];
	const char *text = val_scalar_text(val, scratch);
	return text == scratch ? arena_strdup(arena, text) : text;
}

struct labels meta_map(struct arena *arena, const struct val *map)
{
	struct labels labels = {0};
	if (val_kind(map) != VAL_MAP || val_count(map) == 0)
		return labels;
	labels.items = arena_array(arena, struct label, val_count(map));
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		const char *value = meta_scalar(arena, item);
		if (value)
			labels.items[labels.count++] = (struct label){key, value};
	}
	labels_sort(&labels);
	return labels;
}

struct labels meta_labels(struct arena *arena, const struct val *object, const char *field)
{
	return meta_map(arena, val_path(object, "metadata", field, NULL));
}

struct labels meta_merge(struct arena *arena, struct labels base, struct labels more)
{
	if (more.count == 0)
		return base;
	if (base.count == 0)
		return more;
	struct labels both = {.items = arena_array(arena, struct label, base.count + more.count)};
	for (size_t i = 0, j = 0; i < base.count || j < more.count;) {
		int order = i == base.count ? 1 : j == more.count ? -1 : strcmp(base.items[i].key, more.items[j].key);
		both.items[both.count++] = order <= 0 ? base.items[i] : more.items[j];
		i += order <= 0;
		j += order >= 0;
	}
	return both;
}

struct labels meta_without(struct arena *arena, struct labels labels, const char *key)
{
	if (!labels_get(&labels, key))
		return labels;
	struct labels rest = {.items = arena_array(arena, struct label, labels.count)};
	for (size_t i = 0; i < labels.count; i++)
		if (strcmp(labels.items[i].key, key) != 0)
			rest.items[rest.count++] = labels.items[i];
	return rest;
}

void meta_put(struct arena *arena, struct labels *labels, const char *key, const char *value)
{
	struct label *one = arena_new(arena, struct label);
	*one = (struct label){key, value};
	*labels = meta_merge(arena, (struct labels){.items = one, .count = 1}, *labels);
}

const char *meta_get(const struct labels *labels, const char *key)
{
	const char *value = labels_get(labels, key);
	return value && *value ? value : NULL;
}

const char *meta_text(const struct val *object, const char *field)
{
	return val_str(val_path(object, "metadata", field, NULL), "");
}

struct group_owner meta_owner(const struct val *object, const char *api_version, const char *kind)
{
	return (struct group_owner){
		.api_version = val_str(val_get(object, "apiVersion"), api_version),
		.kind = val_str(val_get(object, "kind"), kind),
		.name = meta_text(object, "name"),
		.uid = meta_text(object, "uid"),
		.object = object,
	};
}

bool meta_api_group_is(const char *api_version, const char *api_group)
{
	const char *slash = strchr(api_version, '/');
	size_t length = slash ? (size_t)(slash - api_version) : 0;
	return strlen(api_group) == length && strncmp(api_version, api_group, length) == 0;
}

bool meta_parse_int(const char *text, int64_t *out)
{
	bool negative = *text == '-';
	const char *at = text + (negative || *text == '+');
	if (!*at)
		return false;
	int64_t number = 0;
	for (; *at; at++) {
		if (*at < '0' || *at > '9')
			return false;
		number = number * 10 + (*at - '0');
		if (number > (int64_t)INT32_MAX + negative)
			return false;
	}
	*out = negative ? -number : number;
	return true;
}

enum field field_kind(struct grouping *grouping, const struct val *val, enum val_kind kind, const char *path)
{
	if (val_kind(val) == VAL_NULL)
		return FIELD_ABSENT;
	if (val_kind(val) == kind)
		return FIELD_GIVEN;
	group_warn(grouping, GROUP_ABOUT_WRONG_FIELD_TYPE, path,
	           arena_printf(grouping->arena, "write a %s there", val_kind_name(kind)), "expected a %s, found a %s",
	           val_kind_name(kind), val_kind_name(val_kind(val)));
	return FIELD_WRONG;
}

enum field field_text(struct grouping *grouping, const struct val *val, const char *path, const char **out)
{
	enum field given = field_kind(grouping, val, VAL_STRING, path);
	const char *text = val_str(val, "");
	if (*text)
		*out = text;
	return given == FIELD_GIVEN && !*text ? FIELD_ABSENT : given;
}

enum field field_int(struct grouping *grouping, const struct val *val, const char *path, int64_t *out)
{
	if (val_kind(val) == VAL_NULL)
		return FIELD_ABSENT;
	if (val_int(val, out) < 0) {
		group_warn(grouping, GROUP_ABOUT_WRONG_FIELD_TYPE, path, "write a whole number there",
		           "expected a whole number, found a %s", val_kind_name(val_kind(val)));
		return FIELD_WRONG;
	}
	if (*out < 0) {
		group_warn(grouping, GROUP_ABOUT_WRONG_FIELD_TYPE, path, "write 0 or a positive number there",
		           "the number is negative");
		return FIELD_WRONG;
	}
	*out = tree_pods(grouping, *out, path);
	return FIELD_GIVEN;
}
