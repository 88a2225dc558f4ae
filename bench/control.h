/* Times of the control loop: from one change in the store to the decision written back. */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include <stdbool.h>

enum { CONTROL_ROWS = 16 };

struct control_row {
	const char *name;
	int nodes;
	double us;        /* one change, median */
	double worst_us;  /* the slowest */
	double start_ms;  /* from nothing to the first cycle */
	bool as_intended; /* every change had its effect, and nothing was built anew */
};

/* Returns the number of rows. */
int control_measure(bool quick, struct control_row rows[CONTROL_ROWS]);
/* Time of a case, 0 when it was not measured. */
double control_us(const struct control_row *rows, int count, const char *name, int nodes);

#endif
