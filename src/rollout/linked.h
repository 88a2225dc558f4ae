/* Which roles advance together: rules link the roles they name, and a role that depends on another follows it. Roles
 * that can reach each other along these ways are one set: none of them can be complete before the others have moved. */
#ifndef ROLLOUT_LINKED_H
#define ROLLOUT_LINKED_H

#include "base/arena.h"
#include "rollout/segments.h"

struct linked_way {
	size_t from, to;
};

/* The number of the set of each role; equal numbers mean one set. Ways out of range are left out. Lives in the arena;
 * costs are linear in roles, rule entries and ways. */
size_t *linked_sets(size_t role_count, const struct segment_rule *rules, size_t rule_count,
                    const struct linked_way *ways, size_t way_count, struct arena *arena);

#endif
