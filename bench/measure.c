/* Times of single decisions: cold on a cluster that never answered before, warm after one pod came or went. */
#include "measure.h"

#include <stdlib.h>

static double median(double *values, int count)
{
	measure_sort(values, (size_t)count);
	return values[count / 2];
}

double measure_linear_us(const struct cluster *cluster)
{
	enum { PASSES = 9 };
	static volatile int64_t sink; /* keeps the loop alive */
	double best = 0;
	int nodes = cluster_node_count(cluster);
	for (int pass = 0; pass < PASSES; pass++) {
		double start = measure_now_us();
		int64_t sum = 0;
		for (int resource = 0; resource < cluster_resource_count(cluster); resource++) {
			const int64_t *column = cluster_free_column(cluster, resource);
			for (int node = 0; node < nodes; node++)
				sum += column[node];
		}
		sink = sum;
		double took = measure_now_us() - start;
		if (pass == 0 || took < best)
			best = took;
	}
	(void)sink;
	return best;
}

/* A 1-GPU pod comes to a node with room, or goes again. */
struct change {
	int node;
	bool there;
};

static void small_change(struct bench_cluster *bench, struct change *change)
{
	if (change->there) {
		cluster_vacate(bench->cluster, bench->fillers[1], change->node, OCCUPY_RUNNING);
		change->there = false;
		return;
	}
	for (int tries = 0; tries < 100; tries++) {
		int node = (int)(bench_cluster_random(bench) % (uint64_t)bench->nodes);
		if (bench->used[node] == BENCH_GPUS)
			continue;
		cluster_occupy(bench->cluster, bench->fillers[1], node, OCCUPY_RUNNING);
		*change = (struct change){node, true};
		return;
	}
}

static double decide_us(struct bench_cluster *bench, const struct gang *gang, struct arena *arena,
                        struct placement *placement)
{
	arena_reset(arena);
	double start = measure_now_us();
	engine_place(bench->cluster, gang, &(struct place_options){0}, arena, placement);
	return measure_now_us() - start;
}

enum { MOST_RUNS = 101 };

static void measure_warm(struct bench_cluster *bench, const struct gang *gang, struct arena *arena, int runs,
                         enum place_outcome intended, struct row *row)
{
	struct change change = {0};
	double times[MOST_RUNS];
	int count = 0;
	for (int i = 0; i < runs && i < MOST_RUNS; i++) {
		struct placement placement;
		small_change(bench, &change);
		double took = decide_us(bench, gang, arena, &placement);
		if (placement.outcome == row->outcome)
			times[count++] = took;
		/* a pod more can tip an exact fit; without it the answer must be the intended one again */
		row->as_intended &= change.there || placement.outcome == intended;
	}
	row->warm_us = count > 0 ? median(times, count) : 0;
}

struct row measure_plan(const struct gang_plan *plan, int nodes, enum bench_state state, int cold_runs, int warm_runs)
{
	double times[MOST_RUNS];
	struct row row = {
		.name = plan->name, .nodes = nodes, .state = state, .proof = plan->impossible, .as_intended = true};
	struct arena *arena = arena_create();
	for (int run = 0; run < cold_runs; run++) {
		struct bench_cluster bench;
		struct placement placement;
		bench_cluster_create(&bench, nodes, state);
		struct gang gang = bench_cluster_gang(&bench, plan);
		enum place_outcome intended = bench_cluster_fits(&bench, plan) ? PLACE_PLACED : PLACE_IMPOSSIBLE;
		times[run] = decide_us(&bench, &gang, arena, &placement);
		row.outcome = placement.outcome;
		row.steps = placement.steps;
		row.as_intended &= placement.outcome == intended;
		if (run == cold_runs - 1) {
			measure_warm(&bench, &gang, arena, warm_runs, intended, &row);
			row.linear_us = measure_linear_us(bench.cluster);
			row.cluster_bytes = cluster_memory(bench.cluster);
		}
		bench_cluster_free_gang(&gang);
		bench_cluster_destroy(&bench);
	}
	row.cold_us = median(times, cold_runs);
	arena_destroy(arena);
	return row;
}

struct fill_result measure_fill(int nodes, int pods)
{
	struct bench_cluster bench;
	struct fill_result result = {.nodes = nodes, .pods = pods};
	static const struct gang_plan plan = {.name = "single",
	                                      .pods = 1,
	                                      .gpus = 1,
	                                      .root_required = BENCH_NO_LEVEL,
	                                      .parent_required = BENCH_NO_LEVEL,
	                                      .segment_required = BENCH_NO_LEVEL,
	                                      .root_preferred = BENCH_NO_LEVEL};
	struct arena *arena = arena_create();
	bench_cluster_create(&bench, nodes, BENCH_EMPTY);
	struct gang gang = bench_cluster_gang(&bench, &plan);
	double start = measure_now_us();
	for (int i = 0; i < pods; i++) {
		struct placement placement;
		gang.pods[0].state = MEMBER_WAITING;
		gang.pods[0].node = -1;
		arena_reset(arena);
		if (engine_place(bench.cluster, &gang, &(struct place_options){0}, arena, &placement) != PLACE_PLACED)
			break;
		engine_commit(bench.cluster, &gang, &placement);
		result.placed++;
	}
	result.seconds = (measure_now_us() - start) / 1e6;
	bench_cluster_free_gang(&gang);
	bench_cluster_destroy(&bench);
	arena_destroy(arena);
	return result;
}
