/* What the two parts of expectations of steps share. Private to src/sim. */
#ifndef SIM_STEPS_EXPECT_H
#define SIM_STEPS_EXPECT_H

#include "sim/steps.h"

/* Compares a number with `count`, `atLeast` and `atMost` of the map; a negative one checks only their form. Whether one
 * of them is given. */
bool steps_expect_bounds(const struct val *map, const char *where, const char *what, int64_t got,
                         struct scenario_result *result);
/* expect.groups and expect.pods; without a simulation only their form. */
void steps_expect_groups(struct simulation *simulation, const struct val *expect, const char *where,
                         struct scenario_result *result);

#endif
