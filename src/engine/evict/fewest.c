/* Owns the exact choice of victims: sets of losses in the order of docs/objective.md, until one makes room. What all that is
 * still to choose from would not make room for is not looked at, nor what is like something that was tried. */
#include "engine/evict/fewest.h"

#include "engine/cluster/internal.h"
#include "engine/evict/alike.h"
#include "engine/evict/budgets.h"
#include "engine/evict/exchange.h"
#include "engine/evict/losses.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_STEPS = 1 << 19, /* for one group */
	ALL_STEPS = 1 << 21,  /* in one action */
	MOST_REFUSED = 256,   /* sets that make room, but which somebody is against */
	LOOKS_A_STEP = 16,
	TRIAL_STEPS = 16,  /* what asking costs besides the search */
	NODES_A_STEP = 16, /* of the cluster, in each of them */
	MOST_PODS = 192,   /* that could leave; with more the usual way has to do */
	FEW_LEFT = 6       /* to choose from: then it is not asked whether there is hope */
};

struct victim_search {
	struct evict_attempt *attempt;
	const struct victim_unit **listed; /* all that may go */
	size_t listed_count;
	struct losses losses;
	const struct loss **order; /* the tier in question, then all below it; cheapest first in both */
	size_t count, of_tier;
	const struct loss **chosen;
	size_t chosen_count;
	struct alike *alike;
	uint64_t **tried; /* by depth and position: keys */
	bool *off;        /* by single pod */
	int64_t violations;
	bool undercuts; /* what is chosen may take a queue below what it is entitled to */
	bool asking;    /* only whether there is a set */
	bool found;
	bool planning; /* what would be decided is only remembered */
	struct {
		struct exchange_limit worth;
		const struct loss **chosen; /* NULL: nothing is remembered */
		size_t count;
		bool all_go;
	} plan;
	uint64_t left; /* steps */
	int refused;
	bool undecided;
};

static void spend(struct victim_search *search, uint64_t steps)
{
	search->left -= steps < search->left ? steps : search->left;
}

static void spend_trial(struct victim_search *search, uint64_t steps)
{
	spend(search, steps + TRIAL_STEPS + (uint64_t)search->attempt->cycle->cluster->node_count / NODES_A_STEP);
}

/* ---- one question ---- */

static void set_off(struct victim_search *search, const struct loss *loss)
{
	for (int i = 0; i < loss->single_count; i++)
		search->off[loss->singles[i]] = true;
}

/* Whether there is a place with all pods that are marked off gone. */
static bool leaves_place(struct victim_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	struct placement placement;
	size_t before = attempt->unit_count;
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = 0;
	for (size_t i = 0; i < search->losses.single_count; i++)
		if (search->off[i])
			attempt->units[attempt->unit_count++] = &search->losses.singles[i];
	evict_lift_prefix(attempt, attempt->unit_count);
	enum place_outcome outcome = evict_ask_place(attempt, search->left + 1, NULL, &placement);
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = before;
	spend_trial(search, placement.steps);
	search->undecided |= outcome == PLACE_EXHAUSTED;
	return outcome == PLACE_PLACED;
}

/* The losses that cost nothing, those that are chosen, and what is left to choose from. */
static bool has_hope(struct victim_search *search, size_t from)
{
	memset(search->off, 0, search->losses.single_count * sizeof(*search->off));
	for (size_t i = 0; i < search->losses.count; i++)
		if (!search->losses.items[i].pods)
			set_off(search, &search->losses.items[i]);
	for (size_t i = 0; i < search->chosen_count; i++)
		set_off(search, search->chosen[i]);
	for (size_t i = from; i < search->count; i++)
		set_off(search, search->order[i]);
	return leaves_place(search);
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

/* Puts what is chosen off the accounts of budgets and queues (sign 1), or back on them (-1). */
static void charge_loss(struct victim_search *search, const struct loss *loss, int sign)
{
	budgets_charge_unit(search->attempt->run->budgets, &loss->unit, sign);
	evict_charge_unit(search->attempt, &loss->unit, -sign);
}

static void charge_chosen(struct victim_search *search, int sign)
{
	for (size_t i = 0; i < search->chosen_count; i++)
		charge_loss(search, search->chosen[i], sign);
}

static void remember(struct victim_search *search)
{
	search->plan.worth = (struct exchange_limit){.exists = true,
	                                             .violations = search->violations,
	                                             .tier = LOSS_NONE,
	                                             .undercuts = search->undercuts && !search->attempt->all_go};
	search->plan.chosen = arena_array(search->attempt->scratch, const struct loss *, search->chosen_count + 1);
	search->plan.count = search->chosen_count;
	search->plan.all_go = search->attempt->all_go;
	for (size_t i = 0; i < search->chosen_count; i++) {
		const struct loss *loss = search->plan.chosen[i] = search->chosen[i];
		search->plan.worth.pods += loss->pods;
		search->plan.worth.tier = loss->tier > search->plan.worth.tier ? loss->tier : search->plan.worth.tier;
	}
}

static bool decide(struct victim_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	charge_chosen(search, -1);
	attempt->unit_count = 0;
	for (size_t i = 0; i < search->losses.count; i++)
		if (!search->losses.items[i].pods)
			attempt->units[attempt->unit_count++] = &search->losses.items[i].unit;
	for (size_t i = 0; i < search->chosen_count; i++)
		losses_append(attempt, search->listed, search->listed_count, search->chosen[i]);
	qsort(attempt->units, attempt->unit_count, sizeof(*attempt->units), compare_units);
	attempt->proved_fewest = !search->undecided;
	attempt->trial = search->asking || search->planning;
	bool made = evict_decide_units(attempt);
	attempt->trial = false;
	attempt->proved_fewest &= made;
	if (made && search->planning && !search->asking) {
		remember(search);
		charge_chosen(search, 1);
		return true;
	}
	if (made && !search->asking)
		return true;
	charge_chosen(search, 1);
	search->found |= made;
	if (!made && ++search->refused >= MOST_REFUSED)
		search->left = 0;
	return false;
}

/* ---- sets of one size ---- */

static void choose(struct victim_search *search, const struct loss *loss, int sign)
{
	losses_take(&search->losses, loss, sign);
	charge_loss(search, loss, sign);
	for (int i = 0; i < loss->single_count; i++)
		alike_lift(search->alike, &search->losses.singles[loss->singles[i]], sign > 0);
	if (sign > 0)
		search->chosen[search->chosen_count++] = loss;
	else
		search->chosen_count--;
}

/* Whether one like it was tried with the same before it. */
static bool is_new(struct victim_search *search, size_t from, size_t at)
{
	const struct loss *loss = search->order[at];
	uint64_t key = hash_mix((uint64_t)loss->tier, 0x6c);
	uint64_t **tried = &search->tried[search->chosen_count];
	if (!*tried)
		*tried = arena_array(search->attempt->scratch, uint64_t, search->losses.count);
	if (loss->single_count > 1)
		key = hash_mix(key, at);
	else
		key = hash_mix(key, alike_key(search->alike, &search->losses.singles[loss->singles[0]]));
	(*tried)[at] = key;
	for (size_t i = from; i < at; i++)
		if ((*tried)[i] == key)
			return false;
	return true;
}

/* The first position from which on what is left to choose from makes no room. */
static size_t find_end(struct victim_search *search, size_t from, size_t to)
{
	size_t low = from, high = to; /* there is hope at low, if anywhere; none at high */
	if (to - from <= FEW_LEFT)
		return to;
	if (!has_hope(search, from))
		return from;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (has_hope(search, middle))
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Whether what is chosen violates more budgets than it may, or takes more from the queue of the last than it may. */
static bool is_too_much(const struct victim_search *search)
{
	const struct evict_attempt *attempt = search->attempt;
	const struct loss *last = search->chosen[search->chosen_count - 1];
	return budgets_count_violations(attempt->run->budgets) > search->violations ||
	       (!search->undercuts && attempt->method->undercuts && attempt->method->undercuts(attempt, &last->unit));
}

/* Adds losses from `from` on of so many pods. True when it was decided. Not deeper than pods that could leave. */
static bool complete(struct victim_search *search, size_t from, int pods)
{
	struct evict_budgets *budgets = search->attempt->run->budgets;
	if (pods == 0)
		return budgets_count_violations(budgets) == search->violations && has_hope(search, search->count) &&
		       decide(search);
	size_t to = search->chosen_count ? search->count : search->of_tier;
	to = find_end(search, from, to);
	for (size_t at = from; at < to && search->left && !search->found; at++) {
		const struct loss *loss = search->order[at];
		spend(search, 1 + (at - from) / LOOKS_A_STEP);
		bool fits = loss->pods <= pods && losses_may_take(&search->losses, loss);
		if (!is_new(search, from, at) || !fits)
			continue;
		choose(search, loss, 1);
		if (!is_too_much(search) && complete(search, at + 1, pods - loss->pods))
			return true;
		choose(search, loss, -1);
	}
	return false;
}

/* ---- all sets ---- */

/* Those of the tier and below it. */
static void order_losses(struct victim_search *search, int tier)
{
	const struct losses *losses = &search->losses;
	search->count = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < losses->count; i++)
			if (losses->items[i].pods &&
			    (pass ? losses->items[i].tier < tier : losses->items[i].tier == tier))
				search->order[search->count++] = &losses->items[i];
		search->of_tier = pass ? search->of_tier : search->count;
	}
}

/* Whether there is a set of so many pods that leaves every queue what it is entitled to. */
static bool spares_queues(struct victim_search *search, int pods)
{
	search->asking = true;
	search->undercuts = search->found = false;
	complete(search, 0, pods);
	bool found = search->found;
	search->asking = search->found = false;
	search->undercuts = true;
	return found;
}

/* Fewer pods are not worth less than queues have a right to; among sets of that size the younger go, whosever they are. A set of
 * which somebody stays is one of fewer pods. */
static bool complete_sparing(struct victim_search *search, int pods)
{
	if (!spares_queues(search, pods))
		return false;
	search->attempt->all_go = true;
	bool made = complete(search, 0, pods);
	search->attempt->all_go = false;
	if (made)
		return true;
	search->undercuts = false;
	made = complete(search, 0, pods);
	search->undercuts = true;
	return made;
}

static bool try_tier(struct victim_search *search, int tier)
{
	int all = 0;
	order_losses(search, tier);
	if (!search->of_tier || !has_hope(search, 0))
		return false;
	for (size_t i = 0; i < search->losses.single_count; i++)
		all += search->off[i];
	bool minds = search->attempt->method->undercuts != NULL;
	for (int pods = 1; pods <= all && search->left; pods++)
		if (minds ? complete_sparing(search, pods) : complete(search, 0, pods))
			return true;
	for (int pods = 1; minds && pods <= all && search->left; pods++)
		if (complete(search, 0, pods))
			return true;
	return false;
}

static bool try_all(struct victim_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	bool may_violate = attempt->method->violates_budgets && !attempt->cycle->never_violate_budgets;
	int tiers = search->losses.count ? search->losses.items[search->losses.count - 1].tier + 1 : 0;
	int64_t most = 0;
	search->count = 0;
	if (has_hope(search, 0) && decide(search)) /* nobody who runs has to go */
		return true;
	order_losses(search, tiers - 1);
	for (size_t i = 0; i < search->losses.single_count; i++)
		budgets_charge_unit(attempt->run->budgets, &search->losses.singles[i], 1);
	most = may_violate ? budgets_count_violations(attempt->run->budgets) : 0;
	for (size_t i = 0; i < search->losses.single_count; i++)
		budgets_charge_unit(attempt->run->budgets, &search->losses.singles[i], -1);
	search->plan.worth.violations = most;
	for (search->violations = 0; search->violations <= most && search->left; search->violations++)
		for (int tier = 0; tier < tiers && search->left; tier++)
			if (try_tier(search, tier))
				return true;
	return false;
}

static void open_search(struct victim_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	const struct losses *losses = &search->losses;
	struct arena *arena = attempt->scratch;
	size_t singles = losses->single_count;
	const struct victim_unit **units = arena_array(arena, const struct victim_unit *, singles);
	search->order = arena_array(arena, const struct loss *, losses->count);
	search->chosen = arena_array(arena, const struct loss *, losses->count);
	search->tried = arena_array(arena, uint64_t *, losses->count + 1);
	search->off = arena_array(arena, bool, singles);
	attempt->units = arena_array(arena, const struct victim_unit *, singles + losses->count + search->listed_count);
	for (size_t i = 0; i < singles; i++)
		units[i] = attempt->units[i] = &losses->singles[i];
	attempt->unit_count = singles;
	evict_lift_prefix(attempt, singles);
	search->alike = alike_create(attempt, units, singles, true);
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = 0;
}

/* Whether moves could let less be lost than what is planned. */
static bool is_worth_more(const struct victim_search *search)
{
	const struct exchange_limit *worth = &search->plan.worth;
	if (worth->exists && worth->tier == LOSS_NONE)
		return false;
	return !worth->exists || worth->violations > 0 || worth->tier > 0 ||
	       evict_beneficiary(search->attempt)->preempt != CYCLE_PREEMPTIBLE || /* nobody consolidates for it */
	       (worth->tier == 0 && (worth->pods > 2 || worth->undercuts));
}

/* What was planned, unless moves let less be lost. */
static enum fewest_outcome carry_out(struct victim_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	const struct victim_unit **units = attempt->units;
	bool planned = search->plan.chosen != NULL, undecided = search->undecided;
	while (search->chosen_count)
		choose(search, search->chosen[search->chosen_count - 1], -1);
	enum fewest_outcome better = FEWEST_NONE;
	search->plan.worth.doubtful = undecided;
	if (search->left && is_worth_more(search))
		better = exchange_try(attempt, &search->losses, search->listed, search->listed_count,
		                      &search->plan.worth);
	if (better == FEWEST_MADE)
		return better;
	attempt->units = units;
	attempt->unit_count = 0;
	search->planning = false;
	if (!planned)
		return FEWEST_GAVE_UP;
	for (size_t i = 0; i < search->plan.count; i++)
		choose(search, search->plan.chosen[i], 1);
	attempt->all_go = search->plan.all_go;
	search->undecided |= better == FEWEST_GAVE_UP;
	bool made = decide(search);
	search->undecided = undecided;
	attempt->all_go = false;
	return made ? FEWEST_MADE : FEWEST_GAVE_UP;
}

enum fewest_outcome fewest_try(struct evict_attempt *attempt)
{
	const struct evict_method *method = attempt->method;
	uint64_t spent = attempt->run->victim_steps, most = spent < ALL_STEPS ? ALL_STEPS - spent : 0;
	struct victim_search search = {.attempt = attempt, .left = most < MOST_STEPS ? most : MOST_STEPS};
	size_t listed = attempt->unit_count;
	most = search.left;
	if (!method->list_all || attempt->trial || listed > MOST_PODS || !most)
		return FEWEST_GAVE_UP;
	method->list_all(attempt);
	const struct victim_unit **before = attempt->units;
	search.listed = before;
	search.listed_count = attempt->unit_count;
	bool few =
		attempt->unit_count > 0 && losses_list(attempt, before, attempt->unit_count, MOST_PODS, &search.losses);
	if (few) {
		open_search(&search);
		search.planning = true;
		try_all(&search);
		attempt->run->victim_steps += most - search.left;
		if (carry_out(&search) == FEWEST_MADE)
			return FEWEST_MADE;
		evict_lift_prefix(attempt, 0);
	}
	attempt->units = before;
	attempt->unit_count = listed;
	return !few || search.undecided || !search.left || method->may_move_others ? FEWEST_GAVE_UP : FEWEST_NONE;
}
