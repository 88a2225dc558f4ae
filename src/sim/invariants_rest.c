/* Owns the rules that hold when nothing changes any more. */
#include "sim/invariants_rest.h"

#include "base/vec.h"
#include "kinds/kinds.h"
#include "loop/writes.h"
#include "schedule/plan.h"

#include <string.h>

/* Only a group that must not be released may stay below its minimum, and one whose pods complete. */
static bool may_be_below(const struct view_group *group)
{
	bool for_ever = group->preempt == NON_PREEMPTIBLE && !group->spec.has_staleness_grace;
	return for_ever || (group->spec.has_staleness_grace && group->spec.staleness_grace_ns < 0) || group->completing;
}

/* Budgets guard what runs of a gang, too: then it says so. */
static bool is_guarded(const struct val *condition)
{
	return strstr(val_str(val_get(condition, "message"), ""), "not released: PodDisruptionBudget ");
}

static void check_group(const struct view_group *group, struct scenario_result *result)
{
	const char *namespace_ = group->object->namespace_, *name = group->object->name;
	const struct val *condition = writes_find_condition(group->object->root, "Scheduled");
	bool satisfied = group->readable && group->satisfied[0];
	if (group->readable && group->placed[0] > 0 && !satisfied && !may_be_below(group) && !is_guarded(condition))
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

struct cluster_copy { /* everything that a decision rests on */
	struct manifests manifests;
	VEC(struct store_list) lists;
};

static void read_objects(struct store *store, struct arena *arena, struct cluster_copy *copy)
{
	struct problems ignored = {.arena = arena};
	const struct kind_row *row;
	manifests_init(&copy->manifests);
	for (size_t k = 0; (row = kinds_row(k)); k++) {
		const struct store_type *type = store_type_find(store, row->group, row->resource);
		struct store_error error = {0};
		struct store_list list = {0};
		struct store_list_request request = {.api = type ? type->apis : NULL};
		if (!(row->flags & (ROW_DECIDES | ROW_NAMED)) || !type || type->api_count == 0 ||
		    store_list(store, &request, &list, arena, &error) < 0)
			continue;
		vec_push(&copy->lists, list);
		for (size_t i = 0; i < list.count; i++)
			manifests_add(&copy->manifests, list.items[i]->root, row->resource, &ignored);
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
	struct cluster_copy copy = {0};
	size_t action_count = cycle_action_list_all(actions);
	read_objects(store, arena, &copy);
	struct snapshot_options options = {.now_seconds = now_seconds,
	                                   .settings = settings,
	                                   .trials = SNAPSHOT_TRIALS_WHEN_LIVE};
	struct snapshot *snapshot = snapshot_create(&copy.manifests, &options);
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
	manifests_free(&copy.manifests);
	for (size_t k = 0; k < copy.lists.count; k++)
		store_list_clear(&copy.lists.items[k]);
	vec_free(&copy.lists);
	arena_destroy(arena);
}
