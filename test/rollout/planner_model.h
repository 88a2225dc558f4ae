/* What the documents say in numbers, and nothing in the product has to compute: how many pods a PodGroup of a
 * RoleBasedGroup asks for and how many of them start, which role is ahead in an update, and how far. The cases judge
 * targets and updates by it. */
#ifndef TEST_ROLLOUT_PLANNER_MODEL_H
#define TEST_ROLLOUT_PLANNER_MODEL_H

#include "rollout/segments.h"
#include "rollout/skew.h"

#define MODEL_TIMEOUT_SECONDS 60 /* scheduleTimeoutSeconds when none is given */
#define MODEL_NO_ROLE SIZE_MAX

struct model_role {
	int64_t replicas;
	int64_t pods; /* of one replica: size of leader and workers, or the sum over components; at least 1 */
};

/* Pods of one replica from its components. */
int64_t model_minimum_of_instance(const int64_t *components, size_t count);
/* One PodGroup for everything. */
int64_t model_minimum_of_group(const struct model_role *roles, size_t count);
/* The PodGroup of a segment, counted from 0: all pods of its members. 0 when the segment has none. */
int64_t model_minimum_of_segment(const struct model_role *roles, size_t role_count, const struct segment_rule *rule,
                                 int64_t segment);
/* Pods of a PodGroup that start when `running` of it run, `waiting` more want to and `capacity` fit in all: either as
 * many as fit, or none because the minimum is out of reach. */
int64_t model_started(int64_t minimum, int64_t running, int64_t waiting, int64_t capacity);

/* The roles with the most and the least progress by `updated`; of equal ones the larger is slower, then the one whose
 * name is first. Both MODEL_NO_ROLE when fewer than two roles want something. */
void model_rank_roles(const struct skew_update_role *roles, size_t role_count, size_t *fastest, size_t *slowest);

/* Within how many updated replicas a role of `desired` stays in step with another one that has `other_updated` of
 * `other_desired`: its progress plus and minus maxSkew, to the nearest whole number. */
void model_bound_updated(struct percent max_skew, int64_t other_updated, int64_t other_desired, int64_t desired,
                         int64_t *lower, int64_t *upper);

#endif
