/* Owns one random run: its steps, its trace and its verdict. */
#include "sim/faults_run.h"

#include "base/grow.h"

#include <string.h>

#define QUIET (90 * CLOCK_SECOND)
#define REST_LIMIT (6 * 3600 * CLOCK_SECOND)
#define MOST_CHANGES 1500 /* turns of one run that write something; sound ones take hundreds */
#define ATTENDED 24
#define REPLACE_ROUNDS 8

static const char *const names[FAULT_KINDS] = {
	[FAULT_CONFLICT] = "conflict", [FAULT_WATCH_LOSS] = "watch-loss", [FAULT_CRASH] = "crash",
	[FAULT_SLOW_API] = "slow-api", [FAULT_NODE_FLAP] = "node-flap",   [FAULT_CLOCK_JUMP] = "clock-jump",
};

const char *fault_name(enum fault_kind kind)
{
	return names[kind];
}

int faults_parse(const char *text, unsigned *faults, const char **bad, size_t *length)
{
	*faults = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	if (strcmp(text, "all") == 0) {
		*faults = FAULT_ALL;
		return 0;
	}
	for (const char *at = text;; at++) {
		size_t part = strcspn(at, ",");
		int kind = 0;
		while (kind < FAULT_KINDS && !(strlen(names[kind]) == part && strncmp(names[kind], at, part) == 0))
			kind++;
		if (kind == FAULT_KINDS) {
			*bad = at;
			*length = part;
			return -1;
		}
		*faults |= 1u << kind;
		at += part;
		if (!*at)
			return 0;
	}
}

void faults_trace(struct fault_run *run, const char *format, ...)
{
	struct fault_outcome *outcome = run->outcome;
	if (outcome->trace_count == run->trace_capacity)
		outcome->trace = grow_array(run->arena, outcome->trace, outcome->trace_count, &run->trace_capacity,
		                            sizeof(*outcome->trace));
	va_list args;
	va_start(args, format);
	int64_t ms = (run->simulation->clock.now - SIMULATION_START) / 1000000;
	outcome->trace[outcome->trace_count++] =
		arena_printf(run->arena, "%6lld.%03lld v%-4llu %s", (long long)(ms / 1000), (long long)(ms % 1000),
	                     (unsigned long long)store_version(run->simulation->store),
	                     arena_vprintf(run->arena, format, args));
	va_end(args);
}

void faults_apply(struct fault_run *run, const char *yaml)
{
	struct problems problems = {.arena = run->arena};
	struct manifests manifests;
	manifests_init(&manifests);
	if (manifests_parse(&manifests, yaml, strlen(yaml), "generated", &problems) < 0)
		scenario_fail(&run->result, "generated object cannot be read: %s", problems.items[0].message);
	for (size_t i = 0; i < manifests.count; i++) {
		struct store_error error = {0};
		if (simulation_apply(run->simulation, manifests.items[i].object, run->arena, &error) < 0)
			scenario_fail(&run->result, "generated %s %s is refused: %s", manifests.items[i].kind,
			              manifests.items[i].name, error.message);
	}
	manifests_free(&manifests);
}

/* ---- turns ---- */

static void after_turn(void *context)
{
	struct fault_run *run = context;
	size_t before = run->result.failure_count;
	if (!run->invariants)
		return;
	if (run->simulation->lost_turn) {
		run->simulation->lost_turn = false;
		faults_trace(run, "  crashed before the commit: what was not committed is lost");
		world_invariants_look_again(run->invariants);
	} else {
		world_invariants_check(run->invariants, run->excused, &run->result);
	}
	run->excused = false;
	if (run->dead) {
		run->dead = false;
		faults_trace(run, "  crashed in the middle of a turn");
		simulation_restart(run->simulation);
	}
	/* Somebody who changes his mind in every turn would keep the run until the last hour of REST_LIMIT. */
	if (run->simulation->changes > MOST_CHANGES)
		scenario_fail(&run->result, "it is still changing after %d turns with changes", MOST_CHANGES);
	if (run->result.failure_count > before)
		run->simulation->stopped = true;
}

static void pass_time(struct fault_run *run)
{
	static const int64_t pauses_ms[] = {0, 0, 60, 1000, 1000, 5000, 20000, 65000, 1000, 320000};
	int64_t ms = pauses_ms[random_range(&run->random, 0, 9)];
	faults_secure(run);
	world_invariants_accept(run->invariants);
	if (simulation_advance(run->simulation, ms * 1000000) < 0)
		scenario_fail(&run->result, "the world does not come to an end of its turns at one moment");
}

/* ---- rest ---- */

static bool failed(const struct fault_run *run)
{
	return run->result.failure_count > 0;
}

/* By their past queues take turns, which is how it is meant and has no end: a run comes to rest, and is judged, without it. */
static void count_past(struct fault_run *run, bool counts)
{
	struct settings settings = *run->settings;
	if (!counts)
		settings.past = (struct settings_past){0};
	settings_source_replace(run->simulation->settings, &settings);
}

static void come_to_rest(struct fault_run *run)
{
	faults_stop(run);
	count_past(run, false);
	world_invariants_accept(run->invariants);
	if (simulation_settle(run->simulation, QUIET + run->backwards_ns, REST_LIMIT) < 0)
		scenario_fail(&run->result, "without faults it is still changing after %lld hours",
		              (long long)(REST_LIMIT / CLOCK_SECOND / 3600));
	if (failed(run))
		return;
	faults_trace(run, "at rest");
	world_invariants_check_rest(run->invariants, run->simulation->clock.now / CLOCK_SECOND,
	                            settings_now(run->simulation->settings), &run->result);
	count_past(run, true);
}

/* Owners that create anew what is evicted while it goes on, as controllers do: a moved pod is back before its place is
 * given away. */
static void attend(struct fault_run *run)
{
	for (int i = 0; i < ATTENDED && !failed(run); i++) {
		world_invariants_accept(run->invariants);
		if (simulation_advance(run->simulation, 5 * CLOCK_SECOND) < 0)
			scenario_fail(&run->result, "the world does not come to an end of its turns at one moment");
		if (!failed(run))
			faults_replace_missing(run);
	}
}

static void finish(struct fault_run *run)
{
	come_to_rest(run);
	for (int round = 0; !failed(run) && !run->options.scenario; round++) {
		int created = faults_replace_missing(run);
		if (created == 0)
			return;
		if (round == REPLACE_ROUNDS) {
			scenario_fail(&run->result, "pods are evicted and created again without end");
			return;
		}
		faults_trace(run, "owners create %d pods that are missing", created);
		attend(run);
		if (!failed(run))
			come_to_rest(run);
	}
}

/* ---- runs ---- */

static void run_generated(struct fault_run *run)
{
	faults_make_cluster(run);
	faults_remember_nodes(run);
	faults_make_storage(run);
	faults_make_devices(run);
	run->invariants = world_invariants_create(run->simulation->store, run->simulation->settings);
	int steps = random_range(&run->random, 6, 16);
	for (int i = 0; i < steps && !failed(run); i++) {
		faults_change(run);
		faults_change_storage(run);
		faults_change_devices(run);
		faults_strike(run);
		if (!failed(run))
			pass_time(run);
		if (!failed(run) && random_chance(&run->random, 5))
			come_to_rest(run);
	}
}

static void run_scenario(struct fault_run *run)
{
	const struct val *spec = val_get(run->options.scenario->object, "spec"), *item;
	struct problems problems = {.arena = run->arena};
	struct manifests objects;
	manifests_init(&objects);
	for (struct val_iter it = val_iter(val_get(spec, "objects")); val_next(&it, NULL, &item);)
		manifests_add(&objects, item, "spec.objects", &problems);
	if (problems.errors > 0)
		scenario_fail(&run->result, "%s: %s", problems.items[0].path, problems.items[0].message);
	struct steps steps = {0};
	if (val_get(spec, "steps"))
		steps = steps_read(val_get(spec, "steps"), &run->result);
	if (!failed(run))
		steps_create_objects(run->simulation, &objects, &run->result);
	faults_remember_nodes(run);
	run->invariants = world_invariants_create(run->simulation->store, run->simulation->settings);
	for (size_t i = 0; i < steps.count && !failed(run); i++) {
		/* What is expected at a moment is expected without faults. */
		if (steps.items[i].verb == STEP_EXPECT)
			continue;
		struct scenario_result ignored = {.arena = run->arena};
		faults_trace(run, "%s", steps.items[i].where);
		steps_run_one(run->simulation, &steps.items[i], &ignored);
		faults_strike(run);
		if (!failed(run))
			pass_time(run);
	}
	manifests_free(&objects);
}

/* What is off unless somebody asks for it, is on in some runs, whatever the settings say: by the seed, without a random number
 * that the other runs would miss. */
static struct settings settings_of_run(const struct fault_options *options)
{
	struct settings settings = options->settings ? *options->settings : settings_usual;
	if (options->seed % 7 == 3)
		settings.past = (struct settings_past){.factor = 50, .window = 86400, .half_life = 7200};
	if (options->seed % 5 == 2)
		settings.defragment = (struct settings_defragment){.enabled = true, .moves = 30};
	return settings;
}

void faults_run(const struct fault_options *options, struct arena *arena, struct fault_outcome *outcome)
{
	*outcome = (struct fault_outcome){0};
	struct settings settings = settings_of_run(options);
	struct fault_run run = {
		.options = *options,
		.settings = &settings,
		.random = {.state = options->seed},
		.result = {.arena = arena},
		.arena = arena,
		.outcome = outcome,
		.die_in = -1,
	};
	/* Some runs write what was decided in small slices, down to one write, between which everybody else goes on. */
	size_t slice = options->seed % 3 == 1 ? 20 + options->seed % 97 : 0;
	run.simulation = simulation_create(&(struct simulation_options){.seed = options->seed,
	                                                                .slice = slice,
	                                                                .settings = &settings,
	                                                                .logger = options->logger,
	                                                                .after_turn = after_turn,
	                                                                .context = &run});
	store_set_fault(run.simulation->store, faults_on_write, &run);
	if (options->scenario)
		run_scenario(&run);
	else
		run_generated(&run);
	if (!failed(&run))
		finish(&run);
	outcome->turns = run.simulation->turns;
	outcome->violations = run.result.failures;
	outcome->violation_count = run.result.failure_count;
	world_invariants_destroy(run.invariants);
	simulation_destroy(run.simulation);
	for (size_t i = 0; i < run.nodes.count; i++)
		doc_destroy(run.nodes.items[i].object);
	vec_free(&run.nodes);
}
