/* Queue scheduling.run.ai/v2. Quotas as integers in the units the engine uses: GPUs in milli-devices, CPU in
 * milli-cores, memory in bytes (the manifest writes megabytes of 10^6 bytes). -1 = unlimited. */
#ifndef ADMIT_QUEUE_H
#define ADMIT_QUEUE_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

enum queue_resource { QUEUE_GPU, QUEUE_CPU, QUEUE_MEMORY, QUEUE_RESOURCES };

struct queue_share {
	int64_t quota;  /* unset = 0 */
	int64_t limit;  /* unset = 0: pods that request the resource do not run */
	int64_t weight; /* over-quota weight in thousandths; unset = 0 */
};

struct queue_spec {
	const char *name, *parent; /* parent NULL at the top */
	int64_t priority;          /* default 100 */
	int64_t creation_seconds;
	struct queue_share share[QUEUE_RESOURCES];
	bool has_preempt_runtime, has_reclaim_runtime; /* if not, the parents are asked */
	int64_t preempt_runtime_ns, reclaim_runtime_ns;
};

int queue_decode(const struct val *object, struct arena *arena, struct queue_spec *out, struct problems *problems);

#endif
