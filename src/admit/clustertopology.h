/* ClusterTopology workloads.x-k8s.io/v1alpha1: named layers of node labels, smallest domain first. */
#ifndef ADMIT_CLUSTERTOPOLOGY_H
#define ADMIT_CLUSTERTOPOLOGY_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

struct cluster_topology {
	const char *name;
	const char **layers; /* names, smallest domain first */
	const char **keys;   /* node labels, same length */
	size_t layer_count;
	const char *levels; /* "Host < TOR < Pod" */
};

int cluster_topology_decode(const struct val *object, struct arena *arena, struct cluster_topology *out,
                            struct problems *problems);
/* The node label of a layer, NULL when there is none of that name. */
const char *cluster_topology_key(const struct cluster_topology *topology, const char *layer);

#endif
