/* Owns `simulate --seeds`: random runs with faults, one after the other, and the report on those that failed. */
#include "cli/cmd_simulate.h"
#include "cli/draw.h"
#include "cli/progress.h"
#include "sim/faults.h"
#include "sim/scenario.h"

#include <stdio.h>

#define TRACE_SHOWN 15    /* last lines of a trace */
#define FAILURES_SHOWN 10 /* after these only their seeds are counted */

struct seeds {
	struct cli_args *args;
	struct fault_options options;
	const char *source; /* of the scenario; NULL: generated */
	size_t passed, failed, shown;
	uint64_t turns;
	size_t injected[FAULT_KINDS];
	struct build *build; /* NULL: text */
	struct node *failures;
	struct progress progress;
};

static const char *faults_text(unsigned faults, struct arena *arena)
{
	const char *text = "none";
	bool any = false;
	if (faults == FAULT_ALL)
		return "all";
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		if (!(faults & (1u << kind)))
			continue;
		text = any ? arena_printf(arena, "%s,%s", text, fault_name((enum fault_kind)kind))
		           : fault_name((enum fault_kind)kind);
		any = true;
	}
	return text;
}

/* The command that runs this seed again, alone. */
static const char *replay(const struct seeds *seeds, struct arena *arena)
{
	const struct fault_options *options = &seeds->options;
	struct buffer out = {0};
	buffer_printf(&out, "platoon simulate --verbose --seeds %llu --faults %s", (unsigned long long)options->seed,
	              faults_text(options->faults, arena));
	if (options->zones > 0)
		buffer_printf(&out, " --nodes %dx%dx%d", options->zones, options->racks, options->nodes);
	if (options->gpus >= 0)
		buffer_printf(&out, " --gpus %d", options->gpus);
	if (seeds->args->config)
		buffer_printf(&out, " --config %s", seeds->args->config);
	else if (options->settings->budget > 0)
		buffer_printf(&out, " --budget %llu", (unsigned long long)options->settings->budget);
	if (seeds->args->strategy_given)
		buffer_printf(&out, " --placement %s", strategy_name(options->settings->strategy));
	if (seeds->source)
		buffer_printf(&out, " %s", seeds->args->operands[0]);
	const char *text = arena_strdup(arena, out.text);
	buffer_free(&out);
	return text;
}

static void print_outcome(struct seeds *seeds, const struct fault_outcome *outcome, struct arena *arena)
{
	bool bad = outcome->violation_count > 0, colours = draw_style(stdout, seeds->args->colour).colours;
	bool whole = seeds->args->verbose;
	if (!bad && !whole)
		return;
	progress_clear(&seeds->progress);
	output_coloured(stdout, colours, bad ? COLOUR_RED : COLOUR_GREEN, bad ? "FAIL" : "pass");
	printf(" seed %llu", (unsigned long long)seeds->options.seed);
	for (size_t i = 0; i < outcome->violation_count; i++)
		output_line(stdout, "%s%s", i ? "     " : ": ", outcome->violations[i]);
	if (!bad)
		putchar('\n');
	if (bad && ++seeds->shown > FAILURES_SHOWN && !whole)
		return;
	size_t first = whole || outcome->trace_count <= TRACE_SHOWN ? 0 : outcome->trace_count - TRACE_SHOWN;
	if (first > 0)
		printf("  ... %zu earlier lines\n", first);
	for (size_t i = first; i < outcome->trace_count; i++)
		output_line(stdout, "  %s", outcome->trace[i]);
	if (bad)
		output_line(stdout, "  replay: %s", replay(seeds, arena));
	fflush(stdout);
}

static void write_outcome(struct seeds *seeds, const struct fault_outcome *outcome, struct arena *arena)
{
	if (outcome->violation_count == 0)
		return;
	struct build *build = seeds->build;
	struct node *item = build_map(build), *violations = build_list(build), *trace = build_list(build);
	build_put_int(build, item, "seed", (int64_t)seeds->options.seed);
	for (size_t i = 0; i < outcome->violation_count; i++)
		build_append(build, violations, build_string(build, outcome->violations[i]));
	for (size_t i = 0; i < outcome->trace_count; i++)
		build_append(build, trace, build_string(build, outcome->trace[i]));
	build_put(build, item, "violations", violations);
	build_put(build, item, "trace", trace);
	build_put_string(build, item, "replay", replay(seeds, arena));
	build_append(build, seeds->failures, item);
}

static void run_seeds(struct seeds *seeds)
{
	struct arena *arena = arena_create();
	uint64_t first = seeds->args->seed_first, last = seeds->args->seed_last;
	for (uint64_t seed = first; !cmd_simulate_stopped(); seed++) {
		struct fault_outcome outcome;
		arena_reset(arena);
		seeds->options.seed = seed;
		faults_run(&seeds->options, arena, &outcome);
		seeds->passed += outcome.violation_count == 0;
		seeds->failed += outcome.violation_count > 0;
		seeds->turns += outcome.turns;
		for (int kind = 0; kind < FAULT_KINDS; kind++)
			seeds->injected[kind] += outcome.injected[kind];
		if (seeds->build)
			write_outcome(seeds, &outcome, arena);
		else
			print_outcome(seeds, &outcome, arena);
		progress_show(&seeds->progress, "seeds", seeds->passed + seeds->failed, last - first + 1,
		              arena_printf(arena, "%zu failed", seeds->failed));
		if (seed == last)
			break;
	}
	progress_clear(&seeds->progress);
	arena_destroy(arena);
}

static void print_sum(const struct seeds *seeds)
{
	uint64_t total = seeds->args->seed_last - seeds->args->seed_first + 1;
	size_t done = seeds->passed + seeds->failed;
	if (done < total)
		printf("stopped after %zu of %llu seeds\n", done, (unsigned long long)total);
	printf("%llu turns; faults:", (unsigned long long)seeds->turns);
	for (int kind = 0; kind < FAULT_KINDS; kind++)
		printf("%s %zu %s", kind ? "," : "", seeds->injected[kind], fault_name((enum fault_kind)kind));
	printf("\n%zu passed, %zu failed\n", seeds->passed, seeds->failed);
}

static void write_sum(struct seeds *seeds, bool stopped)
{
	struct build *build = seeds->build;
	struct node *root = build_map(build), *faults = build_map(build);
	for (int kind = 0; kind < FAULT_KINDS; kind++)
		build_put_int(build, faults, fault_name((enum fault_kind)kind), (int64_t)seeds->injected[kind]);
	build_put_int(build, root, "firstSeed", (int64_t)seeds->args->seed_first);
	build_put_int(build, root, "lastSeed", (int64_t)seeds->args->seed_last);
	build_put_bool(build, root, "stopped", stopped);
	build_put_int(build, root, "turns", (int64_t)seeds->turns);
	build_put(build, root, "faults", faults);
	build_put(build, root, "failures", seeds->failures);
	build_put_int(build, root, "passed", (int64_t)seeds->passed);
	build_put_int(build, root, "failed", (int64_t)seeds->failed);
	output_document(build, root, seeds->args->output == CLI_OUTPUT_YAML, stdout);
}

int cmd_simulate_seeds(struct cli_args *args, const struct manifest *scenario)
{
	struct seeds seeds = {
		.args = args,
		.options = {.faults = args->faults,
	                    .gpus = -1,
	                    .scenario = scenario,
	                    .logger = args->logger.level > LOG_WARN ? &args->logger
	                                                            : NULL, /* refusals are what it injects */
	                    .settings = &args->settings},
		.source = scenario ? scenario->source : NULL,
		.build = args->output == CLI_OUTPUT_TABLE ? NULL : build_create(),
		.progress = progress_begin(),
	};
	if (args->shape_given) {
		seeds.options.zones = args->shape.zones;
		seeds.options.racks = args->shape.racks;
		seeds.options.nodes = args->shape.nodes;
	}
	if (args->gpus_given)
		seeds.options.gpus = args->shape.gpus;
	if (seeds.build)
		seeds.failures = build_list(seeds.build);
	run_seeds(&seeds);
	bool stopped = seeds.passed + seeds.failed < args->seed_last - args->seed_first + 1;
	if (seeds.build) {
		write_sum(&seeds, stopped);
		build_destroy(seeds.build);
	} else {
		print_sum(&seeds);
	}
	return seeds.failed > 0 ? CLI_FOUND : stopped ? CLI_INTERRUPTED : CLI_OK;
}
