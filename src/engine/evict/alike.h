/* Which running pods are alike: lifting one of them leaves the same cluster as lifting another. Private to the engine.
 *
 * Two pods are when they ask for the same, stand on nodes with equal room and equal company in domains that are alike on every level,
 * and their groups say nothing about places or are the same. Where pods are lost, their groups must be of one pod each, equal in
 * priority, queue and minimum, or the same. Follows what is lifted. */
#ifndef ENGINE_EVICT_ALIKE_H
#define ENGINE_EVICT_ALIKE_H

#include "engine/evict/internal.h"

struct alike;

/* With all of these units, each a single pod, off their nodes; afterwards they count as back. `losing`: they are lost, not
 * moved. In the arena of the decision. */
struct alike *alike_create(const struct evict_attempt *attempt, const struct victim_unit *const *units, size_t count,
                           bool losing);
/* The unit leaves its node, or is back. */
void alike_lift(struct alike *alike, const struct victim_unit *unit, bool off);
/* Equal for units that are alike in the present state, and only for those (as far as hashes go). */
uint64_t alike_key(const struct alike *alike, const struct victim_unit *unit);

#endif
