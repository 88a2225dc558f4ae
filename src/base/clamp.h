/* Sums and products of amounts that come from input. Beyond CLAMP_MAX (about 2.3 * 10^18) they stay there instead of
 * wrapping around: no cluster has that much of anything, and two such values can still be added without overflow. */
#ifndef BASE_CLAMP_H
#define BASE_CLAMP_H

#include <stdint.h>

#define CLAMP_MAX (INT64_MAX / 4)

static inline int64_t clamp_amount(int64_t value)
{
	return value > CLAMP_MAX ? CLAMP_MAX : value < -CLAMP_MAX ? -CLAMP_MAX : value;
}

static inline int64_t clamp_add(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? -CLAMP_MAX : CLAMP_MAX;
	return clamp_amount(sum);
}

static inline int64_t clamp_multiply(int64_t a, int64_t b)
{
	int64_t product;
	if (__builtin_mul_overflow(a, b, &product))
		return (a < 0) == (b < 0) ? CLAMP_MAX : -CLAMP_MAX;
	return clamp_amount(product);
}

#endif
