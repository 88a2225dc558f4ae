/* The stock of units that running groups could give up, per queue and cheapest first. Private to the engine.
 *
 * Listed when a queue is first asked for, and brought up to date from the groups that changed since, so that many
 * decisions in one action do not list everything again and again. */
#ifndef ENGINE_STOCK_H
#define ENGINE_STOCK_H

#include "engine/cycle_internal.h"
#include "engine/victims.h"

struct stock;

/* For one action. `arena` keeps the units and must outlive the stock. */
struct stock *stock_create(const struct cycle_run *run, struct arena *arena);
void stock_destroy(struct stock *stock); /* NULL is a no-op */
/* Pods of the group were bound, reserved, moved or evicted. */
void stock_change(struct stock *stock, int group);

/* The units of a queue (-1: of groups whose queue does not exist), cheapest first. Units for which stock_has is false
 * have gone and are to be passed over. Valid until the next change. */
const struct victim_list *stock_units(struct stock *stock, int queue);
size_t stock_count(struct stock *stock, int queue); /* units that have not gone */
bool stock_has(const struct stock *stock, const struct victim_unit *unit);
/* All running pods of all groups that can be moved, each on its own, cheapest first. Valid until the next change. */
const struct victim_list *stock_pods(struct stock *stock);

#endif
