/* What the parts of the scenario runner share. Private to src/sim. */
#ifndef SIM_SCENARIO_RUN_H
#define SIM_SCENARIO_RUN_H

#include "schedule/plan.h"
#include "sim/scenario.h"

void scenario_fail(struct scenario_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Fails with the name of every key of `map` that is not in the NULL-terminated list; `where` is its path. */
void scenario_check_keys(struct scenario_result *result, const struct val *map, const char *where,
                         const char *const *known);

/* What spec.run says about settings, put into them. */
void scenario_read_settings(const struct val *run, struct settings *into, struct scenario_result *result);

/* expect.c: compares expect.groups and expect.pods with what the cycles left in the snapshot. */
void expectations_check(const struct val *expect, const struct snapshot *snapshot, struct scenario_result *result);

/* settle.c: the world between two cycles. Evicted pods wait again, reservations are bound. */
void settle(struct snapshot *snapshot);
/* When nothing more happens: moves the clock to the next moment at which something may. False when there is none. */
bool settle_until_timer(struct snapshot *snapshot);

/* invariants.c: rules that hold after every cycle of every scenario, computed from the objects and not from the
 * engine's own books. */
struct invariants;
struct invariants *invariants_create(const struct snapshot *snapshot); /* before the first cycle */
void invariants_check(struct invariants *invariants, int cycle, struct scenario_result *result);
void invariants_destroy(struct invariants *invariants);

#endif
