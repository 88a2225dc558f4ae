/* Reconciler: the frame of a controller. Changes of the types it watches become keys, each key is reconciled on its own
 * from what the store says at that moment, again after a pause when that failed.
 *
 * One thread, no clock of its own, no state that a restart would miss: what a controller remembers between two calls is
 * a cache it can lose. Reads see the writes of the same turn; the owner of the loop commits. */
#ifndef LOOP_RECONCILER_H
#define LOOP_RECONCILER_H

#include "base/clock.h"
#include "base/log.h"
#include "loop/work_queue.h"
#include "api/store.h"

struct reconciler;

struct reconciler_watch {
	const char *group, *resource;
	int kind; /* of the keys when `map` is NULL: then the key is the object itself */
	/* Calls reconciler_want for each key the change concerns. When an object changes owner or labels, `old` says what
	 * it was; NULL for the first time. */
	void (*map)(struct reconciler *reconciler, void *context, const struct store_object *object,
	            const struct store_object *old, bool deleted);
	const char *namespace_; /* NULL: all */
};

/* One key in work. */
struct reconcile {
	struct store *store;
	const struct logger *logger;
	struct arena *arena; /* for this call */
	struct work_key key;
	int64_t now_ns;
	int64_t again_ns;    /* set by the callee: pause after which it wants to be called again; 0: not */
	const char *failure; /* set by the callee when it returns -1, for the log */
};

struct reconciler_options {
	const char *name; /* in logs */
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	const struct reconciler_watch *watches;
	size_t watch_count;
	/* 0, or -1 to be called again after a pause. */
	int (*reconcile)(void *context, struct reconcile *turn);
	void *context;
};

struct reconciler *reconciler_create(const struct reconciler_options *options);
void reconciler_destroy(struct reconciler *reconciler); /* NULL is a no-op */
void reconciler_want(struct reconciler *reconciler, int kind, const char *namespace_, const char *name);
/* Reads changes only, a bounded number. False when some are left. */
bool reconciler_read(struct reconciler *reconciler);
/* Reads changes and reconciles what is due, at most a bounded number of keys. Milliseconds until there is something to
 * do if nothing changes: 0 for at once, -1 for never. */
int reconciler_step(struct reconciler *reconciler);

#endif
