/* Times of measurements. */
#ifndef BENCH_TIMES_H
#define BENCH_TIMES_H

#include <stddef.h>

double measure_now_us(void);
void measure_sort(double *values, size_t count); /* the smallest first */

#endif
