/* Where a placement costs least when room is made by eviction, or held for later. Private to the engine. */
#ifndef ENGINE_PLACE_BIAS_H
#define ENGINE_PLACE_BIAS_H

#include "engine/cluster/internal.h"
#include "engine/gang/gang.h"

/* Where pods go at the least cost when room is made by eviction. */
struct place_bias {
	int32_t *node_score;                    /* by node, higher is better */
	int64_t **idle[CLUSTER_MAX_TOPOLOGIES]; /* [cluster topology][level][domain]: slots that need no eviction */
};

/* Prefers what is free now: idle slots of the gang's first waiting pod, per domain of the levels the gang names, and per
 * node: 1 where a whole pod has room, else 0; with `parts` 0 to BIAS_IDLE by how much of a pod there is room for. In the
 * arena. */
#define BIAS_IDLE 100
void bias_build_from_free(struct cluster *cluster, const struct gang *gang, bool parts, struct arena *arena,
                          struct place_bias *bias);

#endif
