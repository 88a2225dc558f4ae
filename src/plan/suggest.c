/* Owns the choice of a segment size. */
#include "plan/suggest.h"

#include "plan/count.h"

static int64_t greatest_divisor(int64_t a, int64_t b)
{
	while (b > 0) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

int64_t suggest_ratio(const int64_t *desired, size_t count, int64_t *ratio)
{
	int64_t times = 0;
	for (size_t i = 0; i < count; i++)
		times = greatest_divisor(count_clamp(desired[i]), times);
	for (size_t i = 0; i < count; i++)
		ratio[i] = times > 0 ? count_clamp(desired[i]) / times : 0;
	return times;
}

/* Whether the domains hold all segments of this multiple at once. */
static bool all_fit(const struct suggest_level *level, int64_t multiple, int64_t segments)
{
	int64_t held = 0;
	for (size_t d = 0; d < level->count && held < segments; d++)
		held += level->units[d] / multiple;
	return held >= segments;
}

/* The largest divisor of `times` up to `most` that fits; 0 when none does. */
static int64_t largest_fit(const struct suggest_level *level, int64_t times, int64_t most)
{
	int64_t best = 0;
	for (int64_t small = 1; small * small <= times; small++) {
		if (times % small != 0)
			continue;
		const int64_t pair[] = {small, times / small};
		for (int i = 0; i < 2; i++)
			if (pair[i] > best && pair[i] <= most && all_fit(level, pair[i], times / pair[i]))
				best = pair[i];
	}
	return best;
}

struct suggestion suggest_segments(int64_t times, const struct suggest_level *levels, size_t level_count)
{
	/* One segment is no segments: growth in steps is what they are for. */
	int64_t most = times > 1 ? times / 2 : times;
	for (size_t l = 0; l < level_count; l++) {
		int64_t multiple = times > 0 ? largest_fit(&levels[l], times, most) : 0;
		if (multiple > 0)
			return (struct suggestion){multiple, times / multiple, l};
	}
	return (struct suggestion){times > 0, times, SUGGEST_NO_LEVEL};
}
