/* Times of measurements. */
#ifndef BENCH_TIMES_H
#define BENCH_TIMES_H

#include <stddef.h>

double measure_now_us(void);
double measure_processor_us(void);               /* what the process had: other work on the machine does not count */
void measure_sort(double *values, size_t count); /* the smallest first */

#endif
