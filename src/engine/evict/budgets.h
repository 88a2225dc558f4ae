/* Disruption budgets: how many of the pods they cover may leave, over all decisions of a cycle. Private to the engine.
 *
 * A pod that leaves counts in every budget that covers it, also when it is moved. What one decision takes counts together,
 * and with what the cycle decided before. Functions that take the accounts accept NULL: then nothing is guarded. */
#ifndef ENGINE_EVICT_BUDGETS_H
#define ENGINE_EVICT_BUDGETS_H

#include "engine/evict/victims.h"

struct evict_budgets;

/* For one action; in the arena of the cycle. NULL when the cycle has no budgets. */
struct evict_budgets *budgets_create(struct cycle *cycle);
/* Before a decision: nothing is taken or listed. */
void budgets_begin(struct evict_budgets *budgets);

/* A unit leaves (sign 1), or returns (-1). */
void budgets_charge_unit(struct evict_budgets *budgets, const struct victim_unit *unit, int sign);
/* The same for one pod that ran before the cycle. */
void budgets_charge_pod(struct evict_budgets *budgets, const struct gang_pod *pod, int sign);
/* By how much the budgets are exceeded with all that has left in this decision; one pod may exceed several. */
int64_t budgets_count_violations(const struct evict_budgets *budgets);
/* The first budget that is exceeded so, NULL for none. */
const struct cycle_budget *budgets_find_violated(const struct evict_budgets *budgets);

/* Whether some budget would count the pods of the unit. */
bool budgets_cover_unit(struct evict_budgets *budgets, const struct victim_unit *unit);
/* Puts the unit on the list of what could leave together. False, and nothing is changed, if that were too much. */
bool budgets_admit_unit(struct evict_budgets *budgets, const struct victim_unit *unit);

/* An eviction of the pod is decided: counts it, and notes in it who guards the pod. */
void budgets_spend(struct evict_budgets *budgets, const struct gang_pod *pod, struct cycle_eviction *eviction);

#endif
