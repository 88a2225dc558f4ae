/* Matching: whether the claims of placed pods get a volume each, where counting does not say. Private to the engine. */
#ifndef ENGINE_PLACE_MATCHING_H
#define ENGINE_PLACE_MATCHING_H

#include "engine/cluster/internal.h"

struct solver;

/* Whether pods of the gang have such claims, or share what a node can attach only so many of (cluster_share_resource). */
bool matching_concerns(const struct solver *solver);
/* Whether the pods assigned so far get volumes and can attach them, beside those that are there already. */
bool matching_holds(const struct solver *solver);

/* attach.c: these two for what is shared on a node. */
bool attach_concerns(const struct solver *solver);
bool attach_holds(const struct solver *solver);

#endif
