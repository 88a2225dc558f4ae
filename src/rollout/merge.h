/* Several coordinations at once: the replicas every role may have now.
 *
 * Each rule is judged on its own (segments.h); a role that several rules name gets the least of what they allow. A rule
 * that waits for readiness holds its own roles and those of every rule it shares a role with, one step far; a rule with
 * nothing left to create holds nobody. A role that no rule names gets what it wants.
 *
 * A role can depend on others. Among roles that advance together (linked.h) a dependency is met when the other role is
 * ready up to its own target of this plan; asking for all its replicas would wait for segments that wait for the
 * dependent role. Otherwise all its replicas must be ready. A role with an unmet dependency holds. */
#ifndef ROLLOUT_MERGE_H
#define ROLLOUT_MERGE_H

#include "base/arena.h"
#include "rollout/linked.h"
#include "rollout/segments.h"

#define MERGE_NO_RULE SIZE_MAX

struct merge_input {
	const struct segment_role *roles;
	size_t role_count;
	const struct segment_rule *rules;
	size_t rule_count;
	const struct linked_way *dependencies; /* `from` waits for `to`; without a circle: roles in one wait for ever */
	size_t dependency_count;
};

struct merge_role {
	int64_t target;
	size_t held_by;    /* a rule that waits for readiness and holds the role; MERGE_NO_RULE when none */
	size_t depends_on; /* a role whose readiness is awaited; SEGMENT_NO_ROLE when none */
};

struct merge_plan {
	struct merge_role *roles;     /* by role */
	struct segment_state *states; /* by rule */
	size_t worst;        /* rule with the smallest part of its segments ready; MERGE_NO_RULE without rules */
	bool is_minimum_met; /* every rule that has segments has a ready one */
};

/* Everything in the plan lives in the arena. Costs are linear in roles, rule entries, ready marks and dependencies. */
struct merge_plan *merge_targets(const struct merge_input *input, struct arena *arena);

/* Why a role does not grow, for an event or a status line: "waits for segment 3 of role prefill (coordination pd)".
 * NULL when it may have what it wants, or nothing holds it. */
const char *merge_reason(const struct merge_input *input, const struct merge_plan *plan, size_t role,
                         struct arena *arena);

#endif
