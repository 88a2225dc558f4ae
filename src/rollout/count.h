/* Counts of replicas, pods and seconds: Kubernetes writes them as int32, so whatever comes from outside is taken into
 * 0..COUNT_MAX before anything is multiplied. Products of three counts then fit __int128 and of two fit int64. */
#ifndef ROLLOUT_COUNT_H
#define ROLLOUT_COUNT_H

#include <stdint.h>

#define COUNT_MAX ((int64_t)INT32_MAX)

static inline int64_t count_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t count_most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Negative counts as none. */
static inline int64_t count_clamp(int64_t value)
{
	return count_least(count_most(value, 0), COUNT_MAX);
}

/* Both at least 0, divisor at least 1. */
static inline int64_t count_divide_up(int64_t value, int64_t divisor)
{
	return value / divisor + (value % divisor != 0);
}

#endif
