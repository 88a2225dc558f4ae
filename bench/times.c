/* Owns the clock of the measurements and putting times in order. */
#include "times.h"

#include <stdlib.h>
#include <time.h>

static double read_us(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

double measure_now_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

double measure_processor_us(void)
{
	return read_us(CLOCK_PROCESS_CPUTIME_ID);
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
