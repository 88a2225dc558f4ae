/* Matching: whether the claims of placed pods get a volume each, where counting does not say. Private to the engine. */
#ifndef ENGINE_PLACE_MATCHING_H
#define ENGINE_PLACE_MATCHING_H

#include "engine/cluster/internal.h"

struct solver;

/* Whether pods of the gang have such claims. */
bool matching_concerns(const struct solver *solver);
/* Whether the pods assigned so far get volumes, beside those that are there already. */
bool matching_holds(const struct solver *solver);

#endif
