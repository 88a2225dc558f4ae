/* The arithmetic of the documents, as they write it. */
#include "planner_model.h"

#include "rollout/count.h"

#include <string.h>

static int64_t pods_of(const struct model_role *role)
{
	return count_most(count_clamp(role->pods), 1);
}

int64_t model_minimum_of_instance(const int64_t *components, size_t count)
{
	int64_t pods = 0;
	for (size_t i = 0; i < count; i++)
		pods = count_least(pods + count_clamp(components[i]), COUNT_MAX);
	return pods;
}

int64_t model_minimum_of_group(const struct model_role *roles, size_t count)
{
	int64_t pods = 0;
	for (size_t r = 0; r < count; r++)
		pods = count_least(pods + count_clamp(roles[r].replicas) * pods_of(&roles[r]), COUNT_MAX);
	return pods;
}

int64_t model_minimum_of_segment(const struct model_role *roles, size_t role_count, const struct segment_rule *rule,
                                 int64_t segment)
{
	int64_t pods = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_size *entry = &rule->sizes[i];
		if (entry->role >= role_count || entry->size < 1)
			continue;
		const struct model_role *role = &roles[entry->role];
		int64_t members = segment_end(segment + 1, entry->size, role->replicas) -
		                  segment_end(segment, entry->size, role->replicas);
		pods = count_least(pods + members * pods_of(role), COUNT_MAX);
	}
	return pods;
}

int64_t model_started(int64_t minimum, int64_t running, int64_t waiting, int64_t capacity)
{
	int64_t fitting = count_least(count_clamp(waiting), count_most(capacity - running, 0));
	return running + fitting >= minimum ? fitting : 0;
}

/* Whether a is slower than b. */
static bool is_slower(const struct skew_update_role *a, const struct skew_update_role *b)
{
	__int128 left = (__int128)a->updated * b->desired, right = (__int128)b->updated * a->desired;
	if (left != right)
		return left < right;
	if (a->desired != b->desired)
		return a->desired > b->desired;
	return strcmp(a->name, b->name) < 0;
}

void model_rank_roles(const struct skew_update_role *roles, size_t role_count, size_t *fastest, size_t *slowest)
{
	size_t counted = 0;
	*fastest = *slowest = MODEL_NO_ROLE;
	for (size_t r = 0; r < role_count; r++) {
		if (roles[r].desired < 1)
			continue;
		counted++;
		if (*slowest == MODEL_NO_ROLE || is_slower(&roles[r], &roles[*slowest]))
			*slowest = r;
		if (*fastest == MODEL_NO_ROLE || is_slower(&roles[*fastest], &roles[r]))
			*fastest = r;
	}
	if (counted < 2)
		*fastest = *slowest = MODEL_NO_ROLE;
}

static int64_t divide_nearest(__int128 value, __int128 divisor)
{
	return value <= 0 ? 0 : (int64_t)((2 * value + divisor) / (2 * divisor));
}

void model_bound_updated(struct percent max_skew, int64_t other_updated, int64_t other_desired, int64_t desired,
                         int64_t *lower, int64_t *upper)
{
	*lower = *upper = 0;
	if (other_desired < 1)
		return;
	int64_t share = max_skew.form == PERCENT_SHARE ? count_clamp(max_skew.value) : 0;
	int64_t extra = max_skew.form == PERCENT_COUNT ? count_clamp(max_skew.value) : 0;
	__int128 scale = (__int128)100 * count_clamp(other_desired);
	__int128 middle = (__int128)100 * count_clamp(other_updated) * count_clamp(desired);
	__int128 skew = (__int128)share * count_clamp(other_desired) * count_clamp(desired) + extra * scale;
	*lower = divide_nearest(middle - skew, scale);
	*upper = divide_nearest(middle + skew, scale);
}
