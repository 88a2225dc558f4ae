/* Owns reading steps and carrying them out. What a step expects is in steps_expect.c. */
#include "sim/steps.h"

#include "sim/invariants_world.h"

#include <string.h>

#define SETTLE_QUIET (120 * CLOCK_SECOND)
#define SETTLE_LIMIT (6 * 3600 * CLOCK_SECOND)
#define LONGEST_ADVANCE (10 * 365 * INT64_C(86400) * CLOCK_SECOND)

static const char *const patch_keys[] = {"apiVersion", "kind", "namespace",   "name",
                                         "patch",      "type", "subresource", NULL};
static const char *const delete_keys[] = {"apiVersion", "kind", "namespace", "name", "gracePeriodSeconds", NULL};
static const char *const scale_keys[] = {"apiVersion", "kind", "namespace", "name", "replicas", NULL};
static const char *const kill_keys[] = {"name", "pods", NULL};
static const char *const settle_keys[] = {"quiet", "within", NULL};
static const char *const no_keys[] = {NULL};

/* ---- reading ---- */

static const char *read_text(const struct val *map, const char *key, bool needed, const char *where,
                             struct scenario_result *result)
{
	const struct val *val = val_get(map, key);
	if (!val && !needed)
		return NULL;
	const char *text = val_str(val, "");
	if (!text[0])
		scenario_fail(result, "%s.%s: must be a text", where, key);
	return text;
}

static int read_word(const struct val *val, const char *const *words, const char *where, const char *key,
                     struct scenario_result *result)
{
	if (!val)
		return 0;
	struct buffer list = {0};
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], val_str(val, "")) == 0) {
			buffer_free(&list);
			return i;
		}
		buffer_printf(&list, "%s%s", i ? ", " : "", words[i]);
	}
	scenario_fail(result, "%s.%s: must be one of %s", where, key, list.text);
	buffer_free(&list);
	return 0;
}

static int64_t read_duration(const struct val *val, const char *where, const char *key, int64_t fallback,
                             struct scenario_result *result)
{
	int64_t ns = fallback;
	if (val && (clock_parse_duration(val_str(val, ""), &ns) < 0 || ns < 0 || ns > LONGEST_ADVANCE)) {
		scenario_fail(result, "%s%s: must be a duration from 0s to ten years, such as 90s or 2h", where, key);
		return fallback;
	}
	return ns;
}

static int64_t read_number(const struct val *val, const char *where, const char *key, struct scenario_result *result)
{
	int64_t number = 0;
	if (val_int(val, &number) < 0 || number < 0 || number > INT32_MAX)
		scenario_fail(result, "%s.%s: must be a whole number from 0", where, key);
	return number;
}

static void read_target(struct step *step, const char *const *keys, struct scenario_result *result)
{
	scenario_check_keys(result, step->value, step->where, keys);
	step->target = (struct simulation_target){
		.api_version = read_text(step->value, "apiVersion", false, step->where, result),
		.kind = read_text(step->value, "kind", true, step->where, result),
		.namespace_ = read_text(step->value, "namespace", false, step->where, result),
		.name = read_text(step->value, "name", true, step->where, result),
	};
}

static void read_node(struct step *step, bool may_be_map, struct scenario_result *result)
{
	static const char *const losses[] = {"Wait", "Delete", "Fail", NULL};
	step->target.name = val_str(step->value, "");
	if (may_be_map && val_kind(step->value) == VAL_MAP) {
		scenario_check_keys(result, step->value, step->where, kill_keys);
		step->target.name = read_text(step->value, "name", true, step->where, result);
		step->loss = (enum simulation_loss)read_word(val_get(step->value, "pods"), losses, step->where, "pods",
		                                             result);
	} else if (!step->target.name[0]) {
		scenario_fail(result, "%s: must be the name of a node", step->where);
	}
}

static void read_apply(struct step *step, struct scenario_result *result)
{
	struct manifests list;
	struct problems problems = {.arena = result->arena};
	manifests_init(&list);
	if (val_kind(step->value) == VAL_LIST) {
		const struct val *item;
		size_t index = 0;
		for (struct val_iter it = val_iter(step->value); val_next(&it, NULL, &item); index++)
			manifests_add(&list, item, arena_printf(result->arena, "%s[%zu]", step->where, index),
			              &problems);
	} else {
		manifests_add(&list, step->value, step->where, &problems);
	}
	for (size_t i = 0; i < problems.count; i++)
		if (problems.items[i].severity == SEVERITY_ERROR)
			scenario_fail(result, "%s: %s", problems.items[i].path, problems.items[i].message);
	for (size_t i = 0; i < list.count; i++)
		if (!list.items[i].name[0])
			scenario_fail(result, "%s: metadata.name: must be given", list.items[i].source);
	manifests_free(&list);
}

static void read_patch(struct step *step, struct scenario_result *result)
{
	static const char *const patches[] = {"merge", "json", "strategic", "apply", NULL};
	static const enum store_patch patch_types[] = {STORE_PATCH_MERGE, STORE_PATCH_JSON, STORE_PATCH_STRATEGIC,
	                                               STORE_PATCH_APPLY};
	static const char *const parts[] = {"", "status", NULL};
	read_target(step, patch_keys, result);
	step->patch = patch_types[read_word(val_get(step->value, "type"), patches, step->where, "type", result)];
	if (read_word(val_get(step->value, "subresource"), parts, step->where, "subresource", result))
		step->subresource = STORE_STATUS;
	if (!val_get(step->value, "patch"))
		scenario_fail(result, "%s.patch: must be given", step->where);
}

static void read_value(struct step *step, struct scenario_result *result)
{
	switch (step->verb) {
	case STEP_APPLY:
		read_apply(step, result);
		break;
	case STEP_PATCH:
		read_patch(step, result);
		break;
	case STEP_DELETE:
		read_target(step, delete_keys, result);
		step->number = -1;
		if (val_get(step->value, "gracePeriodSeconds"))
			step->number = read_number(val_get(step->value, "gracePeriodSeconds"), step->where,
			                           "gracePeriodSeconds", result);
		break;
	case STEP_SCALE:
		read_target(step, scale_keys, result);
		step->number = read_number(val_get(step->value, "replicas"), step->where, "replicas", result);
		break;
	case STEP_KILL_NODE:
	case STEP_RESTORE_NODE:
	case STEP_CORDON:
	case STEP_UNCORDON:
		read_node(step, step->verb == STEP_KILL_NODE, result);
		break;
	case STEP_ADVANCE:
		step->number = read_duration(step->value, step->where, "", 0, result);
		break;
	case STEP_SETTLE:
		scenario_check_keys(result, step->value, step->where, settle_keys);
		step->number =
			read_duration(val_get(step->value, "quiet"), step->where, ".quiet", SETTLE_QUIET, result);
		step->limit =
			read_duration(val_get(step->value, "within"), step->where, ".within", SETTLE_LIMIT, result);
		break;
	case STEP_RESTART:
		scenario_check_keys(result, step->value, step->where, no_keys);
		break;
	case STEP_EXPECT:
		steps_expect(NULL, step->value, step->where, result);
		break;
	case STEP_VERBS:
		break;
	}
}

static const char *const verbs[STEP_VERBS + 1] = {
	[STEP_APPLY] = "apply",   [STEP_PATCH] = "patch",        [STEP_DELETE] = "delete",
	[STEP_SCALE] = "scale",   [STEP_KILL_NODE] = "killNode", [STEP_RESTORE_NODE] = "restoreNode",
	[STEP_CORDON] = "cordon", [STEP_UNCORDON] = "uncordon",  [STEP_ADVANCE] = "advance",
	[STEP_SETTLE] = "settle", [STEP_RESTART] = "restart",    [STEP_EXPECT] = "expect",
	[STEP_VERBS] = NULL,
};

static void read_refused(struct step *step, const struct val *refused, const char *where,
                         struct scenario_result *result)
{
	const struct val *item;
	if (!refused)
		return;
	step->refused = refused;
	if (step->verb > STEP_SCALE)
		scenario_fail(result, "%s.refused: only apply, patch, delete and scale can be refused", where);
	if (val_kind(refused) != VAL_LIST)
		scenario_fail(result, "%s.refused: must be a list of texts", where);
	for (struct val_iter it = val_iter(refused); val_next(&it, NULL, &item);)
		if (!val_str(item, NULL))
			scenario_fail(result, "%s.refused: must be a list of texts", where);
}

static bool read_step(const struct val *item, const char *where, struct step *step, struct scenario_result *result)
{
	const char *key;
	const struct val *value;
	int found = 0;
	if (val_kind(item) != VAL_MAP) {
		scenario_fail(result, "%s: must be a map with one of the verbs", where);
		return false;
	}
	for (struct val_iter it = val_iter(item); val_next(&it, &key, &value);) {
		int verb = 0;
		while (verb < STEP_VERBS && strcmp(verbs[verb], key) != 0)
			verb++;
		if (verb < STEP_VERBS) {
			*step = (struct step){.verb = (enum step_verb)verb,
			                      .where = arena_printf(result->arena, "%s.%s", where, key),
			                      .value = value};
			found++;
		} else if (strcmp(key, "title") != 0 && strcmp(key, "refused") != 0) {
			scenario_fail(result, "%s.%s: not a key of the scenario format", where, key);
		}
	}
	if (found != 1) {
		scenario_fail(result, "%s: must have exactly one verb, and has %d", where, found);
		return false;
	}
	read_refused(step, val_get(item, "refused"), where, result);
	read_value(step, result);
	return true;
}

struct steps steps_read(const struct val *list, struct scenario_result *result)
{
	struct steps steps = {.items = arena_array(result->arena, struct step, val_count(list))};
	const struct val *item;
	size_t index = 0;
	if (val_kind(list) != VAL_LIST || val_count(list) == 0)
		scenario_fail(result, "spec.steps: must be a list of steps");
	else
		for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
			struct step *step = &steps.items[steps.count];
			steps.count +=
				read_step(item, arena_printf(result->arena, "spec.steps[%zu]", index), step, result);
			steps.expects |= step->verb == STEP_EXPECT || step->refused;
		}
	return steps;
}

/* ---- running ---- */

static int apply_all(struct simulation *simulation, const struct val *value, struct arena *arena,
                     struct store_error *error)
{
	struct manifests list;
	struct problems problems = {.arena = arena};
	const struct val *item;
	int rc = 0;
	manifests_init(&list);
	if (val_kind(value) == VAL_LIST)
		for (struct val_iter it = val_iter(value); val_next(&it, NULL, &item);)
			manifests_add(&list, item, "", &problems);
	else
		manifests_add(&list, value, "", &problems);
	for (size_t i = 0; i < list.count && rc == 0; i++)
		rc = simulation_apply(simulation, list.items[i].object, arena, error);
	manifests_free(&list);
	return rc;
}

/* -1 and *error when it was refused. */
static int carry_out(struct simulation *simulation, const struct step *step, struct arena *arena,
                     struct store_error *error)
{
	switch (step->verb) {
	case STEP_APPLY:
		return apply_all(simulation, step->value, arena, error);
	case STEP_PATCH:
		return simulation_patch(simulation, &step->target, step->patch, step->subresource,
		                        val_get(step->value, "patch"), arena, error);
	case STEP_DELETE:
		return simulation_delete(simulation, &step->target, step->number, arena, error);
	case STEP_SCALE:
		return simulation_scale(simulation, &step->target, step->number, arena, error);
	case STEP_KILL_NODE:
		return simulation_kill_node(simulation, step->target.name, step->loss, arena, error);
	case STEP_RESTORE_NODE:
		return simulation_restore_node(simulation, step->target.name, arena, error);
	case STEP_CORDON:
	case STEP_UNCORDON:
		return simulation_cordon(simulation, step->target.name, step->verb == STEP_CORDON, arena, error);
	case STEP_ADVANCE:
		if (simulation_advance(simulation, step->number) < 0)
			return store_fail(arena, error, 500, "InternalError", "the world never becomes quiet");
		return 0;
	case STEP_SETTLE:
		if (simulation_settle(simulation, step->number, step->limit) < 0)
			return store_fail(arena, error, 500, "InternalError", "still changing after %llds",
			                  (long long)(step->limit / CLOCK_SECOND));
		return 0;
	case STEP_RESTART:
		simulation_restart(simulation);
		return 0;
	case STEP_EXPECT:
	case STEP_VERBS:
		break;
	}
	return 0;
}

void steps_run_one(struct simulation *simulation, const struct step *step, struct scenario_result *result)
{
	const struct val *item;
	struct store_error error = {0};
	if (step->verb == STEP_EXPECT) {
		steps_expect(simulation, step->value, step->where, result);
		return;
	}
	int rc = carry_out(simulation, step, result->arena, &error);
	if (rc < 0 && !step->refused)
		scenario_fail(result, "%s: %s", step->where, error.message);
	else if (rc == 0 && step->refused)
		scenario_fail(result, "%s: expected to be refused, and was carried out", step->where);
	for (struct val_iter it = val_iter(step->refused); rc < 0 && val_next(&it, NULL, &item);)
		if (!strstr(error.message, val_str(item, "")))
			scenario_fail(result, "%s: expected a refusal with \"%s\", got: %s", step->where,
			              val_str(item, ""), error.message);
}

void steps_create_objects(struct simulation *simulation, const struct manifests *objects,
                          struct scenario_result *result)
{
	for (size_t i = 0; i < objects->count; i++) {
		struct store_error error = {0};
		if (simulation_apply(simulation, objects->items[i].object, result->arena, &error) < 0)
			scenario_fail(result, "%s: %s", objects->items[i].source, error.message);
		clock_virtual_advance(&simulation->clock, 60 * CLOCK_SECOND);
	}
}

struct run {
	struct simulation *simulation;
	struct world_invariants *invariants;
	struct scenario_result *result;
};

static void after_turn(void *context)
{
	struct run *run = context;
	size_t before = run->result->failure_count;
	if (run->invariants)
		world_invariants_check(run->invariants, false, run->result);
	run->simulation->stopped |= run->result->failure_count > before;
}

static struct store_fault on_write(void *context, const struct store_request *request)
{
	struct run *run = context;
	world_invariants_saw(run->invariants, request);
	return (struct store_fault){0};
}

static void restart(struct run *run, const struct step *step)
{
	/* On a real server the store is a new mirror afterwards. */
	world_invariants_use(run->invariants, NULL);
	steps_run_one(run->simulation, step, run->result);
	if (run->simulation->problem) {
		scenario_fail(run->result, "%s: %s", step->where, run->simulation->problem);
		run->simulation->stopped = true;
	} else {
		world_invariants_use(run->invariants, run->simulation->store);
		store_set_fault(run->simulation->store, on_write, run);
	}
}

static void run_steps(struct run *run, const struct steps *steps, const struct val *expect)
{
	struct scenario_result *result = run->result;
	for (size_t i = 0; i < steps->count && !run->simulation->stopped; i++) {
		if (steps->items[i].verb == STEP_RESTART) {
			restart(run, &steps->items[i]);
			continue;
		}
		steps_run_one(run->simulation, &steps->items[i], result);
		world_invariants_accept(run->invariants);
	}
	if (!expect || run->simulation->stopped)
		return;
	if (simulation_settle(run->simulation, SETTLE_QUIET, SETTLE_LIMIT) < 0)
		scenario_fail(result, "spec.expect: still changing after %llds",
		              (long long)(SETTLE_LIMIT / CLOCK_SECOND));
	else if (!run->simulation->stopped)
		steps_expect(run->simulation, expect, "spec.expect", result);
}

void steps_run(const struct manifests *objects, const struct val *spec, const struct remote_access *access,
               const struct settings *settings, struct scenario_result *result)
{
	struct run run = {.result = result};
	struct steps steps = {0};
	const struct val *expect = val_get(spec, "expect");
	size_t failures = result->failure_count;
	if (val_get(spec, "steps"))
		steps = steps_read(val_get(spec, "steps"), result);
	if (expect)
		steps_expect(NULL, expect, "spec.expect", result);
	else if (!steps.expects)
		scenario_fail(result, "spec.steps: no step expects anything; a scenario must expect something");
	struct settings own = settings ? *settings : settings_usual;
	/* All actions run beside steps, for as long as they go on. */
	static const char *const run_keys[] = {"starvationAfter", "timeBasedFairshare", "defragmentation", NULL};
	if (val_get(spec, "run"))
		scenario_check_keys(result, val_get(spec, "run"), "spec.run", run_keys);
	scenario_read_settings(val_get(spec, "run"), &own, result);
	if (result->failure_count > failures)
		return;
	run.simulation = simulation_create(&(struct simulation_options){
		.seed = 1, .settings = &own, .after_turn = after_turn, .context = &run, .access = access});
	if (run.simulation->problem) {
		scenario_fail(result, "%s", run.simulation->problem);
		simulation_destroy(run.simulation);
		return;
	}
	steps_create_objects(run.simulation, objects, result);
	run.invariants = world_invariants_create(run.simulation->store, run.simulation->settings);
	store_set_fault(run.simulation->store, on_write, &run);
	if (result->failure_count == failures)
		run_steps(&run, &steps, expect);
	world_invariants_destroy(run.invariants);
	simulation_destroy(run.simulation);
}
