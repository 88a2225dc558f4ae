/* Settings: everything that whoever runs Platoon decides about its decisions, in one struct.
 *
 * It is read and checked once (from flags, a file, and a ConfigMap of the cluster) and kept by one `struct
 * settings_source`. Scheduler, grouping, admission, webhooks, what-if and the simulator borrow it from there and keep no
 * copy, so they cannot disagree. A change replaces it as a whole. */
#ifndef LOOP_SETTINGS_H
#define LOOP_SETTINGS_H

#include "base/problems.h"
#include "engine/place/strategy.h"
#include "group/group.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

#define SETTINGS_ALL_POOLS "*"
#define SETTINGS_GPU_WORKER "node-role.kubernetes.io/gpu-worker"
#define SETTINGS_CPU_WORKER "node-role.kubernetes.io/cpu-worker"

/* What queues used in the past lessens their fair shares: KAI's time-based fair share. */
struct settings_past {
	int64_t factor;            /* kValue, in thousandths; 0: the past does not count */
	int64_t window, half_life; /* seconds; half_life 0: all of the window counts in full */
	bool tumbling;             /* windows follow each other, and each starts with nothing */
};
#define SETTINGS_PAST_LONGEST (INT64_C(366) * 86400) /* seconds */

/* When pods may be moved so that whole domains are free, and how many. */
struct settings_defragment {
	bool enabled;
	const char
		*level; /* label of the level whose domains are to be free; "" or NULL: the smallest of several nodes */
	int64_t moves;  /* at most, in each hour of the clock */
	int from, to;   /* minutes of the day, UTC, when it may run; equal: always */
};
#define SETTINGS_USUAL_MOVES 20
#define SETTINGS_MOST_MOVES 10000

struct settings {
	const char *const
		*schedulers; /* schedulerName values that are ours, at least one; pods of ours get the first */
	size_t scheduler_count;
	/* Pods that stand alone get PodGroups too. Without it nothing is written about them: the scheduler knows their terms.
	 * Only groups that say more (levels, delays) are written, and those that exist. */
	bool single_groups;
	uint64_t budget;        /* search steps per placement, 0: the default */
	uint64_t claim_timeout; /* seconds in which the claims of a gang have to be bound, 0: 600 */
	uint64_t hold_seconds;  /* that room is held for pods which a workload has yet to create, 0: 150 */
	int64_t starvation_ns;  /* after so long free resources are held for a gang that waits, 0: never */
	struct settings_past past;
	struct settings_defragment defragment;
	struct strategy strategy; /* in which order nodes are taken */
	bool spread_zones;        /* replicas without GPUs that say nothing are spread over zones, softly */
	bool spare_gpus;          /* pods without GPUs take nodes without GPUs first */
	/* Pods that wait carry the reason Unschedulable whatever they wait for, also what nodes cannot cure. */
	bool plain_reasons;
	bool config_maps;          /* pods wait while a ConfigMap that they need does not exist */
	bool ignore_parent_queues; /* queues share as if they had no parents, whose quotas and limits do not count */
	bool queues_need_pool; /* a queue without the label of pools is one of the nodes without it, not of every pool */
	bool never_violate_budgets; /* not even a preemption evicts more than a PodDisruptionBudget allows */
	/* Of the pods and nodes with the label of pools (group.pool_label) only those of this pool count; "" is that of those
	 * without the label. SETTINGS_ALL_POOLS or NULL: all, and pods stay in their pool. */
	const char *node_pool;
	bool restrict_nodes; /* pods with GPUs only on nodes labelled as GPU workers, others on those for CPU */
	/* Default queue, label keys, minimums, and what the ConfigMap of the cluster says. */
	struct group_options group;

	/* Set by the source: what is wrong in the ConfigMap, and two numbers that are new when something was replaced on
	 * which placements depend, or the grouping of pods. */
	const struct problem *problems;
	size_t problem_count;
	uint64_t placing, grouping;
};

/* What is true where nobody says otherwise. */
extern const struct settings settings_usual;

/* A copy with all its texts in the arena, without what the source sets. */
struct settings settings_copy(const struct settings *from, struct arena *arena);
/* Reads {enabled, kValue, windowSize, windowType, halfLifePeriod}; what is not there is as in SETTINGS_PAST_USUAL, but for
 * `enabled`, which is then true. */
void settings_read_past(const struct val *map, const char *path, struct settings_past *out, struct problems *problems);
#define SETTINGS_PAST_USUAL "{enabled: false, kValue: 1.0, windowSize: 168h, windowType: sliding, halfLifePeriod: 0s}"
/* Reads {enabled, window, movesPerHour, level}; what is not there is as usual. The texts are in the arena. */
void settings_read_defragment(const struct val *map, const char *path, struct arena *arena,
                              struct settings_defragment *out, struct problems *problems);
#define SETTINGS_DEFRAGMENT_USUAL "{enabled: false, window: \"\", movesPerHour: 20, level: \"\"}"
/* Whether it may run at this time, seconds since 1970. */
bool settings_may_defragment(const struct settings *settings, int64_t now);
/* How long room is held for pods that are still to come, in nanoseconds. */
int64_t settings_hold_ns(const struct settings *settings);
/* Whether pods with this schedulerName are ours. NULL: a pod without one, "default-scheduler". */
bool settings_is_ours(const struct settings *settings, const char *scheduler);
bool settings_owns_pod(const struct settings *settings, const struct val *pod);
/* Whether an object whose label of pools has this value ("" or NULL: it has none) is in what we serve. */
bool settings_serves_pool(const struct settings *settings, const char *pool);
/* The label by which nodes and pods belong to pools. */
const char *settings_pool_label(const struct settings *settings);
/* The queue of groups and pods that name none. Never "". */
const char *settings_default_queue(const struct settings *settings);
/* The label by which pods and workloads name their queue. */
const char *settings_queue_label(const struct settings *settings);

/* ---- the owner ---- */

struct settings_source;

/* The settings are copied with their texts. */
struct settings_source *settings_source_create(const struct settings *settings);
void settings_source_destroy(struct settings_source *source); /* NULL is a no-op */
/* From now on the ConfigMap GROUP_DEFAULTS_NAME of this store counts, as it is when somebody asks. NULL: none. */
void settings_source_follow(struct settings_source *source, struct store *store);
/* Takes the place of what was given at creation. Copied too. */
void settings_source_replace(struct settings_source *source, const struct settings *settings);

/* What is true now; source NULL: the usual. Costs one look at the store. Valid until settings_turn or destroy, also when
 * something is replaced meanwhile. */
const struct settings *settings_now(struct settings_source *source);
/* The owner of the loop calls this between two turns, when nobody borrows: what was replaced is freed. */
void settings_turn(struct settings_source *source);

#endif
