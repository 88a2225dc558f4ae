/* Kubelets of simulated nodes: pods that are bound start, become ready, may complete, and end when they are deleted.
 *
 * Keeps no state of its own: every due time follows from times in the objects, so a restart goes on where it was. */
#ifndef SIM_KUBELET_H
#define SIM_KUBELET_H

#include "base/clock.h"
#include "store/store.h"

/* A pod with this annotation succeeds so many seconds after its start. */
#define KUBELET_RUN_SECONDS "platoon.dev/run-seconds"

struct kubelet {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	int64_t start_seconds;            /* from binding to Running */
	int64_t ready_seconds;            /* from Running to Ready */
	int64_t stop_seconds;             /* from the delete until the pod is gone, if its grace is not shorter */
	/* private */
	uint64_t seen;
	int64_t due; /* seconds: the next change of a pod, INT64_MAX for none */
	bool started;
};

/* Moves every pod that is due. Milliseconds until the next one, -1 for none. */
int kubelet_step(struct kubelet *kubelet);

#endif
