/* Manager: the controllers that Platoon runs on any cluster, embedded or real, in a fixed order and on one thread. */
#ifndef MANAGER_MANAGER_H
#define MANAGER_MANAGER_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

struct manager;
struct plan;
struct settings_source;

struct manager_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	struct settings_source *settings; /* borrowed; NULL: the usual */
	bool beside;                      /* decisions have a thread of their own, see scheduler.h */
	size_t slice;                     /* of what the scheduler writes, see scheduler.h */
	/* Told of every group that the scheduler decides, see scheduler.h. NULL: nobody. */
	void (*decided)(void *context, const struct plan *plan, size_t group);
	void *decided_context;
};

struct manager *manager_create(const struct manager_options *options);
void manager_destroy(struct manager *manager); /* NULL is a no-op */
/* Lets everybody do what is due; the owner of the loop commits. Milliseconds until something is due if nothing changes:
 * 0 for at once, -1 for never. */
int manager_step(struct manager *manager);
/* The same for the next of them alone. True when the round is through: then `wait` is what manager_step would have returned. */
bool manager_turn(struct manager *manager, int *wait);

/* Takes over what changed and does nothing about it, while a mirror is still being filled: then there is less to do when it is
 * complete. */
void manager_read(struct manager *manager);

/* As scheduler_decision_ns. */
int64_t manager_decision_ns(const struct manager *manager);
/* All numbers in the text format of Prometheus. */
void manager_metrics(const struct manager *manager, struct buffer *out);
/* Whether everything was read and a first decision made. */
bool manager_ready(const struct manager *manager);

/* The sooner of two such waits. */
int manager_sooner(int a, int b);

#endif
