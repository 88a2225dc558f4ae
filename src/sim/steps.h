/* Steps of a scenario: what is done to a full world one after the other, and what must be true in between. All steps are
 * read and checked before the first is run. Private to src/sim. */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include "sim/scenario_run.h"
#include "sim/simulate.h"

enum step_verb {
	STEP_APPLY,
	STEP_PATCH,
	STEP_DELETE,
	STEP_SCALE,
	STEP_KILL_NODE,
	STEP_RESTORE_NODE,
	STEP_CORDON,
	STEP_UNCORDON,
	STEP_ADVANCE,
	STEP_SETTLE,
	STEP_RESTART,
	STEP_EXPECT,
	STEP_VERBS,
};

struct step {
	enum step_verb verb;
	const char *where;         /* path in the scenario */
	const struct val *value;   /* of the verb */
	const struct val *refused; /* texts that must be in the refusal; NULL: it must be carried out */
	struct simulation_target target;
	enum store_patch patch;
	enum store_subresource subresource;
	enum simulation_loss loss;
	int64_t number; /* replicas, grace or nanoseconds */
	int64_t limit;  /* nanoseconds */
};

struct steps {
	struct step *items;
	size_t count;
	bool expects; /* at least one of them expects something */
};

/* Reads spec.steps; what is wrong with them is in the result. */
struct steps steps_read(const struct val *list, struct scenario_result *result);
/* Carries out one step. Failures carry its path. */
void steps_run_one(struct simulation *simulation, const struct step *step, struct scenario_result *result);
/* Creates the objects in the order of the list, a minute apart. */
void steps_create_objects(struct simulation *simulation, const struct manifests *objects,
                          struct scenario_result *result);
/* The whole scenario: objects, steps with the invariants after every turn, the expectation at the end. */
void steps_run(const struct manifests *objects, const struct val *spec, const struct remote_access *access,
               const struct settings *settings, struct scenario_result *result);

/* steps_expect.c: compares an expectation with the store; NULL checks only its form. */
void steps_expect(struct simulation *simulation, const struct val *expect, const char *where,
                  struct scenario_result *result);

#endif
