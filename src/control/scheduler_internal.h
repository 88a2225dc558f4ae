/* What scheduler.c and scheduler_write.c share. */
#ifndef CONTROL_SCHEDULER_INTERNAL_H
#define CONTROL_SCHEDULER_INTERNAL_H

#include "control/plan.h"
#include "control/scheduler.h"

/* One cycle whose decisions are to be written. */
struct scheduler_turn {
	struct store *store;
	const struct logger *logger;
	const struct plan *plan;
	struct arena *arena;
	int64_t now_seconds;
};

void scheduler_write(const struct scheduler_turn *turn);

/* scheduler_times.c: whether the group is below its minimum with pods running, and may be released for that. */
bool scheduler_is_stale(const struct cycle_group *group);
/* Notes on the PodGroup since when it is stale and when it last lost pods. */
void scheduler_write_times(const struct scheduler_turn *turn, size_t index, const struct store_object *object);

#endif
