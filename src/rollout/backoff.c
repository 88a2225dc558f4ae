/* Owns the back-off of instance restarts. */
#include "rollout/backoff.h"

#include "rollout/count.h"

#define RESET_AT_LEAST 600

int64_t backoff_delay(int64_t base, int64_t maximum, int64_t restarts)
{
	int64_t limit = maximum > 0 ? count_clamp(maximum) : COUNT_MAX;
	int64_t delay = count_clamp(base);
	if (delay == 0 || restarts < 1)
		return 0;
	for (int64_t i = 1; i < restarts && delay < limit; i++)
		delay *= 2;
	return count_least(delay, limit);
}

int64_t backoff_reset(int64_t maximum)
{
	return count_most(2 * count_clamp(maximum), RESET_AT_LEAST);
}

int64_t backoff_count(int64_t restarts, int64_t last, int64_t now, int64_t maximum)
{
	int64_t elapsed;
	bool is_stable = !__builtin_sub_overflow(now, last, &elapsed) && elapsed >= backoff_reset(maximum);
	return is_stable ? 1 : count_clamp(restarts) + (restarts < COUNT_MAX);
}
