/* A case set up for the engine: the engine's cluster, queues and groups, and what the world does between two cycles. */
#ifndef CYCLE_FIXTURE_H
#define CYCLE_FIXTURE_H

#include "../build.h"
#include "case.h"
#include "base/clock.h"
#include "engine/cycle/cycle.h"

struct leaver { /* evicted, and still there */
	int group, pod, node;
	bool moved;
};

struct cycle_fixture {
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

void cycle_fixture_create(struct cycle_fixture *fixture, const struct cycle_case *world);
/* A second one in the state of the first between two cycles, on a cluster that was built anew. Reservations come
 * back as nominations, as they do after a restart. */
void cycle_fixture_copy(struct cycle_fixture *fixture, const struct cycle_fixture *from);
void cycle_fixture_destroy(struct cycle_fixture *fixture);

/* Forgets the reasons and evictions of the cycle before. */
void cycle_fixture_begin(struct cycle_fixture *fixture);
/* Evicted pods end and wait again, in a slow world only some of them. True when there were any. */
bool cycle_fixture_settle(struct cycle_fixture *fixture);
/* Moves the clock to the next moment at which something may happen; false when there is none. */
bool cycle_fixture_wait(struct cycle_fixture *fixture);
/* One number for everything the cycle decided and left. */
uint64_t cycle_fixture_fingerprint(const struct cycle_fixture *fixture);

#endif
