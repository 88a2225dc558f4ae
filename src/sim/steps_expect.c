/* Owns what steps expect of any object and of events. What they expect of groups and pods is in steps_expect_groups.c.
 *
 * Every function first reads the form of its part and reports what is wrong with it; without a simulation it stops
 * there. So a scenario is checked as a whole before anything runs. */
#include "sim/steps_expect.h"
#include "kinds/names.h"

#include "object/jsonpath.h"

#include <string.h>

/* ---- numbers ---- */

static const struct {
	const char *key, *word;
} bounds[] = {{"count", ""}, {"atLeast", "at least "}, {"atMost", "at most "}};

/* Compares a number with `count`, `atLeast` and `atMost` of the map; a negative one checks only their form. Whether one
 * of them is given. */
static bool expect_bounds(const struct val *map, const char *where, const char *what, int64_t got,
                          struct scenario_result *result)
{
	bool any = false;
	for (int i = 0; i < 3; i++) {
		int64_t want;
		const struct val *val = val_get(map, bounds[i].key);
		if (!val)
			continue;
		any = true;
		if (val_int(val, &want) < 0) {
			scenario_fail(result, "%s.%s: must be a whole number", where, bounds[i].key);
			continue;
		}
		bool good = i == 0 ? got == want : i == 1 ? got >= want : got <= want;
		if (got >= 0 && !good)
			scenario_fail(result, "%s: expected %s%lld %s, got %lld", where, bounds[i].word,
			              (long long)want, what, (long long)got);
	}
	return any;
}

/* ---- fields of one object ---- */

static const char *print(const struct val *val, struct arena *arena)
{
	struct buffer out = {0};
	if (!val)
		return "nothing";
	val_write(val, DOC_JSON_COMPACT, &out);
	const char *text = arena_printf(arena, "%.200s", out.text);
	buffer_free(&out);
	return text;
}

static const char *key_of_item(const struct val *item)
{
	static const char *const keys[] = {"name", "type", "key", "uid"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (val_str(val_get(item, keys[i]), NULL))
			return keys[i];
	return NULL;
}

static bool matches(const struct val *want, const struct val *got);

/* Items with a name are found by it, others stand at the same place. */
static bool list_matches(const struct val *want, const struct val *got)
{
	const struct val *item, *other;
	size_t index = 0;
	for (struct val_iter it = val_iter(want); val_next(&it, NULL, &item); index++) {
		const char *key = key_of_item(item);
		bool found = !key && matches(item, val_item(got, index));
		for (struct val_iter in = val_iter(got); key && !found && val_next(&in, NULL, &other);)
			found = matches(item, other);
		if (!found)
			return false;
	}
	return true;
}

/* Whether everything that is given is there. */
static bool matches(const struct val *want, const struct val *got)
{
	const char *key;
	const struct val *item;
	if (val_kind(want) == VAL_LIST)
		return val_kind(got) == VAL_LIST && list_matches(want, got);
	if (val_kind(want) != VAL_MAP)
		return val_equal(want, got);
	for (struct val_iter it = val_iter(want); val_next(&it, &key, &item);)
		if (!matches(item, val_get(got, key)))
			return false;
	return val_kind(got) == VAL_MAP;
}

static bool contains(const struct val *got, const struct val *want)
{
	const struct val *item;
	if (val_kind(got) == VAL_LIST) {
		for (struct val_iter it = val_iter(got); val_next(&it, NULL, &item);)
			if (matches(want, item))
				return true;
		return false;
	}
	return val_str(want, NULL) && strstr(val_str(got, ""), val_str(want, ""));
}

/* A map asks a question about the value, anything else is the value. */
static bool field_holds(const struct val *want, const struct val *got)
{
	int64_t number = 0, limit = 0;
	if (val_kind(want) != VAL_MAP)
		return val_equal(want, got);
	const struct val *least = val_get(want, "atLeast"), *most = val_get(want, "atMost");
	const struct val *part = val_get(want, "contains"), *other = val_get(want, "not");
	if ((least || most) && val_int(got, &number) < 0)
		return false;
	if (least && (val_int(least, &limit) < 0 || number < limit))
		return false;
	if (most && (val_int(most, &limit) < 0 || number > limit))
		return false;
	return (!part || contains(got, part)) && (!other || !val_equal(other, got));
}

static void check_fields_form(const struct val *fields, const char *where, struct scenario_result *result)
{
	static const char *const keys[] = {"atLeast", "atMost", "contains", "not", NULL};
	const char *path;
	const struct val *want;
	if (fields && val_kind(fields) != VAL_MAP)
		scenario_fail(result, "%s: must be a map from path to value", where);
	for (struct val_iter it = val_iter(fields); val_next(&it, &path, &want);) {
		if (!path)
			return;
		if (!strchr(".$[{", path[0]) || !path[0])
			scenario_fail(result, "%s: \"%s\" is not a path such as .status.phase", where, path);
		if (val_kind(want) == VAL_MAP)
			scenario_check_keys(result, want, arena_printf(result->arena, "%s.\"%s\"", where, path), keys);
	}
}

static bool fields_hold(const struct val *fields, const struct val *root)
{
	const char *path;
	const struct val *want;
	for (struct val_iter it = val_iter(fields); val_next(&it, &path, &want);)
		if (!field_holds(want, jsonpath_first(root, path)))
			return false;
	return true;
}

static void expect_fields(const struct store_object *object, const struct val *fields, const char *where,
                          struct scenario_result *result)
{
	const char *path;
	const struct val *want;
	for (struct val_iter it = val_iter(fields); val_next(&it, &path, &want);) {
		const struct val *got = jsonpath_first(object->root, path);
		if (!field_holds(want, got))
			scenario_fail(result, "%s: %s %s: expected %s to be %s, got %s", where, object->type->kind,
			              object->name, path, print(want, result->arena), print(got, result->arena));
	}
}

/* ---- objects ---- */

struct selection {
	struct simulation_target target;
	const char *labels;
	const struct val *where;
};

static struct selection read_selection(const struct val *item, const char *where, struct scenario_result *result)
{
	static const char *const keys[] = {"apiVersion", "kind",    "namespace", "name",   "selector", "where",
	                                   "count",      "atLeast", "atMost",    "fields", "match",    NULL};
	scenario_check_keys(result, item, where, keys);
	struct selection selection = {
		.target = {.api_version = val_str(val_get(item, "apiVersion"), NULL),
	                   .kind = val_str(val_get(item, "kind"), ""),
	                   .namespace_ = val_str(val_get(item, "namespace"), NULL),
	                   .name = val_str(val_get(item, "name"), NULL)},
		.labels = val_str(val_get(item, "selector"), NULL),
		.where = val_get(item, "where"),
	};
	if (val_get(item, "selector") && !selection.labels)
		scenario_fail(result, "%s.selector: must be a text such as app=web", where);
	if (!selection.target.kind[0])
		scenario_fail(result, "%s.kind: must be given", where);
	check_fields_form(selection.where, arena_printf(result->arena, "%s.where", where), result);
	check_fields_form(val_get(item, "fields"), arena_printf(result->arena, "%s.fields", where), result);
	return selection;
}

/* The objects of a selection. False, with a failure, when it cannot be asked for. */
static bool select_objects(struct simulation *simulation, const struct selection *selection, const char *where,
                           struct store_list *list, struct scenario_result *result)
{
	struct store_error error = {0};
	struct store_selector labels = {0};
	struct store_list_request request = {
		.api = simulation_api(simulation, &selection->target, result->arena, &error),
		.selector = &labels,
	};
	if (!request.api ||
	    store_selector_parse(result->arena, request.api, selection->labels, NULL, &labels, &error) < 0) {
		scenario_fail(result, "%s: %s", where, error.message);
		return false;
	}
	bool one = selection->target.name;
	if (request.api->type->namespaced)
		request.namespace_ = selection->target.namespace_ ? selection->target.namespace_
		                     : one                        ? "default"
		                                                  : NULL;
	if (store_list(simulation->store, &request, list, result->arena, &error) < 0) {
		scenario_fail(result, "%s: %s", where, error.message);
		return false;
	}
	return true;
}

static bool is_selected(const struct selection *selection, const struct store_object *object)
{
	return (!selection->target.name || strcmp(selection->target.name, object->name) == 0) &&
	       fields_hold(selection->where, object->root);
}

static void expect_object(struct simulation *simulation, const struct val *item, const char *where,
                          struct scenario_result *result)
{
	struct selection selection = read_selection(item, where, result);
	const struct val *match = val_get(item, "match");
	struct store_list list = {0};
	int64_t count = 0;
	if (!simulation) {
		expect_bounds(item, where, "", -1, result);
		return;
	}
	if (!select_objects(simulation, &selection, where, &list, result))
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct store_object *object = list.items[i];
		if (!is_selected(&selection, object))
			continue;
		count++;
		expect_fields(object, val_get(item, "fields"), where, result);
		if (match && !matches(match, object->root))
			scenario_fail(result, "%s: %s %s does not match %s", where, object->type->kind, object->name,
			              print(match, result->arena));
	}
	store_list_clear(&list);
	if (!expect_bounds(item, where, "objects", count, result) && count == 0)
		scenario_fail(result, "%s: there is no such %s", where, selection.target.kind);
}

/* ---- events ---- */

static bool is_event(const struct val *item, const struct val *event)
{
	static const struct {
		const char *key, *path;
	} fields[] = {{"reason", ".reason"},
	              {"type", ".type"},
	              {"kind", ".involvedObject.kind"},
	              {"namespace", ".involvedObject.namespace"},
	              {"name", ".involvedObject.name"}};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct val *want = val_get(item, fields[i].key);
		if (want && !val_equal(want, jsonpath_first(event, fields[i].path)))
			return false;
	}
	const char *part = val_str(val_get(item, "contains"), "");
	return strstr(val_str(val_get(event, "message"), ""), part);
}

static void expect_event(struct simulation *simulation, const struct val *item, const char *where,
                         struct scenario_result *result)
{
	static const char *const keys[] = {"reason",   "type",  "kind",    "namespace", "name",
	                                   "contains", "count", "atLeast", "atMost",    NULL};
	scenario_check_keys(result, item, where, keys);
	if (!val_str(val_get(item, "reason"), NULL))
		scenario_fail(result, "%s.reason: must be given", where);
	if (!simulation) {
		expect_bounds(item, where, "", -1, result);
		return;
	}
	struct store_list list = {0};
	struct selection events = {.target = {.api_version = "v1", .kind = "Event"}};
	int64_t count = 0;
	if (!select_objects(simulation, &events, where, &list, result))
		return;
	for (size_t i = 0; i < list.count; i++)
		count += is_event(item, list.items[i]->root);
	store_list_clear(&list);
	if (!expect_bounds(item, where, "events", count, result) && count == 0)
		scenario_fail(result, "%s: there is no event %s", where, print(item, result->arena));
}

/* README form: objects of one kind that must exist, each with the given fields. */
static void expect_pod_group(struct simulation *simulation, const struct val *item, const char *where,
                             struct scenario_result *result)
{
	struct store_list list = {0};
	struct selection groups = {.target = {.api_version = KINDS_API_POD_GROUP, .kind = "PodGroup"}};
	bool found = false;
	if (val_kind(item) != VAL_MAP)
		scenario_fail(result, "%s: must be a map", where);
	if (!simulation || !select_objects(simulation, &groups, where, &list, result))
		return;
	for (size_t i = 0; i < list.count && !found; i++)
		found = matches(item, list.items[i]->root);
	store_list_clear(&list);
	if (!found)
		scenario_fail(result, "%s: there is no PodGroup like %s", where, print(item, result->arena));
}

static void each(struct simulation *simulation, const struct val *expect, const char *key, const char *where,
                 void (*check)(struct simulation *simulation, const struct val *item, const char *where,
                               struct scenario_result *result),
                 struct scenario_result *result)
{
	const struct val *list = val_get(expect, key), *item;
	size_t index = 0;
	if (list && val_kind(list) != VAL_LIST)
		scenario_fail(result, "%s.%s: must be a list", where, key);
	else
		for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++)
			check(simulation, item, arena_printf(result->arena, "%s.%s[%zu]", where, key, index), result);
}

void steps_expect(struct simulation *simulation, const struct val *expect, const char *where,
                  struct scenario_result *result)
{
	static const char *const keys[] = {"groups", "pods", "objects", "events", "podGroups", NULL};
	scenario_check_keys(result, expect, where, keys);
	if (val_kind(expect) != VAL_MAP || val_count(expect) == 0) {
		scenario_fail(result, "%s: says nothing", where);
		return;
	}
	steps_expect_groups(simulation, expect, where, result);
	each(simulation, expect, "objects", where, expect_object, result);
	each(simulation, expect, "events", where, expect_event, result);
	each(simulation, expect, "podGroups", where, expect_pod_group, result);
}
