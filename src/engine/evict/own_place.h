/* The place that was found for whom room is made. Private to the engine. */
#ifndef ENGINE_EVICT_OWN_PLACE_H
#define ENGINE_EVICT_OWN_PLACE_H

#include "engine/evict/internal.h"

/* What the placement counts for against queues, with the pods that are to come where the group starts only with room for them. */
void own_place_count(struct evict_attempt *attempt);
/* Commits the placement, as reservations; what is to come takes its room, too. Its lists move to the arena of the attempt. */
void own_place_take(struct evict_attempt *attempt);
/* Takes that back. */
void own_place_undo(struct evict_attempt *attempt);
/* It stays: charges it, and holds the room of what is to come. */
void own_place_settle(struct evict_attempt *attempt);

#endif
