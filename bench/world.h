/* Clusters and gangs of the benchmark. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include "engine/place/place.h"

enum { WORLD_ZONE, WORLD_BLOCK, WORLD_RACK, WORLD_HOST, WORLD_LEVELS, WORLD_NO_LEVEL = -1 };
enum { WORLD_GPUS = 8, WORLD_RACK_NODES = 16, WORLD_BLOCK_RACKS = 8 };

/* How full the cluster is before the gang arrives. */
enum world_state {
	WORLD_EMPTY,
	WORLD_HALF_RACKS, /* every second rack is taken, which of two is random */
	WORLD_HALF_NODES, /* every second node is taken, which of two is random */
	WORLD_FRAGMENTED, /* 0 to 8 GPUs of each node are taken */
	WORLD_STATES,
};

struct world {
	struct cluster *cluster;
	int nodes, zones;
	int fillers[WORLD_GPUS + 1]; /* classes of pods that take so many GPUs */
	int *used;                   /* GPUs taken per node, in the engine's node order */
	uint64_t random;
};

const char *world_state_name(enum world_state state);
void world_create(struct world *world, int nodes, enum world_state state);
void world_destroy(struct world *world);
uint64_t world_random(struct world *world);

/* A gang of equal pods: `parents` x `segments` x `pods`; parents 0 leaves that level out, segments 0 makes it flat. */
struct gang_plan {
	const char *name;
	int parents, segments, pods, gpus;
	int longer; /* the last segment has so many pods more */
	int root_required, parent_required, segment_required, root_preferred;
	bool impossible; /* on every cluster */
};

/* The caller frees tree and pods with world_free_gang. */
struct gang world_gang(struct world *world, const struct gang_plan *plan);
void world_free_gang(struct gang *gang);
int plan_pod_count(const struct gang_plan *plan);
/* Whether the plan fits, counted by hand: segments per rack, segments per zone, pods in all. */
bool world_fits(const struct world *world, const struct gang_plan *plan);

#endif
