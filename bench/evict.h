/* Times of decisions that make room: reclaim, preempt, and whole cycles with many groups and queues. */
#ifndef BENCH_EVICT_H
#define BENCH_EVICT_H

#include <stdbool.h>

enum { EVICT_ROWS = 64 };

struct evict_row {
	const char *name;
	int nodes;
	double us;       /* median over the runs; a lower bound when it took too long */
	double exponent; /* p in time ~ nodes^p against the next smaller size; 0 for the smallest */
	double peak_mib; /* of a process that does nothing else */
	int evicted, placed;
	bool as_intended, too_long;
};

/* Fills the rows and prints each when it is known. Returns how many there are. */
int evict_measure(bool quick, const char *only, struct evict_row rows[EVICT_ROWS]);
/* The row of a case at a size; NULL when it was not measured. */
const struct evict_row *evict_find(const struct evict_row *rows, int count, const char *name, int nodes);

#endif
