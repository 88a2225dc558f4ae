/* World: everything that acts on the store of an embedded cluster, in a fixed order and on one thread: workload
 * controllers, those of volumes, grouping, scheduler, kubelets. `platoon up` runs it in real time behind the API server,
 * simulations run it in virtual time. It keeps nothing that is not in the store: destroy and create is a crash and a
 * restart. */
#ifndef CLUSTER_WORLD_H
#define CLUSTER_WORLD_H

#include "base/clock.h"
#include "base/log.h"
#include "cluster/kubelet.h"
#include "api/store.h"

struct plan;
struct settings_source;
struct world;

struct world_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	struct settings_source *settings; /* borrowed; NULL: the usual */
	struct kubelet_options kubelet;   /* delays; its store, clock and logger are set by the world */
	bool beside;                      /* decisions have a thread of their own, see scheduler.h */
	size_t slice;                     /* of what the scheduler writes, see scheduler.h */
	/* Told of every group that the scheduler decides, see scheduler.h. NULL: nobody. */
	void (*decided)(void *context, const struct plan *plan, size_t group);
	void *decided_context;
};

struct world *world_create(const struct world_options *options);
void world_destroy(struct world *world); /* NULL is a no-op */
/* Lets everybody do what is due. The owner of the loop commits the store afterwards. Milliseconds until something is
 * due if nothing changes: 0 for at once, -1 for never. */
int world_step(struct world *world);
/* The same for the next one alone, where others are to be served between two. True when the round is through: then `wait` is what
 * world_step would have returned. */
bool world_turn(struct world *world, int *wait);
/* As scheduler_decision_ns. */
int64_t world_decision_ns(const struct world *world);
/* Appends the metrics of the scheduler in the text format of Prometheus. */
void world_metrics(const struct world *world, struct buffer *out);

#endif
