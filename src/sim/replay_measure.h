/* What a replay measures while it runs. */
#ifndef SIM_REPLAY_MEASURE_H
#define SIM_REPLAY_MEASURE_H

#include "sim/replay.h"

struct measure_node {
	int64_t gpus, cpus, used_gpus, used_cpus; /* CPU in thousandths */
};

struct measure {
	struct arena *arena;
	struct replay_result *result;
	struct measure_node *nodes;
	struct interner *names; /* node names, by number */
	size_t node_count;
	int64_t length; /* seconds that are measured */
	int64_t now;
	int64_t gpus, cpus, used_gpus, used_cpus;
	int64_t free, broken; /* slots; broken: free ones on nodes that are partly in use */
	int64_t waiting;      /* pods */
	struct sums {
		__int128 gpu, cpu, broken, free, waiting, seconds;
	} * sums;     /* REPLAY_BUCKETS: amounts times seconds */
	size_t frame; /* that comes next */
};

/* Nodes are those of the trace's frame, in the order of zone, rack and name. */
struct measure *measure_create(const struct trace *trace, int64_t length, struct replay_result *result,
                               struct arena *arena);
/* Number of a node, SIZE_MAX when there is none of that name. */
size_t measure_find(const struct measure *measure, const char *node);
/* Time passes with everything as it is. */
void measure_advance(struct measure *measure, int64_t to);
/* A pod comes to a node, or leaves it with sign -1. */
void measure_use(struct measure *measure, size_t node, int64_t gpus, int64_t cpus, int sign);
struct replay_bucket *measure_bucket(const struct measure *measure);
/* The last moments, and the means; the measure is of no use afterwards. */
void measure_finish(struct measure *measure);
/* Sorts the waits and fills the three numbers; all 0 without any. */
void measure_waits(int64_t *waits, size_t count, int64_t *median, int64_t *p90, int64_t *longest);

#endif
