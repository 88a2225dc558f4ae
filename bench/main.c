/* platoon-bench: how long the engine takes to decide, beside the time to merely read the cluster once, and how long it
 * takes to make room by evictions, and what one change costs the control loop.
 *
 * Ends with 0 when every outcome is as counted by hand; times are reported, never judged by the exit status. */
#include "control.h"
#include "evict.h"
#include "measure.h"
#include "stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ROWS = 256, TARGETS = 40 };

#define NONE BENCH_NO_LEVEL

static const struct gang_plan plans[] = {
	{"N16/4", 0, 4, 4, 8, 0, NONE, NONE, BENCH_RACK, NONE, false},
	{"N16/4 impossible", 0, 4, 4, 8, 13, NONE, NONE, BENCH_RACK, NONE, true}, /* last segment: 17 in a rack of 16 */
	{"N256/16", 0, 16, 16, 8, 0, NONE, NONE, BENCH_RACK, NONE, false},
	{"N256/16 impossible", 0, 16, 16, 8, 0, BENCH_BLOCK, NONE, BENCH_RACK, NONE,
         true}, /* 16 racks in a block of 8 */
	{"tree 4x16x16", 4, 16, 16, 2, 0, NONE, BENCH_ZONE, BENCH_RACK, NONE, false},
	{"tree impossible", 2, 33, 16, 2, 0, NONE, BENCH_BLOCK, BENCH_RACK, NONE, true}, /* a block takes 32 segments */
	{"512 prefer rack", 0, 0, 512, 8, 0, NONE, NONE, NONE, BENCH_RACK, false},
	{"512 impossible", 0, 0, 512, 8, 0, BENCH_BLOCK, NONE, NONE, BENCH_RACK, true}, /* a block has 128 nodes */
};
enum { PLANS = sizeof(plans) / sizeof(plans[0]) };

struct target {
	char text[120];
	double measured, bound;
	const char *unit;
	bool met, measured_at_all;
};

struct report {
	struct row rows[ROWS];
	int row_count;
	struct fill_result fill;
	struct evict_row evictions[EVICT_ROWS];
	int eviction_count;
	struct control_row controls[CONTROL_ROWS];
	int control_count;
	struct target targets[TARGETS];
	int target_count;
	long peak_kib;
};

static const char *outcome_name(enum place_outcome outcome)
{
	static const char *const names[] = {"placed", "nothing", "impossible", "exhausted", "not ready"};
	return names[outcome];
}

static double ratio(double value, double base)
{
	return base > 0 ? value / base : 0;
}

static void print_row(const struct row *row)
{
	printf("%-20s %7d %-13s %-10s%s %10.1f %10.1f %10.1f %9.1f %9.2f\n", row->name, row->nodes,
	       bench_cluster_state_name(row->state), outcome_name(row->outcome), row->as_intended ? " " : "!",
	       row->cold_us, row->warm_us, row->linear_us, ratio(row->cold_us, row->linear_us),
	       ratio(row->warm_us, row->linear_us));
	fflush(stdout);
}

static void run_size(struct report *report, int nodes)
{
	bool large = nodes > 20000;
	for (int plan = 0; plan < PLANS; plan++)
		for (int state = 0; state < BENCH_STATES; state++) {
			struct row *row = &report->rows[report->row_count++];
			bench_stage(plans[plan].name);
			*row = measure_plan(&plans[plan], nodes, (enum bench_state)state, large ? 3 : 7,
			                    large ? 31 : 61);
			bench_stage("");
			print_row(row);
		}
}

/* The worst value over the states, 0 when the case was not run at this size. */
static double worst(const struct report *report, const char *name, int nodes, double (*value)(const struct row *))
{
	double result = 0;
	for (int i = 0; i < report->row_count; i++) {
		const struct row *row = &report->rows[i];
		if ((!name || strcmp(row->name, name) == 0) && (!nodes || row->nodes == nodes) && value(row) > result)
			result = value(row);
	}
	return result;
}

static double warm_of(const struct row *row)
{
	return row->warm_us;
}

static double slower_of(const struct row *row)
{
	return row->cold_us > row->warm_us ? row->cold_us : row->warm_us;
}

static double cold_passes_of(const struct row *row)
{
	return ratio(row->cold_us, row->linear_us);
}

/* The proof that is slowest against the placement of the same case in the same state; NULL without any pair. The rows
 * of a proof follow those of its case. */
static const struct row *worst_proof(const struct report *report, double *slower)
{
	const struct row *result = NULL;
	*slower = 0;
	for (int i = BENCH_STATES; i < report->row_count; i++) {
		const struct row *proof = &report->rows[i], *placed = proof - BENCH_STATES;
		if (!proof->proof || proof->outcome != PLACE_IMPOSSIBLE || placed->outcome != PLACE_PLACED ||
		    ratio(proof->warm_us, placed->warm_us) <= *slower)
			continue;
		*slower = ratio(proof->warm_us, placed->warm_us);
		result = proof;
	}
	return result;
}

static void add_target(struct report *report, const char *text, double measured, double bound, const char *unit,
                       bool at_least)
{
	struct target *target = &report->targets[report->target_count++];
	snprintf(target->text, sizeof(target->text), "%s", text);
	target->measured = measured;
	target->bound = bound;
	target->unit = unit;
	target->measured_at_all = measured > 0 && bound > 0;
	target->met = at_least ? measured >= bound : measured <= bound;
}

static void judge(struct report *report, bool quick)
{
	double warm = worst(report, "N16/4", 16384, warm_of);
	double fill_rate = report->fill.seconds > 0 ? report->fill.placed / report->fill.seconds : 0;
	add_target(report, "warm N16/4 at 16384 nodes, slowest state", warm, 100, "us", false);
	double large = worst(report, "N16/4", 102400, warm_of);
	add_target(report, "warm N16/4 at 102400 nodes, slowest state", large, 300, "us", false);
	add_target(report, "warm N16/4, 102400 nodes against 16384", ratio(large, warm), 3, "times", false);
	add_target(report, "cold N16/4 at 16384 nodes, slowest state", worst(report, "N16/4", 16384, cold_passes_of), 4,
	           "passes", false);
	add_target(report, "cold N16/4 at 102400 nodes, slowest state", worst(report, "N16/4", 102400, cold_passes_of),
	           4, "passes", false);
	add_target(report, "cold, slowest case, size and state", worst(report, NULL, 0, cold_passes_of), 4, "passes",
	           false);
	add_target(report, "three-level tree at 16384 nodes, slowest state",
	           worst(report, "tree 4x16x16", 16384, slower_of), 5000, "us", false);
	char text[120];
	double slower;
	const struct row *proof = worst_proof(report, &slower);
	snprintf(text, sizeof(text), "proof against placement, warm (%s, %d, %s)", proof ? proof->name : "none",
	         proof ? proof->nodes : 0, proof ? bench_cluster_state_name(proof->state) : "");
	add_target(report, text, slower, 1, "times", false);
	add_target(report, "fill with single pods at 12800 nodes", quick ? 0 : fill_rate, 50000, "decisions/s", true);
}

/* Time of one size against another, as a bound n log n would have it. */
static double n_log_n(int large, int small)
{
	return large * log(large) / (small * log(small));
}

static double evict_us(const struct report *report, const char *name, int nodes)
{
	const struct evict_row *row = evict_find(report->evictions, report->eviction_count, name, nodes);
	return row && (row->as_intended || row->too_long) ? row->us : 0;
}

static void judge_growth(struct report *report, const char *name)
{
	char text[120];
	double small = evict_us(report, name, 1000), large = evict_us(report, name, 5000);
	snprintf(text, sizeof(text), "%s, 5000 nodes against 1000, n log n", name);
	add_target(report, text, small > 0 ? ratio(large, small) : 0, n_log_n(5000, 1000), "times", false);
}

static void judge_evictions(struct report *report)
{
	static const char *const names[] = {"reclaim", "preempt", "reclaim segments", "reclaim a rack"};
	static const char *const pairs[][2] = {{"reclaim, too far", "reclaim"},
	                                       {"reclaim, too many", "reclaim"},
	                                       {"preempt, too many", "preempt"}};
	static const char *const crowds[] = {"full cycle, all placed", "full cycle, all wait",
	                                     "full cycle, half reclaim"};
	double peak = 0;
	char text[120];
	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "%s at 1000 nodes", names[i]);
		add_target(report, text, evict_us(report, names[i], 1000) / 1000, 50, "ms", false);
		judge_growth(report, names[i]);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%s at 1000 nodes against %s", pairs[i][0], pairs[i][1]);
		add_target(report, text,
		           ratio(evict_us(report, pairs[i][0], 1000), evict_us(report, pairs[i][1], 1000)), 1, "times",
		           false);
		judge_growth(report, pairs[i][0]);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%s: 10000 groups, 1000 queues, 5000 nodes", crowds[i]);
		add_target(report, text, evict_us(report, crowds[i], 5000) / 1000, 200, "ms", false);
	}
	for (int i = 0; i < report->eviction_count; i++)
		if (report->evictions[i].nodes == 5000 && report->evictions[i].peak_mib > peak)
			peak = report->evictions[i].peak_mib;
	add_target(report, "memory of the largest eviction case", peak, 200, "MiB", false);
}

/* One change must cost the same in a large cluster as in a small one. */
static void judge_control(struct report *report)
{
	static const char *const names[] = {"one pod arrives", "one pod is replaced", "gang of 16 arrives",
	                                    "one, beside a refusal", "one, beside a waiter"};
	char text[120];
	for (int i = 0; i < 5; i++) {
		double small = control_us(report->controls, report->control_count, names[i], 1000),
		       large = control_us(report->controls, report->control_count, names[i], 50000);
		snprintf(text, sizeof(text), "control loop, %s, 50000 nodes against 1000", names[i]);
		add_target(report, text, ratio(large, small), 3, "times", false);
	}
}

static void print_targets(const struct report *report)
{
	printf("\n%-72s %12s %12s\n", "target", "measured", "bound");
	for (int i = 0; i < report->target_count; i++) {
		const struct target *target = &report->targets[i];
		printf("%-72s %12.1f %12.1f %-12s %s\n", target->text, target->measured, target->bound, target->unit,
		       !target->measured_at_all ? "not measured"
		       : target->met            ? "met"
		                                : "missed");
	}
}

static int write_json(const struct report *report, const char *path)
{
	FILE *file = fopen(path, "w");
	if (!file) {
		perror(path);
		return -1;
	}
	fputs("{\"rows\": [", file);
	for (int i = 0; i < report->row_count; i++) {
		const struct row *row = &report->rows[i];
		fprintf(file,
		        "%s\n  {\"case\": \"%s\", \"nodes\": %d, \"state\": \"%s\", \"outcome\": \"%s\", "
		        "\"asIntended\": %s, "
		        "\"coldUs\": %.1f, \"warmUs\": %.1f, \"linearPassUs\": %.1f, \"coldRatio\": %.2f, "
		        "\"warmRatio\": %.3f, "
		        "\"steps\": %llu, \"clusterBytes\": %zu}",
		        i ? "," : "", row->name, row->nodes, bench_cluster_state_name(row->state),
		        outcome_name(row->outcome), row->as_intended ? "true" : "false", row->cold_us, row->warm_us,
		        row->linear_us, ratio(row->cold_us, row->linear_us), ratio(row->warm_us, row->linear_us),
		        (unsigned long long)row->steps, row->cluster_bytes);
	}
	fputs("],\n \"evictions\": [", file);
	for (int i = 0; i < report->eviction_count; i++) {
		const struct evict_row *row = &report->evictions[i];
		fprintf(file,
		        "%s\n  {\"case\": \"%s\", \"nodes\": %d, \"us\": %.1f, \"growth\": %.2f, \"peakMiB\": %.1f, "
		        "\"evicted\": %d, \"placed\": %d, \"asIntended\": %s}",
		        i ? "," : "", row->name, row->nodes, row->us, row->exponent, row->peak_mib, row->evicted,
		        row->placed, row->as_intended ? "true" : "false");
	}
	fputs("],\n \"control\": [", file);
	for (int i = 0; i < report->control_count; i++) {
		const struct control_row *row = &report->controls[i];
		fprintf(file,
		        "%s\n  {\"case\": \"%s\", \"nodes\": %d, \"us\": %.1f, \"slowestUs\": %.1f, \"startMs\": %.1f, "
		        "\"asIntended\": %s}",
		        i ? "," : "", row->name, row->nodes, row->us, row->worst_us, row->start_ms,
		        row->as_intended ? "true" : "false");
	}
	fprintf(file, "],\n \"fill\": {\"nodes\": %d, \"pods\": %d, \"placed\": %d, \"seconds\": %.3f},\n",
	        report->fill.nodes, report->fill.pods, report->fill.placed, report->fill.seconds);
	fprintf(file, " \"peakKiB\": %ld,\n \"targets\": [", report->peak_kib);
	for (int i = 0; i < report->target_count; i++) {
		const struct target *target = &report->targets[i];
		fprintf(file,
		        "%s\n  {\"target\": \"%s\", \"measured\": %.2f, \"bound\": %.2f, \"unit\": \"%s\", \"result\": "
		        "\"%s\"}",
		        i ? "," : "", target->text, target->measured, target->bound, target->unit,
		        !target->measured_at_all ? "not measured"
		        : target->met            ? "met"
		                                 : "missed");
	}
	fputs("]}\n", file);
	int broken = ferror(file);
	return fclose(file) || broken ? -1 : 0;
}

static int finish(struct report *report, bool quick, const char *json)
{
	struct rusage usage;
	bool intended = report->fill.placed == report->fill.pods;
	getrusage(RUSAGE_SELF, &usage);
	report->peak_kib = usage.ru_maxrss;
	if (report->fill.pods > 0)
		printf("\nfill: %d of %d single 1-GPU pods on %d nodes in %.3f s = %.0f decisions/s\n",
		       report->fill.placed, report->fill.pods, report->fill.nodes, report->fill.seconds,
		       report->fill.seconds > 0 ? report->fill.placed / report->fill.seconds : 0);
	printf("peak memory: %.1f MiB\n", (double)report->peak_kib / 1024);
	judge(report, quick);
	judge_evictions(report);
	judge_control(report);
	print_targets(report);
	for (int i = 0; i < report->row_count; i++)
		intended &= report->rows[i].as_intended;
	for (int i = 0; i < report->eviction_count; i++)
		intended &= report->evictions[i].as_intended || report->evictions[i].too_long;
	for (int i = 0; i < report->control_count; i++)
		intended &= report->controls[i].as_intended;
	printf("\n%s\n", intended ? "every outcome is as counted by hand" : "some outcomes are wrong (marked with !)");
	if (json && write_json(report, json) < 0)
		return 1;
	return intended ? 0 : 1;
}

/* `nodes`: of this size only, 0 for all. */
static void run_placement(struct report *report, bool quick, int nodes)
{
	printf("%-20s %7s %-13s %-11s %10s %10s %10s %9s %9s\n", "case", "nodes", "state", "outcome", "cold us",
	       "warm us", "linear us", "cold/lin", "warm/lin");
	static const int sizes[] = {1024, 16384, 102400};
	for (int i = 0; i < (quick ? 1 : 3); i++)
		if (!nodes || nodes == sizes[i])
			run_size(report, sizes[i]);
	if (nodes)
		return;
	bench_stage("filling a cluster");
	report->fill = quick ? measure_fill(1024, 8000) : measure_fill(12800, 100000);
	bench_stage("");
}

enum section { SECTION_ALL, SECTION_PLACEMENT, SECTION_EVICTION, SECTION_CONTROL };

int main(int argc, char **argv)
{
	static struct report report;
	const char *json = NULL, *name = NULL;
	bool quick = false;
	int nodes = 0;
	enum section only = SECTION_ALL;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--quick") == 0) {
			quick = true;
		} else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
			json = argv[++i];
		} else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
			name = argv[++i];
			only = SECTION_EVICTION;
		} else if (strcmp(argv[i], "--placement") == 0) {
			only = SECTION_PLACEMENT;
		} else if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc) {
			nodes = (int)strtol(argv[++i], NULL, 10);
			only = SECTION_PLACEMENT;
		} else if (strcmp(argv[i], "--eviction") == 0) {
			only = SECTION_EVICTION;
		} else if (strcmp(argv[i], "--control") == 0) {
			only = SECTION_CONTROL;
		} else {
			fprintf(stderr,
			        "usage: platoon-bench [--quick] [--placement | --nodes SIZE | --eviction | --control | "
			        "--only EVICTION-CASE] "
			        "[--json FILE]\n");
			return 2;
		}
	}
	report.eviction_count =
		only == SECTION_ALL || only == SECTION_EVICTION ? evict_measure(quick, name, report.evictions) : 0;
	if (only == SECTION_ALL || only == SECTION_CONTROL)
		report.control_count = control_measure(quick, report.controls);
	if (only == SECTION_ALL || only == SECTION_PLACEMENT)
		run_placement(&report, quick, nodes);
	return finish(&report, quick, json);
}
