/* Times of single decisions. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "times.h"
#include "bench_cluster.h"

struct row {
	const char *name;
	int nodes;
	enum bench_state state;
	enum place_outcome outcome;
	bool as_intended;
	bool proof; /* the impossible version of a case */
	double cold_us, warm_us, linear_us;
	uint64_t steps;
	size_t cluster_bytes;
};

struct fill_result {
	int nodes, pods, placed;
	double seconds;
};

/* One pass over all free columns, best of several. */
double measure_linear_us(const struct cluster *cluster);
struct row measure_plan(const struct gang_plan *plan, int nodes, enum bench_state state, int cold_runs, int warm_runs);
/* Places and commits `pods` gangs of one 1-GPU pod each. */
struct fill_result measure_fill(int nodes, int pods);

#endif
