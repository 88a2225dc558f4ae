/* Owns what the actions that make room have in common: for whom it is tried, in which order, and not twice for groups that
 * look alike. How it is made is in src/engine/evict. */
#include "engine/cycle/internal.h"
#include "engine/cycle/moved_places.h"
#include "engine/cycle/outlook.h"
#include "engine/cycle/queue_order.h"
#include "engine/cycle/refusal_cache.h"
#include "engine/cycle/refusals.h"
#include "engine/evict/evict.h"
#include "engine/evict/victim_index.h"
#include "engine/place/rules.h"

/* Below its minimum but able to reach it, or above it with more pods waiting. */
static bool wants_room(const struct cycle *cycle, const struct cycle_group *group)
{
	(void)cycle;
	return cycle_has_waiting(group) && gang_root_reachable(&group->gang);
}

static bool may_evict(const struct cycle *cycle, const struct cycle_group *group)
{
	return cycle->now >= group->evict_after && wants_room(cycle, group);
}

static bool may_evict_if_preemptible(const struct cycle *cycle, const struct cycle_group *group)
{
	return group->preempt == CYCLE_PREEMPTIBLE && may_evict(cycle, group);
}

static bool may_preempt(const struct cycle *cycle, const struct cycle_group *group)
{
	return !group->never_preempts && may_evict(cycle, group);
}

/* ---- moves that were looked for in vain ---- */

/* Everything that moves depend on: what is where, whose it is, and what queues allow. Costs a look at every pod, so it is asked
 * for only beside searches that cost more. Never 0. */
static uint64_t describe_state(struct cycle_run *run)
{
	struct cycle *cycle = run->cycle;
	uint64_t state = hash_mix(cluster_state(cycle->cluster), cycle->budget);
	if (run->state)
		return run->state;
	for (size_t q = 0; q < cycle->queue_count; q++)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			state = hash_mix(state, (uint64_t)cycle->queues[q].limit[r]);
			state = hash_mix(state, (uint64_t)cycle->queues[q].quota[r]);
			state = hash_mix(state, (uint64_t)cycle->queues[q].parent);
			state = hash_mix(state, (uint64_t)cycle->queues[q].pool);
		}
	for (size_t g = 0; g < cycle->group_count; g++) {
		const struct cycle_group *group = &cycle->groups[g];
		state = hash_mix(state, (uint64_t)group->preempt << 33 | (uint64_t)group->blocked << 32 |
		                                (uint32_t)group->queue);
		state = hash_mix(state, refusals_hash_gang(&group->gang));
	}
	return run->state = state | 1;
}

/* Disruption budgets change with the time: nothing is remembered beside them. */
static bool minds_moves(const struct cycle_run *run, enum cycle_action action, uint64_t steps)
{
	return cycle_action_row(action)->method->moves_only && !run->cycle->budget_count &&
	       refusal_cache_minds_moves(run->cycle, steps);
}

/* ---- one group ---- */

/* Groups of one queue that look alike have the same prospects. */
static bool make_room_for(struct cycle_run *run, const struct candidate *candidate, enum cycle_action action)
{
	struct refusals *refusals = run->cycle->refusals;
	struct cycle_group *group = &run->cycle->groups[candidate->group];
	bool grow = candidate->growth >= 0;
	uint64_t question = refusals_question(run->cycle, group, (uint64_t)action * 8 + group->preempt * 2 + grow + 2);
	if (!cycle_action_row(action)->method->moves_only)
		question = hash_mix(question, (uint64_t)(uint32_t)group->priority << 32 | (uint32_t)group->queue);
	if (refusals_find(refusals, question) || outlook_is_hopeless(run->cycle, group, run->scratch))
		return false;
	uint64_t lasting = hash_mix(hash_mix(question, (uint64_t)group->queue), run->cycle->budget);
	if (refusal_cache_room_waits(run->cycle, lasting)) {
		refusals_add(refusals, question, NULL);
		return false;
	}
	if (minds_moves(run, action, 0) &&
	    refusal_cache_moves_in_vain(run->cycle, hash_mix(question, (uint64_t)group->queue), describe_state(run))) {
		refusals_add(refusals, question, NULL);
		return false;
	}
	uint64_t before = run->move_steps, lost = run->lost_steps;
	moved_places_lift(run, group);
	bool made = evict_for_group(run, candidate->group, action, grow);
	moved_places_restore(run, group);
	if (made) {
		refusals_invalidate(refusals);
		refusal_cache_disturb(run->cycle);
	} else {
		refusals_add(refusals, question, NULL);
		if (run->lost_steps > lost)
			refusal_cache_put_room_off(run->cycle, lasting, run->lost_steps - lost);
		if (run->move_steps > before && minds_moves(run, action, run->move_steps - before))
			refusal_cache_store_in_vain(run->cycle, hash_mix(question, (uint64_t)group->queue),
			                            describe_state(run));
	}
	return made;
}

void cycle_make_room(struct cycle *cycle, enum cycle_action action)
{
	struct queue_order order;
	const struct evict_method *method = cycle_action_row(action)->method;
	bool (*accept)(const struct cycle *, const struct cycle_group *) = method->preemptible_only
	                                                                           ? may_evict_if_preemptible
	                                                                   : method->by_priority ? may_preempt
	                                                                                         : may_evict;
	bool wanted = false;
	struct arena *scratch = arena_create();
	for (size_t i = 0; i < cycle_work_count(cycle) && !wanted; i++) {
		const struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		wanted = queue_order_is_candidate(group) && accept(cycle, group) &&
		         !outlook_is_hopeless(cycle, group, scratch);
	}
	arena_destroy(scratch);
	if (!wanted)
		return;
	queue_order_open(cycle, &order);
	struct cycle_run *run = &order.run;
	run->decision = arena_create();
	queue_order_fill(&order, accept);
	for (struct candidate candidate; queue_order_take(&order, &candidate);) {
		struct cycle_group *group = &cycle->groups[candidate.group];
		if (make_room_for(run, &candidate, action)) {
			group->reasons = (struct reasons){0};
			queue_order_update(&order, group->queue);
		}
	}
	victim_index_destroy(run->victim_index);
	queue_order_close(&order);
}
