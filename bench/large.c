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
#include "world.h"
#include "yard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { GANG = 20, IN_RACK = YARD_RACK * YARD_GPUS / GANG, CHANGES = 21, AT_ONCE = 10000 };

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
	int fitting = nodes / YARD_RACK * IN_RACK;
	return fitting < count_gangs(nodes) ? fitting : count_gangs(nodes);
}

/* ---- decisions ---- */

static bool measure_decisions(int nodes)
{
	static const struct gang_plan plan = {.name = "gang",
	                                      .pods = GANG,
	                                      .gpus = 1,
	                                      .root_required = WORLD_RACK,
	                                      .parent_required = WORLD_NO_LEVEL,
	                                      .segment_required = WORLD_NO_LEVEL,
	                                      .root_preferred = WORLD_NO_LEVEL};
	struct world world;
	struct arena *arena = arena_create();
	int gangs = count_gangs(nodes), placed = 0;
	double *times = calloc((size_t)gangs, sizeof(*times));
	if (!times)
		abort();
	bench_stage("decisions");
	world_create(&world, nodes, WORLD_EMPTY);
	for (int g = 0; g < gangs; g++) {
		struct placement placement;
		struct gang gang = world_gang(&world, &plan);
		arena_reset(arena);
		double start = measure_processor_us();
		engine_place(world.cluster, &gang, &(struct place_options){0}, arena, &placement);
		times[g] = measure_processor_us() - start;
		if (placement.outcome == PLACE_PLACED) {
			engine_commit(world.cluster, &gang, &placement);
			placed++;
		}
		world_free_gang(&gang);
	}
	measure_sort(times, (size_t)gangs);
	bench_stage("");
	printf("%d decisions: p50 %.1f us, p99 %.1f us, most %.1f us; %d placed; peak %ld MiB\n", gangs,
	       times[gangs / 2], times[(size_t)gangs * 99 / 100], times[gangs - 1], placed, peak_mib());
	fflush(stdout);
	free(times);
	arena_destroy(arena);
	world_destroy(&world);
	return placed == count_fitting(nodes);
}

/* ---- the scheduler ---- */

static void name_pod(char name[48], int gang, int pod)
{
	snprintf(name, 48, "g%05d-%d", gang, pod);
}

static void make_gangs(struct yard *yard)
{
	for (int g = 0; g < count_gangs(yard->nodes); g++) {
		char group[32], name[48];
		snprintf(group, sizeof(group), "g%05d", g);
		yard_make_group(yard, group, GANG, true);
		for (int i = 0; i < GANG; i++) {
			name_pod(name, g, i);
			yard_make_pod(yard, name, group, 1, -1);
		}
		if (g % (AT_ONCE / GANG) == 0)
			yard_commit(yard);
	}
	yard_commit(yard);
}

/* Gangs with all of their pods bound; -1 when one is bound in part. */
static int count_bound(const struct yard *yard, int *some)
{
	int whole = 0;
	for (int g = 0; g < count_gangs(yard->nodes); g++) {
		char name[48];
		int bound = 0;
		for (int i = 0; i < GANG; i++) {
			name_pod(name, g, i);
			bound += yard_is_bound(yard, name);
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
static double replace_pods(struct yard *yard, int gang, bool *fine)
{
	double times[CHANGES];
	for (int i = 0; i < CHANGES; i++) {
		char group[32], old[48], name[48];
		snprintf(group, sizeof(group), "g%05d", gang);
		name_pod(old, gang, i == 0 ? 0 : GANG + i - 1);
		name_pod(name, gang, GANG + i);
		yard_remove_pod(yard, old);
		yard_make_pod(yard, name, group, 1, -1);
		yard_commit(yard);
		times[i] = yard_settle(yard) / 1000;
		*fine &= yard_is_bound(yard, name);
	}
	measure_sort(times, CHANGES);
	return times[CHANGES / 2];
}

static bool measure_scheduler(int nodes)
{
	struct yard yard;
	bench_stage("writing objects");
	yard_open(&yard, nodes);
	make_gangs(&yard);
	long before = peak_mib();
	bench_stage("cold start");
	double start = measure_processor_us();
	yard_start(&yard);
	yard_settle(&yard);
	double cold = (measure_processor_us() - start) / 1e6;
	long after = peak_mib();
	int some = 0, bound = count_bound(&yard, &some);
	bool fine = bound == count_fitting(nodes);
	bench_stage("one change");
	double change = replace_pods(&yard, some, &fine);
	bench_stage("");
	int pods = count_gangs(nodes) * GANG;
	printf("cold start: %.1f s until all is bound that fits, %d gangs of %d; one pod replaced: %.1f ms\n"
	       "peak memory: %ld MiB for the objects, %ld MiB when all is bound, %.1f KiB for each of %d pods\n",
	       cold, bound, count_gangs(nodes), change, before, after, (double)after * 1024 / pods, pods);
	yard_close(&yard);
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
