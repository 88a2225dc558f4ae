/* Owns the command `plan`. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/plan_table.h"
#include "sim/scenario.h"

#include "base/clock.h"

#include <stdio.h>

/* A Scenario stands for its objects, so that a failing one can be looked at with the same command. */
static int expand_scenario(struct cli_args *args, const struct manifest *scenario, struct manifests *into)
{
	struct problems problems = {.arena = args->arena};
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(scenario->object, "spec", "objects", NULL));
	     val_next(&it, &key, &item);)
		manifests_add(into, item, scenario->source, &problems);
	for (size_t i = 0; i < problems.count; i++)
		output_line(stderr, "%s: %s", problems.items[i].path, problems.items[i].message);
	return problems.errors > 0 ? CLI_USAGE : CLI_OK;
}

/* The objects to plan with: `files` itself, or what its only member, a Scenario, contains. */
static int choose_objects(struct cli_args *args, const struct manifests *files, struct manifests *expanded,
                          const struct manifests **objects)
{
	*objects = files;
	for (size_t i = 0; i < files->count; i++) {
		if (!scenario_is(&files->items[i]))
			continue;
		if (files->count > 1) {
			output_line(stderr, "%s: error: a Scenario is planned alone, without other objects",
			            files->items[i].source);
			return CLI_USAGE;
		}
		*objects = expanded;
		return expand_scenario(args, &files->items[i], expanded);
	}
	return CLI_OK;
}

static int print_plan(struct cli_args *args, struct snapshot *snapshot)
{
	struct plan *plan = plan_run(snapshot, args->actions, args->action_count);
	if (args->output == CLI_OUTPUT_JSON || args->output == CLI_OUTPUT_YAML) {
		struct build *build = build_create();
		output_document(build, plan_write(plan, build), args->output == CLI_OUTPUT_YAML, stdout);
		build_destroy(build);
	} else {
		plan_table_print(plan, args->output == CLI_OUTPUT_WIDE, output_wants_colour(stdout), stdout);
	}
	return snapshot_has_rejections(snapshot) ? CLI_FOUND : CLI_OK;
}

int cmd_plan(struct cli_args *args)
{
	if (args->file_count == 0) {
		fprintf(stderr, "platoon plan: give at least one file, folder or - with -f\n"
		                "Run `platoon plan --help` for its options.\n");
		return CLI_USAGE;
	}
	struct manifests files, expanded;
	const struct manifests *objects = &files;
	manifests_init(&files);
	manifests_init(&expanded);
	int rc = cli_load(args, args->files, args->file_count, args->recursive, &files);
	if (rc == CLI_OK)
		rc = choose_objects(args, &files, &expanded, &objects);
	if (rc == CLI_OK) {
		struct snapshot_options options = {.now_seconds = clock_now(clock_system()) / INT64_C(1000000000),
		                                   .budget = args->budget,
		                                   .explain_relax = true};
		struct snapshot *snapshot = snapshot_create(objects, &options);
		rc = print_plan(args, snapshot);
		snapshot_destroy(snapshot);
	}
	manifests_free(&expanded);
	manifests_free(&files);
	return rc;
}
