/* Owns the list of units that one attempt may take, and their place on the accounts of the queues. Which they are, the
 * methods say. */
#include "engine/evict/budgets.h"
#include "engine/evict/runtime.h"
#include "engine/place/rules.h"

#include "base/grow.h"

#include <string.h>

void evict_append_unit(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	if (attempt->unit_count == attempt->unit_capacity)
		attempt->units = grow_array(attempt->scratch, attempt->units, attempt->unit_count,
		                            &attempt->unit_capacity, sizeof(*attempt->units));
	attempt->units[attempt->unit_count++] = unit;
}

bool evict_awaits_pods(const struct evict_attempt *attempt, int group)
{
	const struct cycle_group *of = &attempt->cycle->groups[group];
	for (size_t i = 0; i < of->place_count; i++)
		if (of->places[i].coming && of->places[i].state != PLACE_OVER)
			return true;
	return false;
}

static bool is_growing(struct evict_attempt *attempt, const struct gang *gang)
{
	int64_t expected = 0;
	for (size_t i = 0; i < gang->tree_count; i++)
		expected += gang->tree[i].child_count == 0 ? gang->tree[i].expected : 0;
	return expected > 0 && gang_coming(gang, arena_array(attempt->scratch, int, gang->tree_count)) > 0;
}

bool evict_may_move(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	struct cycle_run *run = attempt->run;
	if (!cycle_has_mark(run, MARK_ASKED, unit->group)) {
		cycle_mark(run, MARK_ASKED, unit->group);
		if (attempt->cycle->groups[unit->group].stays || evict_awaits_pods(attempt, unit->group) ||
		    is_growing(attempt, &attempt->cycle->groups[unit->group].gang))
			cycle_mark(run, MARK_GROWING, unit->group);
	}
	return !cycle_has_mark(run, MARK_GROWING, unit->group);
}

bool evict_is_wanted_near(const struct evict_attempt *attempt, const struct victim_unit *unit)
{
	const struct gang *gang = &attempt->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++)
		if (rules_attract_waiting(attempt->cycle->cluster, &evict_beneficiary(attempt)->gang,
		                          gang->pods[unit->pods[i]].pod_class))
			return true;
	return false;
}

bool evict_defer_guarded(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	struct cycle_run *run = attempt->run;
	if (!run->budgets)
		return false;
	/* Later units of a group assume that the earlier ones are gone, save where pods are moved one by one. */
	bool follows = !attempt->method->moves_only && cycle_has_mark(run, MARK_GUARDED, unit->group);
	if (!follows && budgets_admit_unit(run->budgets, unit))
		return false;
	cycle_mark(run, MARK_GUARDED, unit->group);
	if (attempt->deferred_count == attempt->deferred_capacity)
		attempt->deferred = grow_array(attempt->scratch, attempt->deferred, attempt->deferred_count,
		                               &attempt->deferred_capacity, sizeof(*attempt->deferred));
	attempt->deferred[attempt->deferred_count++] = unit;
	return true;
}

const struct victim_unit *evict_next_unit(struct evict_attempt *attempt, int queue, size_t *at)
{
	const struct victim_unit *unit;
	do
		unit = victim_index_next_unit(attempt->run->victim_index, queue, at);
	while (unit && runtime_protects_unit(attempt, unit));
	return unit;
}

void evict_charge_unit(struct evict_attempt *attempt, const struct victim_unit *unit, int sign)
{
	struct cycle_cost cost;
	memcpy(cost.amounts, unit->amounts, sizeof(cost.amounts));
	memcpy(cost.core, unit->core, sizeof(cost.core));
	cycle_charge(attempt->run, attempt->cycle->groups[unit->group].queue, &cost, sign);
}

void evict_charge_left(struct evict_attempt *attempt, bool moved, int sign)
{
	for (size_t i = 0; i < attempt->applied; i++)
		if (!attempt->kept[i] && evict_has_moved(attempt, i) == moved)
			evict_charge_unit(attempt, attempt->units[i], sign);
}
