/* Owns the records of RoleBasedGroups and of the policies that coordinate them. */
#include "view/records_internal.h"

#include "admit/rbg.h"
#include "loop/writes.h"

#include <string.h>

static const char *const role_numbers[][2] = {
	{"readyReplicas", "ready"},   {"updatedReplicas", "updated"}, {"desiredReplicas", "desired"},
	{"targetReplicas", "target"}, {"replicas", "exists"},
};
static const char *const rule_numbers[][2] = {
	{"readySegments", "ready"},
	{"startedSegments", "started"},
	{"releasedSegments", "released"},
	{"totalSegments", "total"},
};

static void put_numbers(struct build *build, struct node *into, const struct val *from, const char *const (*names)[2],
                        size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t number = 0;
		val_int(val_get(from, names[i][0]), &number);
		build_put_int(build, into, names[i][1], number);
	}
}

static void put_message(struct build *build, struct node *into, const struct val *from)
{
	const char *message = val_str(val_get(from, "message"), "");
	if (*message)
		build_put_string(build, into, "message", message);
}

static void put_rules(struct records_draft *record, const struct rbg_coordination *rules, size_t count)
{
	struct build *build = record->build;
	struct node *list = build_list(build);
	for (size_t i = 0; i < count; i++) {
		struct node *rule = build_map(build), *sizes = build_map(build);
		if (!rules[i].has_segments)
			continue;
		for (size_t s = 0; s < rules[i].size_count; s++)
			build_put_int(build, sizes, rules[i].sizes[s].role, rules[i].sizes[s].size);
		build_put_string(build, rule, "name", rules[i].name);
		build_put(build, rule, "sizes", sizes);
		build_put_string(build, rule, "progression", segment_progression_name(rules[i].progression));
		build_append(build, list, rule);
	}
	build_put(build, record->map, "rules", list);
}

static void put_roles(struct records_draft *record, const struct rbg_spec *spec)
{
	struct build *build = record->build;
	const struct val *statuses = val_path(record->root, "status", "roleStatuses", NULL);
	struct node *list = build_list(build);
	for (size_t i = 0; i < spec->role_count; i++) {
		struct node *role = build_map(build);
		const struct val *status = val_named(statuses, spec->roles[i].name);
		build_put_string(build, role, "name", spec->roles[i].name);
		build_put_int(build, role, "pods", spec->roles[i].pods);
		put_numbers(build, role, status, role_numbers, sizeof(role_numbers) / sizeof(role_numbers[0]));
		if (!status)
			build_put_int(build, role, "desired", spec->roles[i].replicas);
		put_message(build, role, status);
		build_append(build, list, role);
	}
	build_put(build, record->map, "roles", list);
}

static void put_progress(struct records_draft *record)
{
	struct build *build = record->build;
	struct node *list = build_list(build);
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(record->root, "status", "coordinationStatuses", NULL));
	     val_next(&it, NULL, &item);) {
		struct node *rule = build_map(build);
		build_put_string(build, rule, "name", val_str(val_get(item, "name"), ""));
		put_numbers(build, rule, item, rule_numbers, sizeof(rule_numbers) / sizeof(rule_numbers[0]));
		build_put_bool(build, rule, "stuck", val_bool(val_get(item, "stuck"), false));
		build_put_bool(build, rule, "held", val_bool(val_get(item, "held"), false));
		put_message(build, rule, item);
		build_append(build, list, rule);
	}
	build_put(build, record->map, "progress", list);
}

void records_write_rbg(struct records_draft *record)
{
	const struct decoded_rbg *decoded = store_object_derived(record->object, &rbg_derivation);
	const struct val *ready = writes_find_condition(record->root, "Ready");
	if (decoded->problems.errors > 0)
		build_put_bool(record->build, record->map, "bad", true);
	build_put_bool(record->build, record->map, "ready", strcmp(val_str(val_get(ready, "status"), ""), "True") == 0);
	put_message(record->build, record->map, ready);
	put_roles(record, &decoded->spec);
	put_rules(record, decoded->spec.coordinations, decoded->spec.coordination_count);
	put_progress(record);
}

void records_write_policy(struct records_draft *record)
{
	const struct decoded_policy *decoded = store_object_derived(record->object, &rbg_policy_derivation);
	const struct rbg_policy *policy = &decoded->policy;
	if (decoded->problems.errors > 0) {
		build_put_bool(record->build, record->map, "bad", true);
		return;
	}
	build_put_string(record->build, record->map, "target",
	                 arena_printf(record->arena, "%s/%s", record->namespace_, policy->target));
	put_rules(record, policy->coordinations, policy->coordination_count);
}
