/* Replay: a trace on a cluster in virtual time, with the decisions of the scheduler's own live state, and what came of
 * it. No kubelets and no delays: a pod that is bound runs, one that is evicted waits again at the same moment. So waiting
 * times are those of scheduling alone. The same trace and options give the same result, byte for byte. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "engine/cycle/cycle.h"
#include "loop/settings.h"
#include "sim/trace.h"

#define REPLAY_BUCKETS 240 /* stretches of equal length into which the trace is cut */
#define REPLAY_FRAMES 49   /* moments of the map, first and last included */
#define REPLAY_SIZES 6     /* classes of gangs by their pods */

struct replay_options {
	const char *title;
	const enum cycle_action *actions;
	size_t action_count;
	const struct settings *settings; /* borrowed; NULL: the usual */
	/* Called now and then; false ends the replay. May be NULL. */
	bool (*progress)(void *context, size_t done, size_t total);
	void *context;
};

struct replay_bucket {          /* means over the stretch; shares in thousandths */
	int64_t gpu, cpu;       /* in use */
	int64_t fragmented;     /* of the free slots those on nodes that are partly in use */
	int64_t waiting_pods;   /* at the mean */
	int64_t evicted, moved; /* in the stretch */
};

struct replay_size {
	const char *name; /* "2-4" */
	size_t gangs, placed;
	int64_t median, p90, longest; /* seconds that those waited which were placed */
};

struct replay_node {
	const char *name, *rack, *zone;
	int64_t slots; /* GPUs, or milli-cores on a cluster without GPUs */
};

struct replay_result {
	const char *title;
	struct replay_bucket *buckets; /* REPLAY_BUCKETS */
	struct replay_size sizes[REPLAY_SIZES];
	struct replay_node *nodes;
	size_t node_count;
	/* REPLAY_FRAMES texts, a character per node: '0' empty to '9' full, '-' without slots; and the same of the CPUs of a
	 * cluster that has GPUs, NULL otherwise. */
	char **frames, **cpu_frames;
	size_t gangs, placed, withdrawn, waiting; /* gangs; withdrawn: left before they were placed */
	size_t pods, bound;                       /* pods; bound at least once */
	size_t evicted, moved;
	size_t by_action[ACTION_COUNT]; /* evictions and moves */
	size_t cycles;
	int64_t length; /* seconds */
	/* Means over the whole time, in thousandths. */
	int64_t gpu, cpu, fragmented;
	int64_t median, p90, longest; /* wait of all placed gangs, seconds */
	bool stopped;                 /* before the end */
};

/* Everything is in the arena. Objects that the cluster would refuse have no effect. */
struct replay_result *replay_run(const struct trace *trace, const struct replay_options *options, struct arena *arena);

#endif
