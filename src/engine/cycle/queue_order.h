/* The order in which one action serves queues and the groups in them. Private to the engine. */
#ifndef ENGINE_CYCLE_QUEUE_ORDER_H
#define ENGINE_CYCLE_QUEUE_ORDER_H

#include "base/vec.h"
#include "engine/cycle/internal.h"

struct candidate {
	int group;
	int growth; /* units of surplus given in this cycle; -1 while below the minimum */
};

struct candidate_heap {
	VEC(struct candidate) items; /* best first */
};

struct queue_order {
	struct cycle_run run;
	struct candidate_heap *heaps; /* per queue */
	struct share_order *by_share; /* the queue whose turn it is */
	const int64_t *totals;        /* what each pool has */
};

/* The groups of a queue by priority; below the minimum before growing; older. */
void candidate_heap_push(const struct cycle *cycle, struct candidate_heap *heap, struct candidate candidate);
struct candidate candidate_heap_pop(const struct cycle *cycle, struct candidate_heap *heap); /* there must be one */

/* Accounts and shares of all queues, as the action begins. To be closed, even if it was never filled. */
void queue_order_open(struct cycle *cycle, struct queue_order *order);
/* Leaves what was allocated on the queues and frees the rest. */
void queue_order_close(struct queue_order *order);

/* Whether a pod of the group may be placed now. */
bool cycle_has_waiting(const struct cycle_group *group);
/* Whether the group may be served at all. */
bool queue_order_is_candidate(const struct cycle_group *group);
/* Fills it with every candidate the filter accepts. */
void queue_order_fill(struct queue_order *order,
                      bool (*accept)(const struct cycle *cycle, const struct cycle_group *group));
/* Takes the next one out; false when nobody is left. */
bool queue_order_take(struct queue_order *order, struct candidate *candidate);
/* Puts it back, because there may be more for it. */
void queue_order_put_back(struct queue_order *order, const struct candidate *candidate);
/* The queue holds more or less than before, or somebody else is its next. */
void queue_order_update(struct queue_order *order, int queue);
/* Whether a stands before b when both are of one queue. */
bool queue_order_is_before(const struct cycle *cycle, const struct candidate *a, const struct candidate *b);
/* Whether nobody is left in it. */
bool queue_order_is_empty(const struct queue_order *order);

#endif
