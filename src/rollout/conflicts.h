/* What is wrong with a set of coordinations. Admission rejects it with these messages; a controller that meets it
 * nevertheless shows them in the condition CoordinationConflict and keeps the targets it had. */
#ifndef ROLLOUT_CONFLICTS_H
#define ROLLOUT_CONFLICTS_H

#include "base/arena.h"
#include "rollout/segments.h"

#define CONFLICT_CONDITION "CoordinationConflict"
#define CONFLICT_RATIO_MISMATCH "SegmentRatioMismatch" /* reason of the event for conflict_mismatch */

enum conflict_kind {
	CONFLICT_EMPTY,       /* a rule without any role */
	CONFLICT_SIZE_RANGE,  /* a size below 1 */
	CONFLICT_ROLE,        /* a role the group does not have */
	CONFLICT_TWICE,       /* a role named twice in one rule */
	CONFLICT_SIZE,        /* two rules give a role different sizes */
	CONFLICT_PROGRESSION, /* two rules with different progressions share a role */
	CONFLICT_LISTED       /* `roles` and the keys of segmentSize are different sets */
};

/* A rule as it is written, with names. */
struct conflict_entry {
	const char *role;
	int64_t size;
};

struct conflict_rule {
	const char *name;
	enum segment_progression progression;
	const struct conflict_entry *entries;
	size_t count;
	const char *const *listed; /* `roles`; NULL when it is left out and the keys count */
	size_t listed_count;
};

struct conflict {
	enum conflict_kind kind;
	size_t rule;      /* where it was found */
	const char *role; /* "" for CONFLICT_EMPTY */
	const char *message;
	const char *fix;
};

/* Everything that is wrong, in the order of the spec; NULL and *count 0 when nothing is. Lives in the arena. */
struct conflict *conflicts_find(const char *const *roles, size_t role_count, const struct conflict_rule *rules,
                                size_t rule_count, struct arena *arena, size_t *count);

/* Roles of one rule that need different numbers of segments: legal, but the ratio is not kept to the end. A sentence
 * for a warning that is given once, or NULL. */
const char *conflict_mismatch(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                              struct arena *arena);

#endif
