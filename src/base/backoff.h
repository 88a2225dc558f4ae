/* Pauses that grow: how long something that failed is left alone. */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

/* `first`, doubled for each of the `times` it has failed before, and `longest` at most. */
static inline int64_t backoff_pause(int64_t first, unsigned times, int64_t longest)
{
	int64_t pause = first;
	for (unsigned i = 0; i < times && pause < longest; i++)
		pause *= 2;
	return pause < longest ? pause : longest;
}

#endif
