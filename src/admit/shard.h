/* SchedulingShard kai.scheduler/v1: what is decided differently in one pool of nodes. */
#ifndef ADMIT_SHARD_H
#define ADMIT_SHARD_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

enum shard_order { SHARD_UNSAID, SHARD_BINPACK, SHARD_SPREAD };

struct shard_spec {
	const char *name;
	const char *pool;          /* partitionLabelValue; NULL: the nodes without the label of pools */
	enum shard_order gpu, cpu; /* placementStrategy */
	bool has_preempt_runtime, has_reclaim_runtime; /* of groups whose queues grant nothing */
	int64_t preempt_runtime_ns, reclaim_runtime_ns;
	int64_t factor; /* kValue in thousandths, -1 when unset */
	/* Of args, as far as they are about decisions. */
	bool has_restrict, restrict_nodes; /* restrict-node-scheduling */
	bool ignore_parents;               /* full-hierarchy-fairness: "false" */
	bool has_grace;
	int64_t grace_ns; /* default-staleness-grace-period; negative: for ever */
};

/* What is not served is a warning with its path. */
int shard_decode(const struct val *object, struct arena *arena, struct shard_spec *out, struct problems *problems);

#endif
