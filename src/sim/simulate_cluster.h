/* Simulations on a real API server: the store is a mirror of it, and what the world and the steps write goes there. Our
 * clock is the virtual one: times that the server writes are shown as the moments of that clock at which they were asked for. Private to src/sim. */
#ifndef SIM_SIMULATE_CLUSTER_H
#define SIM_SIMULATE_CLUSTER_H

#include "sim/simulate.h"

/* A cluster without this namespace is not touched: everything in it is deleted before a scenario. */
#define CLUSTER_SCRATCH "platoon-scratch"

/* Connects, and waits until everything is mirrored. On failure simulation->problem says why and nothing is open. */
void cluster_open(struct simulation *simulation);
void cluster_close(struct simulation *simulation);
/* Deletes whatever earlier scenarios left. */
void cluster_clear(struct simulation *simulation);
/* Hands the writes of a turn on and takes in what the server says. True while something is on its way. */
bool cluster_turn(struct simulation *simulation);
/* Waits until the server has answered everything. -1 and *error when it refused a write. */
int cluster_wait(struct simulation *simulation, struct arena *arena, struct store_error *error);

#endif
