/* Owns the exact choice among few units: every set of them is a candidate, the cheapest first, until one makes room. So the
 * first that does is proved to be the best; see docs/objective.md for what comes before what. */
#include "engine/evict/fewest.h"

#include "base/grow.h"
#include "engine/evict/budgets.h"

#include <stdlib.h>
#include <string.h>

#define MOST_UNITS 16    /* 65536 sets at most, of which few are left as a rule */
#define MOST_TRIALS 1024 /* searches for a place; then the usual way has to do */

struct candidate_set {
	uint32_t units; /* a bit each */
	int64_t violations;
	int tier; /* of the worst unit */
	int pods; /* that run and leave */
};

struct choice {
	struct evict_attempt *attempt;
	const struct victim_unit **units; /* cheapest first */
	int count;
	int tier[MOST_UNITS];
	uint32_t needs[MOST_UNITS]; /* units of the same group that go before it */
	struct candidate_set *sets;
	size_t set_count;
	uint32_t *in_vain; /* sets that leave no place, one for each trial at most */
	size_t vain_count, trials;
};

static bool same_tier(const struct victim_unit *a, const struct victim_unit *b)
{
	return a->fresh == b->fresh && a->extent == b->extent && a->priority == b->priority;
}

static void describe_units(struct choice *choice)
{
	for (int i = 0; i < choice->count; i++) {
		const struct victim_unit *unit = choice->units[i];
		choice->tier[i] = i == 0 ? 0 : choice->tier[i - 1] + !same_tier(unit, choice->units[i - 1]);
		for (int k = 0; k < choice->count; k++)
			if (choice->units[k]->group == unit->group && choice->units[k]->sequence < unit->sequence)
				choice->needs[i] |= UINT32_C(1) << k;
	}
}

static int count_running(const struct victim_unit *unit)
{
	int running = 0;
	for (int i = 0; i < unit->pod_count && !unit->reserved; i++)
		running += unit->of->was_running[unit->pods[i]];
	return running;
}

/* False when a unit is in it without those that go before it. */
static bool describe_set(struct choice *choice, uint32_t units, struct candidate_set *set)
{
	struct evict_budgets *budgets = choice->attempt->run->budgets;
	*set = (struct candidate_set){.units = units};
	for (int i = 0; i < choice->count; i++)
		if (units >> i & 1 && (choice->needs[i] & units) != choice->needs[i])
			return false;
	for (int i = 0; i < choice->count; i++) {
		if (!(units >> i & 1))
			continue;
		set->tier = choice->tier[i];
		set->pods += count_running(choice->units[i]);
		budgets_charge_unit(budgets, choice->units[i], 1);
	}
	set->violations = budgets_count_violations(budgets);
	for (int i = 0; i < choice->count; i++)
		if (units >> i & 1)
			budgets_charge_unit(budgets, choice->units[i], -1);
	return true;
}

static int compare_sets(const void *left, const void *right)
{
	const struct candidate_set *a = left, *b = right;
	if (a->violations != b->violations)
		return a->violations < b->violations ? -1 : 1;
	if (a->tier != b->tier)
		return a->tier < b->tier ? -1 : 1;
	if (a->pods != b->pods)
		return a->pods < b->pods ? -1 : 1;
	return a->units < b->units ? -1 : a->units > b->units;
}

/* More units never make less room: what found no place rules out every part of it. */
static bool is_ruled_out(const struct choice *choice, uint32_t units)
{
	for (size_t i = 0; i < choice->vain_count; i++)
		if ((units & choice->in_vain[i]) == units)
			return true;
	return false;
}

static void list_sets(struct choice *choice)
{
	struct evict_attempt *attempt = choice->attempt;
	bool may_violate = attempt->method->violates_budgets && !attempt->cycle->never_violate_budgets;
	uint32_t end = UINT32_C(1) << choice->count;
	struct candidate_set set;
	size_t capacity = 0;
	for (uint32_t units = 1; units < end; units++) {
		if (is_ruled_out(choice, units) || !describe_set(choice, units, &set) ||
		    (!may_violate && set.violations))
			continue;
		if (choice->set_count == capacity)
			choice->sets = grow_array(attempt->scratch, choice->sets, choice->set_count, &capacity,
			                          sizeof(*choice->sets));
		choice->sets[choice->set_count++] = set;
	}
	if (choice->set_count)
		qsort(choice->sets, choice->set_count, sizeof(*choice->sets), compare_sets);
}

static void use_set(const struct choice *choice, uint32_t units)
{
	struct evict_attempt *attempt = choice->attempt;
	evict_lift_prefix(attempt, 0);
	attempt->unit_count = 0;
	for (int i = 0; i < choice->count; i++)
		if (units >> i & 1)
			attempt->units[attempt->unit_count++] = choice->units[i];
}

/* Whether the group has a place with the set gone; whatever else is to be asked. */
static bool leaves_place(struct choice *choice, uint32_t units)
{
	use_set(choice, units);
	choice->trials++;
	if (evict_find_place(choice->attempt))
		return true;
	choice->in_vain[choice->vain_count++] = units;
	return false;
}

/* Large sets that leave no place rule out most of the small ones: beginnings of the list, which are those that need nothing
 * worse, and all but one unit, which must go then. False when not even all of them leave a place. */
static bool rule_out(struct choice *choice)
{
	uint32_t all = (UINT32_C(1) << choice->count) - 1;
	int low = 0, high = choice->count;
	if (!leaves_place(choice, all))
		return false;
	while (high - low > 1) {
		int middle = low + (high - low) / 2;
		if (leaves_place(choice, (UINT32_C(1) << middle) - 1))
			high = middle;
		else
			low = middle;
	}
	for (int i = 0; i < choice->count; i++)
		if (all & ~(UINT32_C(1) << i))
			leaves_place(choice, all & ~(UINT32_C(1) << i));
	return true;
}

static enum fewest_outcome try_sets(struct choice *choice)
{
	struct evict_attempt *attempt = choice->attempt;
	for (size_t i = 0; i < choice->set_count; i++) {
		bool placed;
		if (is_ruled_out(choice, choice->sets[i].units))
			continue;
		if (choice->trials++ >= MOST_TRIALS)
			return FEWEST_GAVE_UP;
		use_set(choice, choice->sets[i].units);
		attempt->proved_fewest = true;
		if (evict_decide_units(attempt, &placed))
			return FEWEST_MADE;
		attempt->proved_fewest = false;
		if (!placed)
			choice->in_vain[choice->vain_count++] = choice->sets[i].units;
	}
	return FEWEST_NONE;
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

enum fewest_outcome fewest_try(struct evict_attempt *attempt)
{
	size_t listed = attempt->unit_count, count = listed + attempt->deferred_count;
	struct choice choice = {.attempt = attempt, .count = (int)count};
	if (!attempt->method->chooses_fewest || attempt->trial || count > MOST_UNITS || count == 0)
		return FEWEST_GAVE_UP;
	choice.units = arena_array(attempt->scratch, const struct victim_unit *, count);
	const struct victim_unit **before = attempt->units;
	if (listed)
		memcpy(choice.units, before, listed * sizeof(*before));
	for (size_t i = 0; i < attempt->deferred_count; i++)
		choice.units[listed + i] = attempt->deferred[i];
	qsort(choice.units, count, sizeof(*choice.units), compare_units);
	choice.in_vain = arena_array(attempt->scratch, uint32_t, MOST_TRIALS + 1);
	attempt->units = arena_array(attempt->scratch, const struct victim_unit *, count);
	describe_units(&choice);
	enum fewest_outcome outcome = FEWEST_NONE;
	if (rule_out(&choice)) {
		evict_lift_prefix(attempt, 0);
		list_sets(&choice);
		outcome = try_sets(&choice);
	}
	if (outcome == FEWEST_MADE)
		return outcome;
	evict_lift_prefix(attempt, 0);
	attempt->units = before;
	attempt->unit_count = listed;
	return outcome;
}
