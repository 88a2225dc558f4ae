/* A case on stage: the engine's cluster, queues and groups, and what the world does between two cycles. */
#ifndef CYCLE_FIXTURE_H
#define CYCLE_FIXTURE_H

#include "../build.h"
#include "case.h"
#include "engine/cycle/cycle.h"

#define STAGE_SECOND INT64_C(1000000000)

struct leaver { /* evicted, and still there */
	int group, pod, node;
	bool moved;
};

struct stage {
	const struct cycle_case *world;
	struct built built;
	struct arena *arena; /* of the present cycle */
	struct cycle cycle;
	int64_t retry_at;  /* the first of all cycles since the clock moved */
	bool leavers_left; /* the pods of nobody that were leaving are gone */
	struct leaver leavers[CASE_GROUPS * INSTANCE_PODS];
	int leaver_count;
	uint64_t days; /* how often the world moved on */
};

void stage_create(struct stage *stage, const struct cycle_case *world);
/* A second stage in the state of the first between two cycles, on a cluster that was built anew. Reservations come
 * back as nominations, as they do after a restart. */
void stage_copy(struct stage *stage, const struct stage *from);
void stage_destroy(struct stage *stage);

/* Forgets the reasons and evictions of the cycle before. */
void stage_begin(struct stage *stage);
/* Evicted pods end and wait again, in a slow world only some of them. True when there were any. */
bool stage_settle(struct stage *stage);
/* Moves the clock to the next moment at which something may happen; false when there is none. */
bool stage_wait(struct stage *stage);
/* One number for everything the cycle decided and left. */
uint64_t stage_fingerprint(const struct stage *stage);

#endif
