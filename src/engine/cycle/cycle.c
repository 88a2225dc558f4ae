/* One cycle of scheduling: who is next, what its queue allows, what the engine finds, who gives way. */
#include "base/clamp.h"
#include "engine/cycle/cycle.h"

#include "base/grow.h"
#include "base/vec.h"
#include "engine/cycle/internal.h"
#include "engine/internal.h"
#include "engine/cycle/moved_places.h"
#include "engine/cycle/refusal_cache.h"
#include "engine/cycle/refusals.h"
#include "engine/cycle/reserve.h"
#include "engine/evict/evict.h"
#include "engine/place/solver.h"
#include "engine/evict/victim_index.h"
#include "engine/cycle/queue_order.h"

#include <string.h>

const char *group_state_name(enum group_state state)
{
	static const char *const names[] = {"Placed", "Partial", "Pending", "Impossible", "Exhausted", "NotReady"};
	return names[state];
}

static const char *const action_names[ACTION_COUNT] = {"allocate", "consolidate", "reclaim", "preempt",
                                                       "stalegangeviction"};

const char *cycle_action_name(enum cycle_action action)
{
	return action_names[action];
}

int cycle_action_parse(const char *text, size_t length, enum cycle_action *action)
{
	for (int a = 0; a < ACTION_COUNT; a++)
		if (strlen(action_names[a]) == length && strncmp(action_names[a], text, length) == 0) {
			*action = (enum cycle_action)a;
			return 0;
		}
	return -1;
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

/* ---- allocate ---- */

/* What the search sees of the group: groups that look alike get the same answer, unless places are kept for one. */
static uint64_t question_of(const struct cycle *cycle, const struct cycle_group *group, uint64_t what)
{
	uint64_t look = refusals_hash_gang(&group->gang);
	if (moved_places_concern(group))
		look = hash_mix(look, (uint64_t)(group - cycle->groups) + 1);
	return hash_mix(look, what);
}

/* The outcome, and for a refusal where it is written down. What looks alike is searched once per state of the cluster. */
static enum place_outcome find_place(struct cycle_run *run, struct cycle_group *group, bool grow, struct placement *out,
                                     struct refusal **refusal)
{
	struct cycle *cycle = run->cycle;
	enum place_outcome (*find)(struct cluster *, const struct gang *, const struct place_options *, struct arena *,
	                           struct placement *) = grow ? engine_grow : engine_place;
	uint64_t question = question_of(cycle, group, grow);
	*refusal = refusals_find(cycle->refusals, question);
	if (!*refusal)
		*refusal = refusals_load_cached(cycle, &group->gang, question);
	if (*refusal) {
		*out = (*refusal)->placement;
		return out->outcome;
	}
	arena_reset(run->scratch);
	struct place_options options = {.budget = cycle->budget};
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

static void refuse(struct cycle *cycle, struct cycle_group *group, struct refusal *refusal)
{
	enum place_outcome outcome = refusal->placement.outcome;
	group->proved = outcome == PLACE_IMPOSSIBLE;
	group->state = outcome == PLACE_IMPOSSIBLE  ? GROUP_IMPOSSIBLE
	               : outcome == PLACE_EXHAUSTED ? GROUP_EXHAUSTED
	                                            : GROUP_NOT_READY;
	refusals_explain(refusal, cycle, group);
	refusal_cache_store(cycle, &group->gang, question_of(cycle, group, false), refusal);
}

/* Binds or reserves what was found and puts it on the account of the queue. */
static void commit(struct cycle_run *run, struct cycle_group *group, const struct placement *placement,
                   const struct cycle_cost *cost)
{
	engine_commit(run->cycle->cluster, &group->gang, placement);
	cycle_charge(run, group->queue, cost, 1);
	refusals_invalidate(run->cycle->refusals);
	refusal_cache_note_bound(run->cycle, &group->gang, placement);
}

/* All surplus of the last group in line at once, if everything fits and its queue allows it. */
static bool find_rest(struct cycle_run *run, struct cycle_group *group)
{
	struct cycle *cycle = run->cycle;
	struct place_options options = {.budget = cycle->budget};
	struct placement placement;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_RESERVED)
			return false;
	arena_reset(run->scratch);
	if (engine_grow_all(cycle->cluster, &group->gang, &options, run->scratch, &placement) != PLACE_PLACED)
		return false;
	struct cycle_cost cost;
	cycle_cost_of_placement(run, group, &placement, &cost);
	if (!cycle_queue_has_room(run, group->queue, &cost)) /* a part of it may still be allowed */
		return false;
	commit(run, group, &placement, &cost);
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
		if (!grow)
			refuse(cycle, group, refusal);
		return false;
	}
	struct cycle_cost cost;
	cycle_cost_of_placement(run, group, &placement, &cost);
	if (!cycle_queue_has_room(run, group->queue, &cost) && find_allowed(run, group, grow, is_protected, &placement))
		cycle_cost_of_placement(run, group, &placement, &cost);
	if (!cycle_queue_allows(run, group, &cost)) {
		if (!grow)
			group->state = GROUP_PENDING;
		return false;
	}
	commit(run, group, &placement, &cost);
	candidate->growth++;
	return true;
}

/* One step for one group. True when it made progress and may come again. */
static bool serve(struct cycle_run *run, struct candidate *candidate)
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

/* The gang that has waited longest beyond the limit, highest priority first; -1 when nobody has. Single pods are never
 * passed by for long: any hole does. */
static int most_starved(const struct cycle *cycle)
{
	int best = -1;
	for (size_t i = 0; cycle->starvation_after > 0 && i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		const struct cycle_group *group = &cycle->groups[g];
		int64_t waited = cycle->now - group->creation * INT64_C(1000000000);
		if (!queue_order_is_candidate(group) || waited < cycle->starvation_after || group->gang.pod_count < 2 ||
		    gang_root_satisfied(&group->gang))
			continue;
		const struct cycle_group *other = best < 0 ? NULL : &cycle->groups[best];
		if (!other || group->priority > other->priority ||
		    (group->priority == other->priority && group->creation < other->creation))
			best = g;
	}
	return best;
}

/* Tries the starved gang before everybody else; if it does not fit, holds what is free where it will. */
static void guard(struct queue_order *order, struct reserve_hold *hold)
{
	struct cycle *cycle = order->run.cycle;
	int starved = most_starved(cycle);
	*hold = (struct reserve_hold){.group = -1};
	if (starved < 0)
		return;
	struct candidate candidate = {.group = starved, .growth = -1};
	struct cycle_group *group = &cycle->groups[starved];
	bool served = serve(&order->run, &candidate);
	group->tried = !served;
	if (served || group->state == GROUP_NOT_READY || group->state == GROUP_PENDING)
		return;
	reserve_hold_for(cycle, starved, hold);
	refusals_invalidate(cycle->refusals);
	if (hold->group >= 0)
		reason_add(
			&group->reasons, cycle->arena,
			(struct reason){
				.code = REASON_HELD,
				.message =
					"it has waited long: free resources are held for it until running work ends"});
}

/* Gangs of which a part runs, because pods were lost or a start was interrupted: what they hold is of no use until the
 * rest has found a place, so they come before all others. */
static void repair(struct queue_order *order)
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
		cycle->groups[candidate.group].tried = !serve(&order->run, &candidate);
	}
	vec_free(&broken.items);
}

/* Every group as it is before anybody is served. What cannot be served at all learns why. */
static void start_groups(struct queue_order *order)
{
	struct cycle *cycle = order->run.cycle;
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		group->state = GROUP_PENDING;
		group->tried = false;
		if (!cycle_lacks_queue(cycle, group) && !group->blocked && !group->gave_up &&
		    !cycle_has_waiting(group)) {
			struct candidate candidate = {.group = cycle_work_at(cycle, i), .growth = -1};
			serve(&order->run, &candidate);
		}
	}
}

static void allocate(struct cycle *cycle)
{
	struct queue_order order;
	queue_order_open(cycle, &order);
	start_groups(&order);
	reserve_bind(cycle);
	struct reserve_hold hold;
	guard(&order, &hold);
	repair(&order);
	queue_order_fill(&order, not_tried);
	for (struct candidate candidate; queue_order_take(&order, &candidate);) {
		if (candidate.group == hold.group)
			continue;
		if (queue_order_is_empty(&order) && candidate.growth == 0 &&
		    serve_rest(&order.run, &cycle->groups[candidate.group]))
			continue;
		if (serve(&order.run, &candidate))
			queue_order_put_back(&order, &candidate);
	}
	reserve_release(cycle, &hold);
	refusals_invalidate(cycle->refusals);
	queue_order_close(&order);
}

/* ---- making room ---- */

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

static bool may_consolidate(const struct cycle *cycle, const struct cycle_group *group)
{
	return group->preempt == CYCLE_PREEMPTIBLE && may_evict(cycle, group);
}

/* Whether there is proof that the group would find no place even if nothing ran: then nobody has to go for it. Rules
 * between pods look at who runs, so nothing is proved about them. */
static bool is_hopeless(struct cycle *cycle, const struct cycle_group *group, struct arena *scratch)
{
	enum { STEPS = 20000, QUESTION = 100 };
	bool grow = gang_root_satisfied(&group->gang);
	uint64_t question = hash_mix(refusals_hash_gang(&group->gang), QUESTION);
	if (cycle->always_search || rules_concern(cycle->cluster, &group->gang))
		return false;
	int known = refusal_cache_is_hopeless(cycle, question);
	if (known >= 0)
		return known;
	const struct refusal *refusal = refusals_find(cycle->refusals, question);
	if (refusal)
		return refusal->placement.outcome == PLACE_IMPOSSIBLE;
	arena_reset(scratch);
	struct place_options options = {.budget = STEPS, .empty_cluster = true};
	struct placement placement;
	enum place_outcome outcome = grow ? engine_grow(cycle->cluster, &group->gang, &options, scratch, &placement)
	                                  : engine_place(cycle->cluster, &group->gang, &options, scratch, &placement);
	refusals_add(cycle->refusals, question, &placement);
	refusal_cache_store_hopeless(cycle, question, outcome == PLACE_IMPOSSIBLE);
	return outcome == PLACE_IMPOSSIBLE;
}

/* Groups of one queue that look alike have the same prospects. */
static bool make_room_for(struct cycle_run *run, const struct candidate *candidate, enum cycle_action action)
{
	struct refusals *refusals = run->cycle->refusals;
	struct cycle_group *group = &run->cycle->groups[candidate->group];
	bool grow = candidate->growth >= 0;
	uint64_t question = question_of(run->cycle, group, (uint64_t)action * 8 + group->preempt * 2 + grow + 2);
	if (action != ACTION_CONSOLIDATE)
		question = hash_mix(question, (uint64_t)(uint32_t)group->priority << 32 | (uint32_t)group->queue);
	if (refusals_find(refusals, question) || is_hopeless(run->cycle, group, run->scratch))
		return false;
	moved_places_lift(run, group);
	bool made = evict_for_group(run, candidate->group, action, grow);
	moved_places_restore(run, group);
	if (made) {
		refusals_invalidate(refusals);
		refusal_cache_disturb(run->cycle);
	} else {
		refusals_add(refusals, question, NULL);
	}
	return made;
}

static void make_room(struct cycle *cycle, enum cycle_action action)
{
	struct queue_order order;
	bool (*accept)(const struct cycle *, const struct cycle_group *) =
		action == ACTION_CONSOLIDATE ? may_consolidate : may_evict;
	bool wanted = false;
	struct arena *scratch = arena_create();
	for (size_t i = 0; i < cycle_work_count(cycle) && !wanted; i++) {
		const struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		wanted = queue_order_is_candidate(group) && accept(cycle, group) && !is_hopeless(cycle, group, scratch);
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

/* ---- stale gangs ---- */

static void release_stale(struct cycle *cycle)
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
			cycle_evict(cycle, (struct cycle_eviction){.group = g,
			                                           .pod = (int)p,
			                                           .node = pod->node,
			                                           .by = -1,
			                                           .action = ACTION_RELEASE_STALE});
		}
	}
}

/* ---- entry ---- */

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
	cycle->refusals = refusals_create(cycle->arena);
	cycle->retry_at = INT64_MAX;
	refusal_cache_begin(cycle);
}

void cycle_run(struct cycle *cycle, enum cycle_action action)
{
	switch (action) {
	case ACTION_ALLOCATE:
		allocate(cycle);
		break;
	case ACTION_CONSOLIDATE:
	case ACTION_RECLAIM:
	case ACTION_PREEMPT:
		make_room(cycle, action);
		break;
	case ACTION_RELEASE_STALE:
		release_stale(cycle);
		break;
	case ACTION_COUNT:
		break;
	}
}

/* Whether the group had its try and got nothing. Waiting for its own pods is no try, and while a part of it runs there is
 * something to complete. */
static bool was_refused(const struct cycle_group *group)
{
	if (group->blocked || group->queue < 0 || !group->reasons.count || group->state == GROUP_NOT_READY)
		return false;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (cycle_is_member(&group->gang.pods[p]))
			return false;
	return true;
}

/* State of groups whose minimum is met, and a word on surplus that found no place. */
static void conclude(struct cycle *cycle, struct cycle_group *group)
{
	if (!gang_root_satisfied(&group->gang)) {
		if (group->gave_up)
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = REASON_BACKOFF,
			                           .message = "schedulingBackoff is 1 and one cycle has failed: it is "
			                                      "not tried again"});
		group->gave_up |= group->give_up_after_failure && was_refused(group);
		if (!group->reasons.count && !group->blocked && group->gang.pod_count)
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = REASON_GAVE_WAY,
			                           .message = "its pods gave way to another group in this cycle"});
		return;
	}
	group->state = surplus_conclude(cycle, group) ? GROUP_PARTIAL : GROUP_PLACED;
}

void cycle_finish(struct cycle *cycle)
{
	reserve_together(cycle);
	for (size_t i = 0; i < cycle_work_count(cycle); i++)
		conclude(cycle, &cycle->groups[cycle_work_at(cycle, i)]);
	moved_places_release(cycle);
}
