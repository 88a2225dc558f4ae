/* The stock of units that running groups could give up, per queue and cheapest first. Private to the engine.
 *
 * Listed when a queue is first asked for, and brought up to date from the groups that changed since, so that many
 * decisions in one action do not list everything again and again. */
#ifndef ENGINE_EVICT_VICTIM_INDEX_H
#define ENGINE_EVICT_VICTIM_INDEX_H

#include "engine/cycle/internal.h"
#include "engine/evict/victims.h"

struct stock;

/* For one action. `arena` keeps the units and must outlive the stock. */
struct stock *stock_create(const struct cycle_run *run, struct arena *arena);
void stock_destroy(struct stock *stock); /* NULL is a no-op */
/* Pods of the group were bound, reserved, moved or evicted. */
void stock_change(struct stock *stock, int group);

/* The units of a queue one by one, cheapest first: the first one from position *at on, which moves behind it; NULL after
 * the last. Positions and units are valid until the next change. */
const struct victim_unit *stock_next(struct stock *stock, int number, size_t *at);
size_t stock_count(struct stock *stock, int queue);
/* The queues that have units, by their cheapest one. Valid until the next change. */
const int *stock_queues(struct stock *stock, size_t *count);
/* All running pods of all groups that can be moved, each on its own, cheapest first. Valid until the next change. */
const struct victim_list *stock_pods(struct stock *stock);

#endif
