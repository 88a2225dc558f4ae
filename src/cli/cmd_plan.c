/* Owns the command `plan`. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/plan_table.h"

#include "base/clock.h"

#include <stdio.h>

static int print_plan(struct cli_args *args, struct snapshot *snapshot)
{
	struct plan *plan = plan_run(snapshot, args->actions, args->action_count);
	if (args->output == CLI_OUTPUT_JSON || args->output == CLI_OUTPUT_YAML) {
		struct build *build = build_create();
		output_document(build, plan_write(plan, build), args->output == CLI_OUTPUT_YAML, stdout);
		build_destroy(build);
	} else {
		struct draw_style style = draw_style(stdout, args->colour);
		plan_table_print(plan, args->output == CLI_OUTPUT_WIDE, &style, stdout);
		plan_table_print_map(plan, args->map, -1, NULL, &style, stdout);
	}
	return args->rejected || snapshot_has_rejections(snapshot) ? CLI_FOUND : CLI_OK;
}

int cmd_plan(struct cli_args *args)
{
	struct manifests objects, above;
	manifests_init(&objects);
	int rc = cli_load_world(args, &objects);
	if (rc == CLI_OK) {
		cli_load_terms(args, &objects, &above);
		struct snapshot_options options = {.now_seconds = clock_seconds(clock_system()),
		                                   .settings = &args->settings,
		                                   .owners = &above,
		                                   .trials = SNAPSHOT_TRIALS_WHEN_ASKED,
		                                   .tell_holders = true,
		                                   .list_missing = true};
		struct snapshot *snapshot = snapshot_create(&objects, &options);
		rc = print_plan(args, snapshot);
		snapshot_destroy(snapshot);
		manifests_free(&above);
	}
	manifests_free(&objects);
	return rc;
}
