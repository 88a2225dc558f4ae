/* Owns the answer to a pasted manifest. */
#include "cli/what_if.h"

#include "cli/cli.h"
#include "cli/store_objects.h"

#include "base/clock.h"
#include "schedule/live.h"
#include "sim/expand.h"

#include <string.h>

#define SOURCE "manifest"

struct question {
	const struct settings *settings;
	struct arena *arena;
	struct store_objects cluster;
	struct problems problems;
	struct manifests given; /* the text */
	struct manifests all;   /* the cluster, and what was given in place of what has the same name, expanded */
	struct manifests above; /* workloads of the cluster that own its pods */
	struct interner *names; /* "Pod/namespace/name" and "PodGroup/..." of what was given */
	struct build *build;
	struct node *answer;
};

static const char *full_name(struct arena *arena, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s", namespace_[0] ? namespace_ : "default", name);
}

/* Cluster and manifest together, with the pods that the workloads of the manifest would get. What was given wins. */
static void join(struct question *question)
{
	size_t live = question->all.count;
	for (size_t i = 0; i < question->given.count; i++)
		manifests_add(&question->all, question->given.items[i].object, question->given.items[i].source,
		              &question->problems);
	cli_let_files_win(&question->all, live);
	expand_workloads(&question->all, clock_now(clock_system()), question->settings, &question->problems);
	for (size_t i = 0; i < question->all.count; i++) {
		const struct manifest *object = &question->all.items[i];
		if (text_equal(object->source, STORE_OBJECTS_SOURCE))
			continue;
		const char *name = full_name(question->arena, object->namespace_, object->name);
		interner_id(question->names, arena_printf(question->arena, "%s/%s", object->kind, name));
	}
}

static bool was_given(const struct question *question, const char *kind, const char *full)
{
	return interner_find(question->names, arena_printf(question->arena, "%s/%s", kind, full)) != UINT32_MAX;
}

/* ---- the answer ---- */

static void put_problem(struct question *question, struct node *list, const char *where, const struct problem *problem)
{
	struct build *build = question->build;
	struct node *item = build_map(build);
	build_put_string(build, item, "severity", problem->severity == SEVERITY_ERROR ? "error" : "warning");
	build_put_string(build, item, "where", where);
	build_put_string(build, item, "path", problem->path);
	build_put_string(build, item, "message", problem->message);
	build_put_string(build, item, "fix", problem->fix);
	build_append(build, list, item);
}

static void put_problems(struct question *question, const struct snapshot *snapshot)
{
	struct node *list = build_list(question->build);
	for (size_t i = 0; i < question->problems.count; i++)
		put_problem(question, list, "", &question->problems.items[i]);
	for (size_t i = 0; snapshot && i < snapshot->verdict_count; i++) {
		const struct snapshot_verdict *verdict = &snapshot->verdicts[i];
		if (!verdict->source || !text_starts_with(verdict->source, SOURCE))
			continue;
		const char *where = arena_printf(question->arena, "%s %s", verdict->kind, verdict->name);
		for (size_t p = 0; p < verdict->problem_count; p++)
			put_problem(question, list, where, &verdict->problems[p]);
	}
	build_put(question->build, question->answer, "problems", list);
}

static int64_t gpus_of(const struct snapshot *snapshot, const struct plan_binding *binding)
{
	int index = snapshot_find_pod(snapshot, binding->namespace_, binding->pod);
	const struct pod_spec *pod = index >= 0 ? snapshot->pods[index].spec : NULL;
	int64_t gpus = 0;
	for (size_t i = 0; pod && i < pod->request_count; i++)
		if (text_ends_with(pod->requests[i].name, "/gpu"))
			gpus += pod->requests[i].amount;
	return gpus;
}

static void put_pods(struct question *question, struct node *list, const struct snapshot *snapshot,
                     const struct plan_binding *pods, size_t count, bool later)
{
	struct build *build = question->build;
	for (size_t i = 0; i < count; i++) {
		const char *name = full_name(question->arena, pods[i].namespace_, pods[i].pod);
		if (!was_given(question, "Pod", name))
			continue;
		struct node *item = build_map(build);
		build_put_string(build, item, "n", name);
		build_put_string(build, item, "on", pods[i].node);
		build_put_int(build, item, "gpus", gpus_of(snapshot, &pods[i]));
		build_put_bool(build, item, "later", later);
		build_append(build, list, item);
	}
}

static void put_groups(struct question *question, const struct plan *plan)
{
	struct build *build = question->build;
	struct node *list = build_list(build);
	for (size_t i = 0; i < plan->group_count; i++) {
		const struct plan_group *group = &plan->groups[plan->order[i]];
		const char *name = full_name(question->arena, group->namespace_, group->name);
		if (!was_given(question, plan->snapshot->groups[group->index].implicit ? "Pod" : "PodGroup", name))
			continue;
		struct node *item = build_map(build);
		build_put_string(build, item, "n", name);
		build_put_string(build, item, "state", group->state);
		build_put_int(build, item, "placed", group->placed);
		build_put_int(build, item, "min", group->minimum);
		build_put_int(build, item, "waiting", group->waiting);
		build_put(build, item, "why", plan_write_reasons(group, build));
		build_append(build, list, item);
	}
	build_put(build, question->answer, "groups", list);
}

/* Only what gives way to the manifest; the rest would happen without it. */
static void put_evictions(struct question *question, const struct plan *plan)
{
	struct build *build = question->build;
	struct node *list = build_list(build);
	for (size_t i = 0; i < plan->eviction_count; i++) {
		const struct plan_eviction *eviction = &plan->evictions[i];
		if (!was_given(question, "PodGroup", eviction->by) && !was_given(question, "Pod", eviction->by))
			continue;
		struct node *item = build_map(build);
		build_put_string(build, item, "n", full_name(question->arena, eviction->namespace_, eviction->pod));
		build_put_string(build, item, "on", eviction->node);
		build_put_string(build, item, "by", eviction->by);
		build_put_string(build, item, "action", eviction->action);
		build_put_bool(build, item, "moved", eviction->moved);
		build_append(build, list, item);
	}
	build_put(build, question->answer, "evictions", list);
}

static void decide(struct question *question)
{
	enum cycle_action actions[ACTION_COUNT];
	size_t action_count = cycle_action_list_serving(actions);
	struct snapshot_options options = {.now_seconds = clock_seconds(clock_system()),
	                                   .settings = question->settings,
	                                   .owners = &question->above,
	                                   .trials = SNAPSHOT_TRIALS_WHEN_ASKED,
	                                   .tell_holders = true,
	                                   .list_missing = true};
	struct snapshot *snapshot = snapshot_create(&question->all, &options);
	const struct plan *plan = plan_run(snapshot, actions, action_count);
	struct node *pods = build_list(question->build);
	put_problems(question, snapshot);
	put_groups(question, plan);
	put_pods(question, pods, snapshot, plan->bindings, plan->binding_count, false);
	put_pods(question, pods, snapshot, plan->reservations, plan->reservation_count, true);
	build_put(question->build, question->answer, "pods", pods);
	put_evictions(question, plan);
	snapshot_destroy(snapshot);
}

void what_if(struct store *store, const struct settings *settings, const char *text, size_t length, struct buffer *out)
{
	struct question question = {
		.settings = settings,
		.arena = arena_create(),
		.names = interner_create(),
		.build = build_create(),
	};
	question.problems.arena = question.arena;
	question.cluster = (struct store_objects){.store = store, .arena = question.arena};
	question.answer = build_map(question.build);
	manifests_init(&question.given);
	manifests_init(&question.all);
	manifests_init(&question.above);
	int rc = manifests_parse(&question.given, text, length, SOURCE, &question.problems);
	if (rc == 0 && question.given.count == 0) {
		problem_add(&question.problems, SEVERITY_ERROR, "", "paste a PodGroup with its pods, or a workload",
		            "there is no object in the manifest");
		rc = -1;
	}
	if (rc == 0) {
		store_objects_read(&question.cluster, &question.all, &question.problems);
		join(&question);
		store_objects_read_above(&question.cluster, settings, &question.all, &question.above,
		                         &question.problems);
		decide(&question);
	} else {
		put_problems(&question, NULL);
	}
	build_write(question.build, question.answer, DOC_JSON_COMPACT, out);
	store_objects_release(&question.cluster);
	manifests_free(&question.all);
	manifests_free(&question.above);
	manifests_free(&question.given);
	build_destroy(question.build);
	interner_destroy(question.names);
	arena_destroy(question.arena);
}
