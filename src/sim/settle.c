/* Owns what the rest of the world does between two cycles of a run without a cycle count: evicted pods end and are
 * created again by their owners, time passes. Reservations
 * are bound by the next cycle, which finds their resources free. */
#include "sim/scenario_run.h"

/* A pod that leaves is gone; one that has no new place waits again under its name. */
static void finish_evictions(struct snapshot *snapshot)
{
	struct cycle *cycle = &snapshot->cycle;
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		struct gang_pod *pod = &cycle->groups[eviction->group].gang.pods[eviction->pod];
		cluster_vacate(cycle->cluster, pod->pod_class, eviction->node, OCCUPY_RELEASING);
		if (eviction->moved)
			continue;
		pod->state = MEMBER_WAITING;
		pod->node = -1;
		cycle->groups[eviction->group].has_stale_since = false;
	}
	cycle->eviction_count = 0;
}

static void finish_leaving(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		struct snapshot_pod *pod = &snapshot->pods[i];
		if (!pod->releasing)
			continue;
		cluster_vacate(snapshot->cycle.cluster, pod->pod_class, pod->node, OCCUPY_RELEASING);
		pod->releasing = false;
		pod->node = -1;
	}
}

/* The invariants look at pods, the cycle at members. */
static void tell_pods(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		struct snapshot_pod *pod = &snapshot->pods[i];
		if (pod->member < 0)
			continue;
		const struct gang_pod *member = &snapshot->cycle.groups[pod->group].gang.pods[pod->member];
		pod->node = member->state == MEMBER_RUNNING ? member->node : -1;
	}
}

/* A group that the last cycle started as a whole runs from now on. Of others only their pods know since when. */
static void start_groups(struct cycle *cycle)
{
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct cycle_group *group = &cycle->groups[g];
		bool runs = false, ran = false;
		for (size_t p = 0; p < group->gang.pod_count; p++) {
			runs |= group->gang.pods[p].state == MEMBER_RUNNING;
			ran |= group->was_running[p];
		}
		if (runs && !ran) {
			group->has_started = true;
			group->started = cycle->now;
		} else if (!runs) {
			group->has_started = false;
		}
	}
}

void settle(struct snapshot *snapshot)
{
	start_groups(&snapshot->cycle);
	finish_evictions(snapshot);
	finish_leaving(snapshot);
	tell_pods(snapshot);
	snapshot_count_budgets(snapshot);
}

bool settle_until_timer(struct snapshot *snapshot)
{
	struct cycle *cycle = &snapshot->cycle;
	int64_t next = INT64_MAX;
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct cycle_group *group = &cycle->groups[g];
		size_t running = 0;
		for (size_t p = 0; p < group->gang.pod_count; p++)
			running += group->gang.pods[p].state == MEMBER_RUNNING;
		bool stale =
			!gang_root_satisfied(&group->gang) && running > 0 && !group->completing && group->grace >= 0;
		if (stale && !group->has_stale_since) {
			group->has_stale_since = true;
			group->stale_since = cycle->now;
		}
		if (stale && group->stale_since + group->grace < next)
			next = group->stale_since + group->grace;
		if (group->evict_after > cycle->now && group->evict_after < next)
			next = group->evict_after;
	}
	if (cycle->retry_at > cycle->now && cycle->retry_at < next)
		next = cycle->retry_at;
	if (next == INT64_MAX || next <= cycle->now)
		return false;
	cycle->now = next;
	return true;
}
