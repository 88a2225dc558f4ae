/* What the queues say to making room: limits and quotas, the right to reclaim, and what a preemption may swap. */
#include "engine/evict/internal.h"

#include <string.h>

bool evict_gain_is_protected(const struct evict_attempt *attempt)
{
	enum cycle_preempt preempt = evict_beneficiary(attempt)->preempt;
	return preempt == CYCLE_NON_PREEMPTIBLE || (preempt == CYCLE_SEMI_PREEMPTIBLE && !attempt->grow);
}

void evict_charge_unit(struct evict_attempt *attempt, const struct victim_unit *unit, int sign)
{
	struct cycle_cost cost;
	memcpy(cost.amounts, unit->amounts, sizeof(cost.amounts));
	memcpy(cost.core, unit->core, sizeof(cost.core));
	cycle_charge(attempt->run, attempt->cycle->groups[unit->group].queue, &cost, sign);
}

void evict_remember_held(struct evict_attempt *attempt)
{
	int depth = 0, queue = evict_beneficiary(attempt)->queue;
	for (int q = queue; q >= 0; q = attempt->run->shares[q].parent)
		depth++;
	attempt->depth = (size_t)depth;
	attempt->held_before = arena_array_bytes(attempt->scratch, attempt->depth, sizeof(*attempt->held_before));
	depth = 0;
	for (int q = queue; q >= 0; q = attempt->run->shares[q].parent)
		memcpy(attempt->held_before[depth++], attempt->run->shares[q].allocated, sizeof(*attempt->held_before));
}

/* ---- preempt ---- */

/* Preemption swaps. Within what a queue is entitled to it may swap as it likes. Beyond that it does not lift the queue
 * above what it held before, because idle resources are for allocation; and it takes only what other queues could take,
 * too: units that go while the queue is above its entitlement. Otherwise a queue would give up what is safe for something
 * that others take back as a whole, come back to its entitlement, and begin again (docs/decisions/0005). */

/* The last unit that is lost and uses the resource: the one for which the queue holds least. 0 when there is none. */
static int64_t last_lost(const struct evict_attempt *attempt, int resource)
{
	for (size_t i = attempt->applied; i-- > 0;) {
		const struct victim_unit *unit = attempt->units[i];
		if ((attempt->kept && attempt->kept[i]) || cycle_marked(attempt->run, MARK_MOVED, unit->group))
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

size_t evict_list_cuts(const struct evict_attempt *attempt, size_t *cuts)
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

/* A claim must stay within the fair share of its own queue: see share_claim_begin. */
static bool is_within_share(const struct evict_attempt *attempt)
{
	const struct share_queue *own = &attempt->run->shares[evict_beneficiary(attempt)->queue];
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (attempt->cost.amounts[r] > own->fair[r] - own->allocated[r])
			return false;
	return true;
}

bool evict_queue_allows(const struct evict_attempt *attempt)
{
	return cycle_queue_has_room(attempt->run, evict_beneficiary(attempt)->queue, &attempt->cost) &&
	       (attempt->action != ACTION_PREEMPT || is_swap(attempt)) &&
	       (attempt->action != ACTION_RECLAIM || is_within_share(attempt));
}

bool evict_find_allowance(const struct evict_attempt *attempt, struct place_allowance *allowance)
{
	const struct cycle_run *run = attempt->run;
	int queue = evict_beneficiary(attempt)->queue;
	if (!cycle_find_allowance(run, evict_beneficiary(attempt), evict_gain_is_protected(attempt), allowance))
		return false;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t *left = &allowance->left[r];
		for (int q = queue, depth = 0; attempt->action == ACTION_PREEMPT && q >= 0;
		     q = run->shares[q].parent, depth++) {
			int64_t most = share_entitlement(&run->shares[q], r), held = attempt->held_before[depth][r];
			most = most >= 0 && held > most ? held : most;
			if (most >= 0 && most - run->shares[q].allocated[r] < *left)
				*left = most - run->shares[q].allocated[r];
		}
		if (attempt->action == ACTION_RECLAIM &&
		    run->shares[queue].fair[r] - run->shares[queue].allocated[r] < *left)
			*left = run->shares[queue].fair[r] - run->shares[queue].allocated[r];
		*left = *left < 0 ? 0 : *left;
	}
	return true;
}

/* ---- reclaim ---- */

void evict_charge_left(struct evict_attempt *attempt, bool moved, int sign)
{
	for (size_t i = 0; i < attempt->applied; i++)
		if (!attempt->kept[i] && cycle_marked(attempt->run, MARK_MOVED, attempt->units[i]->group) == moved)
			evict_charge_unit(attempt, attempt->units[i], sign);
}

/* The shares must still justify the victims that are left. */
static bool shares_justify(struct evict_attempt *attempt)
{
	struct share_claim *claim = &attempt->run->claim;
	if (share_claim_begin(claim, evict_beneficiary(attempt)->queue, attempt->cost.amounts,
	                      evict_gain_is_protected(attempt)) != SHARE_ALLOWED)
		return false;
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		if (attempt->kept[i] || cycle_marked(attempt->run, MARK_MOVED, unit->group))
			continue;
		if (share_claim_take(claim, attempt->cycle->groups[unit->group].queue, unit->amounts) != SHARE_ALLOWED)
			return false;
	}
	if (share_claim_settle(claim) != SHARE_ALLOWED)
		return false;
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		if (!attempt->kept[i] && !cycle_marked(attempt->run, MARK_MOVED, unit->group) &&
		    share_claim_bounces(claim, attempt->cycle->groups[unit->group].queue, unit->amounts))
			return false;
	}
	return true;
}

bool evict_shares_agree(struct evict_attempt *attempt)
{
	if (attempt->action != ACTION_RECLAIM)
		return true;
	/* A claim counts its victims itself. */
	evict_charge_left(attempt, false, 1);
	bool fine = shares_justify(attempt);
	evict_charge_left(attempt, false, -1);
	return fine;
}

bool evict_claim_allows(struct evict_attempt *attempt)
{
	struct cycle_group *own = evict_beneficiary(attempt);
	if (attempt->action != ACTION_RECLAIM)
		return true;
	/* The cheapest thing the group could ask for: its minimum, counted in waiting pods from the front. */
	int64_t *request = attempt->claimed;
	int64_t pods = attempt->grow ? 1 : gang_minimum_pods(&own->gang, 0);
	for (size_t p = 0; !attempt->grow && p < own->gang.pod_count; p++)
		pods -= cycle_is_member(&own->gang.pods[p]);
	for (size_t p = 0; p < own->gang.pod_count && pods > 0; p++)
		if (own->gang.pods[p].state == MEMBER_WAITING) {
			cycle_add_pod(attempt->run, own->gang.pods[p].pod_class, request);
			pods--;
		}
	return share_claim_begin(&attempt->run->claim, own->queue, request, evict_gain_is_protected(attempt)) ==
	       SHARE_ALLOWED;
}
