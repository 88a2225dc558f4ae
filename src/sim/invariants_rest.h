/* Rules that hold when nothing changes any more. Private to src/sim. */
#ifndef SIM_INVARIANTS_REST_H
#define SIM_INVARIANTS_REST_H

#include "sim/invariants_view.h"
#include "sim/scenario_run.h"
#include "loop/settings.h"

/* Gangs are at their minimum or have nothing placed, and whatever waits says why. */
void rest_check_groups(const struct view *view, struct scenario_result *result);
/* Liveness: a scheduler that starts now, with nothing but the objects, finds nothing to do and gives the reasons that
 * stand in the objects. */
void rest_check_plan(struct store *store, int64_t now_seconds, const struct settings *settings,
                     struct scenario_result *result);

#endif
