/* What the files of the simulated kubelets share. */
#ifndef SIM_KUBELET_INTERNAL_H
#define SIM_KUBELET_INTERNAL_H

#include "control/reconciler.h"
#include "sim/kubelet.h"

#define KUBELET_SECOND INT64_C(1000000000)
#define KUBELET_NEVER INT64_MAX
#define KUBELET_DOWN "SimulatedDown" /* reason of the Ready condition of a node that is said to be down */

/* Does what is due and sets turn->again_ns to when something will be. */
int kubelet_turn_pod(const struct kubelet_options *options, struct reconcile *turn);
int kubelet_turn_node(struct reconcile *turn);

/* Seconds of an annotation, KUBELET_NEVER for "never", the fallback when it is absent or no number. */
int64_t kubelet_seconds(const struct val *object, const char *annotation, int64_t fallback);
bool kubelet_read_time(const struct val *text, int64_t *seconds);
/* The condition of the object, NULL when it has none. */
const struct val *kubelet_condition(const struct val *object, const char *type);
/* Whether the node is down by our hand, and since when. */
bool kubelet_node_down(const struct val *node, int64_t *since);
/* Wants another turn at this second. */
void kubelet_again(struct reconcile *turn, int64_t due);

#endif
