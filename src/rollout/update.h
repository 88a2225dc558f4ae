/* Rolling update of one role: which instances are replaced now, and how many extra ones exist meanwhile.
 *
 * Instances have ordinals 0 .. replicas - 1, the base, and during a rollout surge ordinals above. A rollout brings every
 * ordinal from `partition` on to the update revision, highest first. At no time are more than max_unavailable of the
 * base missing without a ready surge instance standing in, and never more than max_surge extra ones exist.
 *
 *   update_resolve   what the user wrote -> numbers        once per pass
 *   update_shape     numbers and instances -> the shape    everything later reads it
 *   update_decide    what happens to each instance
 *   update_revision  which revision a missing ordinal is created with */
#ifndef ROLLOUT_UPDATE_H
#define ROLLOUT_UPDATE_H

#include "base/arena.h"
#include "rollout/percent.h"

#include <stddef.h>

/* An instance that is not healthy for this long is broken, not merely seen late by a cache. */
#define UPDATE_STABLE_SECONDS 10

struct update_strategy {
	struct percent max_unavailable; /* unset: 10% */
	struct percent max_surge;       /* unset: 0 */
	struct percent partition;       /* unset: 0; ordinals below it stay as they are */
	bool is_paused;
};

struct update_limits {
	int64_t replicas, max_unavailable, max_surge, partition;
	bool is_paused;
};

/* Percentages are of `replicas`: surge rounded up; unavailable rounded down beside a surge, otherwise up and at least 1,
 * since nothing could ever be replaced with neither. Partition as update_partition. */
void update_resolve(const struct update_strategy *strategy, int64_t replicas, struct update_limits *limits);

/* A percentage is rounded up, but below 100% it leaves at least one instance to update. Within 0..replicas. */
int64_t update_partition(struct percent partition, int64_t replicas);

struct update_instance {
	int64_t ordinal;
	int64_t revision; /* a number of the caller for each revision */
	bool is_healthy;
	bool is_broken; /* not healthy for UPDATE_STABLE_SECONDS or more */
	bool is_terminating;
};

struct update_shape {
	struct update_limits limits;
	int64_t current_revision, update_revision;
	int64_t surge;        /* extra ordinals that exist now: replicas .. end - 1 */
	int64_t end;          /* ordinals from here on are removed */
	int64_t updated_from; /* lowest base ordinal, not below the partition, at the update revision; replicas if none */
	bool is_rolling;      /* an instance is, or may be, to be replaced, and it is not paused */
	bool is_done;         /* every ordinal from the partition on is healthy at the update revision */
};

/* Extra instances are asked for only as far as healthy old ones exceed max_unavailable; those already made for this
 * revision stay until the work is done, also while it is paused. */
void update_shape(const struct update_limits *limits, int64_t current_revision, int64_t update_revision,
                  const struct update_instance *instances, size_t count, struct update_shape *shape);

enum update_action {
	UPDATE_KEEP,
	UPDATE_REPLACE, /* delete or change in place; it comes back at update_revision() */
	UPDATE_REMOVE   /* beyond the end: delete for good */
};

/* One action per instance; no ordinal twice. Surge instances of a superseded revision and broken instances are replaced
 * without limit; but a healthy one of the former stays while too much of the base is down. A terminating instance is
 * left to end. */
void update_decide(const struct update_shape *shape, const struct update_instance *instances, size_t count,
                   enum update_action *actions, struct arena *scratch);

int64_t update_revision(const struct update_shape *shape, int64_t ordinal);
/* Whether the update revision may become the current one: done, and nothing is held back by a partition. */
bool update_may_advance(const struct update_shape *shape);

/* Two strategies for one role (its own and those of coordinations): the smaller max_unavailable, the larger partition,
 * the smaller max_surge; paused when either is. Compared as counts out of `replicas`, kept as they were written. */
struct update_strategy update_merge(const struct update_strategy *a, const struct update_strategy *b, int64_t replicas);

#endif
