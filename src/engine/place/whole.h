/* Gangs that start whole: their first pods are of use only where those have room, too, that their owner makes later. Private to
 * the engine. */
#ifndef ENGINE_PLACE_WHOLE_H
#define ENGINE_PLACE_WHOLE_H

#include "engine/place/place.h"

/* For a gang that starts whole and of which pods are still to come: the gang as it will be, with those behind its own as WAITING
 * ones, and in the minimum. In the arena. False, and nothing in `out`, for others; and where what the pods that are there ask for
 * says nothing about those to come: rules about other pods, volumes of their own. */
bool whole_make(const struct cluster *cluster, const struct gang *gang, struct arena *arena, struct gang *out);
/* The answer for a gang that was made whole becomes one for the gang as it is. */
void whole_take_apart(const struct gang *gang, const struct gang *whole, struct arena *arena, struct placement *out);

#endif
