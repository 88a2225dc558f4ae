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

#endif
