/* Order of a rolling update over the segments of a group: from the last segment to the first, one at a time.
 *
 * The result is a partition per role. A group that is updated goes, in each pass, through order_partitions, then
 * skew_update (skew.h) with is_waiting from here, then, role by role, with the largest of the three partitions (the
 * user's, this one, and desired less the skew's target) in its limits, through update.h.
 *
 * Coordinations that share a role give it the same size (conflicts.h), so of two of them the one that is further back
 * holds the other, and the furthest back is held by nobody: the walk always goes on. */
#ifndef ROLLOUT_ORDER_H
#define ROLLOUT_ORDER_H

#include "rollout/segments.h"

struct order_role {
	int64_t replicas;
	int64_t partition;      /* the user's: ordinals below it are not updated and nobody waits for them */
	const bool *is_updated; /* by ordinal, `replicas` entries: ready at the new revision */
};

struct order_result {
	int64_t partition; /* at least the user's */
	int64_t pending;   /* highest ordinal still to be updated; -1 when there is none */
	bool is_waiting;   /* what is to be updated lies in segments whose turn comes later */
};

/* Fills one result per role. */
void order_partitions(const struct order_role *roles, size_t role_count, const struct segment_rule *rules,
                      size_t rule_count, struct order_result *results);

#endif
