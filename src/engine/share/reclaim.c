/* Owns the rules of reclaim between queues: who may take from whom, and how much. */
#include "engine/share/share.h"

#include <string.h>

/* Whether used / of is smaller for a. Use of what one has no share of is infinitely much; of two such the smaller use
 * counts, for else two queues without a share could take from each other for ever. */
static bool less_saturated(int64_t used_a, int64_t of_a, int64_t used_b, int64_t of_b)
{
	if (!of_a || !of_b)
		return of_a || (!of_b && used_a < used_b);
	return (__int128)used_a * of_b < (__int128)used_b * of_a;
}

static enum share_verdict refuse(struct share_claim *claim, enum share_verdict verdict, int queue, int resource)
{
	claim->blamed = queue;
	claim->resource = resource;
	return verdict;
}

/* What the queue holds once the victims so far are gone. */
static int64_t held(const struct share_claim *claim, int queue, int resource)
{
	return claim->queues[queue].allocated[resource] - claim->freed[queue][resource];
}

void share_claim_init(struct share_claim *claim, const struct share_queue *queues, size_t count, struct arena *arena)
{
	*claim = (struct share_claim){.queues = queues, .count = count, .queue = -1, .blamed = -1, .resource = -1};
	claim->freed = arena_array_bytes(arena, count, sizeof(*claim->freed));
	claim->is_touched = arena_array(arena, bool, count);
	claim->touched = arena_array(arena, int, count);
}

enum share_verdict share_claim_begin(struct share_claim *claim, int queue, const int64_t request[SHARE_RESOURCES],
                                     bool is_protected)
{
	for (size_t i = 0; i < claim->touched_count; i++) {
		memset(claim->freed[claim->touched[i]], 0, sizeof(claim->freed[0]));
		claim->is_touched[claim->touched[i]] = false;
	}
	claim->touched_count = 0;
	claim->queue = queue;
	claim->is_protected = is_protected;
	claim->blamed = claim->resource = -1;
	memcpy(claim->request, request, sizeof(claim->request));
	const struct share_queue *own = &claim->queues[queue];
	for (int r = 0; r < SHARE_RESOURCES; r++)
		if (request[r] > own->fair[r] - own->allocated[r])
			return refuse(claim, SHARE_OVER_FAIR_SHARE, queue, r);
	for (int q = queue; is_protected && q >= 0; q = claim->queues[q].parent)
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			const struct share_queue *up = &claim->queues[q];
			if (up->quota[r] >= 0 && request[r] > up->quota[r] - up->allocated_protected[r])
				return refuse(claim, SHARE_OVER_QUOTA, q, r);
		}
	return SHARE_ALLOWED;
}

/* The siblings where the hierarchies of claimer and victim part. False when one is the other or above it, or in another
 * pool. */
static bool part(const struct share_claim *claim, int victim, int *claimer_side, int *victim_side)
{
	const struct share_queue *queues = claim->queues;
	int depth = 0, a = claim->queue, b = victim;
	if (queues[a].pool != queues[b].pool)
		return false;
	for (int q = a; q >= 0; q = queues[q].parent)
		depth++;
	for (int q = b; q >= 0; q = queues[q].parent)
		depth--;
	for (; depth > 0; depth--)
		a = queues[a].parent;
	for (; depth < 0; depth++)
		b = queues[b].parent;
	if (a == b)
		return false;
	for (; queues[a].parent != queues[b].parent; b = queues[b].parent)
		a = queues[a].parent;
	*claimer_side = a;
	*victim_side = b;
	return true;
}

static bool keeps_fair_share(const struct share_claim *claim, int victim_side)
{
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		int64_t keep = share_entitlement(&claim->queues[victim_side], r);
		if (keep >= 0 && held(claim, victim_side, r) > keep)
			return true;
	}
	return false;
}

static bool guarantees_quota(const struct share_claim *claim, int claimer_side, int victim_side)
{
	const struct share_queue *claimer = &claim->queues[claimer_side], *victim = &claim->queues[victim_side];
	bool exceeds = false;
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		if (claimer->quota[r] >= 0 && claim->request[r] > claimer->quota[r] - claimer->allocated[r])
			return false;
		exceeds |= victim->quota[r] >= 0 && held(claim, victim_side, r) > victim->quota[r];
	}
	return exceeds;
}

bool share_claim_may_take(const struct share_claim *claim, int victim)
{
	int claimer_side, victim_side;
	return part(claim, victim, &claimer_side, &victim_side) &&
	       (keeps_fair_share(claim, victim_side) || guarantees_quota(claim, claimer_side, victim_side));
}

enum share_verdict share_claim_take(struct share_claim *claim, int victim, const int64_t amounts[SHARE_RESOURCES])
{
	int claimer_side, victim_side;
	if (!part(claim, victim, &claimer_side, &victim_side))
		return refuse(claim, SHARE_SAME_QUEUE, victim, -1);
	if (!keeps_fair_share(claim, victim_side) && !guarantees_quota(claim, claimer_side, victim_side))
		return refuse(claim, SHARE_VICTIM_WITHIN_SHARE, victim_side, -1);
	for (int q = victim; q >= 0; q = claim->queues[q].parent) {
		if (!claim->is_touched[q]) {
			claim->is_touched[q] = true;
			claim->touched[claim->touched_count++] = q;
		}
		for (int r = 0; r < SHARE_RESOURCES; r++)
			claim->freed[q][r] += amounts[r];
	}
	return SHARE_ALLOWED;
}

/* Only resources that change hands matter. */
static bool is_involved(const struct share_claim *claim, int queue, int resource)
{
	return claim->request[resource] > 0 || claim->freed[queue][resource] > 0;
}

static enum share_verdict settle_with(struct share_claim *claim, int claimer_side, int victim_side)
{
	const struct share_queue *claimer = &claim->queues[claimer_side], *victim = &claim->queues[victim_side];
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		int64_t with;
		if (__builtin_add_overflow(held(claim, claimer_side, r), claim->request[r], &with))
			with = INT64_MAX;
		if (!is_involved(claim, victim_side, r) || with <= claimer->fair[r])
			continue;
		if (!less_saturated(with, claimer->fair[r], held(claim, victim_side, r), victim->fair[r]))
			return refuse(claim, SHARE_MORE_SATURATED, claimer_side, r);
	}
	return SHARE_ALLOWED;
}

enum share_verdict share_claim_settle(struct share_claim *claim)
{
	for (size_t i = 0; i < claim->touched_count; i++) {
		int victim = claim->touched[i], claimer_side, victim_side;
		/* Each side is judged once: where it is itself the place of parting. A touched common ancestor has none. */
		if (!part(claim, victim, &claimer_side, &victim_side) || victim != victim_side)
			continue;
		enum share_verdict verdict = settle_with(claim, claimer_side, victim_side);
		if (verdict != SHARE_ALLOWED)
			return verdict;
	}
	return SHARE_ALLOWED;
}

bool share_claim_bounces(const struct share_claim *claim, int victim, const int64_t amounts[SHARE_RESOURCES])
{
	int claimer_side, victim_side;
	if (!part(claim, victim, &claimer_side, &victim_side))
		return false;
	const struct share_queue *claimer = &claim->queues[claimer_side], *own = &claim->queues[victim_side];
	bool above = false;
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		if (own->quota[r] >= 0 && amounts[r] > own->quota[r] - held(claim, victim_side, r))
			return false;
		above |= claimer->quota[r] >= 0 && claim->request[r] > claimer->quota[r] - held(claim, claimer_side, r);
	}
	return above;
}
