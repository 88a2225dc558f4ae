/* Owns the action that lets higher priority pass within a queue, and the rule that this is a swap: what the queue may give
 * up for a group of its own. */
#include "engine/cycle/actions.h"
#include "engine/evict/internal.h"

static bool has_candidates(const struct evict_attempt *attempt)
{
	const struct cycle_group *own = evict_beneficiary(attempt);
	return victim_index_take_census(attempt->run)[own->queue + 1].lowest < own->priority;
}

static void list_lower(struct evict_attempt *attempt)
{
	const struct cycle_group *own = evict_beneficiary(attempt);
	const struct victim_unit *unit;
	for (size_t at = 0; (unit = evict_next_unit(attempt, own->queue, &at));)
		if (unit->priority < own->priority && !evict_defer_guarded(attempt, unit))
			evict_append_unit(attempt, unit);
}

static void list_all_lower(struct evict_attempt *attempt)
{
	for (size_t i = 0; i < attempt->deferred_count; i++)
		evict_append_unit(attempt, attempt->deferred[i]);
}

static bool disturbs(const struct evict_attempt *attempt, int queue)
{
	return queue == evict_beneficiary(attempt)->queue;
}

/* Preemption swaps. Within what a queue is entitled to it may swap as it likes. Beyond that it does not lift the queue
 * above what it held before, because idle resources are for allocation; and it takes only what other queues could take,
 * too: units that go while the queue is above its entitlement. Otherwise a queue would give up what is safe for something
 * that others take back as a whole, come back to its entitlement, and begin again (docs/decisions/0005). */

/* The last unit that is lost and uses the resource: the one for which the queue holds least. 0 when there is none. */
static int64_t last_lost(const struct evict_attempt *attempt, int resource)
{
	for (size_t i = attempt->applied; i-- > 0;) {
		const struct victim_unit *unit = attempt->units[i];
		if ((attempt->kept && attempt->kept[i]) || evict_has_moved(attempt, i))
			continue;
		if (unit->amounts[resource] > 0)
			return unit->amounts[resource];
	}
	return 0;
}

static bool is_swap(const struct evict_attempt *attempt)
{
	const struct cycle_run *run = attempt->run;
	for (int q = evict_beneficiary(attempt)->queue, depth = 0; q >= 0; q = run->shares[q].parent, depth++)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			int64_t entitled = share_entitlement(&run->shares[q], r), left = run->shares[q].allocated[r];
			if (attempt->cost.amounts[r] <= 0 || entitled < 0 ||
			    left + attempt->cost.amounts[r] <= entitled)
				continue;
			if (left + attempt->cost.amounts[r] > attempt->held_before[depth][r])
				return false;
			int64_t last = last_lost(attempt, r);
			if (last > 0 && left + last <= entitled)
				return false;
		}
	return true;
}

static void narrow(const struct evict_attempt *attempt, int resource, int64_t *left)
{
	const struct share_queue *shares = attempt->run->shares;
	for (int q = evict_beneficiary(attempt)->queue, depth = 0; q >= 0; q = shares[q].parent, depth++) {
		int64_t most = share_entitlement(&shares[q], resource), held = attempt->held_before[depth][resource];
		most = most >= 0 && held > most ? held : most;
		if (most >= 0 && most - shares[q].allocated[resource] < *left)
			*left = most - shares[q].allocated[resource];
	}
}

/* The numbers of units from the front where a queue comes down to its entitlement, ascending, and last of all how many
 * there are. Between two of them more units never make the rights worse. At most MOST_CUTS(depth). */
#define MOST_CUTS(depth) ((depth)*CYCLE_RESOURCES + 1)
static size_t list_cuts(const struct evict_attempt *attempt, size_t *cuts)
{
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	int64_t wanted[CYCLE_RESOURCES] = {0}, freed[CYCLE_RESOURCES] = {0};
	size_t count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING)
			cycle_add_pod(attempt->run, gang->pods[p].pod_class, wanted);
	bool *crossed = arena_array(attempt->scratch, bool, attempt->depth *CYCLE_RESOURCES);
	for (size_t i = 0; i < attempt->unit_count; i++) {
		const int64_t *amounts = attempt->units[i]->amounts;
		bool cut = false;
		int queue = evict_beneficiary(attempt)->queue;
		for (size_t k = 0; k < attempt->depth * CYCLE_RESOURCES; k++) {
			size_t depth = k / CYCLE_RESOURCES, r = k % CYCLE_RESOURCES;
			int64_t entitled = share_entitlement(&attempt->run->shares[queue], (int)r);
			int64_t held = attempt->held_before[depth][r];
			/* the group may lift the queue above its entitlement, and this unit reaches below it */
			bool crosses = entitled >= 0 && amounts[r] > 0 && wanted[r] > 0 &&
			               held + wanted[r] > entitled && held - freed[r] <= entitled;
			cut |= crosses && !crossed[k];
			crossed[k] |= crosses;
			if (r + 1 == CYCLE_RESOURCES)
				queue = attempt->run->shares[queue].parent;
		}
		if (cut && i > 0)
			cuts[count++] = i;
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			freed[r] += amounts[r];
	}
	cuts[count++] = attempt->unit_count;
	return count;
}

static bool try_swaps(struct evict_attempt *attempt)
{
	size_t *cuts = arena_array(attempt->scratch, size_t, MOST_CUTS(attempt->depth));
	size_t count = list_cuts(attempt, cuts), low = 0;
	bool made = false;
	for (size_t i = 0; i < count && !made; low = cuts[i++])
		made = cuts[i] > low && evict_try_prefixes(attempt, low, cuts[i]);
	return made;
}

static const struct evict_method preemption = {
	.by_priority = true,
	.returns_moved = true, /* with more held, more may be beyond the entitlement: see is_swap */
	.violates_budgets = true,
	.runtime = EVICT_RUNTIME_PREEMPT,
	.has_candidates = has_candidates,
	.list = list_lower,
	.list_all = list_all_lower,
	.disturbs = disturbs,
	.try_units = try_swaps,
	.allows = is_swap,
	.narrow = narrow,
};

const struct action_row action_preempt = {
	.run = cycle_make_room,
	.method = &preemption,
	.serves_waiting = true,
	.evicts = true,
	.why = "it has a higher priority in the same queue",
};
