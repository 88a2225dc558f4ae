/* Clusters and gangs of the benchmark. */
#ifndef BENCH_BENCH_CLUSTER_H
#define BENCH_BENCH_CLUSTER_H

#include "engine/place/place.h"

enum { BENCH_ZONE, BENCH_BLOCK, BENCH_RACK, BENCH_HOST, BENCH_LEVELS, BENCH_NO_LEVEL = -1 };
enum { BENCH_GPUS = 8, BENCH_RACK_NODES = 16, BENCH_BLOCK_RACKS = 8 };

/* How full the cluster is before the gang arrives. */
enum bench_state {
	BENCH_EMPTY,
	BENCH_HALF_RACKS, /* every second rack is taken, which of two is random */
	BENCH_HALF_NODES, /* every second node is taken, which of two is random */
	BENCH_FRAGMENTED, /* 0 to 8 GPUs of each node are taken */
	BENCH_STATES,
};

struct bench_cluster {
	struct cluster *cluster;
	int nodes, zones;
	int fillers[BENCH_GPUS + 1]; /* classes of pods that take so many GPUs */
	int *used;                   /* GPUs taken per node, in the engine's node order */
	uint64_t random;
};

const char *bench_cluster_state_name(enum bench_state state);
void bench_cluster_create(struct bench_cluster *bench, int nodes, enum bench_state state);
void bench_cluster_destroy(struct bench_cluster *bench);
uint64_t bench_cluster_random(struct bench_cluster *bench);

/* A gang of equal pods: `parents` x `segments` x `pods`; parents 0 leaves that level out, segments 0 makes it flat. */
struct gang_plan {
	const char *name;
	int parents, segments, pods, gpus;
	int longer; /* the last segment has so many pods more */
	int root_required, parent_required, segment_required, root_preferred;
	bool impossible; /* on every cluster */
};

/* The caller frees tree and pods with bench_cluster_free_gang. */
struct gang bench_cluster_gang(struct bench_cluster *bench, const struct gang_plan *plan);
void bench_cluster_free_gang(struct gang *gang);
int plan_pod_count(const struct gang_plan *plan);
/* Whether the plan fits, counted by hand: segments per rack, segments per zone, pods in all. */
bool bench_cluster_fits(const struct bench_cluster *bench, const struct gang_plan *plan);

#endif
