/* Kubelets of simulated nodes, and the controllers that look after nodes: pods that are bound start, become ready, may
 * complete or fail, and end when they are deleted; nodes that are said to be down lose their pods.
 *
 * Keeps nothing that a restart would miss: every due time follows from times in the objects. What it costs follows from
 * what changes and falls due, and from the heartbeats when they are wanted.
 *
 * Annotations say what happens, on a pod or for all pods of a node that say nothing themselves, and rules for selections of
 * pods in between. Seconds may be "never". */
#ifndef CLUSTER_KUBELET_H
#define CLUSTER_KUBELET_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

#define KUBELET_START_SECONDS "platoon.dev/start-seconds" /* from binding to Running */
#define KUBELET_READY_SECONDS "platoon.dev/ready-seconds" /* from the start of the containers to Ready */
#define KUBELET_STOP_SECONDS "platoon.dev/stop-seconds"   /* from the delete until the pod is gone */
#define KUBELET_RUN_SECONDS "platoon.dev/run-seconds"     /* from the start of the containers to their end */
#define KUBELET_EXIT_CODE "platoon.dev/exit-code"         /* with which they end, 0 unless given */
#define KUBELET_FAIL_TIMES "platoon.dev/fail-times"       /* after so many failures they end with 0 */
/* The ConfigMap of kube-system with rules for selections of pods. */
#define KUBELET_RULES "platoon-rules"
/* On nodes only. */
#define KUBELET_NODE_STATE "platoon.dev/state"       /* "down": nothing is heard of the node any more */
#define KUBELET_NODE_FLAP "platoon.dev/flap-seconds" /* so long up, so long down, and so on */

struct kubelet;

struct kubelet_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	/* Where no annotation says otherwise. A pod stops no later than its grace period says. */
	int64_t start_seconds, ready_seconds, stop_seconds;
	/* Between the renewals of the Lease of a node, more when there are many nodes. A node of which nothing is heard four
	 * times as long is unreachable. 0: no heartbeats, a node that is said to be down is unreachable at once. */
	int64_t heartbeat_seconds;
	int64_t lost_seconds; /* pods of a node that is down are given up after so long, unless they tolerate more */
};

struct kubelet *kubelet_create(const struct kubelet_options *options);
void kubelet_destroy(struct kubelet *kubelet); /* NULL is a no-op */
/* As reconciler_step. */
int kubelet_step(struct kubelet *kubelet);

#endif
