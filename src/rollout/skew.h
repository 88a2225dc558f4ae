/* Roles that advance together: no role may get more than maxSkew ahead of the slowest.
 *
 * Progress of a role is a fraction of what it wants, compared exactly. maxSkew as a percentage is a part of that
 * progress, as a count it is a number of replicas of the role that is ahead. Whatever maxSkew says, the slowest role may
 * always take one step: a limit that is finer than one replica slows a group down but never stops it. For the same
 * reason rules that share roles cannot block each other: the slowest role of all is the slowest in every rule.
 * Roles that want nothing are left out. All counts are at most INT32_MAX; negative ones count as 0. */
#ifndef ROLLOUT_SKEW_H
#define ROLLOUT_SKEW_H

#include "rollout/percent.h"

#include <stddef.h>

/* ---- scaling ---- */

enum skew_progression {
	SKEW_SCHEDULED, /* OrderScheduled, the default: the next step when all that exists is scheduled */
	SKEW_READY,     /* OrderReady: when all that exists is ready */
	SKEW_FREE       /* at once */
};

struct skew_scale_role {
	int64_t desired, current;
	int64_t scheduled, ready; /* replicas, not pods: one with some pods waiting is neither */
};

struct skew_rule {
	struct percent max_skew; /* unset: 100% */
	enum skew_progression progression;
	const size_t *roles; /* indices; out of range or twice: the entry is left out or without effect */
	size_t count;
};

/* Replicas each role may have now, the least over all rules; roles without a rule get what they want. Never above
 * desired; a role that has too many gets desired at once, whatever the others do; no other target is below current. */
void skew_scale(const struct skew_scale_role *roles, size_t role_count, const struct skew_rule *rules,
                size_t rule_count, int64_t *targets);

/* ---- rolling update ---- */

struct skew_update_role {
	const char *name;
	int64_t desired;
	int64_t updated;       /* at the new revision */
	int64_t updated_ready; /* of those, ready; what is not ready is no progress others may build on */
	bool is_waiting;       /* by the order of segments not its turn (order.h): it does not hold the others */
};

/* Replicas each role may have at the new revision, the least over all rules; roles without a rule get desired. Never
 * below `updated`. The role's partition is then desired - target, or the user's where that is larger. The skew that a
 * rule leads to is at most maxSkew or one replica of its smallest role, whichever is more; a larger one that is there
 * at the start does not grow. `progression` of the rules does not matter here. */
void skew_update(const struct skew_update_role *roles, size_t role_count, const struct skew_rule *rules,
                 size_t rule_count, int64_t *targets);

#endif
