/* Node manifests of simulated clusters: from a shape, and from the node list of a trace. */
#ifndef CLUSTER_NODES_H
#define CLUSTER_NODES_H

#include "base/problems.h"
#include "base/strings.h"

#define NODES_MAX 20000
/* Where a node list has no topology: so many nodes of one model are a rack, so many racks a zone. */
#define NODES_PER_RACK 16
#define RACKS_PER_ZONE 8
/* Where nothing is said about memory: GiB for each core. An amount that is the same for small and large nodes would be
 * what limits a large one, though nobody said so. */
#define NODES_MEMORY_PER_CPU 8

/* Zones x racks per zone x nodes per rack, called z1-r1-n1 and so on. Appends YAML documents. GPUs are an amount of the nodes,
 * or `as_devices`: a ResourceSlice for each node, with classes that select them, as NVIDIA's driver publishes them. */
void nodes_of_shape(struct buffer *out, int zones, int racks, int nodes, int gpus, bool as_devices);

/* Comma separated values with a header. Columns, in any order, others are left alone: node_name (or name, sn), cpu_num
 * (or cpu), gpu_capacity_num (or gpu), memory_gib, gpu_model (or model), zone, rack. Appends YAML documents; -1 when
 * there were errors, each with its line. */
int nodes_of_list(struct buffer *out, const char *text, size_t length, const char *source, struct problems *problems);

#endif
