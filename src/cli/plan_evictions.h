/* The lines of a plan's table that say which pods of a group leave or move, for whom and why. */
#ifndef CLI_PLAN_EVICTIONS_H
#define CLI_PLAN_EVICTIONS_H

#include "cli/output.h"
#include "schedule/plan.h"

struct plan_evictions;

/* The evictions of a plan by group; lives in the arena. */
struct plan_evictions *plan_evictions_sort(const struct plan *plan, struct arena *arena);
/* Adds the lines of one group. `all`: one for each pod, however many there are. */
void plan_evictions_add(const struct plan_evictions *evictions, size_t group, bool all, struct table *table);

#endif
