/* Invariants about volumes: no pod starts on a claim that is not bound, no volume has two claims, none is left behind.
 * Private to src/sim. */
#ifndef SIM_INVARIANTS_VOLUMES_H
#define SIM_INVARIANTS_VOLUMES_H

#include "sim/invariants_view.h"
#include "sim/scenario_run.h"

/* After a turn: pods that are bound in `now` and were not `before`, and all volumes. */
void volumes_check_turn(struct store *store, const struct view *before, const struct view *now,
                        struct scenario_result *result);
/* When nothing changes any more. */
void volumes_check_rest(struct store *store, struct scenario_result *result);

#endif
