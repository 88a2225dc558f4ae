/* Invariants about devices: none is allocated twice, no pod starts before its claims are allocated and reserved for it on its
 * node, none is left behind. Private to src/sim. */
#ifndef SIM_INVARIANTS_DEVICES_H
#define SIM_INVARIANTS_DEVICES_H

#include "sim/invariants_view.h"
#include "sim/scenario_run.h"

/* After a turn: pods that are bound in `now` and were not `before`, and all claims. */
void devices_check_turn(struct store *store, const struct view *before, const struct view *now,
                        struct scenario_result *result);
/* When nothing changes any more. */
void devices_check_rest(struct store *store, const struct view *now, struct scenario_result *result);

#endif
