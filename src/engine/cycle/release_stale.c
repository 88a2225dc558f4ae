/* Owns the action that releases gangs which have been below their minimum for longer than they tolerate. */
#include "engine/cycle/internal.h"
#include "engine/cycle/refusals.h"

static void release_stale(struct cycle *cycle, enum cycle_action action)
{
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		struct cycle_group *group = &cycle->groups[g];
		if (gang_root_satisfied(&group->gang) || group->completing || group->grace < 0 ||
		    !group->has_stale_since || cycle->now - group->stale_since < group->grace)
			continue;
		for (size_t p = 0; p < group->gang.pod_count; p++) {
			struct gang_pod *pod = &group->gang.pods[p];
			if (pod->state != MEMBER_RUNNING)
				continue;
			cluster_vacate(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
			cluster_occupy(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RELEASING);
			pod->state = MEMBER_GONE;
			refusals_invalidate(cycle->refusals);
			cycle_evict(cycle,
			            (struct cycle_eviction){
					    .group = g, .pod = (int)p, .node = pod->node, .by = -1, .action = action});
		}
	}
}

const struct action_row action_release_stale = {.run = release_stale, .evicts = true, .evicts_protected = true};
