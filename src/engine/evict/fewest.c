/* Owns the exact choice among few units: every set of them is a candidate, the cheapest first, until one makes room. So the
 * first that does is proved to be the best; see docs/objective.md for what comes before what. */
#include "engine/evict/fewest.h"

#include "engine/evict/budgets.h"

#include <stdlib.h>
#include <string.h>

#define MOST_UNITS 12   /* 4096 sets at most */
#define MOST_TRIALS 256 /* searches for a place; then the usual way has to do */

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

static void list_sets(struct choice *choice)
{
	struct evict_attempt *attempt = choice->attempt;
	bool may_violate = attempt->method->violates_budgets && !attempt->cycle->never_violate_budgets;
	uint32_t end = UINT32_C(1) << choice->count;
	choice->sets = arena_alloc_raw(attempt->scratch, end * sizeof(*choice->sets));
	for (uint32_t units = 1; units < end; units++) {
		struct candidate_set *set = &choice->sets[choice->set_count];
		if (describe_set(choice, units, set) && (may_violate || !set->violations))
			choice->set_count++;
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

/* More units never make less room: what found no place rules out every part of it. */
static bool is_ruled_out(const uint32_t *in_vain, size_t count, uint32_t units)
{
	for (size_t i = 0; i < count; i++)
		if ((units & in_vain[i]) == units)
			return true;
	return false;
}

static enum fewest_outcome try_sets(struct choice *choice)
{
	struct evict_attempt *attempt = choice->attempt;
	uint32_t *in_vain = arena_array(attempt->scratch, uint32_t, MOST_TRIALS);
	size_t vain_count = 0;
	for (size_t i = 0, trials = 0; i < choice->set_count; i++) {
		bool placed;
		if (is_ruled_out(in_vain, vain_count, choice->sets[i].units))
			continue;
		if (trials++ == MOST_TRIALS)
			return FEWEST_GAVE_UP;
		use_set(choice, choice->sets[i].units);
		attempt->proved_fewest = true;
		if (evict_decide_units(attempt, &placed))
			return FEWEST_MADE;
		attempt->proved_fewest = false;
		if (!placed)
			in_vain[vain_count++] = choice->sets[i].units;
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
	describe_units(&choice);
	list_sets(&choice);
	attempt->units = arena_array(attempt->scratch, const struct victim_unit *, count);
	enum fewest_outcome outcome = try_sets(&choice);
	if (outcome == FEWEST_MADE)
		return outcome;
	evict_lift_prefix(attempt, 0);
	attempt->units = before;
	attempt->unit_count = listed;
	return outcome;
}
