/* Owns the clock of the measurements and putting times in order. */
#include "times.h"

#include <stdlib.h>
#include <time.h>

double measure_now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

void measure_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
}
