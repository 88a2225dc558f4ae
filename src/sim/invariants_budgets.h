/* Invariants about disruption budgets: what the scheduler may take of the pods they cover. Private to src/sim. */
#ifndef SIM_INVARIANTS_BUDGETS_H
#define SIM_INVARIANTS_BUDGETS_H

#include "sim/invariants_view.h"
#include "sim/scenario_run.h"

struct budget_memory;

struct budget_memory *budget_memory_create(void);
void budget_memory_destroy(struct budget_memory *memory); /* NULL is a no-op */
/* The scheduler is about to delete a pod without asking the eviction API, which counts. */
void budget_memory_saw(struct budget_memory *memory, const struct view *before, const struct settings *settings,
                       const struct store_object *pod);
/* After a turn; `evicted` has the uids of what the scheduler took so far. Only remembers what is there without a result. */
void budget_memory_check(struct budget_memory *memory, struct store *store, const struct view *before,
                         const struct view *now, const struct interner *evicted, struct scenario_result *result);

#endif
