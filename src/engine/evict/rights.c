/* What the queues say to making room: limits and quotas, the right to reclaim, and what a preemption may swap. */
#include "engine/evict/internal.h"

#include <string.h>

bool room_protects(const struct room *room)
{
	enum cycle_preempt preempt = beneficiary(room)->preempt;
	return preempt == CYCLE_NON_PREEMPTIBLE || (preempt == CYCLE_SEMI_PREEMPTIBLE && !room->grow);
}

void room_charge_unit(struct room *room, const struct victim_unit *unit, int sign)
{
	struct cycle_cost cost;
	memcpy(cost.amounts, unit->amounts, sizeof(cost.amounts));
	memcpy(cost.core, unit->core, sizeof(cost.core));
	cycle_charge(room->run, room->cycle->groups[unit->group].queue, &cost, sign);
}

void room_remember_held(struct room *room)
{
	int depth = 0, queue = beneficiary(room)->queue;
	for (int q = queue; q >= 0; q = room->run->shares[q].parent)
		depth++;
	room->depth = (size_t)depth;
	room->held_before = arena_array_bytes(room->scratch, room->depth, sizeof(*room->held_before));
	depth = 0;
	for (int q = queue; q >= 0; q = room->run->shares[q].parent)
		memcpy(room->held_before[depth++], room->run->shares[q].allocated, sizeof(*room->held_before));
}

/* ---- preempt ---- */

/* Preemption swaps. Within what a queue is entitled to it may swap as it likes. Beyond that it does not lift the queue
 * above what it held before, because idle resources are for allocation; and it takes only what other queues could take,
 * too: units that go while the queue is above its entitlement. Otherwise a queue would give up what is safe for something
 * that others take back as a whole, come back to its entitlement, and begin again (docs/decisions/0005). */

/* The last unit that is lost and uses the resource: the one for which the queue holds least. 0 when there is none. */
static int64_t last_lost(const struct room *room, int resource)
{
	for (size_t i = room->applied; i-- > 0;) {
		const struct victim_unit *unit = room->units[i];
		if ((room->kept && room->kept[i]) || cycle_marked(room->run, MARK_MOVED, unit->group))
			continue;
		if (unit->amounts[resource] > 0)
			return unit->amounts[resource];
	}
	return 0;
}

static bool is_swap(const struct room *room)
{
	const struct cycle_run *run = room->run;
	for (int q = beneficiary(room)->queue, depth = 0; q >= 0; q = run->shares[q].parent, depth++)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			int64_t entitled = share_entitlement(&run->shares[q], r), left = run->shares[q].allocated[r];
			if (room->cost.amounts[r] <= 0 || entitled < 0 || left + room->cost.amounts[r] <= entitled)
				continue;
			if (left + room->cost.amounts[r] > room->held_before[depth][r])
				return false;
			int64_t last = last_lost(room, r);
			if (last > 0 && left + last <= entitled)
				return false;
		}
	return true;
}

size_t room_list_cuts(const struct room *room, size_t *cuts)
{
	const struct gang *gang = &beneficiary(room)->gang;
	int64_t wanted[CYCLE_RESOURCES] = {0}, freed[CYCLE_RESOURCES] = {0};
	size_t count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING)
			cycle_add_pod(room->run, gang->pods[p].kind, wanted);
	bool *crossed = arena_array(room->scratch, bool, room->depth *CYCLE_RESOURCES);
	for (size_t i = 0; i < room->unit_count; i++) {
		const int64_t *amounts = room->units[i]->amounts;
		bool cut = false;
		int queue = beneficiary(room)->queue;
		for (size_t k = 0; k < room->depth * CYCLE_RESOURCES; k++) {
			size_t depth = k / CYCLE_RESOURCES, r = k % CYCLE_RESOURCES;
			int64_t entitled = share_entitlement(&room->run->shares[queue], (int)r);
			int64_t held = room->held_before[depth][r];
			/* the group may lift the queue above its entitlement, and this unit reaches below it */
			bool crosses = entitled >= 0 && amounts[r] > 0 && wanted[r] > 0 &&
			               held + wanted[r] > entitled && held - freed[r] <= entitled;
			cut |= crosses && !crossed[k];
			crossed[k] |= crosses;
			if (r + 1 == CYCLE_RESOURCES)
				queue = room->run->shares[queue].parent;
		}
		if (cut && i > 0)
			cuts[count++] = i;
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			freed[r] += amounts[r];
	}
	cuts[count++] = room->unit_count;
	return count;
}

/* A claim must stay within the fair share of its own queue: see share_claim_begin. */
static bool is_within_share(const struct room *room)
{
	const struct share_queue *own = &room->run->shares[beneficiary(room)->queue];
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (room->cost.amounts[r] > own->fair[r] - own->allocated[r])
			return false;
	return true;
}

bool room_queue_allows(const struct room *room)
{
	return cycle_queue_has_room(room->run, beneficiary(room)->queue, &room->cost) &&
	       (room->action != ACTION_PREEMPT || is_swap(room)) &&
	       (room->action != ACTION_RECLAIM || is_within_share(room));
}

bool room_find_allowance(const struct room *room, struct place_allowance *allowance)
{
	const struct cycle_run *run = room->run;
	int queue = beneficiary(room)->queue;
	if (!cycle_find_allowance(run, beneficiary(room), room_protects(room), allowance))
		return false;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t *left = &allowance->left[r];
		for (int q = queue, depth = 0; room->action == ACTION_PREEMPT && q >= 0;
		     q = run->shares[q].parent, depth++) {
			int64_t most = share_entitlement(&run->shares[q], r), held = room->held_before[depth][r];
			most = most >= 0 && held > most ? held : most;
			if (most >= 0 && most - run->shares[q].allocated[r] < *left)
				*left = most - run->shares[q].allocated[r];
		}
		if (room->action == ACTION_RECLAIM &&
		    run->shares[queue].fair[r] - run->shares[queue].allocated[r] < *left)
			*left = run->shares[queue].fair[r] - run->shares[queue].allocated[r];
		*left = *left < 0 ? 0 : *left;
	}
	return true;
}

/* ---- reclaim ---- */

void room_charge_left(struct room *room, bool moved, int sign)
{
	for (size_t i = 0; i < room->applied; i++)
		if (!room->kept[i] && cycle_marked(room->run, MARK_MOVED, room->units[i]->group) == moved)
			room_charge_unit(room, room->units[i], sign);
}

/* The shares must still justify the victims that are left. */
static bool shares_justify(struct room *room)
{
	struct share_claim *claim = &room->run->claim;
	if (share_claim_begin(claim, beneficiary(room)->queue, room->cost.amounts, room_protects(room)) !=
	    SHARE_ALLOWED)
		return false;
	for (size_t i = 0; i < room->applied; i++) {
		const struct victim_unit *unit = room->units[i];
		if (room->kept[i] || cycle_marked(room->run, MARK_MOVED, unit->group))
			continue;
		if (share_claim_take(claim, room->cycle->groups[unit->group].queue, unit->amounts) != SHARE_ALLOWED)
			return false;
	}
	if (share_claim_settle(claim) != SHARE_ALLOWED)
		return false;
	for (size_t i = 0; i < room->applied; i++) {
		const struct victim_unit *unit = room->units[i];
		if (!room->kept[i] && !cycle_marked(room->run, MARK_MOVED, unit->group) &&
		    share_claim_bounces(claim, room->cycle->groups[unit->group].queue, unit->amounts))
			return false;
	}
	return true;
}

bool room_shares_agree(struct room *room)
{
	if (room->action != ACTION_RECLAIM)
		return true;
	/* A claim counts its victims itself. */
	room_charge_left(room, false, 1);
	bool fine = shares_justify(room);
	room_charge_left(room, false, -1);
	return fine;
}

bool room_claim_allows(struct room *room)
{
	struct cycle_group *own = beneficiary(room);
	if (room->action != ACTION_RECLAIM)
		return true;
	/* The cheapest thing the group could ask for: its minimum, counted in waiting pods from the front. */
	int64_t *request = room->claimed;
	int64_t pods = room->grow ? 1 : gang_minimum_pods(&own->gang, 0);
	for (size_t p = 0; !room->grow && p < own->gang.pod_count; p++)
		pods -= cycle_is_member(&own->gang.pods[p]);
	for (size_t p = 0; p < own->gang.pod_count && pods > 0; p++)
		if (own->gang.pods[p].state == MEMBER_WAITING) {
			cycle_add_pod(room->run, own->gang.pods[p].kind, request);
			pods--;
		}
	return share_claim_begin(&room->run->claim, own->queue, request, room_protects(room)) == SHARE_ALLOWED;
}
