/* What the two parts of expectations of steps share. Private to src/sim. */
#ifndef SIM_STEPS_EXPECT_H
#define SIM_STEPS_EXPECT_H

#include "sim/steps.h"

/* expect.groups and expect.pods; without a simulation only their form. */
void steps_expect_groups(struct simulation *simulation, const struct val *expect, const char *where,
                         struct scenario_result *result);

#endif
