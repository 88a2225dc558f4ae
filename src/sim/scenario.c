/* Owns reading a scenario, running its cycles and the verdict on admission. Comparing the outcome is in expect.c, the
 * rules that always hold are in invariants.c. */
#include "sim/scenario_run.h"

#include "admit/admit.h"
#include "base/clock.h"
#include "base/grow.h"
#include "sim/steps.h"

#include <stdarg.h>
#include <string.h>

#define MAX_CYCLES 10000
/* 2026-01-01T00:01:01Z, or the time of the youngest object if that is later. */
#define SCENARIO_START INT64_C(1767225661)

bool scenario_is(const struct manifest *manifest)
{
	return strcmp(manifest->kind, SCENARIO_KIND) == 0 && strcmp(manifest->api_version, SCENARIO_API_VERSION) == 0;
}

void scenario_fail(struct scenario_result *result, const char *format, ...)
{
	if (result->failure_count == result->failure_capacity)
		result->failures = grow_array(result->arena, result->failures, result->failure_count,
		                              &result->failure_capacity, sizeof(*result->failures));
	va_list args;
	va_start(args, format);
	result->failures[result->failure_count++] = arena_vprintf(result->arena, format, args);
	va_end(args);
}

void scenario_check_keys(struct scenario_result *result, const struct val *map, const char *where,
                         const char *const *known)
{
	const char *key;
	const struct val *item;
	if (map && val_kind(map) != VAL_NULL && val_kind(map) != VAL_MAP) {
		scenario_fail(result, "%s: must be a map, not a %s", where, val_kind_name(val_kind(map)));
		return;
	}
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		bool found = false;
		for (const char *const *name = known; *name; name++)
			found = found || strcmp(*name, key) == 0;
		if (!found)
			scenario_fail(result, "%s.%s: not a key of the scenario format", where, key);
	}
}

struct run_plan {
	enum cycle_action actions[ACTION_COUNT];
	size_t action_count;
	int64_t cycles;
};

/* It counts where it is written, without `enabled`. */
static void read_past(const struct val *map, struct settings_past *into, struct scenario_result *result)
{
	static const char *const keys[] = {"kValue", "windowSize", "windowType", "halfLifePeriod", NULL};
	struct problems problems = {.arena = result->arena};
	if (!map)
		return;
	scenario_check_keys(result, map, "spec.run.timeBasedFairshare", keys);
	settings_read_past(map, "spec.run.timeBasedFairshare", into, &problems);
	for (size_t i = 0; i < problems.count; i++)
		scenario_fail(result, "%s: %s", problems.items[i].path, problems.items[i].message);
}

static void read_defragment(const struct val *map, struct settings_defragment *into, struct scenario_result *result)
{
	static const char *const keys[] = {"window", "movesPerHour", "level", NULL};
	struct problems problems = {.arena = result->arena};
	if (!map)
		return;
	scenario_check_keys(result, map, "spec.run.defragmentation", keys);
	settings_read_defragment(map, "spec.run.defragmentation", result->arena, into, &problems);
	into->enabled = true;
	for (size_t i = 0; i < problems.count; i++)
		scenario_fail(result, "%s: %s", problems.items[i].path, problems.items[i].message);
}

void scenario_read_settings(const struct val *run, struct settings *into, struct scenario_result *result)
{
	const struct val *starvation = val_get(run, "starvationAfter");
	if (starvation && clock_parse_duration(val_str(starvation, ""), &into->starvation_ns) < 0)
		scenario_fail(result, "spec.run.starvationAfter: must be a duration such as 10m");
	read_past(val_get(run, "timeBasedFairshare"), &into->past, result);
	read_defragment(val_get(run, "defragmentation"), &into->defragment, result);
}

/* False, with a failure, when the run asks for what does not exist yet. */
static bool read_run(const struct val *run, struct run_plan *out, struct scenario_result *result)
{
	static const char *const keys[] = {"actions",         "cycles", "starvationAfter", "timeBasedFairshare",
	                                   "defragmentation", NULL};
	size_t before = result->failure_count;
	*out = (struct run_plan){0};
	out->action_count = cycle_action_list_all(out->actions);
	if (!run || val_kind(run) == VAL_NULL)
		return true;
	scenario_check_keys(result, run, "spec.run", keys);
	const struct val *actions = val_get(run, "actions"), *item;
	const char *key;
	if (actions) {
		out->action_count = 0;
		if (val_kind(actions) != VAL_LIST || val_count(actions) == 0)
			scenario_fail(result, "spec.run.actions: must be a list of actions");
	}
	for (struct val_iter it = val_iter(actions); val_next(&it, &key, &item);) {
		enum cycle_action action;
		const char *name = val_str(item, "");
		if (val_kind(actions) != VAL_LIST || cycle_action_parse(name, strlen(name), &action) < 0)
			scenario_fail(result, "spec.run.actions: \"%s\" is not an action", name);
		else if (out->action_count == ACTION_COUNT)
			scenario_fail(result, "spec.run.actions: more than %d actions", ACTION_COUNT);
		else
			out->actions[out->action_count++] = action;
	}
	const struct val *cycles = val_get(run, "cycles");
	if (cycles && (val_int(cycles, &out->cycles) < 0 || out->cycles < 1 || out->cycles > MAX_CYCLES))
		scenario_fail(result, "spec.run.cycles: must be a whole number from 1 to %d", MAX_CYCLES);
	return result->failure_count == before;
}

/* What a cycle decided, as one number: when it does not change any more, the run is over. */
static uint64_t fingerprint(const struct snapshot *snapshot)
{
	uint64_t sum = snapshot->cycle.eviction_count;
	for (size_t g = 0; g < snapshot->cycle.group_count; g++) {
		const struct gang *gang = &snapshot->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			sum = sum * 1000003 + (uint64_t)gang->pods[p].state * 65599 +
			      (uint64_t)(gang->pods[p].node + 1);
	}
	return sum;
}

static void run_counted(struct snapshot *snapshot, const struct run_plan *run, struct scenario_result *result)
{
	struct invariants *invariants = invariants_create(snapshot);
	for (int64_t cycle = 1; cycle <= run->cycles; cycle++) {
		plan_run(snapshot, run->actions, run->action_count);
		invariants_check(invariants, (int)cycle, result);
	}
	invariants_destroy(invariants);
}

/* Cycles with the world moving on in between, until a cycle decides nothing and no timer is left. */
static void run_until_quiet(struct snapshot *snapshot, const struct run_plan *run, struct scenario_result *result)
{
	for (int cycle = 1; cycle <= MAX_CYCLES; cycle++) {
		struct invariants *invariants = invariants_create(snapshot);
		uint64_t before = fingerprint(snapshot);
		plan_run(snapshot, run->actions, run->action_count);
		invariants_check(invariants, cycle, result);
		invariants_destroy(invariants);
		bool quiet = fingerprint(snapshot) == before;
		settle(snapshot);
		if (quiet && !settle_until_timer(snapshot))
			return;
	}
	scenario_fail(result, "still changing after %d cycles", MAX_CYCLES);
}

static void run_cycles(const struct manifests *objects, const struct val *spec, const struct settings *settings,
                       struct scenario_result *result)
{
	struct run_plan run;
	if (!read_run(val_get(spec, "run"), &run, result))
		return;
	struct settings own = settings ? *settings : settings_usual;
	size_t before = result->failure_count;
	scenario_read_settings(val_get(spec, "run"), &own, result);
	if (result->failure_count > before)
		return;
	struct snapshot_options options = {.now_seconds = SCENARIO_START, .settings = &own};
	struct snapshot *snapshot = snapshot_create(objects, &options);
	if (run.cycles)
		run_counted(snapshot, &run, result);
	else
		run_until_quiet(snapshot, &run, result);
	expectations_check(val_get(spec, "expect"), snapshot, result);
	snapshot_destroy(snapshot);
}

static const char *problem_text(struct arena *arena, const struct problem *problem)
{
	return arena_printf(arena, "%s%s%s%s%s%s", problem->path, problem->path[0] ? ": " : "", problem->message,
	                    problem->fix ? " (" : "", problem->fix ? problem->fix : "", problem->fix ? ")" : "");
}

/* The verdict on the last object; a warning counts as a message, not as a refusal. */
static void check_admission(const struct val *admission, const struct manifests *objects,
                            struct scenario_result *result)
{
	static const char *const keys[] = {"allowed", "contains", NULL};
	scenario_check_keys(result, admission, "spec.expect.admission", keys);
	if (objects->count == 0) {
		scenario_fail(result, "spec.expect.admission: there is no object to judge");
		return;
	}
	const struct manifest *last = &objects->items[objects->count - 1];
	struct problems problems = {.arena = result->arena};
	if (!admit_knows(last)) {
		scenario_fail(result, "not supported yet: admission of kind %s (%s)", last->kind, last->api_version);
		return;
	}
	struct admit_index *index = admit_index_create(objects);
	admit_object(last, index, &problems);
	admit_index_destroy(index);
	struct buffer messages = {0};
	for (size_t i = 0; i < problems.count; i++)
		buffer_printf(&messages, "%s%s", i ? "; " : "", problem_text(result->arena, &problems.items[i]));
	const char *said = messages.length > 0 ? messages.text : "no message";
	const struct val *allowed = val_get(admission, "allowed");
	if (allowed && val_kind(allowed) != VAL_BOOL)
		scenario_fail(result, "spec.expect.admission.allowed: must be true or false");
	else if (allowed && val_bool(allowed, true) != (problems.errors == 0))
		scenario_fail(result, "admission: expected %s, got %s: %s",
		              val_bool(allowed, true) ? "allowed" : "refused",
		              problems.errors == 0 ? "allowed" : "refused", said);
	const struct val *contains = val_get(admission, "contains"), *item;
	const char *key;
	if (contains && val_kind(contains) != VAL_LIST)
		scenario_fail(result, "spec.expect.admission.contains: must be a list of texts");
	for (struct val_iter it = val_iter(contains); val_next(&it, &key, &item);)
		if (!strstr(said, val_str(item, "\n")))
			scenario_fail(result, "admission: expected a message with \"%s\", got %s",
			              val_str(item, "(not a text)"), said);
	buffer_free(&messages);
}

/* PodGroups are written by controllers: the whole cluster has to run for them. */
static void check_pod_groups(const struct val *pod_groups, const struct manifests *objects,
                             const struct settings *settings, struct scenario_result *result)
{
	struct build *build = build_create();
	struct node *spec = build_map(build), *expect = build_map(build);
	build_put(build, expect, "podGroups", build_copy(build, pod_groups));
	build_put(build, spec, "expect", expect);
	struct doc *doc = build_finish(build, spec);
	steps_run(objects, doc_root(doc), NULL, settings, result);
	doc_destroy(doc);
	build_destroy(build);
}

static void check_expect(const struct val *spec, const struct manifests *objects, const struct settings *settings,
                         struct scenario_result *result)
{
	static const char *const keys[] = {"groups", "pods", "admission", "podGroups", NULL};
	const struct val *expect = val_get(spec, "expect");
	scenario_check_keys(result, expect, "spec.expect", keys);
	if (val_kind(expect) != VAL_MAP || val_count(expect) == 0) {
		scenario_fail(result, "spec.expect: says nothing; a scenario must expect something");
		return;
	}
	const struct val *admission = val_get(expect, "admission"), *pod_groups = val_get(expect, "podGroups");
	if (pod_groups)
		check_pod_groups(pod_groups, objects, settings, result);
	if (admission)
		check_admission(admission, objects, result);
	if ((!admission && !pod_groups) || val_get(spec, "run") || val_get(expect, "groups") || val_get(expect, "pods"))
		run_cycles(objects, spec, settings, result);
}

void scenario_run(const struct manifest *manifest, const struct remote_access *access, const struct settings *settings,
                  struct arena *arena, struct scenario_result *result)
{
	static const char *const keys[] = {"title", "description", "objects", "steps", "run", "expect", NULL};
	const struct val *spec = val_get(manifest->object, "spec"), *objects = val_get(spec, "objects"), *item;
	const char *key;
	*result = (struct scenario_result){
		.arena = arena,
		.name = manifest->name[0] ? manifest->name : manifest->source,
		.title = val_str(val_get(spec, "title"), ""),
		.source = manifest->source,
	};
	scenario_check_keys(result, spec, "spec", keys);
	if (val_kind(objects) != VAL_LIST && (objects || !val_get(spec, "steps"))) {
		scenario_fail(result, "spec.objects: must be a list of objects");
		return;
	}
	struct manifests list;
	manifests_init(&list);
	struct problems problems = {.arena = arena};
	size_t index = 0;
	for (struct val_iter it = val_iter(objects); val_next(&it, &key, &item); index++)
		manifests_add(&list, item, arena_printf(arena, "%s: spec.objects[%zu]", manifest->source, index),
		              &problems);
	for (size_t i = 0; i < problems.count; i++)
		if (problems.items[i].severity == SEVERITY_ERROR)
			scenario_fail(result, "%s", problem_text(arena, &problems.items[i]));
	if (problems.errors == 0 && val_get(spec, "steps"))
		steps_run(&list, spec, access, settings, result);
	else if (problems.errors == 0 && access)
		scenario_fail(result,
		              "only scenarios with steps run on an API server; this one is about single cycles");
	else if (problems.errors == 0)
		check_expect(spec, &list, settings, result);
	manifests_free(&list);
}
