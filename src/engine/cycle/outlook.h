/* The outlook of a group that found no place: would it find one if nothing else ran? Only changes of nodes change the answer,
 * so it is kept in the refusal cache. Private to the engine. */
#ifndef ENGINE_CYCLE_OUTLOOK_H
#define ENGINE_CYCLE_OUTLOOK_H

#include "engine/cycle/cycle.h"

/* Whether there is proof that the group finds no place, its own pods staying where they are, even if nothing else ran: then
 * nobody has to go for it. Rules between pods look at who runs, so nothing is proved about them. Resets the scratch arena. */
bool outlook_is_hopeless(struct cycle *cycle, const struct cycle_group *group, struct arena *scratch);
/* Whether there is proof that the whole group, its own pods included, does not fit the cluster with nothing in it. A group that
 * waits for pods of others, which its affinity asks for, is never said to. Resets the scratch arena. */
bool outlook_is_never(struct cycle *cycle, const struct cycle_group *group, struct arena *scratch);

#endif
