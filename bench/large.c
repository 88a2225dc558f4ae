/* platoon-bench-large: the largest cluster, where all that people want comes at once.
 *
 *   platoon-bench-large [--quick | --nodes N]
 *
 * 102,400 nodes with 8 GPUs in a topology of four levels, and 1,000,000 waiting pods in 50,000 gangs of 20, each of which must
 * be within one rack. What is measured: single decisions, by the engine alone; the cold start of the scheduler, from the
 * objects in the store until everything that fits is bound; what it costs when one pod is lost and replaced; memory.
 * Times are of the processor. Ends with 1 when not as many gangs are placed as racks can hold. */
#include "stage.h"
#include "times.h"
#include "bench_cluster.h"
#include "control_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { GANG = 20, IN_RACK = LOOP_RACK * LOOP_GPUS / GANG, CHANGES = 21, AT_ONCE = 10000 };

static long peak_mib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

/* So many gangs that a fifth or so has to wait. */
static int count_gangs(int nodes)
{
	return (int)((int64_t)nodes * 50000 / 102400);
}

static int count_fitting(int nodes)
{
	int fitting = nodes / LOOP_RACK * IN_RACK;
	return fitting < count_gangs(nodes) ? fitting : count_gangs(nodes);
}

/* ---- decisions ---- */

static bool measure_decisions(int nodes)
{
	static const struct gang_plan plan = {.name = "gang",
	                                      .pods = GANG,
	                                      .gpus = 1,
	                                      .root_required = BENCH_RACK,
	                                      .parent_required = BENCH_NO_LEVEL,
	                                      .segment_required = BENCH_NO_LEVEL,
	                                      .root_preferred = BENCH_NO_LEVEL};
	struct bench_cluster bench;
	struct arena *arena = arena_create();
	int gangs = count_gangs(nodes), placed = 0;
	double *times = calloc((size_t)gangs, sizeof(*times));
	if (!times)
		abort();
	bench_stage("decisions");
	bench_cluster_create(&bench, nodes, BENCH_EMPTY);
	for (int g = 0; g < gangs; g++) {
		struct placement placement;
		struct gang gang = bench_cluster_gang(&bench, &plan);
		arena_reset(arena);
		double start = measure_processor_us();
		engine_place(bench.cluster, &gang, &(struct place_options){0}, arena, &placement);
		times[g] = measure_processor_us() - start;
		if (placement.outcome == PLACE_PLACED) {
			engine_commit(bench.cluster, &gang, &placement);
			placed++;
		}
		bench_cluster_free_gang(&gang);
	}
	measure_sort(times, (size_t)gangs);
	bench_stage("");
	printf("%d decisions: p50 %.1f us, p99 %.1f us, most %.1f us; %d placed; peak %ld MiB\n", gangs,
	       times[gangs / 2], times[(size_t)gangs * 99 / 100], times[gangs - 1], placed, peak_mib());
	fflush(stdout);
	free(times);
	arena_destroy(arena);
	bench_cluster_destroy(&bench);
	return placed == count_fitting(nodes);
}

/* ---- the scheduler ---- */

static void name_pod(char name[48], int gang, int pod)
{
	snprintf(name, 48, "g%05d-%d", gang, pod);
}

static void make_gangs(struct control_loop *loop)
{
	for (int g = 0; g < count_gangs(loop->nodes); g++) {
		char group[32], name[48];
		snprintf(group, sizeof(group), "g%05d", g);
		control_loop_make_group(loop, group, GANG, true);
		for (int i = 0; i < GANG; i++) {
			name_pod(name, g, i);
			control_loop_make_pod(loop, name, group, 1, -1);
		}
		if (g % (AT_ONCE / GANG) == 0)
			control_loop_commit(loop);
	}
	control_loop_commit(loop);
}

/* Gangs with all of their pods bound; -1 when one is bound in part. */
static int count_bound(const struct control_loop *loop, int *some)
{
	int whole = 0;
	for (int g = 0; g < count_gangs(loop->nodes); g++) {
		char name[48];
		int bound = 0;
		for (int i = 0; i < GANG; i++) {
			name_pod(name, g, i);
			bound += control_loop_is_bound(loop, name);
		}
		if (bound > 0 && bound < GANG)
			return -1;
		if (bound)
			*some = g;
		whole += bound == GANG;
	}
	return whole;
}

/* A pod of a gang that runs is lost; its owner makes another. The median of several, in milliseconds. */
static double replace_pods(struct control_loop *loop, int gang, bool *fine)
{
	double times[CHANGES];
	for (int i = 0; i < CHANGES; i++) {
		char group[32], old[48], name[48];
		snprintf(group, sizeof(group), "g%05d", gang);
		name_pod(old, gang, i == 0 ? 0 : GANG + i - 1);
		name_pod(name, gang, GANG + i);
		control_loop_remove_pod(loop, old);
		control_loop_make_pod(loop, name, group, 1, -1);
		control_loop_commit(loop);
		times[i] = control_loop_settle(loop) / 1000;
		*fine &= control_loop_is_bound(loop, name);
	}
	measure_sort(times, CHANGES);
	return times[CHANGES / 2];
}

static bool measure_scheduler(int nodes)
{
	struct control_loop loop;
	bench_stage("writing objects");
	control_loop_open(&loop, nodes);
	make_gangs(&loop);
	long before = peak_mib();
	bench_stage("cold start");
	double start = measure_processor_us();
	control_loop_start(&loop);
	control_loop_settle(&loop);
	double cold = (measure_processor_us() - start) / 1e6;
	long after = peak_mib();
	int some = 0, bound = count_bound(&loop, &some);
	bool fine = bound == count_fitting(nodes);
	bench_stage("one change");
	double change = replace_pods(&loop, some, &fine);
	bench_stage("");
	int pods = count_gangs(nodes) * GANG;
	printf("cold start: %.1f s until all is bound that fits, %d gangs of %d; one pod replaced: %.1f ms\n"
	       "peak memory: %ld MiB for the objects, %ld MiB when all is bound, %.1f KiB for each of %d pods\n",
	       cold, bound, count_gangs(nodes), change, before, after, (double)after * 1024 / pods, pods);
	control_loop_close(&loop);
	return fine;
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	int nodes = quick ? 1024 : 102400;
	if (argc > 2 && strcmp(argv[1], "--nodes") == 0)
		nodes = (int)strtol(argv[2], NULL, 10);
	else if (argc > 1 && !quick) {
		fprintf(stderr, "usage: platoon-bench-large [--quick | --nodes N]\n");
		return 2;
	}
	printf("%d nodes, 4 levels, %d pods in %d gangs\n", nodes, count_gangs(nodes) * GANG, count_gangs(nodes));
	bool fine = measure_decisions(nodes);
	fine &= measure_scheduler(nodes);
	printf("%s\n", fine ? "every gang that fits was placed" : "not what was counted by hand");
	return fine ? 0 : 1;
}
