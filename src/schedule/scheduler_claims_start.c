/* Owns which of the gangs whose claims are bound start now. A gang may wait in parts: pods that came later, or that were
 * refused and are tried again. No part starts as long as the others without which it is below its minimum are not bound. */
#include "schedule/scheduler_claims_internal.h"

#include <string.h>

/* The group whose pods are still where they were decided to be; -1 when they are not. */
static int find_group(const struct scheduler_turn *turn, const struct claim_wait *wait)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	int group = -1;
	for (size_t i = 0; i < wait->pod_count; i++) {
		int number = live_pod_number(turn->scheduler->live, wait->namespace_, wait->pods[i].name);
		const struct snapshot_pod *pod = number >= 0 ? &snapshot->pods[number] : NULL;
		if (!pod || pod->group < 0 || pod->member < 0)
			return -1;
		group = pod->group;
		const struct gang_pod *member = &snapshot->cycle.groups[group].gang.pods[pod->member];
		if (member->state != MEMBER_RUNNING ||
		    strcmp(cluster_node_name(snapshot->cycle.cluster, member->node), wait->pods[i].node) != 0)
			return -1;
	}
	return group >= 0 && gang_root_satisfied(&snapshot->cycle.groups[group].gang) ? group : -1;
}

/* Chains the waits of each group; the first of each, by group. */
static struct claim_wait **list_by_group(const struct scheduler_turn *turn)
{
	struct scheduler *scheduler = turn->scheduler;
	struct claim_wait **first =
		arena_array(turn->arena, struct claim_wait *, turn->plan->snapshot->cycle.group_count);
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		struct claim_wait *wait = scheduler->claim_waits.items[i];
		wait->number = find_group(turn, wait);
		wait->starts = wait->ready && !wait->gives_way && wait->number >= 0;
		wait->held = false;
		if (wait->ready && !wait->gives_way && wait->number < 0) {
			/* The places are given up when the trials of this cycle are taken back. */
			wait->changed = true;
			scheduler->again = true;
		}
		if (wait->number < 0)
			continue;
		wait->next = first[wait->number];
		first[wait->number] = wait;
	}
	return first;
}

static size_t member_of(const struct scheduler_turn *turn, const struct claim_wait *wait, size_t pod)
{
	int number = live_pod_number(turn->scheduler->live, wait->namespace_, wait->pods[pod].name);
	return (size_t)turn->plan->snapshot->pods[number].member;
}

/* Parts that start with the pods whose bindings were accepted and those of the waits that start. */
static const bool *parts_with(const struct scheduler_turn *turn, struct claim_wait *first)
{
	const struct snapshot_group *group = &turn->plan->snapshot->groups[first->number];
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[first->number].gang;
	bool *left_out = arena_array(turn->arena, bool, gang->pod_count);
	for (size_t i = 0; i < gang->pod_count; i++)
		left_out[i] = !group->ran[i] || live_is_assumed(turn->scheduler->live, group->members[i]);
	for (const struct claim_wait *wait = first; wait; wait = wait->next)
		for (size_t p = 0; wait->starts && p < wait->pod_count; p++)
			left_out[member_of(turn, wait, p)] = false;
	return scheduler_parts_that_start(turn, (size_t)first->number, left_out);
}

static bool starts_with(const struct scheduler_turn *turn, const struct claim_wait *wait, const bool *all,
                        const bool *parts)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[wait->number].gang;
	for (size_t p = 0; p < wait->pod_count; p++)
		if (!scheduler_starts_anyway(gang, member_of(turn, wait, p), all, parts))
			return false;
	return true;
}

/* One that is held may be what another one counted on: until none is. */
static void choose_in_group(const struct scheduler_turn *turn, struct claim_wait *first)
{
	size_t pods = turn->plan->snapshot->cycle.groups[first->number].gang.pod_count;
	const bool *all = scheduler_parts_that_start(turn, (size_t)first->number, arena_array(turn->arena, bool, pods));
	for (bool changed = true; changed;) {
		const bool *parts = parts_with(turn, first);
		changed = false;
		for (struct claim_wait *wait = first; wait; wait = wait->next) {
			if (!wait->starts || starts_with(turn, wait, all, parts))
				continue;
			wait->starts = false;
			wait->held = true;
			turn->scheduler->withheld = true; /* answers may be all that is missing */
			changed = true;
		}
	}
}

void claims_choose_starting(const struct scheduler_turn *turn)
{
	struct scheduler *scheduler = turn->scheduler;
	if (scheduler->claim_waits.count == 0)
		return;
	struct claim_wait **first = list_by_group(turn);
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		struct claim_wait *wait = scheduler->claim_waits.items[i];
		if (wait->number >= 0 && first[wait->number] == wait)
			choose_in_group(turn, wait);
	}
}

/* Members of the group whose claims are not bound yet; NULL when there are none. */
static bool *list_waiting(const struct scheduler_turn *turn, const struct plan_group *group)
{
	const struct scheduler *scheduler = turn->scheduler;
	const struct snapshot *snapshot = turn->plan->snapshot;
	bool *waiting = NULL;
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		const struct claim_wait *wait = scheduler->claim_waits.items[i];
		if (strcmp(wait->group, group->name) != 0 || strcmp(wait->namespace_, group->namespace_) != 0)
			continue;
		if (!waiting)
			waiting = arena_array(turn->arena, bool, snapshot->cycle.groups[group->index].gang.pod_count);
		for (size_t p = 0; p < wait->pod_count; p++) {
			int number = live_pod_number(scheduler->live, wait->namespace_, wait->pods[p].name);
			if (number >= 0 && snapshot->pods[number].group == (int)group->index &&
			    snapshot->pods[number].member >= 0)
				waiting[snapshot->pods[number].member] = true;
		}
	}
	return waiting;
}

bool claims_need_others(const struct scheduler_turn *turn, const struct plan_group *group,
                        const struct plan_binding **bindings, size_t count)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[group->index].gang;
	const bool *waiting = list_waiting(turn, group);
	if (!waiting)
		return false;
	const bool *none = arena_array(turn->arena, bool, gang->pod_count);
	const bool *all = scheduler_parts_that_start(turn, group->index, none),
		   *without = scheduler_parts_that_start(turn, group->index, waiting);
	for (size_t i = 0; i < count; i++)
		if (!scheduler_starts_anyway(gang, bindings[i]->member, all, without))
			return true;
	return false;
}
