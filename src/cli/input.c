/* Owns reading manifests for a command and telling the user everything that is wrong with the files. */
#include "cli/cli.h"
#include "cli/output.h"
#include "admit/keys.h"
#include "base/clock.h"
#include "cluster/workload.h"
#include "sim/expand.h"
#include "sim/scenario.h"

#include <stdio.h>

void cli_print_problems(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		output_line(stderr, "%s%s%s%s%s%s%s", problem->path, problem->path[0] ? ": " : "",
		            problem->severity == SEVERITY_WARNING ? "warning: " : "error: ", problem->message,
		            problem->fix ? " (" : "", problem->fix ? problem->fix : "", problem->fix ? ")" : "");
	}
}

int cli_load(struct cli_args *args, const char *const *paths, size_t count, bool recursive, struct manifests *manifests)
{
	struct problems problems = {.arena = args->arena};
	for (size_t i = 0; i < count; i++)
		manifests_load(manifests, paths[i], recursive, &problems);
	cli_print_problems(&problems);
	if (problems.errors > 0)
		return CLI_USAGE;
	char number[32];
	snprintf(number, sizeof(number), "%zu", manifests->count);
	log_write(&args->logger, LOG_DEBUG, 0, "read manifests", "objects", number, NULL);
	return CLI_OK;
}

/* A Scenario stands for its objects, so that a failing one can be looked at with the same command. */
static int expand_scenario(struct cli_args *args, struct manifests *objects)
{
	struct problems problems = {.arena = args->arena};
	for (size_t i = 0; i < objects->count; i++) {
		struct manifest scenario = objects->items[i];
		if (!scenario_is(&scenario))
			continue;
		if (objects->count > 1) {
			output_line(stderr, "%s: error: a Scenario is planned alone, without other objects",
			            scenario.source);
			return CLI_USAGE;
		}
		objects->count = 0;
		const char *key;
		const struct val *item;
		for (struct val_iter it = val_iter(val_path(scenario.object, "spec", "objects", NULL));
		     val_next(&it, &key, &item);)
			manifests_add(objects, item, scenario.source, &problems);
		break;
	}
	for (size_t i = 0; i < problems.count; i++)
		output_line(stderr, "%s: %s", problems.items[i].path, problems.items[i].message);
	return problems.errors > 0 ? CLI_USAGE : CLI_OK;
}

static const char *identity(struct arena *arena, const struct manifest *manifest)
{
	const char *space = manifest->namespace_[0] ? manifest->namespace_ : "default";
	return arena_printf(arena, "%s/%s/%s", manifest->kind, space, manifest->name);
}

void cli_let_files_win(struct manifests *objects, size_t live)
{
	struct arena *arena = arena_create();
	struct interner *given = interner_create();
	for (size_t i = live; i < objects->count; i++)
		interner_id(given, identity(arena, &objects->items[i]));
	size_t kept = 0;
	for (size_t i = 0; i < objects->count; i++)
		if (i >= live || interner_find(given, identity(arena, &objects->items[i])) == UINT32_MAX)
			objects->items[kept++] = objects->items[i];
	objects->count = kept;
	interner_destroy(given);
	arena_destroy(arena);
}

/* What is wrong with the workloads of files, though a cluster would take them. */
static void tell_of_workload(void *context, const struct manifest *workload, const struct problem *problem,
                             bool of_group)
{
	struct cli_args *args = context;
	if (of_group || problem->severity == SEVERITY_ERROR)
		return; /* their groups and pods say so */
	struct problems one = {.arena = args->arena};
	problem_add(&one, problem->severity, workload->source, problem->fix, "%s %s: %s%s%s", workload->kind,
	            workload->name, problem->path, *problem->path ? ": " : "", problem->message);
	cli_print_problems(&one);
}

static void judge(struct cli_args *args, const struct manifests *objects)
{
	expand_judge(objects, &args->settings, args->arena, tell_of_workload, args);
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *object = &objects->items[i];
		struct problems problems = {.arena = args->arena};
		if (workloads_know(object->api_version, object->kind))
			keys_judge(object->object, "", &problems);
		for (size_t p = 0; p < problems.count; p++)
			tell_of_workload(args, object, &problems.items[p], false);
	}
}

/* Workloads stand for the pods they would make. */
static void expand(struct cli_args *args, struct manifests *objects)
{
	struct problems problems = {.arena = args->arena};
	expand_workloads(objects, clock_now(clock_system()), &args->settings, &problems);
	for (size_t i = 0; i < problems.count; i++)
		output_line(stderr, "%s: %s: %s", problems.items[i].path,
		            problems.items[i].severity == SEVERITY_ERROR ? "error" : "warning",
		            problems.items[i].message);
	args->rejected |= problems.errors > 0;
}

bool cli_is_live(const struct cli_args *args)
{
	return args->file_count == 0 || args->kubeconfig || args->context;
}

void cli_load_terms(struct cli_args *args, const struct manifests *objects, struct manifests *into)
{
	manifests_init(into);
	if (cli_is_live(args))
		cli_load_above(args, objects, into);
}

int cli_load_world(struct cli_args *args, struct manifests *objects)
{
	int rc = cli_is_live(args) ? cli_load_cluster(args, objects) : CLI_OK;
	if (rc == CLI_OK && cli_is_live(args))
		cli_load_defaults(args, objects);
	size_t count = objects->count;
	if (rc == CLI_OK && args->file_count > 0)
		rc = cli_load(args, args->files, args->file_count, args->recursive, objects);
	if (rc == CLI_OK && args->file_count > 0)
		rc = expand_scenario(args, objects);
	if (rc == CLI_OK && count > 0)
		cli_let_files_win(objects, count);
	if (rc == CLI_OK && args->file_count > 0 && args->command->judges)
		judge(args, objects);
	if (rc == CLI_OK)
		expand(args, objects);
	return rc;
}
