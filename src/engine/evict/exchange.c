/* Owns the search for losses and moves that together disturb less than losses alone. */
#include "engine/evict/exchange.h"

#include "engine/cluster/internal.h"
#include "engine/evict/alike.h"
#include "engine/evict/budgets.h"
#include "engine/evict/exchange_bound.h"
#include "engine/evict/joint.h"
#include "engine/evict/victim_index.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_STEPS = 1 << 18, /* for one group */
	ALL_STEPS = 1 << 20,  /* in one action */
	MOST_MOVABLE = 256,   /* pods; with more, nothing is tried */
	MOST_REFUSED = 256,   /* sets with a place for everybody, but which somebody is against */
	TRIAL_STEPS = 16,     /* what asking costs besides the search */
	LOOKS_A_STEP = 16,
	SHARE = 64 /* of the steps that are left, for one set */
};

struct exchange {
	struct evict_attempt *attempt;
	struct losses *losses;
	const struct victim_unit *const *listed;
	size_t listed_count;
	struct loss *moves; /* every pod that may move, as a loss of nothing */
	size_t move_count;
	const struct loss **order; /* losses of the tier, losses below it, moves */
	size_t count, of_tier;
	const struct loss **chosen;
	size_t chosen_count, moved; /* how many of them move */
	bool *off;                  /* by single pod, and then by those that only move */
	bool *moving;               /* by unit that is lifted */
	size_t pod_count;           /* that could leave or move */
	uint64_t **tried;           /* by depth and position: keys */
	struct alike *alike;
	struct exchange_bound bound;
	int64_t violations;
	bool undercuts;
	bool needs_move; /* sets of losses alone were tried, and one of them is known to do */
	uint64_t left;   /* steps */
	int refused;
	bool undecided;
};

static void spend(struct exchange *search, uint64_t steps)
{
	search->left -= steps < search->left ? steps : search->left;
}

static bool is_move(const struct loss *loss)
{
	return loss->tier == LOSS_NONE;
}

/* ---- what is off ---- */

static void push_unit(struct exchange *search, const struct victim_unit *unit, bool moves)
{
	struct evict_attempt *attempt = search->attempt;
	search->moving[attempt->unit_count] = moves;
	attempt->units[attempt->unit_count++] = unit;
	evict_lift_prefix(attempt, attempt->unit_count);
	if (moves) /* it stays on its account */
		evict_charge_unit(attempt, unit, 1);
}

static void pop_unit(struct exchange *search)
{
	struct evict_attempt *attempt = search->attempt;
	if (search->moving[--attempt->unit_count])
		evict_charge_unit(attempt, attempt->units[attempt->unit_count], -1);
	evict_lift_prefix(attempt, attempt->unit_count);
}

/* The pods of a loss one by one. */
static const struct victim_unit *single_of(const struct exchange *search, const struct loss *loss, int i)
{
	return is_move(loss) ? &loss->unit : &search->losses->singles[loss->singles[i]];
}

static void choose(struct exchange *search, const struct loss *loss)
{
	losses_take(search->losses, loss, 1);
	for (int i = 0; i < loss->single_count; i++) {
		search->off[loss->singles[i]] = true;
		push_unit(search, single_of(search, loss, i), is_move(loss));
		alike_lift(search->alike, single_of(search, loss, i), true);
	}
	exchange_bound_take(&search->bound, loss, 1);
	search->moved += is_move(loss);
	search->chosen[search->chosen_count++] = loss;
}

static void give_back(struct exchange *search)
{
	const struct loss *loss = search->chosen[--search->chosen_count];
	search->moved -= is_move(loss);
	exchange_bound_take(&search->bound, loss, -1);
	for (int i = loss->single_count; i-- > 0;) {
		search->off[loss->singles[i]] = false;
		pop_unit(search);
		alike_lift(search->alike, single_of(search, loss, i), false);
	}
	losses_take(search->losses, loss, -1);
}

/* Whether it can go beside what is chosen. */
static bool is_free(const struct exchange *search, const struct loss *loss)
{
	for (int i = 0; i < loss->single_count; i++)
		if (search->off[loss->singles[i]])
			return false;
	return losses_may_take(search->losses, loss);
}

/* ---- one question ---- */

static bool fits_alone(struct exchange *search)
{
	struct placement placement;
	enum place_outcome outcome = evict_ask_place(search->attempt, search->left + 1, NULL, &placement);
	spend(search, TRIAL_STEPS + placement.steps);
	search->undecided |= outcome == PLACE_EXHAUSTED;
	return outcome == PLACE_PLACED;
}

/* What the queues leave to the one that waits and to those who move beside it. False when there is no bound. */
static bool find_allowance(const struct exchange *search, struct place_allowance *allowance)
{
	const struct evict_attempt *attempt = search->attempt;
	bool bounded = false;
	if (!evict_find_allowance(attempt, allowance))
		return false;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		bounded |= allowance->left[r] < INT64_MAX;
		for (size_t i = 0; i < attempt->applied && allowance->left[r] < INT64_MAX; i++)
			allowance->left[r] += search->moving[i] ? attempt->units[i]->amounts[r] : 0;
	}
	return bounded;
}

static enum place_outcome fit_together(struct exchange *search, bool bounded, struct joint *joint,
                                       struct placement *placement)
{
	struct evict_attempt *attempt = search->attempt;
	struct arena *arena = attempt->run->scratch;
	struct place_allowance allowance;
	bounded = bounded && find_allowance(search, &allowance);
	arena_reset(arena);
	attempt->moving = search->moving;
	joint_build(attempt, arena, joint);
	attempt->moving = NULL;
	uint64_t budget = search->left / SHARE + 1, most = attempt->cycle->budget; /* 0: the usual one, which is more */
	struct place_options options = {.budget = most && most < budget ? most : budget,
	                                .use_releasing = true,
	                                .allowance = bounded ? &allowance : NULL};
	engine_place(attempt->cycle->cluster, &joint->gang, &options, arena, placement);
	spend(search, TRIAL_STEPS + placement->steps);
	search->undecided |= placement->outcome == PLACE_EXHAUSTED;
	return placement->outcome;
}

/* ---- deciding ---- */

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

/* As everybody else lists them: what is lost in its order, and what moves behind it. */
static void list_units(struct exchange *search)
{
	struct evict_attempt *attempt = search->attempt;
	attempt->unit_count = 0;
	for (size_t i = 0; i < search->chosen_count; i++)
		if (!is_move(search->chosen[i]))
			losses_append(attempt, search->listed, search->listed_count, search->chosen[i]);
	qsort(attempt->units, attempt->unit_count, sizeof(*attempt->units), compare_units);
	memset(search->moving, 0, attempt->unit_count * sizeof(*search->moving));
	for (size_t i = 0; i < search->chosen_count; i++)
		if (is_move(search->chosen[i])) {
			search->moving[attempt->unit_count] = true;
			attempt->units[attempt->unit_count++] = &search->chosen[i]->unit;
		}
}

static void pop_units(struct exchange *search)
{
	while (search->attempt->unit_count > 0)
		pop_unit(search);
}

static void push_chosen(struct exchange *search)
{
	for (size_t i = 0; i < search->chosen_count; i++)
		for (int k = 0; k < search->chosen[i]->single_count; k++)
			push_unit(search, single_of(search, search->chosen[i], k), is_move(search->chosen[i]));
}

/* Takes the answer apart: places of the one that waits, and moves of the others. */
static void take_apart(const struct exchange *search, const struct joint *joint, const struct placement *placement,
                       struct moves *moves)
{
	struct evict_attempt *attempt = search->attempt;
	struct place_choice *own = arena_array(attempt->scratch, struct place_choice, placement->choice_count);
	size_t count = 0;
	moves->items = arena_array(attempt->scratch, struct moved_pod, placement->choice_count);
	for (size_t i = 0; i < placement->choice_count; i++) {
		const struct place_choice *choice = &placement->choices[i];
		int group = joint->group[choice->pod], pod = joint->pod[choice->pod];
		int from = attempt->cycle->groups[group].gang.pods[pod].node;
		if (group == attempt->group)
			own[count++] = (struct place_choice){.pod = pod, .node = choice->node};
		else
			moves->items[moves->count++] =
				(struct moved_pod){.group = group, .pod = pod, .node = choice->node, .from = from};
	}
	attempt->placement = *placement;
	attempt->placement.choices = own;
	attempt->placement.choice_count = count;
}

/* Whether those who are asked could say otherwise to other places of the same pods. */
static bool has_other_places(const struct exchange *search)
{
	const struct cluster *cluster = search->attempt->cycle->cluster;
	const struct gang *gang = &evict_beneficiary(search->attempt)->gang;
	bool choice = cluster->guarded_pod_classes.count > 0 || search->attempt->ruled;
	for (size_t i = 0; i < gang->tree_count && !choice; i++)
		choice = gang->tree[i].minimum < gang->tree[i].child_count;
	return choice || gang_minimum_pods(gang, 0) < (int)gang->pod_count;
}

static bool decide(struct exchange *search, const struct joint *joint, const struct placement *placement)
{
	struct evict_attempt *attempt = search->attempt;
	struct moves moves = {0};
	take_apart(search, joint, placement, &moves);
	pop_units(search);
	list_units(search);
	evict_lift_prefix(attempt, attempt->unit_count);
	attempt->proved_fewest = !search->undecided;
	attempt->moving = search->moving;
	if (evict_decide_moves(attempt, &moves))
		return true;
	attempt->moving = NULL;
	attempt->proved_fewest = false;
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = 0;
	push_chosen(search);
	search->undecided |= has_other_places(search); /* somebody was against these: others were not asked */
	if (++search->refused >= MOST_REFUSED)
		search->left = 0;
	return false;
}

static bool try_chosen(struct exchange *search)
{
	struct joint joint;
	struct placement placement;
	return (search->moved || !search->needs_move) &&
	       budgets_count_violations(search->attempt->run->budgets) == search->violations && fits_alone(search) &&
	       fit_together(search, true, &joint, &placement) == PLACE_PLACED && decide(search, &joint, &placement);
}

/* ---- sets of one size ---- */

static uint64_t *open_tried(struct exchange *search)
{
	uint64_t **tried = &search->tried[search->chosen_count];
	if (!*tried)
		*tried = arena_array(search->attempt->scratch, uint64_t, search->losses->count + search->move_count);
	return *tried;
}

/* Whether one like it was tried with the same before it. */
static bool is_new(struct exchange *search, size_t from, size_t at)
{
	const struct loss *loss = search->order[at];
	uint64_t *tried = open_tried(search), key = hash_mix((uint64_t)(int64_t)loss->tier, 0x6c);
	key = hash_mix(key, loss->single_count > 1 ? at : alike_key(search->alike, single_of(search, loss, 0)));
	tried[at] = key;
	for (size_t i = from; i < at; i++)
		if (tried[i] == key)
			return false;
	return true;
}

static bool is_too_much(const struct exchange *search, const struct loss *last)
{
	const struct evict_attempt *attempt = search->attempt;
	return budgets_count_violations(attempt->run->budgets) > search->violations ||
	       (!search->undercuts && !is_move(last) && attempt->method->undercuts &&
	        attempt->method->undercuts(attempt, &last->unit));
}

static bool could_do(struct exchange *search, int pods)
{
	int domains;
	bool fine = exchange_bound_allows(&search->bound, pods, search->moved > 0 || !search->needs_move, &domains);
	spend(search, (uint64_t)domains / LOOKS_A_STEP);
	return fine;
}

/* Adds losses and moves from `from` on of so many pods. True when it was decided. Not deeper than pods that could leave. */
static bool complete(struct exchange *search, size_t from, int pods)
{
	if (pods == 0)
		return try_chosen(search);
	size_t to = search->chosen_count ? search->count : search->of_tier;
	/* Moves stand last: behind them nothing more is lost. */
	size_t losses = search->count - search->move_count;
	to = to > losses && !exchange_bound_is_covered(&search->bound) ? losses : to;
	for (size_t at = from; at < to && search->left; at++) {
		const struct loss *loss = search->order[at];
		spend(search, 1 + (at - from) / LOOKS_A_STEP);
		if (at >= losses && (size_t)pods > search->count - at)
			return false;
		open_tried(search)[at] = 0; /* what is passed over stands for no other */
		if (loss->pods > pods || !is_free(search, loss) || !is_new(search, from, at))
			continue;
		choose(search, loss);
		if (!is_too_much(search, loss) && could_do(search, pods - loss->pods) &&
		    complete(search, at + 1, pods - loss->pods))
			return true;
		give_back(search);
	}
	return false;
}

/* ---- all sets ---- */

static void order_tier(struct exchange *search, int tier)
{
	const struct losses *losses = search->losses;
	search->count = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < losses->count; i++)
			if (losses->items[i].pods &&
			    (pass ? losses->items[i].tier < tier : losses->items[i].tier == tier))
				search->order[search->count++] = &losses->items[i];
		search->of_tier = pass ? search->of_tier : search->count;
	}
	for (size_t i = 0; i < search->move_count; i++)
		search->order[search->count++] = &search->moves[i];
	search->of_tier = tier == LOSS_NONE ? search->count : search->of_tier;
	exchange_bound_begin(&search->bound, search->order, search->count);
}

/* Whether all losses of the tier together, with everybody else moved who may, could make room. */
static bool has_hope(struct exchange *search)
{
	struct joint joint;
	struct placement placement = {.outcome = PLACE_IMPOSSIBLE};
	bool before = search->undecided;
	for (size_t i = 0; i < search->count; i++) {
		const struct loss *loss = search->order[i];
		for (int k = 0; k < loss->single_count; k++) {
			if (search->off[loss->singles[k]])
				continue;
			search->off[loss->singles[k]] = true;
			push_unit(search, single_of(search, loss, k), is_move(loss));
		}
	}
	search->undecided = false;
	if (fits_alone(search))
		fit_together(search, false, &joint, &placement);
	bool hopeful = placement.outcome == PLACE_PLACED || search->undecided;
	search->undecided = before;
	pop_units(search);
	for (size_t i = 0; i < search->count; i++)
		for (int k = 0; k < search->order[i]->single_count; k++)
			search->off[search->order[i]->singles[k]] = false;
	return hopeful;
}

/* Sizes up to `most` pods, half of the steps that are left for each, so that a larger one is tried though a smaller takes long. */
static bool try_sizes(struct exchange *search, int most)
{
	for (int pods = 1; pods <= most && search->left; pods++) {
		uint64_t rest = search->left / 2;
		search->left -= rest;
		if (could_do(search, pods) && complete(search, 0, pods))
			return true;
		search->undecided |= !search->left;
		search->left += rest;
	}
	return false;
}

/* With so many violations, and losses of the tier as the worst. */
static bool try_tier(struct exchange *search, int tier, const struct exchange_limit *limit)
{
	bool same = limit->exists && search->violations == limit->violations && tier == limit->tier;
	bool minds = search->attempt->method->undercuts != NULL;
	order_tier(search, tier);
	if (!search->of_tier || (same && !minds && limit->pods <= 2) || !has_hope(search))
		return false;
	for (int pass = minds ? 0 : 1; pass < 2; pass++) {
		search->undercuts = pass == 1;
		int most = !same                                             ? (int)search->pod_count
		           : minds && limit->undercuts && !search->undercuts ? (int)search->pod_count
		           : minds && !limit->undercuts && search->undercuts ? 0
		                                                             : limit->pods - 1;
		if (try_sizes(search, most))
			return true;
	}
	return false;
}

/* Moves alone are consolidation's matter, save where they violate budgets, or where it does not serve the group. */
static bool try_all(struct exchange *search, const struct exchange_limit *limit)
{
	const struct losses *losses = search->losses;
	bool consolidates_not = evict_beneficiary(search->attempt)->preempt != CYCLE_PREEMPTIBLE;
	int tiers = losses->count ? losses->items[losses->count - 1].tier + 1 : 0;
	for (search->violations = 0; search->violations <= limit->violations && search->left; search->violations++) {
		bool last = limit->exists && search->violations == limit->violations;
		bool alone = search->violations > 0 || consolidates_not;
		for (int tier = alone ? LOSS_NONE : 0; tier <= (last ? limit->tier : tiers - 1) && search->left; tier++)
			if (try_tier(search, tier, limit))
				return true;
	}
	return false;
}

/* ---- the beginning ---- */

/* By group, NULL for none, and pod: those that the method may disturb and who have run long enough. */
static bool **mark_movable(struct evict_attempt *attempt)
{
	struct cycle *cycle = attempt->cycle;
	bool **movable = arena_array(attempt->scratch, bool *, cycle->group_count);
	for (int q = 0; q < (int)cycle->queue_count; q++) {
		const struct victim_unit *unit;
		for (size_t at = 0;
		     attempt->method->disturbs(attempt, q) && (unit = evict_next_unit(attempt, q, &at));) {
			if (attempt->method->by_priority && unit->priority >= evict_beneficiary(attempt)->priority)
				continue;
			if (!movable[unit->group])
				movable[unit->group] = arena_array(attempt->scratch, bool, unit->of->gang.pod_count);
			for (int i = 0; i < unit->pod_count; i++)
				movable[unit->group][unit->pods[i]] = true;
		}
	}
	return movable;
}

/* False when there are too many. */
static bool list_moves(struct exchange *search)
{
	struct evict_attempt *attempt = search->attempt;
	bool **movable = mark_movable(attempt);
	const struct victim_list *list = victim_index_list_pods(attempt->run->victim_index);
	size_t singles = search->losses->single_count;
	search->moves = arena_array(attempt->scratch, struct loss, MOST_MOVABLE);
	cycle_clear_mark(attempt->run, MARK_ASKED);
	cycle_clear_mark(attempt->run, MARK_GROWING);
	for (size_t i = 0; i < list->count; i++) {
		const struct victim_unit *unit = &list->items[i];
		int among, *single = arena_array(attempt->scratch, int, 1);
		*single = losses_find_single(search->losses, unit->group, unit->pods[0], &among);
		if (!movable[unit->group] || !movable[unit->group][unit->pods[0]] ||
		    !unit->of->was_running[unit->pods[0]] || !evict_may_move(attempt, unit) ||
		    evict_is_wanted_near(attempt, unit))
			continue;
		if (search->move_count == MOST_MOVABLE)
			return false;
		*single = *single >= 0 ? *single : (int)(singles + search->move_count);
		search->moves[search->move_count++] = (struct loss){.unit = *unit,
		                                                    .pods = 1,
		                                                    .tier = LOSS_NONE,
		                                                    .group = among,
		                                                    .singles = single,
		                                                    .single_count = 1};
	}
	return search->move_count > 0;
}

static void open_search(struct exchange *search)
{
	struct evict_attempt *attempt = search->attempt;
	struct losses *losses = search->losses;
	struct arena *arena = attempt->scratch;
	size_t all = losses->single_count + search->move_count, choices = losses->count + search->move_count;
	const struct victim_unit **pods = arena_array(arena, const struct victim_unit *, all);
	size_t count = losses->single_count;
	search->order = arena_array(arena, const struct loss *, choices);
	search->chosen = arena_array(arena, const struct loss *, choices);
	search->tried = arena_array(arena, uint64_t *, choices + 1);
	search->off = arena_array(arena, bool, all);
	search->moving = arena_array(arena, bool, all + choices + search->listed_count);
	attempt->units = arena_array(arena, const struct victim_unit *, all + choices + search->listed_count);
	for (size_t i = 0; i < losses->single_count; i++)
		pods[i] = &losses->singles[i];
	for (size_t i = 0; i < search->move_count; i++)
		if (*search->moves[i].singles >= (int)losses->single_count)
			pods[count++] = &search->moves[i].unit;
	search->pod_count = count;
	memcpy(attempt->units, pods, count * sizeof(*pods));
	attempt->unit_count = count;
	evict_lift_prefix(attempt, count);
	search->alike = alike_create(attempt, pods, count, true);
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = 0;
	exchange_bound_open(&search->bound, attempt);
}

enum fewest_outcome exchange_try(struct evict_attempt *attempt, struct losses *losses,
                                 const struct victim_unit *const *listed, size_t listed_count,
                                 const struct exchange_limit *limit)
{
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	uint64_t spent = attempt->run->exchange_steps, most = spent < ALL_STEPS ? ALL_STEPS - spent : 0;
	struct exchange search = {.attempt = attempt,
	                          .losses = losses,
	                          .listed = listed,
	                          .listed_count = listed_count,
	                          .needs_move = limit->exists,
	                          .left = most < MOST_STEPS ? most : MOST_STEPS};
	most = search.left;
	if (gang->starts_whole || (attempt->grow && gang->tree_count > 1)) /* see fewest_moves.c */
		return FEWEST_NONE;
	if (!most || !list_moves(&search))
		return !most || search.move_count ? FEWEST_GAVE_UP : FEWEST_NONE;
	open_search(&search);
	/* Those that never ran stay where they are: what could be done in their places is not asked. */
	search.undecided = limit->doubtful || (losses->count && !losses->items[0].pods);
	bool made = try_all(&search, limit);
	attempt->run->exchange_steps += most - search.left;
	if (made)
		return FEWEST_MADE;
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = 0;
	return search.undecided || !search.left ? FEWEST_GAVE_UP : FEWEST_NONE;
}
