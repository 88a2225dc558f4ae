/* Owns `simulate` with traces: reading them, replaying them, and the reports. */
#include "cli/cmd_simulate.h"
#include "cli/policies.h"
#include "cli/progress.h"
#include "cli/up_objects.h"

#include "base/clock.h"
#include "sim/expand.h"
#include "sim/report.h"
#include "sim/scenario.h"

#include <errno.h>
#include <string.h>

struct replaying {
	struct progress progress;
	const char *title;
};

/* ---- reading ---- */

static bool is_table(const char *path)
{
	return text_ends_with(path, ".csv");
}

static bool has_kind(const struct manifests *objects, const char *kind)
{
	for (size_t i = 0; i < objects->count; i++)
		if (strcmp(objects->items[i].kind, kind) == 0)
			return true;
	return false;
}

/* Objects that are not there but needed: nodes, and what a table, which brings its nodes, cannot say. */
static int complete(struct cli_args *args, struct manifests *objects, bool table)
{
	struct problems problems = {.arena = args->arena};
	bool given = !table && (args->nodes_file || args->shape_given);
	if (given && has_kind(objects, "Node")) {
		fprintf(stderr, "platoon simulate: the files have nodes already; leave out --nodes and --nodes-file\n");
		return CLI_USAGE;
	}
	if (given) {
		int rc = up_nodes(args, objects);
		if (rc != CLI_OK)
			return rc;
	}
	if (!has_kind(objects, "Queue") && !has_kind(objects, "Topology"))
		up_fixed(objects, &problems);
	expand_workloads(objects, clock_now(clock_system()), &args->settings, &problems);
	cli_print_problems(&problems);
	return problems.errors > 0 ? CLI_USAGE : CLI_OK;
}

static int read_table(struct cli_args *args, const char *path, struct manifests *objects)
{
	struct problems problems = {.arena = args->arena};
	struct buffer table = {0}, text = {0};
	struct manifests nodes;
	manifests_init(&nodes);
	int rc = up_read_table(path, &table);
	if (rc == CLI_OK)
		rc = up_nodes(args, &nodes);
	if (rc == CLI_OK) {
		trace_of_table(table.text ? table.text : "", table.length, path, &nodes, &text, &problems);
		if (problems.errors == 0)
			manifests_parse(objects, text.text ? text.text : "", text.length, path, &problems);
		cli_print_problems(&problems);
		rc = problems.errors > 0 ? CLI_USAGE : CLI_OK;
	}
	manifests_free(&nodes);
	buffer_free(&table);
	buffer_free(&text);
	return rc;
}

static int read_all(struct cli_args *args, struct manifests *objects, bool *table)
{
	size_t tables = 0;
	for (size_t i = 0; i < args->operand_count; i++)
		tables += is_table(args->operands[i]);
	*table = tables > 0;
	if (tables > 0 && args->operand_count > 1) {
		fprintf(stderr,
		        "platoon simulate: give one table, alone; its nodes come from --nodes-file or --nodes\n");
		return CLI_USAGE;
	}
	if (tables > 0)
		return read_table(args, args->operands[0], objects);
	return cli_load(args, (const char *const *)args->operands, args->operand_count, true, objects);
}

static int refuse_scenarios(const struct manifests *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		if (!scenario_is(&objects->items[i]))
			continue;
		output_line(stderr, "%s: error: a Scenario is no trace; run it without --report and --compare",
		            objects->items[i].source);
		return CLI_USAGE;
	}
	return CLI_OK;
}

/* ---- replaying ---- */

static bool show_progress(void *context, size_t done, size_t total)
{
	struct replaying *replaying = context;
	progress_show(&replaying->progress, "arrivals and ends", done, total, replaying->title);
	return !cmd_simulate_stopped();
}

static const struct replay_result *replay(struct cli_args *args, const struct trace *trace, const struct policy *policy)
{
	struct replaying replaying = {.progress = progress_begin(), .title = policy->title};
	struct settings settings = args->settings;
	settings.strategy = policy->strategy;
	struct replay_options options = {
		.title = replaying.title,
		.actions = policy->actions,
		.action_count = policy->action_count,
		.settings = &settings,
		.progress = show_progress,
		.context = &replaying,
	};
	const struct replay_result *result = replay_run(trace, &options, args->arena);
	progress_clear(&replaying.progress);
	return result;
}

/* ---- telling ---- */

static const char *percent(struct arena *arena, int64_t thousandths)
{
	return arena_printf(arena, "%lld.%lld%%", (long long)(thousandths / 10), (long long)(thousandths % 10));
}

static void add_result(struct table *table, const struct replay_result *result)
{
	struct arena *arena = table->arena;
	table_add(table,
	          &(struct table_row){
			  .cells = {
				  result->title,
				  arena_printf(arena, "%zu/%zu", result->placed, result->gangs),
				  percent(arena, result->gpu),
				  percent(arena, result->cpu),
				  percent(arena, result->fragmented),
				  arena_printf(arena, "%zu", result->evicted),
				  arena_printf(arena, "%zu", result->moved),
				  arena_printf(arena, "%s, %s, %s", report_time(arena, result->median),
	                                       report_time(arena, result->p90), report_time(arena, result->longest)),
			  }});
}

static void add_sizes(struct table *table, const struct replay_result *result)
{
	struct arena *arena = table->arena;
	for (size_t i = 0; i < REPLAY_SIZES; i++) {
		const struct replay_size *size = &result->sizes[i];
		if (size->gangs == 0)
			continue;
		table_add(table, &(struct table_row){.cells = {
							     result->title,
							     size->name,
							     arena_printf(arena, "%zu", size->gangs),
							     arena_printf(arena, "%zu", size->placed),
							     report_time(arena, size->median),
							     report_time(arena, size->p90),
							     report_time(arena, size->longest),
						     }});
	}
}

static void print_text(struct cli_args *args, const struct replay_result *const *results, size_t count)
{
	bool colours = draw_style(stdout, args->colour).colours;
	struct table sums = {.arena = args->arena, .columns = 8}, sizes = {.arena = args->arena, .columns = 7};
	printf("%zu gangs, %zu pods and %zu nodes over %s%s\n\n", results[0]->gangs, results[0]->pods,
	       results[0]->node_count, report_time(args->arena, results[0]->length),
	       results[0]->stopped ? "; stopped before the end" : "");
	table_add(&sums, &(struct table_row){.cells = {"POLICY", "PLACED", "GPU", "CPU", "FRAGMENTED", "EVICTED",
	                                               "MOVED", "WAIT (MEDIAN, 9 OF 10, LONGEST)"}});
	table_add(&sizes,
	          &(struct table_row){.cells = {"POLICY", "PODS", "GANGS", "PLACED", "MEDIAN", "9 OF 10", "LONGEST"}});
	for (size_t i = 0; i < count; i++) {
		add_result(&sums, results[i]);
		add_sizes(&sizes, results[i]);
	}
	table_print(&sums, stdout, colours);
	putchar('\n');
	table_print(&sizes, stdout, colours);
}

static int write_page(struct cli_args *args, const struct replay_result *const *results, size_t count,
                      const char *source)
{
	struct buffer page = {0};
	report_page(results, count, source, &page);
	FILE *file = fopen(args->report, "w");
	bool failed = !file || fwrite(page.text, 1, page.length, file) != page.length;
	failed = (file && fclose(file) != 0) || failed;
	if (failed)
		output_line(stderr, "platoon simulate: %s: %s", args->report, strerror(errno));
	buffer_free(&page);
	return failed ? CLI_USAGE : CLI_OK;
}

static int tell(struct cli_args *args, const struct replay_result *const *results, size_t count)
{
	const char *slash = strrchr(args->operands[0], '/'), *source = slash ? slash + 1 : args->operands[0];
	int rc = args->report ? write_page(args, results, count, source) : CLI_OK;
	if (args->output == CLI_OUTPUT_TABLE) {
		print_text(args, results, count);
		if (args->report && rc == CLI_OK) {
			putchar('\n');
			output_line(stdout, "The report is in %s; open it in a browser.", args->report);
		}
		return rc;
	}
	struct build *build = build_create();
	output_document(build, report_write(results, count, source, build), args->output == CLI_OUTPUT_YAML, stdout);
	build_destroy(build);
	return rc;
}

int cmd_simulate_objects(struct cli_args *args, struct manifests *objects, bool table)
{
	struct problems problems = {.arena = args->arena};
	struct policy policies[MOST_POLICIES];
	int policy_count = policies_read(args, policies);
	int rc = policy_count < 1 ? CLI_USAGE : refuse_scenarios(objects);
	if (rc == CLI_OK)
		rc = complete(args, objects, table);
	const struct trace *trace = rc == CLI_OK ? trace_read(objects, &args->settings, args->arena, &problems) : NULL;
	cli_print_problems(&problems);
	if (!trace)
		return CLI_USAGE;
	const struct replay_result *results[MOST_POLICIES] = {0};
	size_t count = 0;
	for (int i = 0; i < policy_count && (i == 0 || !cmd_simulate_stopped()); i++)
		results[count++] = replay(args, trace, &policies[i]);
	rc = tell(args, results, count);
	return rc == CLI_OK && cmd_simulate_stopped() ? CLI_INTERRUPTED : rc;
}

int cmd_simulate_trace(struct cli_args *args)
{
	struct manifests objects;
	bool table = false;
	if (args->has_seeds || args->operand_count == 0) {
		fprintf(stderr, "platoon simulate: --report and --compare need a trace, and are not for --seeds\n");
		return CLI_USAGE;
	}
	manifests_init(&objects);
	int rc = read_all(args, &objects, &table);
	if (rc == CLI_OK)
		rc = cmd_simulate_objects(args, &objects, table);
	manifests_free(&objects);
	return rc;
}
