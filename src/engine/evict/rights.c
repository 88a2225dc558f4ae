/* Owns what the queues say to making room: limits, quotas and the right of the method. */
#include "engine/evict/internal.h"

#include <string.h>

bool evict_gain_is_protected(const struct evict_attempt *attempt)
{
	enum cycle_preempt preempt = evict_beneficiary(attempt)->preempt;
	return preempt == CYCLE_NON_PREEMPTIBLE || (preempt == CYCLE_SEMI_PREEMPTIBLE && !attempt->grow);
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

bool evict_queue_allows(const struct evict_attempt *attempt)
{
	const struct evict_method *method = attempt->method;
	return cycle_queue_has_room(attempt->run, evict_beneficiary(attempt)->queue, &attempt->cost) &&
	       (!method->allows || method->allows(attempt));
}

bool evict_find_allowance(const struct evict_attempt *attempt, struct place_allowance *allowance)
{
	const struct evict_method *method = attempt->method;
	if (!cycle_find_allowance(attempt->run, evict_beneficiary(attempt), evict_gain_is_protected(attempt),
	                          allowance))
		return false;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t *left = &allowance->left[r];
		if (method->narrow)
			method->narrow(attempt, r, left);
		*left = *left < 0 ? 0 : *left;
	}
	return true;
}
