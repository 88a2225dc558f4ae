/* The scheduler loop over a store: a cycle for what changed, and its decisions written back.
 *
 * It acts on what is committed. Decisions are assumed to hold from the moment they are written: a bound pod counts as placed
 * until the store shows it or refuses it. What was refused is decided again around what was placed; a gang that can no
 * longer be completed before any of it started is released as a whole. It keeps nothing that the store does not: after
 * a restart it goes on, gangs of which a part is placed first. */
#ifndef SCHEDULE_SCHEDULER_H
#define SCHEDULE_SCHEDULER_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

#include <stdbool.h>

/* Who evicts: other controllers of the same process delete pods for other reasons. */
#define SCHEDULER_ACTOR "platoon-scheduler"

struct pod_grouping;
struct plan;
struct scheduler;
struct settings_source;

struct scheduler_options {
	struct settings_source *settings; /* borrowed; NULL: the usual */
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	int64_t pause_ns;                 /* least time between two cycles, so that a burst is one change; 0: 50 ms */
	bool beside; /* decides on a thread of its own; what others do meanwhile is looked at afterwards, so time counts */
	int64_t period_ns; /* a cycle this often while something waits, for delays; 0: 10 s */
	/* Of pods that name no PodGroup, see pod_grouping.h; copied. NULL: nobody groups. */
	const struct pod_grouping *grouping;
	size_t slice; /* how much a step writes, see scheduler_internal.h; 0: the usual */
	/* Told of each group of each cycle, by its place in the plan, before its trials are taken back. NULL: nobody. */
	void (*decided)(void *context, const struct plan *plan, size_t group);
	void *decided_context;
};

struct scheduler *scheduler_create(const struct scheduler_options *options);
void scheduler_destroy(struct scheduler *scheduler); /* NULL is a no-op */
/* Runs a cycle when one is due, or goes on writing what the last one decided. Writes are in memory afterwards: the owner of the
 * loop commits. Milliseconds until the
 * next cycle is due if nothing changes, -1 for never. */
int scheduler_step(struct scheduler *scheduler);
void scheduler_read(struct scheduler *scheduler); /* only takes over what changed */

/* Nanoseconds from the start of cycles to their decisions, all together. */
int64_t scheduler_decision_ns(const struct scheduler *scheduler);
/* Appends all metrics in the text format of Prometheus. */
void scheduler_metrics(const struct scheduler *scheduler, struct buffer *out);
/* Whether it has seen all objects and run a cycle since it was created. */
bool scheduler_ready(const struct scheduler *scheduler);

#endif
