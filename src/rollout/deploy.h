/* Rolling deploy: which batch an instance belongs to, when batches are released to the scheduler, and the affinity that
 * stands in for the gang tree where another scheduler places the pods. A batch is a segment (segments.h) and
 * roleDeployStep its size; batch n holds the ordinals whose segment_of is n. */
#ifndef ROLLOUT_DEPLOY_H
#define ROLLOUT_DEPLOY_H

#include "base/arena.h"
#include "base/labels.h"
#include "rollout/naming.h"
#include "rollout/segments.h"

#define DEPLOY_GATE "workloads.x-k8s.io/rolling-deploy"
#define DEPLOY_TOPOLOGY "rbg-cluster-topology" /* clusterTopologyName when none is given */
#define DEPLOY_TOPOLOGY_FINALIZER "workloads.x-k8s.io/topology-in-use"

enum deploy_mode { DEPLOY_HARD, DEPLOY_SOFT };
/* "hard" (also NULL and "") and "soft"; false for anything else. */
bool deploy_mode_parse(const char *name, enum deploy_mode *out);

/* Batches that may be scheduled: the first, and each one whose predecessors have arrived. What counts as arrived is
 * what the caller put into `ready` and `is_ready` of the roles: scheduled for Ordered, ready for OrderedReady. With
 * Parallel all are free. Pods of the batches from here on keep their gate. */
int64_t deploy_released(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule);

/* One term of pod affinity that draws the pods of a sub-group to one domain: required when hard, weight 100 when soft.
 * It names the group too, so that groups of like names never meet. Lives in the arena. */
struct pod_term *deploy_affinity(const char *group, const char *subgroup, const char *topology_key,
                                 enum deploy_mode mode, enum naming_family family, struct arena *arena);

struct deploy_layer {
	const char *name;
	int64_t scope; /* topologyScope: larger is wider; ignored unless has_scope */
	bool has_scope;
};

/* "Host < TOR < Pod": the layers from small to large as listed, or by scope when every layer has one. */
const char *deploy_level_text(const struct deploy_layer *layers, size_t count, struct arena *arena);

#endif
