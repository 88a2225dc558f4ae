/* Times of decisions that make room. Each size runs in a process of its own, so that its memory is its own, too. Times
 * are of the processor: other work on the machine does not count. */
#include "evict.h"
#include "stage.h"

#include "crowded.h"
#include "times.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RUNS = 7, MOST_SECONDS = 60 };

struct evict_case {
	const char *name;
	enum evict_kind kind;
	enum cycle_action action;
	bool impossible;
};

static const struct evict_case cases[] = {
	{"reclaim", EVICT_FLAT, ACTION_RECLAIM, false},
	{"reclaim, too far", EVICT_TOO_FAR, ACTION_RECLAIM, true},
	{"reclaim, too many", EVICT_TOO_MANY, ACTION_RECLAIM, true},
	{"preempt", EVICT_FLAT, ACTION_PREEMPT, false},
	{"preempt, too many", EVICT_TOO_MANY, ACTION_PREEMPT, true},
	{"reclaim segments", EVICT_SEGMENTS, ACTION_RECLAIM, false},
	{"reclaim a rack", EVICT_RACK, ACTION_RECLAIM, false},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static void count(const struct crowded *bench, struct evict_row *row)
{
	const struct cycle *cycle = &bench->cycle;
	row->evicted = (int)cycle->eviction_count;
	row->placed = 0;
	for (size_t g = 0; g < cycle->group_count; g++)
		for (size_t p = 0; p < cycle->groups[g].gang.pod_count; p++)
			row->placed += cycle->groups[g].gang.pods[p].state == MEMBER_RESERVED ||
			               (cycle->groups[g].gang.pods[p].state == MEMBER_RUNNING &&
			                !cycle->groups[g].was_running[p]);
}

/* Once; returns the microseconds. */
static double run_gang(const struct evict_case *test, struct evict_row *row)
{
	struct crowded bench;
	crowded_gang(&bench, row->nodes, test->kind, test->action == ACTION_PREEMPT);
	double start = measure_processor_us();
	cycle_begin(&bench.cycle);
	cycle_run(&bench.cycle, test->action);
	double took = measure_processor_us() - start;
	count(&bench, row);
	int wanted = test->impossible ? 0 : crowded_wanted(&bench);
	row->as_intended = row->placed == wanted && row->evicted == wanted * BENCH_GPUS;
	crowded_destroy(&bench);
	return took;
}

struct crowd {
	const char *name;
	int queues, groups;
	enum evict_fill fill;
};

static double run_crowd(const struct crowd *crowd, struct evict_row *row)
{
	struct crowded bench;
	crowded_crowd(&bench, row->nodes, crowd->queues, crowd->groups, crowd->fill);
	double start = measure_processor_us();
	cycle_begin(&bench.cycle);
	enum cycle_action actions[ACTION_COUNT];
	size_t action_count = cycle_action_list_all(actions);
	for (size_t i = 0; i < action_count; i++)
		cycle_run(&bench.cycle, actions[i]);
	cycle_finish(&bench.cycle);
	double took = measure_processor_us() - start;
	count(&bench, row);
	int pods = crowded_served(crowd->queues, crowd->groups, crowd->fill);
	row->as_intended = row->placed == pods && row->evicted == (crowd->fill == EVICT_LOPSIDED ? pods : 0);
	crowded_destroy(&bench);
	return took;
}

/* Runs one size in a process of its own and waits for it. */
static void run_apart(const struct evict_case *test, const struct crowd *crowd, int runs, struct evict_row *row)
{
	struct evict_row *shared = mmap(NULL, sizeof(*row), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return;
	*shared = *row;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		double times[MOST_RUNS];
		struct rusage usage;
		alarm(MOST_SECONDS);
		for (int i = 0; i < runs; i++)
			times[i] = test ? run_gang(test, shared) : run_crowd(crowd, shared);
		measure_sort(times, (size_t)runs);
		shared->us = times[runs / 2];
		getrusage(RUSAGE_SELF, &usage);
		shared->peak_mib = (double)usage.ru_maxrss / 1024;
		_exit(0);
	}
	int status = 0;
	if (child > 0)
		waitpid(child, &status, 0);
	*row = *shared;
	munmap(shared, sizeof(*shared));
	row->too_long = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
	if (row->too_long)
		row->us = MOST_SECONDS * 1e6;
	if (child < 0 || (!row->too_long && status != 0))
		row->as_intended = false;
}

static void print_row(const struct evict_row *row)
{
	bench_stage("");
	if (row->too_long)
		printf("%-26s %7d more than %d s\n", row->name, row->nodes, MOST_SECONDS);
	else
		printf("%-26s %7d %12.1f %9.2f %9.1f %9d %9d%s\n", row->name, row->nodes, row->us, row->exponent,
		       row->peak_mib, row->evicted, row->placed, row->as_intended ? "" : " !");
	fflush(stdout);
}

static int measure_case(const struct evict_case *test, const int *sizes, int size_count, struct evict_row *rows)
{
	int used = 0;
	for (int i = 0; i < size_count; i++) {
		struct evict_row *row = &rows[used++];
		*row = (struct evict_row){.name = test->name, .nodes = sizes[i]};
		bench_stage(row->name);
		run_apart(test, NULL, sizes[i] > 200 ? 3 : MOST_RUNS, row);
		if (i > 0 && row->us > 0 && row[-1].us > 0)
			row->exponent = log(row->us / row[-1].us) / log((double)sizes[i] / sizes[i - 1]);
		print_row(row);
		if (row->too_long)
			break;
	}
	return used;
}

int evict_measure(bool quick, const char *only, struct evict_row rows[EVICT_ROWS])
{
	static const int sizes[] = {50, 100, 200, 500, 1000, 5000};
	static const struct crowd crowds[] = {{"full cycle, all placed", 1000, 10000, EVICT_IDLE},
	                                      {"full cycle, all wait", 1000, 10000, EVICT_BALANCED},
	                                      {"full cycle, half reclaim", 1000, 10000, EVICT_LOPSIDED}};
	int used = 0;
	printf("\n%-26s %7s %12s %9s %9s %9s %9s\n", "making room", "nodes", "us", "growth", "peak MiB", "evicted",
	       "placed");
	for (int i = 0; i < CASES; i++)
		if (!only || strstr(cases[i].name, only))
			used += measure_case(&cases[i], sizes, quick ? 2 : (int)(sizeof(sizes) / sizeof(sizes[0])),
			                     &rows[used]);
	for (int i = 0; i < 3; i++) {
		if (only && !strstr(crowds[i].name, only))
			continue;
		struct evict_row *row = &rows[used++];
		struct crowd crowd = crowds[i];
		if (quick) {
			crowd.queues = 20;
			crowd.groups = 40;
		}
		*row = (struct evict_row){.name = crowd.name, .nodes = quick ? 50 : 5000};
		run_apart(NULL, &crowd, quick ? 1 : 3, row);
		print_row(row);
	}
	return used;
}

const struct evict_row *evict_find(const struct evict_row *rows, int count_, const char *name, int nodes)
{
	for (int i = 0; i < count_; i++)
		if (strcmp(rows[i].name, name) == 0 && rows[i].nodes == nodes)
			return &rows[i];
	return NULL;
}
