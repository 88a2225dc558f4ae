/* Owns the records of what runs and waits: pods and PodGroups. */
#include "view/records_internal.h"

#include "admit/pod.h"
#include "admit/podgroup.h"
#include "loop/writes.h"
#include "rollout/naming.h"

#include <stdlib.h>
#include <string.h>

static void put_reasons(struct records_draft *record)
{
	if (record->told)
		build_put(record->build, record->map, "why", plan_write_reasons(record->told, record->build));
}

static bool has_true_condition(const struct val *root, const char *type)
{
	return strcmp(val_str(val_get(writes_find_condition(root, type), "status"), ""), "True") == 0;
}

/* ---- pods ---- */

/* Which instance of which role of which RoleBasedGroup it is. */
static void put_role(struct records_draft *record, const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		enum naming_label label = naming_label_of(labels->items[i].key);
		const char *value = labels->items[i].value;
		if (label == NAMING_GROUP)
			build_put_string(record->build, record->map, "rbg", value);
		else if (label == NAMING_ROLE)
			build_put_string(record->build, record->map, "role", value);
		else if (label == NAMING_INDEX)
			build_put_int(record->build, record->map, "index", strtoll(value, NULL, 10));
	}
}

void records_write_pod(struct records_draft *record)
{
	static const char *const phases[] = {"P", "R", "S", "F", "U"};
	struct build *build = record->build;
	const struct decoded_pod *decoded = store_object_derived(record->object, &pod_derivation);
	const struct pod_spec *pod = &decoded->spec;
	if (!decoded->usable) {
		const char *node = val_str(val_path(record->root, "spec", "nodeName", NULL), "");
		build_put_bool(build, record->map, "bad", true);
		if (*node)
			build_put_string(build, record->map, "on", node);
		return;
	}
	if (pod->node)
		build_put_string(build, record->map, "on", pod->node);
	else if (pod->nominated && *pod->nominated)
		build_put_string(build, record->map, "held", pod->nominated);
	if (pod->group)
		build_put_string(build, record->map, "g", pod->group);
	if (pod->subgroup)
		build_put_string(build, record->map, "s", pod->subgroup);
	build_put_string(build, record->map, "ph", phases[pod->phase]);
	if (has_true_condition(record->root, "Ready"))
		build_put_int(build, record->map, "ok", 1);
	if (pod->deleting)
		build_put_int(build, record->map, "del", 1);
	if (pod->gated)
		build_put_int(build, record->map, "gated", 1);
	records_put_amounts(record, pod->requests, pod->request_count);
	put_role(record, &pod->labels);
	if (!pod->node)
		put_reasons(record);
}

/* ---- PodGroups ---- */

static void put_constraint(struct build *build, struct node *part, const struct constraint_spec *constraint)
{
	if (constraint->topology)
		build_put_string(build, part, "topology", constraint->topology);
	if (constraint->required)
		build_put_string(build, part, "required", constraint->required);
	if (constraint->preferred)
		build_put_string(build, part, "preferred", constraint->preferred);
}

static void put_tree(struct records_draft *record, const struct podgroup *group)
{
	struct build *build = record->build;
	struct node *tree = build_list(build);
	for (size_t i = 0; i < group->tree_count; i++) {
		const struct tree_node *node = &group->tree[i];
		struct node *part = build_map(build);
		build_put_string(build, part, "name", node->name);
		build_put_int(build, part, "parent", node->parent);
		build_put_int(build, part, "min", node->minimum);
		build_put_int(build, part, "pods", podgroup_minimum_pods(group, (int)i));
		if (node->child_count == 0)
			build_put_bool(build, part, "leaf", true);
		put_constraint(build, part, &node->constraint);
		build_append(build, tree, part);
	}
	build_put(build, record->map, "tree", tree);
}

static void put_owner(struct records_draft *record)
{
	const struct val *owner = val_item(val_path(record->root, "metadata", "ownerReferences", NULL), 0);
	const char *kind = val_str(val_get(owner, "kind"), ""), *name = val_str(val_get(owner, "name"), "");
	if (*kind)
		build_put_string(record->build, record->map, "owner", arena_printf(record->arena, "%s/%s", kind, name));
}

void records_write_group(struct records_draft *record)
{
	struct build *build = record->build;
	struct problems problems = {.arena = record->arena};
	struct podgroup group;
	const struct val *status = val_get(record->root, "status");
	const struct val *scheduled = writes_find_condition(record->root, "Scheduled");
	build_put_string(build, record->map, "phase", val_str(val_get(status, "phase"), "Waiting"));
	put_owner(record);
	if (scheduled) {
		build_put_bool(build, record->map, "placed",
		               strcmp(val_str(val_get(scheduled, "status"), ""), "True") == 0);
		build_put_string(build, record->map, "message", val_str(val_get(scheduled, "message"), ""));
		build_put_string(build, record->map, "since", val_str(val_get(scheduled, "lastTransitionTime"), ""));
	}
	put_reasons(record);
	if (podgroup_decode(record->root, record->arena, &group, &problems) < 0) {
		build_put_bool(build, record->map, "bad", true);
		return;
	}
	if (group.queue)
		build_put_string(build, record->map, "queue", group.queue);
	if (group.priority_class)
		build_put_string(build, record->map, "priority", group.priority_class);
	if (group.creation_seconds != INT64_MIN)
		build_put_int(build, record->map, "created", group.creation_seconds);
	put_tree(record, &group);
}
