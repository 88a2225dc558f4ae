/* The cluster from inside: what the engine reads of it and the files of this folder share. Nothing outside src/engine
 * includes this.
 *
 * A *shape* is what counts for slots: requests plus node rules. A *pod class* is a shape plus what other pods can see of it
 * (namespace, labels) and its rules about other pods. Slots per node and their sums per domain are cached per shape and
 * brought up to date from a log of changed nodes, so a decision costs what changed, not what exists. */
#ifndef ENGINE_CLUSTER_INTERNAL_H
#define ENGINE_CLUSTER_INTERNAL_H

#include "base/hash.h"
#include "base/strings.h"
#include "base/vec.h"
#include "engine/cluster/cluster.h"
#include "engine/cluster/device_stock.h"
#include "engine/cluster/spans.h"
#include "engine/cluster/volume_pool.h"
#include "engine/place/strategy.h"

/* Host ports are resources too: a wildcard address takes the whole of PORT_WHOLE, a specific one takes 1 of it and the
 * only unit of its own column. */
#define PORT_WHOLE 4096

#define CLUSTER_MAX_TOPOLOGIES 16

#define HOSTNAME_LABEL "kubernetes.io/hostname"

struct domain {
	int32_t first, end;             /* range of positions in the order of its topology */
	int32_t parent;                 /* domain one level up, -1 at level 0 */
	int32_t first_child, child_end; /* range of domains one level down */
	const char *name;               /* label value */
};

struct topology {
	const char *name;
	int level_count;
	const char *labels[CLUSTER_MAX_LEVELS];
	struct domain *domains[CLUSTER_MAX_LEVELS];
	int domain_count[CLUSTER_MAX_LEVELS];
	int32_t *node_domain[CLUSTER_MAX_LEVELS]; /* by node, -1 when it has none */
	int32_t *order;                           /* position -> node */
	bool hosts[CLUSTER_MAX_LEVELS];           /* every domain of the level is a single node */
	int unlabelled_count;
};

/* Slots of one shape in one view of the cluster. sums[t][l][d]; total is the whole cluster. Sums of levels whose
 * domains are single hosts repeat the node slots and exist only once a constraint asks for them (slots_need_level). */
struct slots {
	int32_t *node;
	int64_t **sums[CLUSTER_MAX_TOPOLOGIES];
	int64_t total;
	int open;      /* nodes with at least one slot */
	uint64_t seen; /* position in the change log; UINT64_MAX = never computed */
};
/* Which amounts count: what is free, also what is being released, or everything (as if nothing ran). */
enum { VIEW_FREE, VIEW_RELEASING, VIEW_EMPTY, VIEW_COUNT };

struct shape {
	int request_count;
	int *resource;
	int64_t *amount;
	struct pod_rules rules; /* the part about nodes */
	bool one_per_node;
	bool shares;             /* asks for a resource that is shared_of another */
	bool claims;             /* asks for devices of the stock */
	bool everywhere;         /* no rule excludes any node (then `allowed` is NULL) */
	uint8_t *allowed;        /* by node: 1 when the node rules admit the shape */
	bool unsure[VIEW_COUNT]; /* some node may have more slots than its devices were found to serve */
	int *exclusions;         /* nodes per cause, NULL until somebody asks; see shape_count_exclusions */
	struct slots *slots[VIEW_COUNT];
};

struct pod_class {
	int shape;
	const char *namespace_;
	struct labels labels;
	struct pod_rules rules; /* the part about other pods */
	bool has_required_rules;
};

/* Pods present on a node that have rules others must respect, or that rules may look at. */
struct resident {
	int pod_class;
	int count;     /* running or reserved */
	int releasing; /* still there now, gone in the releasing view */
};
struct resident_list {
	struct resident *items;
	size_t count, capacity;
};

struct key_entry { /* serialised content -> number */
	UT_hash_handle hh;
	int number;
	size_t length;
	char bytes[];
};

struct name_entry {
	UT_hash_handle hh;
	const char *name;
	int number;
};

struct cluster_node_data {
	const char *name;
	struct labels labels;
	struct taint *taints;
	size_t taint_count;
	const char *pool; /* value of the label of pools, NULL for none */
	bool unschedulable, ready;
};

struct resource_column {
	const char *name;
	int64_t *allocatable;
	int64_t *free;
	int64_t *releasing;                                            /* NULL while no releasing pod uses it */
	struct span *allocatable_spans, *free_spans, *releasing_spans; /* their bounds */
	int64_t *held;                                                 /* see cluster_hold_amount; NULL: nothing is */
	int64_t initial; /* allocatable of nodes that do not name it (host ports) */
	int64_t total;   /* allocatable of all nodes */
	bool outside;    /* cluster_set_amount says how much there is, not the nodes */
	int shared_of;   /* all pods of a node that ask for it take one unit of this resource; -1 mostly */
	int claims;      /* its units are claims of that number, of the stock of devices; -1 mostly */
};

struct pod_class_amounts { /* what a pod counts for against queues: devices, CPU, memory */
	int64_t of[3];
};

struct journal_entry { /* one change of occupancy */
	int pod_class, node;
	enum occupancy occupancy;
	int sign;
};

struct pool_strategy {
	const char *pool; /* NULL: nodes without one */
	struct strategy strategy;
};

struct cluster {
	struct arena *arena; /* names, labels, rules: live as long as the cluster */
	bool sealed;
	struct topology *topologies;
	int topology_count;
	struct cluster_node_data *nodes;
	int node_count;
	struct name_entry *node_index;
	VEC(struct resource_column) resources;
	struct name_entry *resource_index;
	VEC(struct shape) shapes;
	struct key_entry *shape_index;
	VEC(struct pod_class) pod_classes;
	struct key_entry *pod_class_index;
	struct resident_list *residents; /* by node */
	VEC(int) guarded_pod_classes;    /* classes with required anti-affinity that are resident somewhere, or were */
	const char *pool_key;            /* label by which nodes belong to pools, NULL: there are none */
	int plain_blocked;               /* nodes that are not ready, unschedulable, tainted or in a pool */
	int soft_taints;                 /* nodes with a PreferNoSchedule taint */
	bool hostnames_unique;           /* every node has its own kubernetes.io/hostname label */
	VEC(struct pod_class_amounts) pod_class_amounts; /* by pod class, as far as somebody asked */
	VEC(int32_t) pod_class_mark;                     /* scratch of the solver: by pod class, -1 between decisions */
	struct slots *spare_slots; /* ready for the next shape, so that no decision waits for fresh memory */
	VEC(int32_t) changed;      /* log of changed nodes */
	uint64_t changed_base;     /* log position of changed.items[0] */
	int releasing_pods;
	VEC(struct journal_entry) journal; /* changes of occupancy since cluster_record */
	bool recording;
	struct strategy strategy;
	VEC(struct pool_strategy) pool_strategies; /* of pools that have their own */
	bool spare_gpus;                           /* see cluster_set_spare_gpus */
	const struct volume_pool *volume_pool;     /* NULL mostly */
	const struct device_stock *device_stock;   /* NULL mostly */
	struct device_memory *device_memory;       /* of device_stock.c */
	uint64_t freed;                            /* see cluster_freed */
	uint64_t occupied;                         /* sum over all pods on nodes: see cluster_state */
	uint64_t node_changes;                     /* how often a node changed by itself, not by what runs there */
	struct journal_entry vacant;               /* left just now, and taken again as a rule; sign 0 for none */
	/* nodes in the order they were added, until seal */
	VEC(struct cluster_node) added;
};

/* ---- cluster.c ---- */

/* The number of a resource; a new one gets a column in which every node has `initial`. The name is copied. */
int cluster_add_resource(struct cluster *cluster, const char *name, int64_t initial);
/* What a node has of a resource in a view; negative when it is over-committed. */
int64_t cluster_amount_in_view(const struct cluster *cluster, int resource, int node, int view);
/* Units of `of` that one more pod of the shape takes on a node: its own, and one for each resource shared of it that no pod there
 * asks for in the view. */
int64_t cluster_shared_need(const struct cluster *cluster, const struct shape *shape, int of, int node, int view);
/* Changes what is free on a node, and what is being released there. */
void cluster_add_free(struct cluster *cluster, int resource, int node, int64_t change);
void cluster_add_releasing(struct cluster *cluster, int resource, int node, int64_t change);
/* To be called after every change of a node's amounts: writes it into the log that slots are brought up to date from. */
void cluster_mark_node_changed(struct cluster *cluster, int node);
/* Whether some pod without any rules may not go there. */
/* The pool that the labels of a node name, NULL for none; borrowed from them. */
const char *cluster_pool_of(const struct cluster *cluster, const struct labels *labels);
bool cluster_node_blocks_plain_pods(const struct cluster_node_data *node);
/* Frees the entries, not the names; *index is NULL then. */
void cluster_free_names(struct name_entry **index);
/* Deep copies in the arena. */
struct labels cluster_copy_labels(struct arena *arena, const struct labels *from);
struct taint *cluster_copy_taints(struct arena *arena, const struct taint *from, size_t count);

/* ---- device_stock.c ---- */

/* How many pods of a shape with claims, `most` at most, the devices of a node serve beside those that are there. With `unsure` it
 * may be more. */
int32_t device_stock_slots(const struct cluster *cluster, const struct shape *shape, int node, int view, int32_t most,
                           bool *unsure);
/* Whether the devices of a node are known to serve all claims that pods have there. */
bool device_stock_holds(const struct cluster *cluster, int node, int view);
/* "whose devices for request gpus have no common pcieRoot": what keeps a pod of the shape off the node; NULL when it is nothing
 * about devices. In the arena. */
const char *device_stock_trouble(const struct cluster *cluster, const struct shape *shape, int node, int view,
                                 struct arena *arena);
void device_stock_free(struct cluster *cluster);

/* ---- edit.c ---- */

/* Counts a change of occupancy for cluster_freed. */
void cluster_note_freed(struct cluster *cluster, const struct journal_entry *change);
/* How many changes are written down since cluster_record; and those from `since` on are forgotten, because they have been
 * taken back already. */
size_t cluster_journal_length(const struct cluster *cluster);
void cluster_journal_cut(struct cluster *cluster, size_t since);

/* ---- order.c ---- */

/* Frees what belongs to the order of nodes, so that it can be built anew. */
void cluster_free_domains(struct topology *topology);

/* ---- shapes.c ---- */

/* Whether the node rules of a shape admit a node. Looks it up. */
bool shape_allows_node(const struct cluster *cluster, const struct shape *shape, int node);
enum exclusion {
	EXCLUDE_NONE,
	EXCLUDE_POOL,
	EXCLUDE_LABEL,
	EXCLUDE_NOT_READY,
	EXCLUDE_UNSCHEDULABLE,
	EXCLUDE_TAINT,
	EXCLUDE_SELECTOR,
	EXCLUDE_AFFINITY,
	EXCLUDE_VOLUME,
	EXCLUDE_CAUSES
};
/* The first cause for which a node is excluded. Works it out, for explanations. */
enum exclusion shape_find_exclusion(const struct cluster *cluster, const struct shape *shape, int number);
/* Nodes per cause, an array of EXCLUDE_CAUSES; valid until a node changes or a shape is added. The first call for a shape
 * looks at every node. */
const int *shape_count_exclusions(struct cluster *cluster, int number);

/* ---- slots.c ---- */

/* The slots of a shape in a view, up to date; owned by the cluster and valid until the next change of it. Costs what changed
 * since the last call for this shape, every node at most. */
struct slots *slots_get(struct cluster *cluster, int number, int view);
/* Makes sure that the sums of a level of single hosts are there. */
void slots_need_level(const struct cluster *cluster, struct slots *slots, int topology, int level);
/* A private copy where nodes with mask[node] == 0 have no slots. In the arena. */
struct slots *slots_copy_masked(struct cluster *cluster, int number, int view, const uint8_t *mask,
                                struct arena *arena);
/* Counts the slots of one node without the cache. */
int32_t slots_count_on_node(const struct cluster *cluster, const struct shape *shape, int node, int view);
/* Whether one more pod of the class fits there by its requests; node rules are not asked. */
bool pod_class_fits_node(const struct cluster *cluster, int pod_class, int node, int view);
void slots_free(struct cluster *cluster, struct slots *slots); /* NULL is a no-op */
/* Allocates what the next new shape will need, so that no decision waits for fresh memory. */
void slots_prepare_spare(struct cluster *cluster);

/* The domain one level up, -1 at the top. */
static inline int topology_find_parent(const struct topology *topology, int level, int domain)
{
	return level <= 0 ? -1 : topology->domains[level][domain].parent;
}

#endif
