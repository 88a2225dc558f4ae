/* Owns the action that releases gangs which have been below their minimum for longer than they tolerate, or that have a place
 * elsewhere and none where they are. */
#include "engine/cycle/internal.h"
#include "engine/cycle/refusals.h"
#include "engine/evict/budgets.h"

#include <string.h>

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

static void set_leaving(struct cycle *cycle, struct gang *gang, const struct gang *as_it_is, bool leaving)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &as_it_is->pods[p];
		if (pod->state != MEMBER_RUNNING)
			continue;
		cluster_vacate(cycle->cluster, pod->pod_class, pod->node, leaving ? OCCUPY_RUNNING : OCCUPY_RELEASING);
		cluster_occupy(cycle->cluster, pod->pod_class, pod->node, leaving ? OCCUPY_RELEASING : OCCUPY_RUNNING);
		gang->pods[p].state = leaving ? MEMBER_WAITING : MEMBER_RUNNING;
	}
}

/* Whether it is proved that the rest has no place beside what runs, and all of it has one when that has left. */
static bool fits_elsewhere(struct cycle *cycle, const struct cycle_group *group, struct arena *scratch)
{
	enum { STEPS = 200000 };
	if (!group->resettles || group->proof != PROOF_NOW)
		return false;
	arena_reset(scratch);
	struct gang gang = group->gang;
	gang.pods = arena_array(scratch, struct gang_pod, gang.pod_count);
	memcpy(gang.pods, group->gang.pods, gang.pod_count * sizeof(*gang.pods));
	struct place_options options = {.budget = STEPS, .use_releasing = true};
	struct placement placement;
	set_leaving(cycle, &gang, &group->gang, true);
	enum place_outcome outcome = engine_place(cycle->cluster, &gang, &options, scratch, &placement);
	set_leaving(cycle, &gang, &group->gang, false);
	return outcome == PLACE_PLACED;
}

static void release(struct cycle *cycle, struct evict_budgets *budgets, int g, enum cycle_action action, bool resettles)
{
	struct cycle_group *group = &cycle->groups[g];
	for (size_t p = 0; p < group->gang.pod_count; p++) {
		struct gang_pod *pod = &group->gang.pods[p];
		if (pod->state != MEMBER_RUNNING)
			continue;
		cluster_vacate(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
		cluster_occupy(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RELEASING);
		pod->state = MEMBER_GONE;
		refusals_invalidate(cycle->refusals);
		struct cycle_eviction eviction = {.group = g,
		                                  .pod = (int)p,
		                                  .node = pod->node,
		                                  .by = -1,
		                                  .action = action,
		                                  .resettles = resettles};
		budgets_spend(budgets, pod, &eviction);
		cycle_evict(cycle, eviction);
	}
}

static void release_stale(struct cycle *cycle, enum cycle_action action)
{
	struct evict_budgets *budgets = budgets_create(cycle);
	struct arena *scratch = arena_create();
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		struct cycle_group *group = &cycle->groups[g];
		if (gang_root_satisfied(&group->gang) || group->completing || group->grace < 0 ||
		    cycle_has_grown(group))
			continue;
		bool stale = group->has_stale_since && cycle->now - group->stale_since >= group->grace;
		if ((stale || fits_elsewhere(cycle, group, scratch)) && budgets_allow(cycle, budgets, group))
			release(cycle, budgets, g, action, !stale);
	}
	arena_destroy(scratch);
}

const struct action_row action_release_stale = {.run = release_stale, .evicts = true, .evicts_protected = true};
