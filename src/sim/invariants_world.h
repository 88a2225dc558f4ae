/* Invariants of the full world, computed from the objects in the store: after each turn against the turn before, and
 * once more when everything is at rest. What was done from outside (a node lost, a pod deleted by a user) is accepted as
 * given, and only what the world makes of it is judged. Private to src/sim. */
#ifndef SIM_INVARIANTS_WORLD_H
#define SIM_INVARIANTS_WORLD_H

#include "sim/scenario_run.h"
#include "api/store.h"
#include "loop/settings.h"

struct world_invariants;

/* Both are borrowed. */
struct world_invariants *world_invariants_create(struct store *store, struct settings_source *settings);
void world_invariants_destroy(struct world_invariants *invariants); /* NULL is a no-op */
/* The objects are in another store from now on; NULL: in none for a moment. What was seen stays known. */
void world_invariants_use(struct world_invariants *invariants, struct store *store);
/* To be told of every request to the store: who deletes a pod decides whether that is an eviction. */
void world_invariants_saw(struct world_invariants *invariants, const struct store_request *request);
void world_invariants_accept(struct world_invariants *invariants);
/* The same when versions do not tell: what was seen last may have been taken back. */
void world_invariants_look_again(struct world_invariants *invariants);
/* `excused`: writes of this turn were refused, so gangs may be half bound until the world has repaired that. */
void world_invariants_check(struct world_invariants *invariants, bool excused, struct scenario_result *result);
/* Rules that hold when nothing changes any more, liveness among them. */
void world_invariants_check_rest(struct world_invariants *invariants, int64_t now_seconds,
                                 const struct settings *settings, struct scenario_result *result);

#endif
