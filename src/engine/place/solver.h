/* The solver's working state for one decision. Private to the engine.
 *
 * Order of work: demand.c turns the gang into *wants* (what must be added) and groups equal subtrees into *classes*;
 * bound.c keeps, for every class and domain, an upper bound on how many copies fit; search.c chooses children and domains
 * depth first; pack.c puts pods on nodes. All changes to shared arrays go through the trail and are undone at the end. */
#ifndef ENGINE_PLACE_SOLVER_H
#define ENGINE_PLACE_SOLVER_H

#include "engine/cluster/internal.h"
#include "engine/place/place.h"

#define COPIES_CAP (1 << 30)

/* Where pods go at the least cost when room is made by eviction. */
struct place_bias {
	int32_t *node_score;                    /* by node, higher is better */
	int64_t **idle[CLUSTER_MAX_TOPOLOGIES]; /* [cluster topology][level][domain]: slots that need no eviction */
};

/* Where a want is confined, per used topology: a domain at a level, or level -1 for the whole cluster. */
struct confine {
	int8_t level[CLUSTER_MAX_TOPOLOGIES];
	int32_t domain[CLUSTER_MAX_TOPOLOGIES];
};

struct local_shape {
	int shape;
	int pod_class;        /* one of this shape; the only one when `social` */
	bool social;          /* has its own mask or takes part in rules between pods: one local shape per pod class */
	struct slots *slots;  /* cached, or private when masked */
	const int32_t *score; /* by node, NULL when nothing is preferred */
	bool scored;
};

/* Counters are sums per domain that demand is counted against: slots of each local shape, then, for mixed gangs, free
 * amounts of each resource, then what the whole choice may count for. */
enum { COUNTER_SLOTS = -1, COUNTER_ALLOWANCE = -2 };
struct counter {
	int64_t **sums[CLUSTER_MAX_TOPOLOGIES]; /* by used topology, level, domain */
	int64_t *total;
	int resource; /* COUNTER_SLOTS for slots of local shape number = counter number, or COUNTER_ALLOWANCE */
	const int64_t *per_pod; /* COUNTER_ALLOWANCE: by local shape; there are no sums per domain */
};

struct part_class {
	int topology, level; /* used-topology index and level of the constraint, -1 when none */
	int fixed;           /* domain that running members dictate, -1 when free */
	bool dead;           /* can never be placed (members already violate the level) */
	bool leaf;
	int need;      /* leaf: pods; parent: children */
	int kid_count; /* distinct classes of children */
	int *kids;     /* class numbers */
	int *kid_copies;
	int kid_total;
	int *waiting;   /* leaf: waiting pods per local shape that may be used now */
	int *ahead;     /* leaf: all waiting pods per local shape, to look ahead to the surplus */
	int64_t *least; /* per counter: least amount any choice needs */
	int64_t *all;   /* per counter: everything waiting below, for looking ahead to the surplus */
	bool surplus;   /* more is waiting than needed */
	bool mixed;     /* leaf with several shapes waiting */
	bool mandatory; /* every solution contains it */
};

struct want {
	int tree;
	int class_;
	int parent; /* want, -1 for the root */
	int depth;
	int first_kid; /* in solver->kids: children in the order they are tried */
	int kid_count;
	int need; /* leaf: pods; parent: children among the kids */
	int rest; /* this and the later siblings of the same class */
};

struct item { /* a leaf whose pods are reserved in its confinement */
	int want;
	int *counts; /* per local shape */
	struct confine at;
};

struct assigned {
	int want;
	int shape; /* local */
	int node;
};

struct goal {
	enum { GOAL_WANT, GOAL_KIDS } type;
	int want;
	int next_kid;  /* GOAL_KIDS */
	int remaining; /* GOAL_KIDS */
	struct confine at;
	struct goal *next;
};

struct undo {
	void *address;
	int64_t value;
	bool wide;
};

struct solver {
	struct cluster *cluster;
	const struct gang *gang;
	struct arena *arena; /* scratch of this decision */
	int view;
	uint64_t steps, budget;
	bool out_of_budget;

	int shape_count;
	struct local_shape *shapes;
	int *member_nodes; /* sorted: nodes with members placed before */
	int member_node_count;
	int *pod_shape; /* by gang pod: local shape, -1 when not waiting */
	const struct place_bias *bias;
	const struct place_allowance *allowance;
	bool member_rules; /* some waiting pod has required rules about other pods */
	bool social;       /* rules between pods of this gang must be checked while packing */

	int topology_count;
	int topologies[CLUSTER_MAX_TOPOLOGIES]; /* cluster numbers */
	int deepest[CLUSTER_MAX_TOPOLOGIES];    /* deepest constrained level, -1 when none */
	int counter_count;
	struct counter *counters;

	struct want *wants;
	int want_count;
	int *kids;
	struct part_class *classes;
	int class_count;
	int class_capacity;
	struct key_entry *class_index;

	int32_t **bound[CLUSTER_MAX_TOPOLOGIES];      /* [used topology][class * levels + level][domain] */
	int32_t *bound_total[CLUSTER_MAX_TOPOLOGIES]; /* [used topology][class] */
	int32_t **used[CLUSTER_MAX_TOPOLOGIES]; /* [used topology][level][domain]: members of this gang, or reserved */
	bool live_bounds;                       /* bounds follow reservations */
	bool stop_when_refuted;                 /* explanations want all bounds, decisions do not */
	bool refuted;                           /* a part that every solution needs fits nowhere */

	VEC(struct undo) trail;
	VEC(struct item) items;
	VEC(struct assigned) assigned;
	bool spreading; /* packing tries to spread, where the strategy says so */
	bool exact;     /* one shape, one topology, no rules between pods: counting alone decides */
	int blocking_tree;
};

/* A node or domain that may take pods, and what one takes. */
struct bin {
	int64_t room;
	int64_t score; /* higher first */
	int number;    /* domain or node */
	bool used;
};

struct share {
	int number;
	int64_t count;
};

enum demand_mode { DEMAND_MINIMUM, DEMAND_ALL, DEMAND_UNIT };

struct demand {
	enum demand_mode mode;
	int unit_tree;                   /* DEMAND_UNIT: bring this node to its minimum, or add unit_pod to this leaf */
	int unit_pod;                    /* -1: the node's minimum */
	const struct gang_level *levels; /* per tree node: the level in force (required, or a preference) */
};

/* Prefers what is free now: idle slots of the gang's first waiting pod, per domain of the levels the gang names, and per
 * node: 1 where a whole pod has room, else 0; with `parts` 0 to BIAS_IDLE by how much of a pod there is room for. In the
 * arena. */
#define BIAS_IDLE 100
void bias_build_from_free(struct cluster *cluster, const struct gang *gang, bool parts, struct arena *arena,
                          struct place_bias *bias);

enum verdict { VERDICT_PLACED, VERDICT_IMPOSSIBLE, VERDICT_EXHAUSTED };

/* Sets up shapes and topologies: what stays the same over several demands. */
void solver_init(struct solver *solver, struct cluster *cluster, const struct gang *gang, int view, uint64_t budget,
                 struct arena *arena);
void solver_close(struct solver *solver);
/* Builds wants, classes, counters and bounds. False when there is nothing to want (then nothing has to be placed). */
bool demand_build(struct solver *solver, const struct demand *demand);
void bound_build(struct solver *solver);
enum verdict search_run(struct solver *solver);
/* Puts the reserved items on nodes. */
/* The score of each node for a shape, NULL when it prefers nothing; computed when first asked for. */
const int32_t *pack_score_nodes(struct solver *solver, int shape);
enum verdict pack_items(struct solver *solver);
/* Whether the items confined inside `at` (of the first used topology) can be packed there on their own. */
enum verdict pack_local(struct solver *solver, const struct confine *at);

/* choose.c: the best domain for a want inside its confinement (-1: none can hold it), all of them in order of preference
 * (the first is the best), and a number that is equal for exchangeable domains. */
int choose_first(struct solver *solver, const struct want *want, const struct confine *at);
int choose_list(struct solver *solver, const struct want *want, const struct confine *at, int *list);
uint64_t choose_signature(const struct solver *solver, const struct want *want, const struct confine *at, int domain);

/* demand.c: what one pod of a local shape takes of a counter. */
int64_t demand_counter_per_pod(const struct solver *solver, int counter, int shape);

/* bound.c */
int32_t bound_get(struct solver *solver, int class_, int topology, int level, int domain);
/* Takes (sign 1) or gives back (sign -1) a leaf's pods at its confinement; false when some domain would be over-drawn. */
bool bound_reserve(struct solver *solver, const struct item *item, int sign);

/* strategy.c: whether pods of the local shape are to be spread, and how many go to which node (bins are nodes): one pod
 * after the other to the emptiest. The number of shares, -1 when the room does not suffice. Changes the rooms. */
bool strategy_wants_spread(const struct solver *solver, int local);
int strategy_divide_spread(const struct solver *solver, int local, struct bin *bins, int count, int64_t need,
                           struct share *shares);

/* trail */
void trail_set32(struct solver *solver, int32_t *address, int32_t value);
void trail_set64(struct solver *solver, int64_t *address, int64_t value);
void trail_undo(struct solver *solver, size_t mark);

/* rules.c: rules between pods */
/* Static part: nodes a pod class may not use because of pods that are there already. True when it excludes any. */
bool rules_mask_nodes(const struct solver *solver, int pod_class, uint8_t *mask);
bool rules_concern_pod_class(const struct solver *solver, int pod_class);
/* Whether rules about other pods, its own or theirs, have a say in where the gang may go. */
bool rules_concern_gang(const struct cluster *cluster, const struct gang *gang);
/* Whether rules among the gang's own pods exist that slots do not express. */
bool rules_between_members(const struct solver *solver);
bool rules_allow_node(const struct solver *solver, int pod_class, int node);
bool rules_check_final(const struct solver *solver);
/* Whether no rule of the gang's members, or of the class itself, forbids a pod of that class on the node. */
bool rules_tolerate_members(const struct cluster *cluster, const struct gang *gang, int pod_class, int node);
/* Verifies existing members; NULL or a text. */
const char *rules_verify_members(const struct cluster *cluster, const struct gang *gang, struct arena *arena);
/* Preferred inter-pod terms and node preferences as a score per node; NULL when nothing is preferred. */
const int32_t *rules_score_nodes(const struct solver *solver, int pod_class);

static inline const struct topology *solver_topology(const struct solver *solver, int used)
{
	return &solver->cluster->topologies[solver->topologies[used]];
}

/* explain_missing_label.c: "; no node has the label x" for a node selector that cannot match, "" when nothing is to be said. */
const char *explain_missing_label(const struct cluster *cluster, const struct shape *shape, struct arena *arena);

#endif
