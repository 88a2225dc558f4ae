/* The part of the check that compares how good a placement is, apart from whether it is right. */
#ifndef PROPERTY_OBJECTIVE_H
#define PROPERTY_OBJECTIVE_H

#include "check.h"
#include "rules.h"

/* `instance` is the state before, `positions` the placement. Both leave `result` alone when nothing is promised. */
void objective_preferences(const struct instance *instance, const struct positions *positions, struct result *result,
                           struct tally *tally);
void objective_distance(const struct instance *instance, const struct positions *positions, struct result *result,
                        struct tally *tally);

#endif
