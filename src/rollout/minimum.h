/* Minimums of the PodGroups of a RoleBasedGroup: one for the whole group, one per instance (the default of segment
 * placement), or one per segment. */
#ifndef ROLLOUT_MINIMUM_H
#define ROLLOUT_MINIMUM_H

#include "rollout/segments.h"

#define MINIMUM_TIMEOUT_SECONDS 60 /* scheduleTimeoutSeconds when none is given */

enum minimum_gang { MINIMUM_PER_INSTANCE, MINIMUM_PER_SEGMENT };

struct minimum_role {
	int64_t replicas;
	int64_t pods; /* of one replica: size of leader and workers, or the sum over components; at least 1 */
};

/* Pods of one replica from its components. */
int64_t minimum_instance(const int64_t *components, size_t count);
/* One PodGroup for everything. */
int64_t minimum_group(const struct minimum_role *roles, size_t count);
/* The PodGroup of a segment, counted from 0: all pods of its members. 0 when the segment has none. */
int64_t minimum_segment(const struct minimum_role *roles, size_t role_count, const struct segment_rule *rule,
                        int64_t segment);
/* Pods of a PodGroup that start when `running` of it run, `waiting` more want to and `capacity` fit in all: either as
 * many as fit, or none because the minimum is out of reach. */
int64_t minimum_started(int64_t minimum, int64_t running, int64_t waiting, int64_t capacity);

#endif
