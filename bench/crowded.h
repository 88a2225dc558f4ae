/* Full clusters with queues and groups, for the benchmark of evictions. */
#ifndef BENCH_CROWDED_H
#define BENCH_CROWDED_H

#include "engine/cycle/cycle.h"
#include "bench_cluster.h"

enum evict_kind {
	EVICT_FLAT,     /* half as many pods as nodes, each as large as a node */
	EVICT_SEGMENTS, /* the same in segments of one rack each */
	EVICT_RACK,     /* one rack full */
	EVICT_TOO_FAR,  /* EVICT_FLAT, all of it in one rack: impossible */
	EVICT_TOO_MANY, /* EVICT_FLAT, but protected pods leave one node too few: impossible */
};

struct crowded {
	struct bench_cluster bench;
	struct cycle cycle;
	int waiting; /* the group that wants room, -1 when there are many */
};

/* Every device is used by a group of one pod of its own. The waiting gang is in another queue (reclaim) or in the same
 * one with a higher priority (preempt). */
void crowded_gang(struct crowded *bench, int nodes, enum evict_kind kind, bool same_queue);
enum evict_fill {
	EVICT_IDLE,     /* nothing runs */
	EVICT_BALANCED, /* everything is used, every queue is at its share */
	EVICT_LOPSIDED, /* everything is used, by every second queue */
};

/* Many queues with many groups that wait, of one to four pods with one device each. */
void crowded_crowd(struct crowded *bench, int nodes, int queues, int groups, enum evict_fill fill);
/* How many pods of the crowd get a place. */
int crowded_served(int queues, int groups, enum evict_fill fill);
void crowded_destroy(struct crowded *bench);
int crowded_wanted(const struct crowded *bench); /* pods of the waiting gang */

#endif
