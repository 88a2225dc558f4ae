/* Fair shares of queues: who is entitled to what, who is served next, who may take from whom.
 *
 * Pure functions on an array of queues that the caller owns; a queue is its index in that array. Amounts are whole
 * numbers: milli-devices, milli-cores, bytes. Nothing here knows of groups, pods or nodes.
 *
 *   share_compute     once per cycle: fills `fair` of every queue            share.c
 *   share_before      order of two queues                                     order.c
 *   share_order_*     the same order kept for many queues while it changes    order.c
 *   share_claim_*     whether a queue may reclaim from others                 reclaim.c
 *
 * docs/queues.md explains the rules with an example. */
#ifndef ENGINE_SHARE_SHARE_H
#define ENGINE_SHARE_SHARE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARE_GPU, SHARE_CPU, SHARE_MEMORY, SHARE_RESOURCES }; /* numbered like CYCLE_GPU and so on */

/* Over-quota weights count up to this many thousandths (a weight of 10^9), so that no product can overflow with up to
 * 2^24 queues. */
#define SHARE_WEIGHT_MAX INT64_C(1000000000000)
#define SHARE_PAST_WHOLE INT64_C(1000000000)

struct share_queue {
	int parent; /* -1 at the top; parents may stand before or after their children, in the same pool */
	int pool;   /* of the pools of nodes, each of which is divided on its own; 0 where there is one */
	int64_t priority;
	int64_t creation;                /* older = smaller; equal ones rank by index */
	int64_t quota[SHARE_RESOURCES];  /* guaranteed; -1 = unlimited */
	int64_t limit[SHARE_RESOURCES];  /* never more than this; -1 = none */
	int64_t weight[SHARE_RESOURCES]; /* over-quota weight in thousandths; 0 = nothing beyond the quota */
	/* In use now, and in use plus waiting. Both contain what the descendants have; a parent that was left at 0 counts
	 * as the sum of its children. */
	int64_t allocated[SHARE_RESOURCES];
	int64_t allocated_protected[SHARE_RESOURCES]; /* the part of `allocated` that cannot be evicted */
	int64_t requested[SHARE_RESOURCES];
	/* What it used of the cluster in the past, in parts of SHARE_PAST_WHOLE, as far as that counts; 0: it does not. */
	int64_t past[SHARE_RESOURCES];
	int64_t fair[SHARE_RESOURCES]; /* filled by share_compute, never negative */
};

/* The fair share of every queue.
 *
 * Level by level, for each resource on its own: every queue first gets its quota as far as it has use for it, that is
 * min(quota, limit, demand). What is left of the parent's share (at the top: of what its pool has) goes to queues that want more
 * and have a weight, highest priority first; within one priority in proportion to the weights, where a queue that
 * wants less than its part leaves the rest to the others. What is proportional is rounded down to whole units, which
 * are devices for GPUs, milli-cores and bytes; left-over units go to the largest remainders, then to the older queue.
 * Where quotas, limits, demands and totals are whole devices, so is every share. A fraction of a device appears only
 * where one was put in: as a quota, a limit or a demand, and as the one odd rest that those leave.
 *
 * Among the queues of one priority that want more, the part of a queue in the weights of all is lessened by its `past`, down
 * to 0. Those at 0 get what the others leave, by their weights.
 *
 * An unlimited quota means the whole of what the parent has. Quotas of siblings that are used and together exceed the
 * parent's share stay guaranteed in full; nothing is then left beyond quotas. Demand counts for a parent only as far as
 * the limits below it allow.
 *
 * A parent number that is out of range or leads in a circle is cut: it becomes -1. Costs O(n log n); `scratch` takes
 * about 130 bytes per queue. `totals`: what each pool has, SHARE_RESOURCES numbers per pool, here and below. */
void share_compute(struct share_queue *queues, size_t count, const int64_t *totals, struct arena *scratch);

/* What a queue may keep of a resource when others claim theirs: the larger of quota and fair share, at most the
 * limit. -1 = unlimited. */
int64_t share_entitlement(const struct share_queue *queue, int resource);

/* Whether queue a is served before queue b. `next_a` and `next_b` are the amounts each would get next (negative: would
 * lose); NULL = nothing. Queues with different parents are compared by their ancestors where the hierarchies part; of a
 * queue and its own ancestor the ancestor is first. The first difference decides:
 *
 *   1. above its fair share in every resource: later
 *   2. within its quota in every resource, with what it would get next: first
 *   3. higher priority: first
 *   4. would hold something of a resource it is entitled to nothing of: later
 *   5. smaller dominant share with what it would get next; 6. the same without
 *   7. smaller past, by the resource of which it used most
 *   8. smaller entitlement, GPU before CPU before memory
 *   9. older
 *
 * The dominant share is the largest of allocated / entitlement over the resources; an unlimited entitlement counts as
 * what the pool has, and use without any entitlement as more than every other share.
 *
 * Among siblings this is a total order. Among queues of different parents it is not (each brings its own next amounts
 * to the comparison of the parents): to choose among many use share_order, which lets every parent speak through its
 * best child. Needs queues that share_compute has seen. */
bool share_before(const struct share_queue *queues, const int64_t *totals, int a, const int64_t *next_a, int b,
                  const int64_t *next_b);

/* The queue to serve next among all that have something waiting; log n per change. Keeps pointers to `queues` and
 * `totals`; lives in the arena. */
struct share_order;
struct share_order *share_order_create(const struct share_queue *queues, size_t count, const int64_t *totals,
                                       struct arena *arena);
/* Says what the queue itself (not its children) would get next; NULL when nothing waits there. To be called again
 * whenever the queue's next amounts or its `allocated` (and with it that of its ancestors) have changed. */
void share_order_set(struct share_order *order, int queue, const int64_t *next);
int share_order_best(const struct share_order *order); /* -1 when nothing waits anywhere */

enum share_verdict {
	SHARE_ALLOWED,
	SHARE_OVER_FAIR_SHARE, /* with the request the claiming queue would exceed its fair share */
	SHARE_OVER_QUOTA,      /* non-preemptible: with the request it, or an ancestor, would exceed its quota */
	SHARE_SAME_QUEUE,      /* the victim is in the claiming queue, in one above or below it, or in another pool */
	SHARE_VICTIM_WITHIN_SHARE, /* the victim's queue holds no more than it may keep */
	SHARE_MORE_SATURATED       /* the claiming side would end further above its fair share than the victim's side */
};

/* One question "may this queue take so much from those victims?", put together victim by victim. Create one per
 * action and begin it anew for each claim: begin costs what the last claim touched, take costs the depth of the
 * tree. The fields are read only for the caller; `blamed` and `resource` say where a refusal came from. */
struct share_claim {
	const struct share_queue *queues;
	size_t count;
	int queue;
	int64_t request[SHARE_RESOURCES];
	bool is_protected;
	int64_t (*freed)[SHARE_RESOURCES]; /* by queue: what the victims in it and below it gave */
	bool *is_touched;
	int *touched;
	size_t touched_count;
	int blamed, resource; /* of the last refusal; -1 where nothing single is to blame */
};

/* Once; the arrays (about 32 bytes per queue) come from the arena and live as long as it does. */
void share_claim_init(struct share_claim *claim, const struct share_queue *queues, size_t count, struct arena *arena);

/* Starts a claim for a waiting group of `queue` and forgets the victims before. `is_protected`: the group, once
 * running, cannot be evicted. Refuses when the queue with the request would be above its fair share in any resource, or
 * a protected one above the quota of the queue or of an ancestor. A refused claim must not be continued. */
enum share_verdict share_claim_begin(struct share_claim *claim, int queue, const int64_t request[SHARE_RESOURCES],
                                     bool is_protected);

/* Adds one victim: the smallest part of a group that is evicted together. Two ways to be allowed, both judged where
 * the hierarchies of claimer and victim part, with all earlier victims gone and this one still there:
 *   keep fair share:  the victim's side holds more than it may keep (share_entitlement) of some resource;
 *   guarantee quota:  the claimer's side with the request stays within its quota in every resource, and the victim's
 *                     side holds more than its quota of some resource.
 * So the last victim may bring its queue below what it may keep. When refused, nothing is changed. A pod that gets a
 * new place in the same decision is no victim: do not add it. */
enum share_verdict share_claim_take(struct share_claim *claim, int victim, const int64_t amounts[SHARE_RESOURCES]);
/* Whether share_claim_take would allow a victim of that queue now. Once it does not, it never does for this claim. */
bool share_claim_may_take(const struct share_claim *claim, int victim);

/* After the last victim. Where the hierarchies part, the claimer's side may end above its fair share only in a resource
 * in which the victim's side is further above its own. */
enum share_verdict share_claim_settle(struct share_claim *claim);

/* Whether a victim could be claimed straight back by guaranteed quota: with it its side would still be within its quota,
 * while the claimer's side ends above its own. Such claims would go back and forth for ever. After the last victim. */
bool share_claim_bounces(const struct share_claim *claim, int victim, const int64_t amounts[SHARE_RESOURCES]);

#endif
