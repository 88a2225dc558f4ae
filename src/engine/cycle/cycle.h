/* One scheduling cycle over queues and groups. Pure: it changes only the structs it is given. */
#ifndef ENGINE_CYCLE_CYCLE_H
#define ENGINE_CYCLE_CYCLE_H

#include "engine/cycle/actions.h"
#include "engine/explain/explain.h"
#include "engine/place/place.h"

enum { CYCLE_GPU, CYCLE_CPU, CYCLE_MEMORY, CYCLE_RESOURCES };

/* A pool of nodes. Each is divided on its own: nothing of one counts in another. */
struct cycle_pool {
	const char *name;               /* NULL: nodes without the label of pools */
	int64_t total[CYCLE_RESOURCES]; /* filled by the cycle where there are several: what its nodes have */
};

/* What a queue has to do with one pool. One that serves several pools is several of these. */
struct cycle_queue {
	const char *name;
	int first;             /* number of the first one of the same name */
	const char *pool_name; /* of its pool, NULL where that has none */
	int parent;            /* -1 at the top */
	int64_t priority;
	int64_t quota[CYCLE_RESOURCES]; /* GPUs in milli-devices, CPU in milli-cores, memory in bytes; -1 = unlimited */
	int64_t limit[CYCLE_RESOURCES]; /* -1 = none */
	int64_t weight[CYCLE_RESOURCES]; /* over-quota weight in thousandths */
	int64_t preempt_runtime,
		reclaim_runtime; /* nanoseconds that a group may run before it is evicted for another */
	int pool;                /* of cycle.pools: whose nodes it divides */
	const char *closed;      /* why no group may start in it, whatever is free; NULL: it may */
	bool has_runtime[2]; /* whether preempt_runtime and reclaim_runtime are set; if not, those above are asked */
	int64_t used[CYCLE_RESOURCES]; /* in the past, in parts of SHARE_PAST_WHOLE of the cluster */
	bool has_past_factor;          /* past_factor counts instead of that of the cycle, if that is not 0 */
	int64_t past_factor;
	/* filled by the cycle: */
	int64_t allocated[CYCLE_RESOURCES];
	int64_t allocated_protected[CYCLE_RESOURCES]; /* the part of it that cannot be evicted */
	int64_t requested[CYCLE_RESOURCES];           /* in use and waiting when the cycle began */
	int64_t fair[CYCLE_RESOURCES];                /* fair share */
};

/* Who of a running group goes together: surplus pods one by one and the minimum as a whole, everybody always, nobody. */
enum cycle_disruption { CYCLE_DISRUPT_USUAL, CYCLE_DISRUPT_WHOLE, CYCLE_DISRUPT_SINGLE };
enum cycle_preempt { CYCLE_PREEMPTIBLE, CYCLE_NON_PREEMPTIBLE, CYCLE_SEMI_PREEMPTIBLE };

enum group_state {
	GROUP_PLACED,
	GROUP_PARTIAL,   /* placed: the minimum is met, surplus waits */
	GROUP_WAITING,   /* does not fit now */
	GROUP_BLOCKED,   /* no node can change it: its queue, its objects, or members that must not be placed */
	GROUP_NEVER,     /* proved: does not fit the cluster even when nothing else is in it */
	GROUP_NOT_READY, /* too few pods exist */
	GROUP_UNDECIDED, /* the budget of the search ended */
};

/* What a refusal is proof of. */
enum group_proof {
	PROOF_NONE,
	PROOF_NOW,  /* there is no placement in the present cluster */
	PROOF_EVER, /* nor in the same cluster with nothing in it */
};

/* Of the pods it selects only so many may leave. Belongs to the caller. */
struct cycle_budget {
	const char *namespace_, *name;
	struct selector selector;
	int64_t allowed;     /* pods that may leave now */
	bool guards_unready; /* pods that are not ready count, too: not enough others are */
	/* filled by the cycle: */
	int64_t spent; /* those that leave by its decisions */
};

/* One pod that has to leave its node. A moved pod has a reservation elsewhere in the same plan. */
struct cycle_eviction {
	int group, pod;
	int node; /* where it ran */
	int by;   /* group it makes room for, -1 for stale gangs */
	enum cycle_action action;
	bool moved;
	bool resettles;                      /* of a gang that is below its minimum: all of it fits elsewhere */
	bool fewest;                         /* no better choice of victims exists, proved: see evict/fewest.h */
	bool guarded;                        /* one budget covers it, and the decision violates none */
	const struct cycle_budget *violates; /* and does not allow it; NULL: none */
};

/* What pods count for in a queue: what they hold, the part of it that cannot be evicted, and that plus what waits. */
struct cycle_account {
	int64_t allocated[CYCLE_RESOURCES], is_protected[CYCLE_RESOURCES], requested[CYCLE_RESOURCES];
};

/* A place kept for a pod that was moved until its owner has created it again, or held for one that is still to come. */
struct cycle_place {
	int leaf, pod_class; /* what the pod belonged to and asked for */
	const char *node;
	int before;           /* pods of the leaf that ran on the node already */
	int wanted;           /* the leaf is complete with so many: then nothing is kept for it */
	int64_t since, until; /* nanoseconds */
	bool coming;          /* for one that is still to come */
	/* filled by the cycle: */
	bool fresh;                                          /* held since this cycle */
	enum { PLACE_OVER, PLACE_KEPT, PLACE_LIFTED } state; /* lifted: pods of the group itself have it */
	int at, pod;                                         /* the node; a waiting pod it is for, -1 for none */
	bool own;                                            /* that pod was nominated for nothing else */
};

struct cycle_group {
	struct gang gang;
	bool implicit; /* a pod without a PodGroup; ranks behind PodGroups where nothing else decides */
	int queue;     /* -1: names a queue that does not exist */
	bool nowhere;  /* no node is in its pool: what waits is nothing that the queue asks for */
	const char *queue_name;
	int32_t priority;
	enum cycle_preempt preempt;
	enum cycle_disruption disruption;
	bool never_preempts; /* its priority puts it first in its queue, and lets nobody go for it */
	int64_t creation;    /* seconds; older = smaller */
	bool has_started;
	int64_t started; /* nanoseconds: since when it runs */
	bool completing; /* a pod has succeeded: never stale */
	bool stays;      /* not moved for others: what its pods hold cannot be kept for those made in their place */
	bool has_stale_since;
	int64_t stale_since; /* nanoseconds: when it fell below its minimum */
	int met; /* pods with which it met a minimum that was raised since; 0: none was. With as many it is not stale */
	int64_t grace;       /* nanoseconds below the minimum that are tolerated; negative = for ever */
	bool resettles;      /* it leaves before, if nothing holds the rest of it where it is and all fits elsewhere */
	int64_t evict_after; /* nanoseconds: before this time the group may not cause evictions */
	bool give_up_after_failure; /* schedulingBackoff 1: one failed cycle ends the attempts */
	bool gave_up;
	bool blocked;               /* must not be attempted; `reasons` already says why (unknown topology, ...) */
	struct cycle_place *places; /* kept for its pods; a cycle may put a longer array into its arena instead */
	size_t place_count;
	/* filled by the cycle: */
	enum group_state state;
	bool *was_running; /* per pod, before the cycle; array of gang.pod_count given by the caller */
	struct reasons reasons;
	enum group_proof proof;
	bool tried; /* refused before the queues had their turn */
	/* Only where the caller keeps accounts (cycle_settle): */
	bool settled;
	int settled_queue;
	struct cycle_account account;
};

/* Defragmentation: what is asked of it, and what came of it. */
struct cycle_defragment {
	const char *wanted_level; /* label of the level that is to have free domains; NULL: smallest of several nodes */
	int most_moves;           /* pods that may be moved */
	/* filled by the action: */
	bool ran;
	const char *level;  /* its label; NULL without devices or a topology, and where pods leave: nothing was done */
	int pods;           /* of the gang of whole nodes that free domains are for */
	int64_t devices;    /* of each of them */
	int before, gained; /* such gangs that fit at the same time: without the moves, and so many more */
	int moves;          /* pods that are moved */
	bool proved;        /* no moves of as many pods gain more */
};

struct cycle {
	struct cluster *cluster;
	struct cycle_queue *queues;
	size_t queue_count;
	struct cycle_pool *pools; /* by name, the one without a name first; none: one of all nodes */
	size_t pool_count;
	bool pools_counted; /* in this cycle */
	struct cycle_group *groups;
	size_t group_count;
	struct cycle_budget *budgets;
	size_t budget_count;
	bool never_violate_budgets; /* not even by a preemption */
	struct arena *arena;
	struct cycle_eviction *evictions; /* in the arena; in the order they were decided */
	size_t eviction_count, eviction_capacity;
	int64_t now;      /* nanoseconds */
	int64_t retry_at; /* filled by the actions: when time alone may let a refused group in; INT64_MAX = never */
	int64_t starvation_after; /* nanoseconds a gang waits before resources are held for it; 0 = never */
	int64_t hold_for;         /* nanoseconds that room is held for pods that are still to come; 0 = none is */
	int64_t past_factor;      /* how much the past of queues counts, in thousandths; 0: not at all */
	struct cycle_defragment defragment;
	size_t kept;        /* places kept for pods that were moved or are to come, now */
	uint64_t budget;    /* per placement, 0 = default */
	bool silent;        /* nobody reads the reasons of refusals: they are not looked for */
	int trials;         /* searches per kind of change that would let a refused group in; 0: none is looked for */
	bool tell_holders;  /* say who holds the room that groups wait for; not in a selective cycle */
	bool always_search; /* also where the answer is known: for comparison in tests */
	/* A caller that keeps its state over cycles names the groups to look at: those with something waiting, those below
	 * their minimum and those that changed, in the order of cycle_compare. All others are settled: what they hold is in
	 * the accounts, and they are looked at only as victims; those that give way are added to the list. */
	bool selective;
	int *work;
	size_t work_count, work_capacity; /* on the heap, owned by the caller */
	struct cycle_account *accounts;   /* by queue: of the settled groups in it and below it; NULL without any */
	struct refusals *refusals;        /* private: made by cycle_begin, in the arena */
	struct refusal_cache
		*refusal_cache; /* of earlier cycles, see refusal_cache.h; NULL: everything is asked anew */
};

/* Order of groups where nothing else decides: PodGroups before single pods, then by namespace and name. */
int cycle_compare(const struct cycle_group *a, const struct cycle_group *b);
/* Whether a selective cycle has to look at the group though it did not change: something waits or is reserved, what runs
 * is less than the minimum, or places are kept for it. */
bool cycle_needs_look(const struct cycle_group *group);
/* Whether a group below its minimum has not lost anything: with what runs it met the minimum that it had before, or more is to
 * come of one that starts with its first pods. */
bool cycle_has_grown(const struct cycle_group *group);
/* The groups of this cycle: number i of the list, or simply i. */
size_t cycle_work_count(const struct cycle *cycle);
int cycle_work_at(const struct cycle *cycle, size_t i);
/* Whether its queue does not exist, which is added to its reasons then. */
bool cycle_lacks_queue(struct cycle *cycle, struct cycle_group *group);
/* Adds the group to the list and takes it off the accounts. */
void cycle_touch(struct cycle *cycle, int number);
/* Puts a group on the accounts as it is now, and takes it off as it was put on. Each is a no-op the second time. */
void cycle_settle(struct cycle *cycle, int number);
void cycle_unsettle(struct cycle *cycle, int number);

/* Before the first action of every cycle: notes what runs, restores reservations of earlier cycles. */
void cycle_begin(struct cycle *cycle);
/* Runs one action: newly bound pods end up RUNNING with was_running false, reserved ones RESERVED, evicted ones GONE
 * with an entry in `evictions`. Each action changes the cluster and the groups only by decisions that are complete in themselves. */
void cycle_run(struct cycle *cycle, enum cycle_action action);
/* State and remaining reasons of every group; after the last action. */
void cycle_finish(struct cycle *cycle);

/* As what queues count a resource: CYCLE_GPU, CYCLE_CPU, CYCLE_MEMORY, and how much one of it is in their units; -1 when they
 * do not. */
int cycle_resource_of(const char *name, int64_t *scale);
/* GPUs that pods have by claims for devices, however many columns count them. */
#define CYCLE_CLAIMED_GPUS "devices/claimed/gpu"

/* What the cluster has, as queues count it. */
void cycle_totals(const struct cluster *cluster, int64_t total[CYCLE_RESOURCES]);
/* The number of a pool, NULL for the one without a name; -1 when no node is in it. */
int cycle_find_pool(const struct cycle *cycle, const char *name);
/* The same per pool, for share.h; in the arena of the cycle. */
const int64_t *cycle_pool_totals(struct cycle *cycle);
/* The name for people: with its pool, if that has a name. */
const char *cycle_queue_text(const struct cycle_queue *queue, struct arena *arena);

const char *group_state_name(enum group_state state); /* "Placed", "Waiting", ...; GROUP_PARTIAL is "Placed" */

#endif
