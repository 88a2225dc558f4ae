/* Owns the action that releases gangs which have been below their minimum for longer than they tolerate. */
#include "engine/cycle/internal.h"
#include "engine/cycle/refusals.h"
#include "engine/evict/budgets.h"

/* Whether what runs of the gang may leave as a whole. It is no more urgent than what its budgets protect. */
static bool budgets_allow(struct cycle *cycle, struct evict_budgets *budgets, struct cycle_group *group)
{
	budgets_begin(budgets);
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_RUNNING)
			budgets_charge_pod(budgets, &group->gang.pods[p], 1);
	const struct cycle_budget *violated = budgets_find_violated(budgets);
	if (!violated)
		return true;
	reason_add(&group->reasons, cycle->arena,
	           (struct reason){.code = REASON_DISRUPTION_BUDGET,
	                           .message = arena_printf(cycle->arena,
	                                                   "below its minimum for too long, and not released: "
	                                                   "PodDisruptionBudget %s/%s does not allow it",
	                                                   violated->namespace_, violated->name)});
	return false;
}

static void release_stale(struct cycle *cycle, enum cycle_action action)
{
	struct evict_budgets *budgets = budgets_create(cycle);
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		struct cycle_group *group = &cycle->groups[g];
		if (gang_root_satisfied(&group->gang) || group->completing || group->grace < 0 ||
		    !group->has_stale_since || cycle->now - group->stale_since < group->grace || cycle_has_grown(group))
			continue;
		if (!budgets_allow(cycle, budgets, group))
			continue;
		for (size_t p = 0; p < group->gang.pod_count; p++) {
			struct gang_pod *pod = &group->gang.pods[p];
			if (pod->state != MEMBER_RUNNING)
				continue;
			cluster_vacate(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
			cluster_occupy(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RELEASING);
			pod->state = MEMBER_GONE;
			refusals_invalidate(cycle->refusals);
			struct cycle_eviction eviction = {
				.group = g, .pod = (int)p, .node = pod->node, .by = -1, .action = action};
			budgets_spend(budgets, pod, &eviction);
			cycle_evict(cycle, eviction);
		}
	}
}

const struct action_row action_release_stale = {.run = release_stale, .evicts = true, .evicts_protected = true};
