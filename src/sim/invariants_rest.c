/* Owns the rules that hold when nothing changes any more. */
#include "sim/invariants_rest.h"
#include "kinds/names.h"

#include "schedule/plan.h"
#include "loop/writes.h"

#include <string.h>

/* Only a group that must not be released may stay below its minimum, and one whose pods complete. */
static bool may_be_below(const struct view_group *group)
{
	bool for_ever = group->preempt == NON_PREEMPTIBLE && !group->spec.has_staleness_grace;
	return for_ever || (group->spec.has_staleness_grace && group->spec.staleness_grace_ns < 0) || group->completing;
}

static void check_group(const struct view_group *group, struct scenario_result *result)
{
	const char *namespace_ = group->object->namespace_, *name = group->object->name;
	const struct val *condition = writes_find_condition(group->object->root, "Scheduled");
	bool satisfied = group->readable && group->satisfied[0];
	if (group->readable && group->placed[0] > 0 && !satisfied && !may_be_below(group))
		scenario_fail(result, "%s/%s is at rest with %zu pods placed, below its minimum", namespace_, name,
		              group->placed[0]);
	if (group->waiting + group->strays == 0)
		return;
	const char *status = val_str(val_get(condition, "status"), "");
	if (!condition)
		scenario_fail(result, "%s/%s waits and has no condition Scheduled", namespace_, name);
	else if (!satisfied && strcmp(status, "False") != 0)
		scenario_fail(result, "%s/%s waits, and its condition Scheduled is %s", namespace_, name, status);
	else if (val_str(val_get(condition, "reason"), "")[0] == '\0' ||
	         val_str(val_get(condition, "message"), "")[0] == '\0')
		scenario_fail(result, "%s/%s waits and does not say why", namespace_, name);
}

void rest_check_groups(const struct view *view, struct scenario_result *result)
{
	for (size_t i = 0; i < view->group_count; i++)
		check_group(&view->groups[i], result);
}

/* ---- liveness ---- */

static const struct {
	const char *group, *version, *resource;
} kinds[] = {
	{"", "v1", "nodes"},
	{"", "v1", "pods"},
	{"", "v1", "persistentvolumes"},
	{"", "v1", "persistentvolumeclaims"},
	{KINDS_SCHEDULING, "v2alpha2", "podgroups"},
	{KINDS_SCHEDULING, "v2", "queues"},
	{KINDS_KAI, "v1alpha1", "topologies"},
	{"scheduling.k8s.io", "v1", "priorityclasses"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void read_objects(struct store *store, struct store_list *lists, struct arena *arena,
                         struct manifests *manifests)
{
	struct problems ignored = {.arena = arena};
	manifests_init(manifests);
	for (size_t k = 0; k < KINDS; k++) {
		struct store_error error = {0};
		struct store_list_request request = {
			.api = store_api_find(store, kinds[k].group, kinds[k].version, kinds[k].resource),
		};
		if (!request.api || store_list(store, &request, &lists[k], arena, &error) < 0)
			lists[k] = (struct store_list){0};
		for (size_t i = 0; i < lists[k].count; i++)
			manifests_add(manifests, lists[k].items[i]->root, kinds[k].resource, &ignored);
	}
}

static void check_reason(struct store *store, const struct plan_group *group, struct scenario_result *result)
{
	const struct store_type *type = store_type_find(store, KINDS_SCHEDULING, "podgroups");
	const struct store_object *object = type ? store_peek(store, type, group->namespace_, group->name) : NULL;
	const struct val *condition = object ? writes_find_condition(object->root, "Scheduled") : NULL;
	if (!condition || group->waiting == 0 || group->reason_count == 0)
		return;
	struct buffer text = {0};
	for (size_t i = 0; i < group->reason_count; i++)
		buffer_printf(&text, "%s%s", i ? "; " : "", group->reasons[i].message);
	if (strcmp(text.text, val_str(val_get(condition, "message"), "")) != 0)
		scenario_fail(result, "%s/%s says \"%s\"; the reason is \"%s\"", group->namespace_, group->name,
		              val_str(val_get(condition, "message"), ""), text.text);
	buffer_free(&text);
}

void rest_check_plan(struct store *store, int64_t now_seconds, const struct settings *settings,
                     struct scenario_result *result)
{
	enum cycle_action actions[ACTION_COUNT];
	struct arena *arena = arena_create();
	struct store_list lists[KINDS];
	struct manifests manifests;
	size_t action_count = cycle_action_list_all(actions);
	read_objects(store, lists, arena, &manifests);
	struct snapshot_options options = {.now_seconds = now_seconds, .settings = settings, .explain_relax = true};
	struct snapshot *snapshot = snapshot_create(&manifests, &options);
	const struct plan *plan = plan_run(snapshot, actions, action_count);
	if (plan->binding_count > 0)
		scenario_fail(result, "pod %s/%s and %zu more wait at rest, and a fresh plan binds it to node %s",
		              plan->bindings[0].namespace_, plan->bindings[0].pod, plan->binding_count - 1,
		              plan->bindings[0].node);
	if (plan->eviction_count > 0)
		scenario_fail(result, "pod %s/%s runs at rest, and a fresh plan evicts it (%s)",
		              plan->evictions[0].namespace_, plan->evictions[0].pod, plan->evictions[0].action);
	for (size_t i = 0; i < plan->group_count && plan->binding_count + plan->eviction_count == 0; i++)
		if (!snapshot->groups[i].implicit)
			check_reason(store, &plan->groups[i], result);
	snapshot_destroy(snapshot);
	manifests_free(&manifests);
	for (size_t k = 0; k < KINDS; k++)
		store_list_clear(&lists[k]);
	arena_destroy(arena);
}
