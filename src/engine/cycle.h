/* One scheduling cycle over queues and groups. Pure: it changes only the structs it is given. */
#ifndef ENGINE_CYCLE_H
#define ENGINE_CYCLE_H

#include "engine/explain.h"
#include "engine/place.h"

enum { CYCLE_GPU, CYCLE_CPU, CYCLE_MEMORY, CYCLE_RESOURCES };

struct cycle_queue {
	const char *name;
	int parent; /* -1 at the top */
	int64_t priority;
	int64_t quota[CYCLE_RESOURCES];  /* GPUs in milli-devices, CPU in milli-cores, memory in bytes; -1 = unlimited */
	int64_t limit[CYCLE_RESOURCES];  /* -1 = none */
	int64_t weight[CYCLE_RESOURCES]; /* over-quota weight in thousandths */
	/* filled by the cycle: */
	int64_t allocated[CYCLE_RESOURCES];
	int64_t allocated_protected[CYCLE_RESOURCES]; /* non-preemptible part */
};

enum cycle_preempt { CYCLE_PREEMPTIBLE, CYCLE_NON_PREEMPTIBLE, CYCLE_SEMI_PREEMPTIBLE };

enum group_state { GROUP_PLACED, GROUP_PARTIAL, GROUP_PENDING, GROUP_IMPOSSIBLE, GROUP_EXHAUSTED, GROUP_NOT_READY };

struct cycle_group {
	struct gang gang;
	int queue;      /* -1: names a queue that does not exist */
	const char *queue_name;
	int32_t priority;
	enum cycle_preempt preempt;
	int64_t creation;      /* order of creation, older = smaller */
	bool blocked;          /* must not be attempted; `reasons` already says why (unknown topology, ...) */
	/* filled by the cycle: */
	enum group_state state;
	bool *was_running;     /* per pod, before the cycle; array of gang.pod_count given by the caller */
	struct reasons reasons;
	bool proved;           /* the refusal is proved */
};

struct cycle {
	struct cluster *cluster;
	struct cycle_queue *queues;
	size_t queue_count;
	struct cycle_group *groups;
	size_t group_count;
	struct arena *arena;
	uint64_t budget;    /* per placement, 0 = default */
	bool explain_relax; /* search for relaxations when explaining */
};

/* Places minimums and surplus of all groups in queue order. Newly bound pods end up RUNNING with was_running false,
 * reserved ones RESERVED. */
void cycle_allocate(struct cycle *cycle);
const char *group_state_name(enum group_state state); /* "Placed", "Partial", ... */

#endif
