/* A whole claim in one question, as src/engine/evict/reclaim.c puts it together: begin, every victim in the given order,
 * settle, and none of them may be claimed straight back. */
#ifndef TEST_SHARE_CLAIMS_H
#define TEST_SHARE_CLAIMS_H

#include "engine/share/share.h"

enum { CLAIM_BOUNCES = SHARE_MORE_SATURATED + 1 };

struct claim_victim {
	int queue;
	int64_t amounts[SHARE_RESOURCES];
};

/* The first refusal as an enum share_verdict, or CLAIM_BOUNCES; `blamed` of the claim is set as for any refusal. */
static inline int claim_whole(struct share_claim *claim, int queue, const int64_t request[SHARE_RESOURCES],
                              bool is_protected, const struct claim_victim *victims, size_t victim_count)
{
	enum share_verdict verdict = share_claim_begin(claim, queue, request, is_protected);
	for (size_t i = 0; i < victim_count && verdict == SHARE_ALLOWED; i++)
		verdict = share_claim_take(claim, victims[i].queue, victims[i].amounts);
	if (verdict == SHARE_ALLOWED)
		verdict = share_claim_settle(claim);
	for (size_t i = 0; i < victim_count && verdict == SHARE_ALLOWED; i++)
		if (share_claim_bounces(claim, victims[i].queue, victims[i].amounts)) {
			claim->blamed = victims[i].queue;
			return CLAIM_BOUNCES;
		}
	return (int)verdict;
}

#endif
