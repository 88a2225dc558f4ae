/* Owns the action that places what fits: broken gangs first, then the groups of all queues in their order, minimums before
 * surplus. */
#include "engine/cycle/internal.h"
#include "engine/cycle/moved_places.h"
#include "engine/cycle/outlook.h"
#include "engine/cycle/queue_order.h"
#include "engine/cycle/refusal_cache.h"
#include "engine/cycle/refusals.h"
#include "engine/cycle/reserve.h"
#include "engine/cluster/internal.h"
#include "engine/place/most.h"

/* The outcome, and for a refusal where it is written down. What looks alike is searched once per state of the cluster. */
static enum place_outcome find_place(struct cycle_run *run, struct cycle_group *group, bool grow, struct placement *out,
                                     struct refusal **refusal)
{
	struct cycle *cycle = run->cycle;
	enum place_outcome (*find)(struct cluster *, const struct gang *, const struct place_options *, struct arena *,
	                           struct placement *) = grow ? engine_grow : engine_place;
	uint64_t question = refusals_question(cycle, group, grow);
	*refusal = refusals_find(cycle->refusals, question);
	if (!*refusal)
		*refusal = refusals_load_cached(cycle, &group->gang, question);
	if (*refusal) {
		*out = (*refusal)->placement;
		return out->outcome;
	}
	arena_reset(run->scratch);
	struct place_options options = {.budget = cycle->budget, .look_ahead = !group->completing};
	find(cycle->cluster, &group->gang, &options, run->scratch, out);
	if ((out->outcome == PLACE_IMPOSSIBLE || out->outcome == PLACE_EXHAUSTED) && cycle->cluster->releasing_pods) {
		struct placement later;
		options.use_releasing = true;
		if (find(cycle->cluster, &group->gang, &options, run->scratch, &later) == PLACE_PLACED)
			*out = later;
	}
	/* A gang that waits for releasing resources starts as a whole: nothing of it is bound before. */
	for (size_t p = 0; p < group->gang.pod_count; p++)
		out->reserve |= group->gang.pods[p].state == MEMBER_RESERVED;
	if (out->outcome != PLACE_PLACED && out->outcome != PLACE_NOTHING)
		*refusal = refusals_add(cycle->refusals, question, out);
	return out->outcome;
}

static void note_refusal(struct cycle *cycle, struct cycle_group *group, struct refusal *refusal)
{
	enum place_outcome outcome = refusal->placement.outcome;
	group->proof = outcome == PLACE_IMPOSSIBLE ? PROOF_NOW : PROOF_NONE;
	group->state = outcome == PLACE_IMPOSSIBLE       ? GROUP_WAITING
	               : outcome == PLACE_EXHAUSTED      ? GROUP_UNDECIDED
	               : gang_root_blocked(&group->gang) ? GROUP_BLOCKED
	                                                 : GROUP_NOT_READY;
	refusals_explain(refusal, cycle, group);
	refusal_cache_store(cycle, &group->gang, refusals_question(cycle, group, false), refusal);
}

/* Takes the changes that would let the group in out of its reasons; the first of them, NULL when there is none. */
static const char *take_changes(struct cycle_group *group)
{
	const char *first = NULL;
	size_t kept = 0;
	for (size_t i = 0; i < group->reasons.count; i++) {
		const struct reason *reason = &group->reasons.items[i];
		if (reason->code != REASON_RELAXATION && reason->code != REASON_NO_CHANGE)
			group->reasons.items[kept++] = *reason;
		else if (!first && reason->code == REASON_RELAXATION)
			first = reason->message;
	}
	group->reasons.count = kept;
	return first;
}

/* What would help a group that its queue does not allow `cost`: higher limits, and where it does not fit either, room. */
static void advise_on_queue(struct cycle_run *run, struct cycle_group *group, const struct cycle_cost *cost, bool fits)
{
	static const char prefix[] = "would fit with ";
	const char *room = take_changes(group);
	struct arena *arena = run->cycle->arena;
	if (!run->cycle->trials)
		return;
	/* A group with a choice may be placed by what costs more. */
	if (!fits && (!room || cycle_has_choice(&group->gang))) {
		reason_add(&group->reasons, arena,
		           (struct reason){.code = REASON_NO_CHANGE,
		                           .message = "no change of its queue and one other alone would make it fit"});
		return;
	}
	const char *raises = cycle_find_raises(run, group, cost);
	reason_add(&group->reasons, arena,
	           (struct reason){.code = REASON_RELAXATION,
	                           .change = "limit",
	                           .message = arena_printf(arena, "%s%s%s%s", prefix, raises, fits ? "" : ", and ",
	                                                   fits ? "" : room + sizeof(prefix) - 1)});
}

/* No node can change that its queue does not allow it. */
static void block(struct cycle_group *group)
{
	group->state = GROUP_BLOCKED;
	group->proof = PROOF_NONE;
}

/* Binds or reserves what was found and puts it on the account of the queue. */
static void commit_placement(struct cycle_run *run, struct cycle_group *group, const struct placement *placement,
                             const struct cycle_cost *cost)
{
	engine_commit(run->cycle->cluster, &group->gang, placement);
	cycle_charge(run, group->queue, cost, 1);
	refusals_invalidate(run->cycle->refusals);
	refusal_cache_note_bound(run->cycle, &group->gang, placement);
	moved_places_hold(run, group, placement);
}

/* Whether one pod that is placed may stand in the way of others: some part has a level, and nobody looks ahead to more of them. */
static bool has_choice(const struct gang *gang, struct arena *scratch)
{
	for (size_t i = 0; i < gang->tree_count; i++)
		if (gang->tree[i].required.topology >= 0)
			return gang_coming(gang, arena_array(scratch, int, gang->tree_count)) == 0;
	return false;
}

/* All surplus of the last group in line at once, or as much of it as fits together, if its queue allows it. */
static bool find_rest(struct cycle_run *run, struct cycle_group *group)
{
	struct cycle *cycle = run->cycle;
	struct place_options options = {.budget = cycle->budget, .look_ahead = !group->completing};
	struct placement placement;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_RESERVED)
			return false;
	arena_reset(run->scratch);
	if (engine_grow_all(cycle->cluster, &group->gang, &options, run->scratch, &placement) != PLACE_PLACED &&
	    (!has_choice(&group->gang, run->scratch) ||
	     engine_grow_most(cycle->cluster, &group->gang, &options, run->scratch, &placement) != PLACE_PLACED))
		return false;
	struct cycle_cost cost;
	cycle_cost_of_placement(run, group, &placement, &cost);
	if (!cycle_queue_has_room(run, group->queue, &cost)) /* a part of it may still be allowed */
		return false;
	commit_placement(run, group, &placement, &cost);
	return true;
}

static bool serve_rest(struct cycle_run *run, struct cycle_group *group)
{
	moved_places_lift(run, group);
	bool served = find_rest(run, group);
	moved_places_restore(run, group);
	return served;
}

/* Another choice of children or pods, one that the queue allows. Leaves the placement alone when there is none. */
static bool find_allowed(struct cycle_run *run, struct cycle_group *group, bool grow, bool is_protected,
                         struct placement *placement)
{
	struct place_allowance allowance;
	struct placement found;
	if (!cycle_find_allowance(run, group, is_protected, &allowance))
		return false;
	struct place_options options = {.budget = run->cycle->budget,
	                                .use_releasing = placement->reserve,
	                                .allowance = &allowance};
	enum place_outcome outcome =
		grow ? engine_grow(run->cycle->cluster, &group->gang, &options, run->scratch, &found)
		     : engine_place(run->cycle->cluster, &group->gang, &options, run->scratch, &found);
	if (outcome == PLACE_PLACED)
		*placement = found;
	return outcome == PLACE_PLACED;
}

static bool try_to_serve(struct cycle_run *run, struct candidate *candidate)
{
	struct cycle *cycle = run->cycle;
	struct cycle_group *group = &cycle->groups[candidate->group];
	bool grow = candidate->growth >= 0;
	bool is_protected =
		group->preempt == CYCLE_NON_PREEMPTIBLE || (group->preempt == CYCLE_SEMI_PREEMPTIBLE && !grow);
	struct placement placement;
	struct refusal *refusal;
	enum place_outcome outcome = find_place(run, group, grow, &placement, &refusal);
	if (outcome == PLACE_NOTHING && !grow) {
		candidate->growth = 0;
		return true;
	}
	if (outcome != PLACE_PLACED) {
		if (!grow) {
			struct cycle_cost least;
			bool forbidden = outcome != PLACE_NOT_READY && cycle_queue_forbids(run, group, &least);
			note_refusal(cycle, group, refusal);
			if (forbidden) {
				block(group);
				advise_on_queue(run, group, &least, false);
			}
		}
		return false;
	}
	struct cycle_cost cost;
	cycle_cost_of_placement(run, group, &placement, &cost);
	if (!cycle_queue_has_room(run, group->queue, &cost) && find_allowed(run, group, grow, is_protected, &placement))
		cycle_cost_of_placement(run, group, &placement, &cost);
	struct cycle_cost whole = cost;
	cycle_add_coming(run, group, &placement, &whole);
	if (!cycle_queue_allows(run, group, &whole)) {
		if (!grow) {
			block(group);
			advise_on_queue(run, group, &whole, true);
		}
		return false;
	}
	commit_placement(run, group, &placement, &cost);
	candidate->growth++;
	return true;
}

/* One step for one group. True when it made progress and may come again. */
static bool serve_group(struct cycle_run *run, struct candidate *candidate)
{
	struct cycle_group *group = &run->cycle->groups[candidate->group];
	moved_places_lift(run, group);
	bool progress = try_to_serve(run, candidate);
	moved_places_restore(run, group);
	return progress;
}

static bool not_tried(const struct cycle *cycle, const struct cycle_group *group)
{
	(void)cycle;
	return !group->tried;
}

/* Whether a gang waits that the guard is for. Single pods are never passed by for long: any hole does. */
static bool could_starve(const struct cycle_group *group)
{
	return queue_order_is_candidate(group) && group->gang.pod_count > 1 && !group->tried &&
	       !gang_root_satisfied(&group->gang);
}

/* The gang that has waited longest beyond the limit, highest priority first; -1 when nobody has. Of those that have not, the
 * cycle learns when the first will have. */
static int most_starved(struct cycle *cycle)
{
	int best = -1;
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		const struct cycle_group *group = &cycle->groups[g];
		if (!could_starve(group))
			continue;
		int64_t from = group->creation * CLOCK_SECOND, then;
		if (__builtin_add_overflow(from, cycle->starvation_after, &then))
			continue;
		if (then > cycle->now) {
			cycle->retry_at = then < cycle->retry_at ? then : cycle->retry_at;
			continue;
		}
		const struct cycle_group *other = best < 0 ? NULL : &cycle->groups[best];
		if (!other || group->priority > other->priority ||
		    (group->priority == other->priority && group->creation < other->creation))
			best = g;
	}
	return best;
}

/* Tries starved gangs before everybody else. What is free is held for the first that does not fit where it will; of one that
 * its queue refuses, or that no running work is in the way of, nothing is held, and the next one has its turn. */
static void serve_starved(struct queue_order *order, struct reserve_hold *hold)
{
	enum { MOST_TRIED = 8 };
	struct cycle *cycle = order->run.cycle;
	*hold = (struct reserve_hold){.group = -1};
	for (int tries = 0; cycle->starvation_after > 0 && tries < MOST_TRIED && hold->group < 0; tries++) {
		int starved = most_starved(cycle);
		if (starved < 0)
			return;
		struct candidate candidate = {.group = starved, .growth = -1};
		struct cycle_group *group = &cycle->groups[starved];
		bool served = serve_group(&order->run, &candidate);
		group->tried = !served;
		if (served || group->state == GROUP_NOT_READY || group->state == GROUP_BLOCKED ||
		    outlook_is_hopeless(cycle, group, order->run.scratch))
			continue;
		reserve_hold_for(cycle, starved, hold);
		refusals_invalidate(cycle->refusals);
		refusal_cache_disturb(cycle); /* others are refused who fit */
		if (hold->group >= 0)
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = REASON_HELD,
			                           .message =
			                                   "it has waited long: free resources are held for it until "
			                                   "running work ends"});
	}
}

/* Gangs of which a part runs, because pods were lost or a start was interrupted: what they hold is of no use until the
 * rest has found a place, so they come before all others. */
static void serve_broken(struct queue_order *order)
{
	struct cycle *cycle = order->run.cycle;
	struct candidate_heap broken = {0};
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		const struct cycle_group *group = &cycle->groups[g];
		bool runs = false;
		for (size_t p = 0; p < group->gang.pod_count && !runs; p++)
			runs = group->gang.pods[p].state == MEMBER_RUNNING;
		if (runs && queue_order_is_candidate(group) && !group->tried && !gang_root_satisfied(&group->gang))
			candidate_heap_push(cycle, &broken, (struct candidate){.group = g, .growth = -1});
	}
	while (broken.items.count) {
		struct candidate candidate = candidate_heap_pop(cycle, &broken);
		cycle->groups[candidate.group].tried = !serve_group(&order->run, &candidate);
	}
	vec_free(&broken.items);
}

/* Every group as it is before anybody is served. What cannot be served at all learns why. */
static void start_groups(struct queue_order *order)
{
	struct cycle *cycle = order->run.cycle;
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		group->state = GROUP_WAITING;
		group->proof = PROOF_NONE;
		group->tried = false;
		if (!cycle_lacks_queue(cycle, group) && !group->blocked && !group->gave_up &&
		    !cycle_has_waiting(group)) {
			struct candidate candidate = {.group = cycle_work_at(cycle, i), .growth = -1};
			serve_group(&order->run, &candidate);
		}
	}
}

static void allocate(struct cycle *cycle, enum cycle_action action)
{
	(void)action;
	struct queue_order order;
	queue_order_open(cycle, &order);
	start_groups(&order);
	reserve_bind(cycle);
	struct reserve_hold hold;
	serve_starved(&order, &hold);
	serve_broken(&order);
	queue_order_fill(&order, not_tried);
	for (struct candidate candidate; queue_order_take(&order, &candidate);) {
		if (candidate.group == hold.group)
			continue;
		if (queue_order_is_empty(&order) && candidate.growth == 0 &&
		    serve_rest(&order.run, &cycle->groups[candidate.group]))
			continue;
		if (serve_group(&order.run, &candidate))
			queue_order_put_back(&order, &candidate);
	}
	reserve_release(cycle, &hold);
	refusals_invalidate(cycle->refusals);
	queue_order_close(&order);
}

const struct action_row action_allocate = {.run = allocate, .serves_waiting = true};
