/* The scheduler loop over a store: a cycle for every change, and its decisions written back. */
#ifndef CONTROL_SCHEDULER_H
#define CONTROL_SCHEDULER_H

#include "base/clock.h"
#include "base/log.h"
#include "store/store.h"

struct scheduler;

struct scheduler_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	int64_t pause_ns;                 /* least time between two cycles, so that a burst is one change; 0: 50 ms */
	int64_t period_ns;                /* a cycle this often while something waits, for delays; 0: 10 s */
	uint64_t budget;                  /* search steps per placement, 0: the default */
	/* Whether a pod is not to be looked at yet: its group is not known. NULL: none is. */
	bool (*held)(void *context, const struct store_object *pod);
	void *held_context;
};

struct scheduler *scheduler_create(const struct scheduler_options *options);
void scheduler_destroy(struct scheduler *scheduler); /* NULL is a no-op */
/* Runs a cycle when one is due. Writes are in memory afterwards: the owner of the loop commits. Milliseconds until the
 * next cycle is due if nothing changes, -1 for never. */
int scheduler_step(struct scheduler *scheduler);

#endif
