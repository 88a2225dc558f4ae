/* What the checks of the planner's cases share: the case at hand, reading its numbers, saying what is wrong. */
#ifndef TEST_PLAN_PLANNER_H
#define TEST_PLAN_PLANNER_H

#include "base/arena.h"
#include "base/strings.h"
#include "object/doc.h"
#include "rollout/percent.h"
#include "rollout/segments.h"

/* Of the file, carried from case to case. */
struct planner_story {
	int64_t complete_at; /* pods of the largest group that was complete in an earlier case */
};

struct planner_case {
	struct arena *arena; /* freed after the case */
	const char *id, *kind;
	const struct val *given, *expect;
	struct buffer wrong; /* what does not hold, one clause after another; empty: passed */
	struct planner_story *story;
};

void planner_wrong(struct planner_case *test, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Compare an expectation with what came out; `what` names it. A missing or null expectation always holds. */
void planner_int(struct planner_case *test, const char *what, const struct val *want, int64_t got);
void planner_bool(struct planner_case *test, const char *what, const struct val *want, bool got);
void planner_text(struct planner_case *test, const char *what, const struct val *want, const char *got);
/* An expectation that nothing here can judge fails, so that none is passed by oversight; NULL has none. `known` ends
 * with NULL. */
void planner_known(struct planner_case *test, const struct val *map, const char *const *known);

int64_t planner_number(const struct val *map, const char *key, int64_t fallback);
/* A number, "10%" or null. -1 when it is none of these. */
int planner_percent(const struct val *val, struct percent *out);

/* Roles of a map name -> number of replicas, or name -> {desired, current, ready, ...}. */
struct planner_roles {
	struct segment_role *items;
	size_t count;
};

struct planner_roles planner_read_roles(struct planner_case *test, const struct val *map);
size_t planner_find_role(const struct planner_roles *roles, const char *name); /* SEGMENT_NO_ROLE when absent */
/* Sizes by role name; names that are not among the roles are left out. */
struct segment_rule planner_read_rule(struct planner_case *test, const struct planner_roles *roles,
                                      const struct val *sizes, const char *progression);
/* Compares a map name -> number with values by role. */
void planner_by_role(struct planner_case *test, const char *what, const struct val *want,
                     const struct planner_roles *roles, const int64_t *got);

typedef void planner_check(struct planner_case *test);

planner_check planner_segment_step, planner_segment_sequence, planner_segment_conflict, planner_segment_condition,
	planner_segment_manifest;
planner_check planner_gang_minmember, planner_gang_single, planner_gang_per_instance, planner_segment_capacity,
	planner_segment_failure_domain, planner_segment_rolling_update;
planner_check planner_topology_batches, planner_topology_labels, planner_topology_naming, planner_topology_affinity,
	planner_topology_story, planner_topology_gates, planner_topology_crd;
planner_check planner_scale_step, planner_scale_multi, planner_roll_bound, planner_roll_rank, planner_roll_sequence,
	planner_roll_merge, planner_roll_e2e;
planner_check planner_ris_topology, planner_ris_progress, planner_ris_e2e, planner_partition, planner_restart_delay;

#endif
