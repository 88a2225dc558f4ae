/* Whose turn it is within one action. Private to the engine. */
#ifndef ENGINE_CYCLE_QUEUE_ORDER_H
#define ENGINE_CYCLE_QUEUE_ORDER_H

#include "base/vec.h"
#include "engine/cycle/internal.h"

struct candidate {
	int group;
	int growth; /* units of surplus given in this cycle; -1 while below the minimum */
};

struct heap {
	VEC(struct candidate) items; /* best first */
};

struct allocation {
	struct cycle_run run;
	struct heap *heaps; /* per queue */
	struct share_order *order;
	int64_t total[CYCLE_RESOURCES];
};

/* A line of groups: priority; below the minimum before growing; older. */
void turns_push(const struct cycle *cycle, struct heap *heap, struct candidate candidate);
struct candidate turns_pop(const struct cycle *cycle, struct heap *heap); /* there must be one */

/* Accounts and shares of all queues, as the action begins. */
void turns_open(struct cycle *cycle, struct allocation *allocation);
/* Leaves what was allocated on the queues and frees the rest. */
void turns_close(struct allocation *allocation);

bool turns_has_waiting(const struct cycle_group *group);
/* Whether the group may be served at all. */
bool turns_is_candidate(const struct cycle_group *group);
/* Lines up every candidate the filter accepts. */
void turns_line_up(struct allocation *allocation,
                   bool (*accept)(const struct cycle *cycle, const struct cycle_group *group));
/* Takes the next one out of the line; false when nobody is left. */
bool turns_next(struct allocation *allocation, struct candidate *candidate);
/* Puts it back, because there may be more for it. */
void turns_again(struct allocation *allocation, const struct candidate *candidate);
/* The queue holds more or less than before, or somebody else is its next. */
void turns_changed(struct allocation *allocation, int queue);
/* Whether nobody else is in line. */
bool turns_is_last(const struct allocation *allocation);

#endif
