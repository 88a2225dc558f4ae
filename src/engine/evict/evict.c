/* Owns one attempt to make room for a group.
 *
 * The units that may go are sorted from the one that hurts least; the shortest prefix that lets the group fit is found by
 * bisection. Then the group is placed, preferring domains and nodes that need no eviction, and every unit the placement
 * can live with returns to its place, the most expensive first. Pods that still have to leave are moved where possible. */
#include "engine/evict/internal.h"

#include "engine/evict/budgets.h"
#include "engine/evict/fewest_moves.h"
#include "engine/evict/own_place.h"
#include "engine/evict/runtime.h"
#include "engine/place/rules.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ATTEMPTS 24 /* longer prefixes a consolidation tries when the shortest leaves somebody without a place */

/* ---- trying ---- */

static void lift_unit(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	evict_charge_unit(attempt, unit, -1);
	budgets_charge_unit(attempt->run->budgets, unit, 1);
	if (unit->reserved)
		cycle_mark(attempt->run, MARK_RESERVED, unit->group);
	struct gang *gang = &attempt->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_vacate(attempt->cycle->cluster, pod->pod_class, pod->node,
		               unit->reserved ? OCCUPY_RESERVED : OCCUPY_RUNNING);
		pod->state = MEMBER_GONE;
	}
}

static void return_unit(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	evict_charge_unit(attempt, unit, 1);
	budgets_charge_unit(attempt->run->budgets, unit, -1);
	struct gang *gang = &attempt->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_occupy(attempt->cycle->cluster, pod->pod_class, pod->node,
		               unit->reserved ? OCCUPY_RESERVED : OCCUPY_RUNNING);
		pod->state = unit->reserved ? MEMBER_RESERVED : MEMBER_RUNNING;
	}
}

void evict_lift_prefix(struct evict_attempt *attempt, size_t count)
{
	while (attempt->applied < count)
		lift_unit(attempt, attempt->units[attempt->applied++]);
	while (attempt->applied > count)
		return_unit(attempt, attempt->units[--attempt->applied]);
}

/* Searches for a place and says what it would count for. */
static bool search_place(struct evict_attempt *attempt, const struct place_options *options, struct arena *arena)
{
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	enum place_outcome (*find)(struct cluster *, const struct gang *, const struct place_options *, struct arena *,
	                           struct placement *) = attempt->grow ? engine_grow : engine_place;
	enum place_outcome outcome = find(attempt->cycle->cluster, gang, options, arena, &attempt->placement);
	if (outcome == PLACE_EXHAUSTED)
		attempt->run->lost_steps += attempt->placement.steps;
	if (outcome != PLACE_PLACED)
		return false;
	own_place_count(attempt);
	return true;
}

/* Whether the group fits now, and its queue allows it; where there is a choice, one that it allows. Without `final` any
 * place will do. */
static bool fits_now(struct evict_attempt *attempt, struct arena *arena, bool final)
{
	struct place_allowance allowance;
	struct place_options options = {.budget = attempt->cycle->budget,
	                                .use_releasing = true,
	                                .bias = final ? &attempt->bias : NULL};
	if (!search_place(attempt, &options, arena))
		return false;
	if (evict_queue_allows(attempt))
		return true;
	if (!evict_find_allowance(attempt, &allowance))
		return false;
	options.allowance = &allowance;
	return search_place(attempt, &options, arena) && evict_queue_allows(attempt);
}

static bool fits_with(struct evict_attempt *attempt, size_t count)
{
	evict_lift_prefix(attempt, count);
	arena_reset(attempt->run->scratch);
	return fits_now(attempt, attempt->run->scratch, false);
}

/* Nodes that need no eviction first, then those with few pods to evict, few of them guarded by budgets. */
static void score_nodes(struct evict_attempt *attempt)
{
	enum { GUARDED = 64 };
	int32_t *score = attempt->bias.node_score;
	for (; attempt->scored < attempt->unit_count; attempt->scored++) {
		const struct victim_unit *unit = attempt->units[attempt->scored];
		int weight = budgets_cover_unit(attempt->run->budgets, unit) ? GUARDED : 1;
		for (int i = 0; i < unit->pod_count; i++) {
			int node = attempt->cycle->groups[unit->group].gang.pods[unit->pods[i]].node;
			score[node] -= score[node] <= 0 ? weight : 0;
		}
	}
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The shortest prefix of more than `low` and at most `high` units that makes the group fit; 0 when none does. Looks at
 * few units first, so that not all are listed and lifted for a small group. */
static size_t shortest_prefix(struct evict_attempt *attempt, size_t low, size_t high)
{
	size_t step = evict_beneficiary(attempt)->gang.pod_count;
	for (size_t next = low + step;; low = next, step *= 8, next = low + step) {
		if (attempt->method->list_more)
			attempt->method->list_more(attempt, next);
		next = smaller(next, smaller(high, attempt->unit_count));
		if (next <= low)
			return 0;
		if (fits_with(attempt, next)) {
			high = next;
			break;
		}
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (fits_with(attempt, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* ---- who may stay ---- */

static bool pod_fits_back(const struct evict_attempt *attempt, int pod_class, int node)
{
	const struct cluster *cluster = attempt->cycle->cluster;
	return pod_class_fits_node(cluster, pod_class, node, VIEW_RELEASING) &&
	       rules_tolerate_members(cluster, &evict_beneficiary(attempt)->gang, pod_class, node);
}

static bool unit_can_return(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	struct gang *gang = &attempt->cycle->groups[unit->group].gang;
	int back = 0;
	bool fine = true;
	for (; back < unit->pod_count && fine; back++) {
		struct gang_pod *pod = &gang->pods[unit->pods[back]];
		fine = pod_fits_back(attempt, pod->pod_class, pod->node);
		if (fine)
			cluster_occupy(attempt->cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
		else
			break;
	}
	for (int i = 0; i < back; i++) { /* leave the real return to return_unit */
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_vacate(attempt->cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
	}
	return fine;
}

static bool inside_child(const struct gang *gang, int leaf, int child)
{
	while (leaf > child)
		leaf = gang->tree[leaf].parent;
	return leaf == child;
}

/* A unit may return only if what it belongs to has not been given up by a later unit of its group. */
static bool still_has_a_home(const struct evict_attempt *attempt, size_t number)
{
	const struct victim_unit *unit = attempt->units[number];
	const struct gang *gang = &attempt->cycle->groups[unit->group].gang;
	for (size_t i = number + 1; i < attempt->applied && !attempt->method->moves_only; i++) {
		const struct victim_unit *later = attempt->units[i];
		if (later->group != unit->group || attempt->kept[i])
			continue;
		if (later->extent == UNIT_GANG)
			return false;
		for (int p = 0; later->extent == UNIT_CHILD && p < unit->pod_count; p++)
			if (inside_child(gang, gang->pods[unit->pods[p]].leaf, later->tree))
				return false;
	}
	return true;
}

/* Whether the pods that were placed have what their rules ask for, beside all that stays. */
static bool placed_pods_hold(const struct evict_attempt *attempt)
{
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	for (size_t i = 0; i < attempt->placement.choice_count; i++)
		if (!rules_hold_for_member(attempt->cycle->cluster, &gang->pods[attempt->placement.choices[i].pod]))
			return false;
	return true;
}

/* Pods that were placed as the first of their kind, or evenly with others, saw the cluster without the unit. */
static bool rules_allow_return(const struct evict_attempt *attempt, const struct victim_unit *unit)
{
	const struct gang *gang = &attempt->cycle->groups[unit->group].gang;
	bool minded = false;
	for (int i = 0; attempt->ruled && i < unit->pod_count && !minded; i++)
		minded = rules_mind_pod_class(attempt->cycle->cluster, &evict_beneficiary(attempt)->gang,
		                              gang->pods[unit->pods[i]].pod_class);
	return !minded || placed_pods_hold(attempt);
}

/* The most expensive first. Groups that move are left alone. */
static void return_what_can_stay(struct evict_attempt *attempt)
{
	struct cycle_run *run = attempt->run;
	cycle_clear_mark(run, MARK_LOST); /* groups that are gone as a whole */
	for (size_t i = attempt->applied; i-- > 0;) {
		const struct victim_unit *unit = attempt->units[i];
		if (attempt->kept[i] || cycle_has_mark(run, MARK_MOVED, unit->group))
			continue;
		if (!cycle_has_mark(run, MARK_LOST, unit->group) &&
		    (unit->extent == UNIT_GANG || still_has_a_home(attempt, i)) && unit_can_return(attempt, unit)) {
			return_unit(attempt, unit);
			attempt->kept[i] = true;
			if (!evict_queue_allows(attempt) || !rules_allow_return(attempt, unit)) {
				attempt->kept[i] = false;
				lift_unit(attempt, unit);
			}
		}
		if (!attempt->kept[i] && unit->extent == UNIT_GANG && !attempt->method->moves_only)
			cycle_mark(run, MARK_LOST, unit->group);
	}
}

/* Whether somebody stays who was meant to leave; whoever was bound in this very cycle may. */
static bool somebody_stays(const struct evict_attempt *attempt)
{
	for (size_t i = 0; i < attempt->applied; i++)
		if (attempt->kept[i] && !attempt->units[i]->fresh)
			return true;
	return false;
}

/* ---- deciding ---- */

/* Puts everything back as it was before the attempt. */
static void undo_all(struct evict_attempt *attempt)
{
	for (size_t i = 0; i < attempt->applied; i++)
		if (!attempt->kept || !attempt->kept[i])
			return_unit(attempt, attempt->units[i]);
	attempt->applied = 0;
	attempt->kept = NULL;
}

/* A pod that has to leave its node. One that was bound in this very cycle, or has a reservation only, just waits again. */
static void give_up_pod(struct evict_attempt *attempt, int group, int number, int node, bool moved)
{
	struct cycle *cycle = attempt->cycle;
	struct gang_pod *pod = &cycle->groups[group].gang.pods[number];
	if (!cycle->groups[group].was_running[number]) {
		if (!moved) {
			pod->state = MEMBER_WAITING;
			pod->nominated = -1;
		}
		return;
	}
	cluster_occupy(cycle->cluster, pod->pod_class, node, OCCUPY_RELEASING);
	struct cycle_eviction eviction = {.group = group,
	                                  .pod = number,
	                                  .node = node,
	                                  .by = attempt->group,
	                                  .action = attempt->action,
	                                  .moved = moved,
	                                  .fewest = attempt->proved_fewest};
	budgets_spend(attempt->run->budgets, pod, &eviction);
	eviction.guarded &= !attempt->violating;
	cycle_evict(cycle, eviction);
}

/* A pod whose new place is its old one never moves at all. */
static bool stays_in_place(struct evict_attempt *attempt, const struct moved_pod *moved)
{
	struct gang_pod *pod = &attempt->cycle->groups[moved->group].gang.pods[moved->pod];
	if (moved->node != moved->from)
		return false;
	if (cycle_has_mark(attempt->run, MARK_RESERVED, moved->group))
		return true;
	cluster_vacate(attempt->cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
	cluster_occupy(attempt->cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
	pod->state = MEMBER_RUNNING;
	return true;
}

static void record_evictions(struct evict_attempt *attempt, const struct moves *moves)
{
	const struct cycle_run *run = attempt->run;
	attempt->violating = budgets_count_violations(run->budgets) > 0;
	for (size_t i = 0; i < moves->count; i++) {
		const struct moved_pod *pod = &moves->items[i];
		if (cycle_has_mark(run, MARK_MOVED, pod->group) && !stays_in_place(attempt, pod))
			give_up_pod(attempt, pod->group, pod->pod, pod->from, true);
	}
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		const struct gang *gang = &attempt->cycle->groups[unit->group].gang;
		bool lost = !attempt->kept[i] && !evict_has_moved(attempt, i);
		for (int k = 0; lost && k < unit->pod_count; k++)
			give_up_pod(attempt, unit->group, unit->pods[k], gang->pods[unit->pods[k]].node, false);
	}
}

/* The last word on the rules between pods: whoever was placed or moved, beside all that stays or moved after it. */
static bool rules_hold(const struct evict_attempt *attempt, const struct moves *moves)
{
	for (size_t i = 0; i < moves->count; i++) {
		const struct moved_pod *moved = &moves->items[i];
		if (cycle_has_mark(attempt->run, MARK_MOVED, moved->group) &&
		    !rules_hold_for_member(attempt->cycle->cluster,
		                           &attempt->cycle->groups[moved->group].gang.pods[moved->pod]))
			return false;
	}
	return !attempt->ruled || placed_pods_hold(attempt);
}

/* Moves, asks the shares and the queues, and commits; or leaves the victims where they are. */
static bool settle_victims(struct evict_attempt *attempt, bool optional_moves)
{
	const struct evict_method *method = attempt->method;
	bool *kept = attempt->kept;
	struct moves moves = {0};
	attempt->kept = arena_array(attempt->scratch, bool, attempt->applied);
	memcpy(attempt->kept, kept, sizeof(*kept) * attempt->applied);
	cycle_clear_mark(attempt->run, MARK_MOVED);
	bool fine = moves_find_places(attempt, optional_moves, &moves);
	evict_charge_left(attempt, true, 1); /* what moves is still held */
	if (fine && (attempt->moving || (moves.count && method->returns_moved)))
		return_what_can_stay(attempt);
	attempt->agreed = fine && (!method->justifies || method->justifies(attempt)) && evict_queue_allows(attempt) &&
	                  rules_hold(attempt, &moves);
	if (attempt->agreed && attempt->spares_budgets && budgets_count_violations(attempt->run->budgets) > 0) {
		attempt->agreed = false;
		attempt->violated = budgets_find_violated(attempt->run->budgets);
	}
	if (attempt->agreed && attempt->trial)
		runtime_note_waited(attempt);
	if (attempt->agreed && !attempt->trial) {
		own_place_settle(attempt);
		record_evictions(attempt, &moves);
		return true;
	}
	for (size_t i = 0; i < attempt->applied; i++)
		if (attempt->kept[i] && !kept[i])
			lift_unit(attempt, attempt->units[i]);
	attempt->kept = kept;
	evict_charge_left(attempt, true, -1);
	moves_undo(attempt, &moves);
	cycle_clear_mark(attempt->run, MARK_MOVED);
	return false;
}

/* With the first `count` units off: place, return, move, ask the queues; commit or leave everything as it was. */
static bool decide_prefix(struct evict_attempt *attempt, size_t count)
{
	struct cycle *cycle = attempt->cycle;
	struct cycle_group *own = evict_beneficiary(attempt);
	evict_lift_prefix(attempt, count);
	score_nodes(attempt);
	/* A search leaves a lot behind, of which only the places are of use. */
	arena_reset(attempt->run->scratch);
	if (!fits_now(attempt, attempt->run->scratch, true)) {
		evict_lift_prefix(attempt, 0);
		return false;
	}
	own_place_take(attempt);
	attempt->ruled = rules_concern_gang(cycle->cluster, &own->gang);
	attempt->kept = arena_array(attempt->scratch, bool, attempt->applied);
	return_what_can_stay(attempt);
	attempt->agreed = false;
	/* Moving a victim keeps it on the account of its queue: where a limit needs it gone, it is not moved. */
	if (!(attempt->all_go && somebody_stays(attempt)) &&
	    (settle_victims(attempt, true) || (!attempt->agreed && settle_victims(attempt, false))))
		return true;
	own_place_undo(attempt);
	undo_all(attempt);
	return attempt->agreed;
}

bool evict_decide_moves(struct evict_attempt *attempt, const struct moves *moves)
{
	struct cycle_group *own = evict_beneficiary(attempt);
	own_place_count(attempt);
	own_place_take(attempt);
	attempt->ruled = rules_concern_gang(attempt->cycle->cluster, &own->gang);
	attempt->kept = arena_array(attempt->scratch, bool, attempt->applied);
	attempt->planned = moves;
	bool made = settle_victims(attempt, true);
	attempt->planned = NULL;
	if (made)
		return true;
	own_place_undo(attempt);
	attempt->kept = NULL;
	return false;
}

/* Shortest prefix first; where everybody must find a new place, longer ones too. */
bool evict_try_prefixes(struct evict_attempt *attempt, size_t low, size_t count)
{
	size_t shortest = shortest_prefix(attempt, low, count);
	size_t longest = shortest > attempt->movable_from ? attempt->unit_count : shortest;
	bool made = false;
	for (size_t n = shortest, tries = 0; shortest && n <= longest && tries < MOST_ATTEMPTS && !made; n++, tries++)
		made = decide_prefix(attempt, n);
	if (!made)
		evict_lift_prefix(attempt, 0);
	return made;
}

static void build_bias(struct evict_attempt *attempt)
{
	attempt->scored = 0;
	bias_build_from_free(attempt->cycle->cluster, &evict_beneficiary(attempt)->gang, false, attempt->scratch,
	                     &attempt->bias);
}

enum place_outcome evict_ask_place(struct evict_attempt *attempt, uint64_t budget,
                                   const struct place_allowance *allowance, struct placement *placement)
{
	struct place_options options = {.budget = budget, .use_releasing = true, .allowance = allowance};
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	struct arena *arena = attempt->run->scratch;
	arena_reset(arena);
	return attempt->grow ? engine_grow(attempt->cycle->cluster, gang, &options, arena, placement)
	                     : engine_place(attempt->cycle->cluster, gang, &options, arena, placement);
}

bool evict_decide_units(struct evict_attempt *attempt)
{
	build_bias(attempt);
	return decide_prefix(attempt, attempt->unit_count);
}

static bool try_list(struct evict_attempt *attempt)
{
	build_bias(attempt);
	return attempt->method->try_units ? attempt->method->try_units(attempt)
	                                  : evict_try_prefixes(attempt, 0, SIZE_MAX);
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

static void add_budget_reason(struct evict_attempt *attempt)
{
	struct cycle *cycle = attempt->cycle;
	const struct cycle_budget *budget = attempt->violated;
	int64_t left = budget->allowed - budget->spent;
	reason_add(&evict_beneficiary(attempt)->reasons, cycle->arena,
	           (struct reason){.code = REASON_DISRUPTION_BUDGET,
	                           .message =
	                                   arena_printf(cycle->arena,
	                                                "would fit if PodDisruptionBudget %s/%s allowed more than %lld "
	                                                "evictions",
	                                                budget->namespace_, budget->name,
	                                                (long long)(left > 0 ? left : 0))});
}

/* Room that budgets do not leave for the cheapest units may be found with others in their place: so all of them together,
 * and what remains in the end must not violate any. Then, where the method may do that, with as few of those put aside as
 * the prefix needs. */
static bool try_deferred(struct evict_attempt *attempt)
{
	bool may_violate = attempt->method->violates_budgets && !attempt->cycle->never_violate_budgets;
	if (!attempt->method->moves_only) { /* what may only be moved was in vain */
		attempt->unit_count = smaller(attempt->unit_count, attempt->movable_from);
		attempt->movable_from = SIZE_MAX;
	}
	attempt->source_count = attempt->unopened_count = 0;
	attempt->with_deferred = true;
	for (size_t i = 0; i < attempt->deferred_count; i++)
		evict_append_unit(attempt, attempt->deferred[i]);
	const struct victim_unit **guarded_last =
		arena_array(attempt->scratch, const struct victim_unit *, attempt->unit_count);
	memcpy(guarded_last, attempt->units, attempt->unit_count * sizeof(*guarded_last));
	qsort(attempt->units, attempt->unit_count, sizeof(*attempt->units), compare_units);
	attempt->spares_budgets = true;
	if (try_list(attempt))
		return true;
	if (!may_violate) {
		if (attempt->violated && !attempt->trial)
			add_budget_reason(attempt);
		return false;
	}
	attempt->units = guarded_last;
	attempt->spares_budgets = false;
	return try_list(attempt);
}

static bool try_units(struct evict_attempt *attempt)
{
	const struct evict_method *method = attempt->method;
	attempt->movable_from = method->moves_only ? 0 : SIZE_MAX;
	method->list(attempt);
	if (!method->list_more && !attempt->unit_count && !attempt->deferred_count)
		return false;
	if (fits_with(attempt, 0)) /* nobody has to go: that is for allocation */
		return false;
	enum fewest_outcome outcome = method->moves_only ? fewest_moves_try(attempt) : fewest_try(attempt);
	if (outcome == FEWEST_MADE)
		return true;
	return (outcome == FEWEST_GAVE_UP && try_list(attempt)) || (attempt->deferred_count && try_deferred(attempt));
}

/* The index follows what was decided. */
static void update_victim_index(const struct evict_attempt *attempt)
{
	victim_index_mark_changed(attempt->run->victim_index, attempt->group);
	for (size_t i = 0; i < attempt->applied; i++)
		if (!attempt->kept[i])
			victim_index_mark_changed(attempt->run->victim_index, attempt->units[i]->group);
}

void evict_open_index(struct cycle_run *run)
{
	if (run->victim_index)
		return;
	run->victim_index = victim_index_create(run, run->cycle->arena);
	run->budgets = budgets_create(run->cycle);
	for (int i = 0; i < MARK_COUNT; i++) {
		run->marks[i] = arena_array(run->cycle->arena, uint32_t, run->cycle->group_count);
		cycle_clear_mark(run, (enum cycle_mark)i);
	}
}

static bool run_attempt(struct evict_attempt *attempt)
{
	attempt->scratch = attempt->run->decision;
	arena_reset(attempt->scratch);
	cycle_clear_mark(attempt->run, MARK_RESERVED);
	evict_remember_held(attempt);
	runtime_begin_attempt(attempt);
	const struct evict_method *method = attempt->method;
	if ((method->begin && !method->begin(attempt)) || (method->has_candidates && !method->has_candidates(attempt)))
		return false;
	evict_open_index(attempt->run);
	cycle_clear_mark(attempt->run, MARK_GUARDED);
	budgets_begin(attempt->run->budgets);
	size_t tried_from = cluster_journal_length(attempt->cycle->cluster);
	bool made = try_units(attempt);
	if (!made) /* everything is as it was */
		cluster_journal_cut(attempt->cycle->cluster, tried_from);
	return made;
}

bool evict_would_fit_at(struct evict_attempt *attempt, int64_t at)
{
	*attempt = (struct evict_attempt){.run = attempt->run,
	                                  .cycle = attempt->cycle,
	                                  .group = attempt->group,
	                                  .action = attempt->action,
	                                  .method = attempt->method,
	                                  .grow = attempt->grow,
	                                  .at = at,
	                                  .first_end = INT64_MAX,
	                                  .trial = true};
	return run_attempt(attempt);
}

bool evict_for_group(struct cycle_run *run, int group, enum cycle_action action, bool grow)
{
	struct evict_attempt attempt = {.run = run,
	                                .cycle = run->cycle,
	                                .group = group,
	                                .action = action,
	                                .method = cycle_action_row(action)->method,
	                                .grow = grow};
	attempt.at = run->cycle->now;
	attempt.first_end = INT64_MAX;
	bool made = run_attempt(&attempt);
	if (made) {
		update_victim_index(&attempt);
	} else if (attempt.first_end < INT64_MAX) {
		run->cycle->retry_at =
			attempt.first_end < run->cycle->retry_at ? attempt.first_end : run->cycle->retry_at;
		runtime_explain_refusal(run, group, action, grow);
	}
	return made;
}
