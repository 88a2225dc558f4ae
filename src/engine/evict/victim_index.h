/* Index of the units that running groups could give up, per queue and cheapest first. Private to the engine.
 *
 * Listed when a queue is first asked for, and brought up to date from the groups that changed since, so that many
 * decisions in one action do not list everything again and again. */
#ifndef ENGINE_EVICT_VICTIM_INDEX_H
#define ENGINE_EVICT_VICTIM_INDEX_H

#include "engine/cycle/internal.h"
#include "engine/evict/victims.h"

struct victim_index;

/* The groups that name a queue, whatever they hold. Neither their queue nor their priority changes during an action. */
struct queue_census {
	size_t groups;
	int32_t lowest; /* priority among them; INT32_MAX without any */
};

/* By queue + 1, in the arena of the cycle; counted when it is first asked for in an action. */
const struct queue_census *victim_index_take_census(struct cycle_run *run);

/* For one action. `arena` keeps the units and must outlive the index. */
struct victim_index *victim_index_create(struct cycle_run *run, struct arena *arena);
void victim_index_destroy(struct victim_index *index); /* NULL is a no-op */
/* Pods of the group were bound, reserved, moved or evicted. */
void victim_index_mark_changed(struct victim_index *index, int group);

/* The units of a queue one by one, cheapest first: the first one from position *at on, which moves behind it; NULL after
 * the last. Positions and units are valid until the next change. */
const struct victim_unit *victim_index_next_unit(struct victim_index *index, int number, size_t *at);
size_t victim_index_count_units(struct victim_index *index, int queue);
/* The queues that have units, by their cheapest one. Valid until the next change. */
const int *victim_index_list_queues(struct victim_index *index, size_t *count);
/* All running pods of all groups that can be moved, each on its own, cheapest first. Valid until the next change. */
const struct victim_list *victim_index_list_pods(struct victim_index *index);

#endif
