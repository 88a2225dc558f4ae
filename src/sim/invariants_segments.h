/* The order of segments of RoleBasedGroups, judged from the objects in the store: a segment begins only when every role has
 * all of the segments before it, and for OrderedReady only when all of that has been ready. Private to src/sim. */
#ifndef SIM_INVARIANTS_SEGMENTS_H
#define SIM_INVARIANTS_SEGMENTS_H

#include "sim/invariants_view.h"
#include "sim/scenario_run.h"

struct segment_memory;

struct segment_memory *segment_memory_create(void);
void segment_memory_destroy(struct segment_memory *memory); /* NULL is a no-op */
/* Judges pods that are new, and remembers what there is. `result` NULL: only remembers. */
void segment_memory_check(struct segment_memory *memory, struct store *store, const struct view *now,
                          struct scenario_result *result);
/* When nothing changes any more: who has all segments ready has all segments. */
void segment_memory_check_rest(struct segment_memory *memory, struct store *store, const struct view *now,
                               struct scenario_result *result);

#endif
