/* Owns the command `simulate`: scenarios from files. Random runs are in cmd_simulate_seeds.c. */
#include "cli/cmd_simulate.h"
#include "cli/draw.h"
#include "cli/progress.h"
#include "sim/scenario.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	/* The second Ctrl-C ends it at once. */
	if (stopped)
		_exit(CLI_INTERRUPTED);
	stopped = number;
}

bool cmd_simulate_stopped(void)
{
	return stopped;
}

struct tally {
	size_t passed, failed;
	size_t left_out; /* objects that are no scenarios */
	const struct manifest *first_left_out;
};

/* One line per case: a tool that reads the output must not have to join lines. */
static void print_result(const struct scenario_result *result, bool verbose, bool colours)
{
	if (result->failure_count == 0) {
		if (!verbose)
			return;
		output_coloured(stdout, colours, COLOUR_GREEN, "pass");
		output_line(stdout, " %s%s%s", result->name, result->title[0] ? ": " : "", result->title);
		return;
	}
	output_coloured(stdout, colours, COLOUR_RED, "FAIL");
	putchar(' ');
	output_text(stdout, result->name);
	for (size_t i = 0; i < result->failure_count; i++) {
		fputs(i ? "; " : ": ", stdout);
		output_text(stdout, result->failures[i]);
	}
	putchar('\n');
}

static void write_result(struct build *build, struct node *list, const struct scenario_result *result)
{
	struct node *item = build_map(build), *failures = build_list(build);
	build_put_string(build, item, "name", result->name);
	build_put_string(build, item, "title", result->title);
	build_put_string(build, item, "source", result->source);
	build_put_bool(build, item, "passed", result->failure_count == 0);
	for (size_t i = 0; i < result->failure_count; i++)
		build_append(build, failures, build_string(build, result->failures[i]));
	build_put(build, item, "failures", failures);
	build_append(build, list, item);
}

static struct tally run_all(struct cli_args *args, const struct manifests *manifests,
                            const struct remote_access *access)
{
	bool text = args->output == CLI_OUTPUT_TABLE, colours = draw_style(stdout, args->colour).colours;
	struct build *build = text ? NULL : build_create();
	struct node *list = build ? build_list(build) : NULL;
	struct arena *arena = arena_create();
	struct progress progress = progress_begin();
	struct tally tally = {0};
	for (size_t i = 0; i < manifests->count && !stopped; i++) {
		struct scenario_result result = {.arena = arena, .name = manifests->items[i].source, .title = ""};
		arena_reset(arena);
		if (!scenario_is(&manifests->items[i])) {
			if (tally.left_out++ == 0)
				tally.first_left_out = &manifests->items[i];
			continue;
		}
		scenario_run(&manifests->items[i], access, &args->settings, arena, &result);
		tally.passed += result.failure_count == 0;
		tally.failed += result.failure_count > 0;
		if (result.failure_count > 0 || args->verbose)
			progress_clear(&progress);
		if (text)
			print_result(&result, args->verbose, colours);
		else
			write_result(build, list, &result);
		progress_show(&progress, "objects", i + 1, manifests->count, "");
	}
	progress_clear(&progress);
	if (build) {
		struct node *root = build_map(build);
		build_put(build, root, "scenarios", list);
		build_put_int(build, root, "passed", (int64_t)tally.passed);
		build_put_int(build, root, "failed", (int64_t)tally.failed);
		output_document(build, root, args->output == CLI_OUTPUT_YAML, stdout);
	} else {
		printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
	}
	if (build)
		build_destroy(build);
	arena_destroy(arena);
	return tally;
}

/* The one scenario of the operands, or NULL: then random runs generate their workloads. */
static int run_seeds(struct cli_args *args)
{
	struct manifests manifests;
	manifests_init(&manifests);
	const struct manifest *scenario = NULL;
	int rc = args->operand_count == 0
	                 ? CLI_OK
	                 : cli_load(args, (const char *const *)args->operands, args->operand_count, true, &manifests);
	for (size_t i = 0; i < manifests.count && rc == CLI_OK; i++) {
		if (!scenario_is(&manifests.items[i]))
			continue;
		if (scenario) {
			fprintf(stderr, "platoon simulate: --seeds takes one scenario\n");
			rc = CLI_USAGE;
		}
		scenario = &manifests.items[i];
	}
	if (rc == CLI_OK && args->operand_count > 0 && !scenario) {
		fprintf(stderr, "platoon simulate: no scenario found\n");
		rc = CLI_USAGE;
	}
	if (rc == CLI_OK)
		rc = cmd_simulate_seeds(args, scenario);
	manifests_free(&manifests);
	return rc;
}

/* Objects of a cluster, such as `platoon record` writes, instead of scenarios. */
static bool is_cluster(const struct cli_args *args, const struct manifests *manifests)
{
	bool nodes = args->nodes_file || args->shape_given;
	for (size_t i = 0; i < manifests->count; i++) {
		if (scenario_is(&manifests->items[i]))
			return false;
		nodes |= strcmp(manifests->items[i].kind, "Node") == 0;
	}
	return nodes && manifests->count > 0;
}

static int run_scenarios(struct cli_args *args)
{
	struct manifests manifests;
	struct remote_access access;
	struct error error = {0};
	bool real = args->kubeconfig || args->context;
	if (real && remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error) < 0) {
		output_line(stderr, "platoon simulate: %s", error.text);
		return CLI_USAGE;
	}
	manifests_init(&manifests);
	int loaded = cli_load(args, (const char *const *)args->operands, args->operand_count, true, &manifests);
	if (loaded == CLI_OK && !real && is_cluster(args, &manifests)) {
		int rc = cmd_simulate_objects(args, &manifests, false);
		manifests_free(&manifests);
		return rc;
	}
	struct tally tally = run_all(args, &manifests, real ? &access : NULL);
	if (tally.left_out > 0)
		output_line(stderr,
		            "%s: %s %s%s no Scenario and left out; `platoon plan -f` shows what plain objects lead to",
		            tally.first_left_out->source, tally.first_left_out->kind, tally.first_left_out->name,
		            tally.left_out == 1
		                    ? " is"
		                    : arena_printf(args->arena, " and %zu other objects are", tally.left_out - 1));
	manifests_free(&manifests);
	if (loaded != CLI_OK)
		return loaded;
	if (stopped)
		fprintf(stderr, "platoon simulate: stopped before all scenarios were run\n");
	else if (tally.passed + tally.failed == 0)
		fprintf(stderr, "platoon simulate: no scenario found\n");
	if (tally.failed > 0)
		return CLI_FOUND;
	return stopped ? CLI_INTERRUPTED : tally.passed == 0 ? CLI_USAGE : CLI_OK;
}

int cmd_simulate(struct cli_args *args)
{
	struct sigaction action = {.sa_handler = on_signal};
	if (args->operand_count == 0 && !args->has_seeds) {
		fprintf(stderr, "platoon simulate: give at least one scenario or trace, or --seeds A..B\n"
		                "Run `platoon simulate --help` for its options.\n");
		return CLI_USAGE;
	}
	stopped = 0;
	sigaction(SIGINT, &action, NULL);
	bool trace = args->report || args->compare;
	for (size_t i = 0; i < args->operand_count; i++)
		trace |= text_ends_with(args->operands[i], ".csv");
	if (trace)
		return cmd_simulate_trace(args);
	return args->has_seeds ? run_seeds(args) : run_scenarios(args);
}
