/* A small deterministic generator of pseudo-random numbers, so that a seed means the same instance everywhere. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* Weyl sequence with a finaliser: every seed, 0 included, gives an independent stream. */
static inline uint64_t random_next(struct random *random)
{
	uint64_t value = random->state += 0x9e3779b97f4a7c15ULL;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

/* low..high, both included; low when there is nothing between them. */
static inline int random_range(struct random *random, int low, int high)
{
	if (high < low)
		return low;
	return low + (int)(random_next(random) % (uint64_t)(high - low + 1));
}

static inline bool random_chance(struct random *random, int percent)
{
	return random_range(random, 0, 99) < percent;
}

#endif
