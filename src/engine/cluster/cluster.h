/* The cluster as the engine sees it: nodes in topology order, domains as index ranges, resources as int64 columns.
 *
 * Life cycle: create, add topologies, add nodes, seal, then bind and unbind pods and place gangs. Node numbers are
 * positions in the order of the first topology (plain name order without one) and are known after cluster_seal.
 * Strings given to the add functions are copied. Not thread safe: one owner at a time. */
#ifndef ENGINE_CLUSTER_CLUSTER_H
#define ENGINE_CLUSTER_CLUSTER_H

#include "base/arena.h"
#include "base/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_MAX_LEVELS 16

struct cluster;

struct cluster_node {
	const char *name;
	struct labels labels; /* sorted */
	const struct taint *taints;
	size_t taint_count;
	const struct resource_amount *allocatable;
	size_t allocatable_count;
	bool unschedulable;
	bool ready;
};

struct cluster *cluster_create(void);
void cluster_destroy(struct cluster *cluster); /* NULL is a no-op */

/* The label by which nodes belong to pools: a pod is placed in the pool its rules name, one without a pool on nodes
 * without one. NULL or never called: there are no pools. Before nodes are added; copied. */
void cluster_set_pool_key(struct cluster *cluster, const char *key);
/* Levels from the largest domain to the smallest. Returns the topology's number (0, 1, ...). Before cluster_seal only. */
int cluster_add_topology(struct cluster *cluster, const char *name, const char *const *levels, size_t level_count);
void cluster_add_node(struct cluster *cluster, const struct cluster_node *node);
/* Sorts nodes into topology order and builds the domains. Of several nodes with one name the first is kept. */
void cluster_seal(struct cluster *cluster);

int cluster_node_count(const struct cluster *cluster);
const char *cluster_node_name(const struct cluster *cluster, int node);
int cluster_find_node(const struct cluster *cluster, const char *name);            /* -1 when unknown */
const struct labels *cluster_node_labels(const struct cluster *cluster, int node); /* sorted; until the node changes */

int cluster_topology_count(const struct cluster *cluster);
const char *cluster_topology_name(const struct cluster *cluster, int topology);
int cluster_find_topology(const struct cluster *cluster, const char *name); /* -1 when unknown */
int cluster_level_count(const struct cluster *cluster, int topology);
const char *cluster_level_label(const struct cluster *cluster, int topology, int level);
int cluster_domain_count(const struct cluster *cluster, int topology, int level);
/* The domain of a node at a level, -1 when the node lacks a label needed for it. */
int cluster_node_domain(const struct cluster *cluster, int topology, int level, int node);
const char *cluster_domain_name(const struct cluster *cluster, int topology, int level, int domain); /* label value */
/* "b1/r3": values from the top, for people; in the arena. */
const char *cluster_domain_path(const struct cluster *cluster, int topology, int level, int domain,
                                struct arena *arena);
/* Nodes that have no domain at the deepest level of a topology because a label is missing. */
int cluster_unlabelled_count(const struct cluster *cluster, int topology);
/* i-th of them (in node order) and the first label it lacks; for reports. */
int cluster_unlabelled_node(const struct cluster *cluster, int topology, int index, const char **missing_label);

/* A pod class is what distinguishes pods for placement: requests, rules, and the labels other pods may select. Equal input
 * gives the same number. The rules are copied. */
struct pod_input {
	const char *namespace_;
	struct labels labels; /* sorted */
	const struct resource_amount *requests;
	size_t request_count;
	const struct pod_rules *rules; /* NULL: none */
};
int cluster_add_pod_class(struct cluster *cluster, const struct pod_input *input); /* the number of its class */
int cluster_pod_class_count(const struct cluster *cluster); /* classes are never forgotten: how many there were */

/* What a pod does to a node. Running: uses it. Releasing: uses it now, but is on its way out, so that others may
 * reserve what it frees. Reserved: does not run yet; others may not use what it will use. */
enum occupancy { OCCUPY_RUNNING, OCCUPY_RELEASING, OCCUPY_RESERVED };
/* Each takes the requests of one pod off the node, or gives them back; what is vacated must have been occupied in the same
 * way. A node may become over-committed. Costs the requests of the pod. */
void cluster_occupy(struct cluster *cluster, int pod_class, int node, enum occupancy occupancy);
void cluster_vacate(struct cluster *cluster, int pod_class, int node, enum occupancy occupancy);

/* From here on occupancy is written down; cluster_rewind takes all of it back. For decisions that are tried on the state
 * itself instead of on a copy. */
void cluster_record(struct cluster *cluster);
void cluster_rewind(struct cluster *cluster);

/* Grows whenever something may have become easier to place: a pod left, or is about to; a node changed. A pod that is
 * taken off its node and put back at once, and what is taken back by cluster_rewind, does not count. While the number
 * stays the same the cluster only became fuller. */
uint64_t cluster_freed(struct cluster *cluster);
/* Equal while nodes and what occupies them are the same: what was tried and taken back leaves no trace. */
uint64_t cluster_state(struct cluster *cluster);

/* Takes over what changed on the node of that name: amounts, taints, readiness, labels. 1 when something did, 0 when
 * not; -1, and nothing is changed, when there is no such node or when its labels would move it in a topology (or are
 * hostnames): that takes cluster_change_nodes. */
int cluster_update_node(struct cluster *cluster, const struct cluster_node *node);

/* Takes nodes in and out of a sealed cluster. Nothing may occupy nodes that go (`out`, by number), and those that come have
 * names that are not there then; a node that moves goes and comes. Numbers change: moved[old] is the new one, -1 for
 * nodes that are gone. Both arrays have an item for every node before the call. False when pod classes would be others with these
 * nodes (hostnames are no longer unique, or are by now): that takes a new cluster. */
bool cluster_change_nodes(struct cluster *cluster, const struct cluster_node *in, size_t in_count, const bool *out,
                          int32_t *moved);

/* A resource of which other objects than the nodes say how much there is where: its number, new ones with 0 everywhere. What
 * nodes say of it is not taken over. */
int cluster_need_resource(struct cluster *cluster, const char *name);
/* How much a node has of it. More than before counts for cluster_freed. Not while occupancy is written down. */
void cluster_set_amount(struct cluster *cluster, int resource, int node, int64_t amount);
/* So much of it is in use, by no pod: it is not free, and would be if nothing ran. */
void cluster_hold_amount(struct cluster *cluster, int resource, int node, int64_t amount);
/* Such a resource that stands for one thing which several pods use, such as a volume: however many pods of a node ask for it,
 * together they take one unit of `of` there. Slots do not say so; whoever places pods of such classes is told in the end. Before
 * pod classes ask for it. */
void cluster_share_resource(struct cluster *cluster, int resource, int of);

int cluster_resource_count(const struct cluster *cluster);
const char *cluster_resource_name(const struct cluster *cluster, int resource);
int cluster_find_resource(const struct cluster *cluster, const char *name); /* -1 when no node or pod names it */
int64_t cluster_allocatable(const struct cluster *cluster, int resource, int node);
int64_t cluster_total(const struct cluster *cluster, int resource); /* allocatable of all nodes */
/* Allocatable minus running, releasing and reserved; negative when the node is over-committed. */
int64_t cluster_free(const struct cluster *cluster, int resource, int node);
int64_t cluster_releasing(const struct cluster *cluster, int resource, int node);
/* The column itself, for benchmarks and bulk readers: cluster_node_count() values. */
const int64_t *cluster_free_column(const struct cluster *cluster, int resource);
/* What one pod of the class asks of a resource; 0 when nothing. */
int64_t cluster_pod_class_request(const struct cluster *cluster, int pod_class, int resource);
/* The pool whose nodes it may use, NULL for those without one. */
const char *cluster_pod_class_pool(const struct cluster *cluster, int pod_class);
/* Bytes held, for memory reports. */
size_t cluster_memory(const struct cluster *cluster);

#endif
