/* Owns the choice of a segment size. */
#include "rollout/suggest.h"

#include "rollout/count.h"

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

/* Segments beyond those of the role that is complete first. */
static int64_t spread_of(const int64_t *desired, size_t count, const int64_t *ratio, int64_t *segments)
{
	int64_t most = 0, least = COUNT_MAX;
	for (size_t i = 0; i < count; i++) {
		int64_t wanted = count_clamp(desired[i]);
		if (wanted == 0)
			continue;
		most = count_most(most, count_divide_up(wanted, ratio[i]));
		least = count_least(least, count_divide_up(wanted, ratio[i]));
	}
	*segments = most;
	return most - least;
}

int64_t suggest_near(const int64_t *desired, size_t count, int64_t *ratio)
{
	enum { MOST_OF_SMALLEST = 8 }; /* larger segments are multiples of small ones */
	int64_t smallest = COUNT_MAX, best_spread = COUNT_MAX, best = 0, segments = 0;
	for (size_t i = 0; i < count; i++)
		if (desired[i] > 0)
			smallest = count_least(smallest, count_clamp(desired[i]));
	/* Once to find the best size of the smallest role, and once more to fill in the sizes that go with it. */
	for (int64_t size = 1; size <= MOST_OF_SMALLEST + 1; size++) {
		int64_t use = size <= MOST_OF_SMALLEST ? size : best, got;
		for (size_t i = 0; i < count; i++) {
			int64_t near = (2 * count_clamp(desired[i]) * use + smallest) / (2 * smallest);
			ratio[i] = desired[i] > 0 ? count_most(near, 1) : 0;
		}
		int64_t spread = spread_of(desired, count, ratio, &got);
		if (size > MOST_OF_SMALLEST || (got > 1 && spread < best_spread) || size == 1) {
			best_spread = spread;
			best = use;
			segments = got;
		}
	}
	return segments;
}

/* The largest number of ratios up to `most` in a segment such that all segments fit; 0 when none does. */
static int64_t largest_fit(const struct suggest_level *level, int64_t times, bool is_exact, int64_t most)
{
	int64_t largest = 0;
	for (size_t d = 0; d < level->count; d++)
		largest = count_most(largest, level->units[d]);
	for (int64_t multiple = count_least(most, largest); multiple > 0; multiple--)
		if ((!is_exact || times % multiple == 0) && all_fit(level, multiple, count_divide_up(times, multiple)))
			return multiple;
	return 0;
}

struct suggestion suggest_segments(int64_t times, bool is_exact, const struct suggest_level *levels, size_t level_count)
{
	/* One segment is no segments: growth in steps is what they are for. */
	int64_t most = times > 1 ? times / 2 : times;
	for (size_t l = 0; l < level_count; l++) {
		int64_t multiple = times > 0 ? largest_fit(&levels[l], times, is_exact, most) : 0;
		if (multiple > 0)
			return (struct suggestion){multiple, count_divide_up(times, multiple), l};
	}
	return (struct suggestion){times > 0, times, SUGGEST_NO_LEVEL};
}
