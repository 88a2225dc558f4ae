/* Who holds the room that groups wait for, and what their queues are entitled to. Private to the engine. */
#ifndef ENGINE_CYCLE_HOLDERS_H
#define ENGINE_CYCLE_HOLDERS_H

#include "engine/cycle/cycle.h"

/* Adds to groups that wait for room who is on the nodes that would have to be free, why those stay, and how the group's queue
 * stands. At the end of a cycle that looks at all groups, for people who asked: it goes over all pods for every such group. */
void holders_explain(struct cycle *cycle);

#endif
