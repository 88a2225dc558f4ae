/* Making room: evict or move running pods so that one waiting group fits. Private to the engine. */
#ifndef ENGINE_EVICT_EVICT_H
#define ENGINE_EVICT_EVICT_H

#include "engine/cycle/internal.h"

/* Tries to make room for the minimum of a group (`grow`: for one more unit of its surplus) by the means of the action. Either everything needed happens (victims
 * leave or move, the group is reserved, queues are charged, evictions recorded) or nothing does. */
bool evict_for_group(struct cycle_run *run, int group, enum cycle_action action, bool grow);

#endif
