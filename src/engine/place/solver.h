/* The solver's working state for one decision. Private to the engine.
 *
 * Order of work: demand.c turns the gang into *wants* (what must be added) and groups equal subtrees into *classes*;
 * bound.c keeps, for every class and domain, an upper bound on how many copies fit; search.c chooses children and domains
 * depth first; pack.c puts pods on nodes. All changes to shared arrays go through the trail and are undone at the end. */
#ifndef ENGINE_PLACE_SOLVER_H
#define ENGINE_PLACE_SOLVER_H

#include "base/arena_mark.h"
#include "engine/cluster/internal.h"
#include "engine/place/bias.h"
#include "engine/place/place.h"

#define COPIES_CAP (1 << 30)

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
	int kind; /* of pods with preferences (liking.h), -1 where nothing is preferred */
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
	struct arena *trial; /* what a choice needs until it is taken back */
	int view;
	uint64_t steps, budget;
	bool out_of_budget;

	int shape_count;
	struct local_shape *shapes;
	int *member_nodes; /* sorted: nodes with members placed before */
	int member_node_count;
	int *pod_shape; /* by gang pod: local shape, -1 when neither waiting nor to come */
	const struct place_bias *bias;
	const struct place_allowance *allowance;
	bool member_rules; /* some waiting pod has required rules about other pods */
	bool leaning;      /* and some that others must be there to fulfil: affinity, spread */
	bool social;       /* rules between pods of this gang must be checked while packing */
	bool matching;     /* and so must the volumes of their claims: nodes with equal amounts may differ */

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
	bool unit_whole;                 /* not its minimum, but all of the leaf that waits or is to come */
	const struct gang_level *levels; /* per tree node: the level in force (required, or a preference) */
	int *pins; /* per tree node: the domain of that level it must be in, -1 any; NULL: all of them */
};

enum verdict { VERDICT_PLACED, VERDICT_IMPOSSIBLE, VERDICT_EXHAUSTED };

/* ---- solver.c ---- */

/* Sets up shapes, slots and topologies: what stays the same over several demands. Everything it allocates is in the arena,
 * but for vectors and an index that solver_close frees; the cluster and the gang must outlive it. */
void solver_init(struct solver *solver, struct cluster *cluster, const struct gang *gang, int view, uint64_t budget,
                 struct arena *arena);
/* Undoes every change to shared arrays: the caches of the cluster are as they were. */
void solver_close(struct solver *solver);
/* The same for the last demand only, so that the next can be built. */
void solver_forget_demand(struct solver *solver);

/* Every change to arrays that outlive the search goes through the trail; trail_undo takes back what was written since it
 * had `mark` entries. */
static inline void trail_set32(struct solver *solver, int32_t *address, int32_t value)
{
	if (*address == value)
		return;
	vec_push(&solver->trail, (struct undo){.address = address, .value = *address, .wide = false});
	*address = value;
}

static inline void trail_set64(struct solver *solver, int64_t *address, int64_t value)
{
	if (*address == value)
		return;
	vec_push(&solver->trail, (struct undo){.address = address, .value = *address, .wide = true});
	*address = value;
}

void trail_undo(struct solver *solver, size_t mark);

/* ---- counters.c ---- */

/* Once per solver, after its shapes are known and the allowance is set. */
void counters_build(struct solver *solver);
/* What one pod of a local shape takes of a counter. */
int64_t counters_per_pod(const struct solver *solver, int counter, int shape);

/* ---- gang/demand.c ---- */

/* Builds wants, part classes, counters and bounds. False when there is nothing to want (then nothing has to be placed). May
 * find the demand refuted already: then nothing else is built. */
bool demand_build(struct solver *solver, const struct demand *demand);

/* ---- bound.c ---- */

/* Prepares the bounds of all part classes; they are computed when they are asked for. */
void bound_build(struct solver *solver);
/* How many copies of a part class the domain holds at most (level -1: the whole cluster). Never too few. */
int32_t bound_get(struct solver *solver, int class_, int topology, int level, int domain);
/* Takes (sign 1) or gives back (sign -1) a leaf's pods at its confinement; false when some domain would be over-drawn. */
bool bound_reserve(struct solver *solver, const struct item *item, int sign);

/* ---- choose.c ---- */

/* The best domain for a want inside its confinement (-1: none can hold it), all of them in order of preference (the first
 * is the best; the caller gives room for all domains of the level; returns how many), and a number that is equal for
 * exchangeable domains. */
int choose_first(struct solver *solver, const struct want *want, const struct confine *at);
int choose_list(struct solver *solver, const struct want *want, const struct confine *at, int *list);
uint64_t choose_signature(const struct solver *solver, const struct want *want, const struct confine *at, int domain);

/* ---- search.c ---- */

/* Chooses children and domains, and packs. When placed, `assigned` says where; otherwise `blocking_tree` is the part that
 * was in the way, -1 when unknown. Costs `budget` steps at most. */
enum verdict search_run(struct solver *solver);
/* Whether these wants fit together inside `at`, a domain of the first used topology at the level they must be in, beside what
 * is reserved there. Changes nothing but the steps, of which it takes `budget` at most. */
enum verdict search_together(struct solver *solver, const int *wants, int count, const struct confine *at,
                             uint64_t budget);

/* ---- kid_order.c ---- */

/* Children that are hard to place come first, unless some of them suffice: then the order of preference stays. */
void search_order_kids(struct solver *solver);

/* ---- pack.c ---- */

/* The score of each node for a local shape, NULL when it prefers nothing; computed when first asked for. */
const int32_t *pack_score_nodes(struct solver *solver, int shape);
/* Puts the reserved items on nodes: `assigned` says where. */
enum verdict pack_items(struct solver *solver);
/* Whether the items confined inside `at` (of the first used topology) can be packed there on their own. Changes nothing. */
enum verdict pack_local(struct solver *solver, const struct confine *at);

/* ---- strategy.c ---- */

/* Whether pods of the local shape are to be spread, and how many go to which node (bins are nodes): one pod after the other
 * to the emptiest. The number of shares, -1 when the room does not suffice. Changes the rooms. */
bool strategy_wants_spread(const struct solver *solver, int local);
int strategy_divide_spread(const struct solver *solver, int local, struct bin *bins, int count, int64_t need,
                           struct share *shares);
/* Whether pods of the shape are to leave nodes with GPUs to others; if so, a score that says it where the score so far has
 * the choice. */
bool strategy_spares_gpus(const struct cluster *cluster, const struct shape *shape);
void strategy_score_spared(const struct cluster *cluster, int32_t *score);

static inline const struct topology *solver_topology(const struct solver *solver, int used)
{
	return &solver->cluster->topologies[solver->topologies[used]];
}

#endif
