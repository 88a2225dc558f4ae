/* What the files of the simulated kubelets share. */
#ifndef CLUSTER_KUBELET_INTERNAL_H
#define CLUSTER_KUBELET_INTERNAL_H

#include "loop/reconciler.h"
#include "cluster/kubelet.h"

#define KUBELET_NEVER INT64_MAX
#define KUBELET_UNSAID INT64_MIN
#define KUBELET_DOWN "NodeStatusUnknown" /* reason of the Ready condition of a node of which nothing is heard */
#define KUBELET_GRACE_BEATS 4            /* heartbeats that have to be missing */

/* Rules for selections of pods, see kubelet_rules.c. */
struct kubelet_rules;
struct kubelet_rules *kubelet_rules_create(void);
void kubelet_rules_destroy(struct kubelet_rules *rules); /* NULL is a no-op */
/* map: NULL when there is none any more. What is wrong in it becomes an event. */
void kubelet_rules_read(struct kubelet_rules *rules, struct store *store, const struct store_object *map,
                        int64_t now_seconds);
/* node: NULL when it does not exist. */
int64_t kubelet_rules_say(const struct kubelet_rules *rules, const struct store_object *pod,
                          const struct store_object *node, const char *annotation, int64_t fallback);

/* Does what is due and sets turn->again_ns to when something will be. */
int kubelet_turn_pod(const struct kubelet_options *options, const struct kubelet_rules *rules, struct reconcile *turn);
/* How often nodes are heard of. */
struct kubelet_beat {
	int64_t interval; /* seconds; 0: there are no heartbeats, and what annotations say is known at once */
	size_t nodes;
};
int kubelet_turn_node(const struct kubelet_beat *beat, struct reconcile *turn);
int64_t kubelet_interval(const struct kubelet_options *options, size_t nodes);
/* When the node was last heard of; false: never. */
bool kubelet_heard(struct reconcile *turn, const char *node, int64_t *when);
/* The heartbeat of a node that is up, when it is due. Wants a turn for the next one. */
void kubelet_renew(struct reconcile *turn, const struct kubelet_beat *beat, const struct store_object *node);

/* Seconds of an annotation, KUBELET_NEVER for "never", the fallback when it is absent or no number. */
int64_t kubelet_seconds(const struct val *object, const char *annotation, int64_t fallback);
bool kubelet_read_time(const struct val *text, int64_t *seconds);
/* The condition of the object, NULL when it has none. */
const struct val *kubelet_condition(const struct val *object, const char *type);
/* Whether its annotations say that the node is down now: its kubelet does nothing. Wants a turn when that ends. */
bool kubelet_silent(const struct val *node, struct reconcile *turn);
/* Whether the node is down by our hand, and since when. */
bool kubelet_node_down(const struct val *node, int64_t *since);
/* The taint by which pods have to leave such a node, NULL when it has none yet. */
const struct val *kubelet_unreachable(const struct val *node);
/* Wants another turn at this second. */
void kubelet_again(struct reconcile *turn, int64_t due);

#endif
