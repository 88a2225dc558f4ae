/* Owns one cycle of scheduling: how it begins, which action runs, what is said at its end. The actions have files of their
 * own. */
#include "engine/cycle/cycle.h"

#include "base/grow.h"
#include "engine/cycle/holders.h"
#include "engine/cycle/internal.h"
#include "engine/cycle/moved_places.h"
#include "engine/cycle/outlook.h"
#include "engine/cycle/refusal_cache.h"
#include "engine/cycle/refusals.h"
#include "engine/cycle/reserve.h"

const char *group_state_name(enum group_state state)
{
	static const char *const names[] = {
		[GROUP_PLACED] = "Placed",       [GROUP_PARTIAL] = "Placed", [GROUP_WAITING] = "Waiting",
		[GROUP_BLOCKED] = "Blocked",     [GROUP_NEVER] = "Never",    [GROUP_NOT_READY] = "NotReady",
		[GROUP_UNDECIDED] = "Undecided",
	};
	return names[state];
}

void cycle_evict(struct cycle *cycle, struct cycle_eviction eviction)
{
	cycle_touch(cycle, eviction.group);
	refusal_cache_disturb(cycle);
	if (cycle->eviction_count == cycle->eviction_capacity)
		cycle->evictions = grow_array(cycle->arena, cycle->evictions, cycle->eviction_count,
		                              &cycle->eviction_capacity, sizeof(*cycle->evictions));
	cycle->evictions[cycle->eviction_count++] = eviction;
}

void cycle_begin(struct cycle *cycle)
{
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		for (size_t p = 0; p < group->gang.pod_count; p++)
			group->was_running[p] = group->gang.pods[p].state == MEMBER_RUNNING;
	}
	moved_places_nominate(cycle);
	reserve_restore(cycle);
	moved_places_occupy(cycle);
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct gang *gang = &cycle->groups[cycle_work_at(cycle, i)].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			gang->pods[p].held = gang->pods[p].state == MEMBER_RESERVED;
	}
	for (size_t b = 0; b < cycle->budget_count; b++)
		cycle->budgets[b].spent = 0;
	cycle->pools_counted = false;
	cycle->refusals = refusals_create(cycle->arena);
	cycle->retry_at = INT64_MAX;
	refusal_cache_begin(cycle);
}

void cycle_run(struct cycle *cycle, enum cycle_action action)
{
	cycle_action_row(action)->run(cycle, action);
}

/* Whether the group had its try and got nothing. Waiting for its own pods is no try, and while a part of it runs there is
 * something to complete. */
static bool was_refused(const struct cycle_group *group)
{
	if (group->blocked || group->queue < 0 || !group->reasons.count || group->state == GROUP_NOT_READY ||
	    group->state == GROUP_BLOCKED)
		return false;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (cycle_is_member(&group->gang.pods[p]))
			return false;
	return true;
}

/* Tells what waits for room from what no room can help. */
static void conclude_refused(struct cycle *cycle, struct cycle_group *group, struct arena *scratch)
{
	if (group->blocked || group->queue < 0 || group->gave_up) {
		group->state = GROUP_BLOCKED;
		group->proof = PROOF_NONE;
	}
	/* Without the members that are blocked; with them there might be a placement. */
	if (gang_has_blocked(&group->gang))
		group->proof = PROOF_NONE;
	if (group->proof == PROOF_NOW && !cycle->silent && outlook_is_never(cycle, group, scratch)) {
		group->state = GROUP_NEVER;
		group->proof = PROOF_EVER;
	}
}

/* The state, and a word on surplus that found no place. */
static void conclude(struct cycle *cycle, struct cycle_group *group, struct arena *scratch)
{
	if (!gang_root_satisfied(&group->gang)) {
		conclude_refused(cycle, group, scratch);
		if (group->gave_up)
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = REASON_BACKOFF,
			                           .message = "schedulingBackoff is 1 and one cycle has failed: it is "
			                                      "not tried again"});
		group->gave_up |= group->give_up_after_failure && was_refused(group);
		if (!group->reasons.count && !group->blocked && group->gang.pod_count && group->state != GROUP_BLOCKED)
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = REASON_GAVE_WAY,
			                           .message = "its pods gave way to another group in this cycle"});
		return;
	}
	group->state = surplus_conclude(cycle, group) ? GROUP_PARTIAL : GROUP_PLACED;
	group->proof = PROOF_NONE;
}

void cycle_finish(struct cycle *cycle)
{
	reserve_whole_gangs(cycle);
	struct arena *scratch = arena_create();
	for (size_t i = 0; i < cycle_work_count(cycle); i++)
		conclude(cycle, &cycle->groups[cycle_work_at(cycle, i)], scratch);
	arena_destroy(scratch);
	if (cycle->tell_holders && !cycle->selective)
		holders_explain(cycle);
	moved_places_release(cycle);
}
