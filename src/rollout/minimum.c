/* Owns the pod counts of PodGroups. */
#include "rollout/minimum.h"

#include "rollout/count.h"

static int64_t pods_of(const struct minimum_role *role)
{
	return count_most(count_clamp(role->pods), 1);
}

int64_t minimum_instance(const int64_t *components, size_t count)
{
	int64_t pods = 0;
	for (size_t i = 0; i < count; i++)
		pods = count_least(pods + count_clamp(components[i]), COUNT_MAX);
	return pods;
}

int64_t minimum_group(const struct minimum_role *roles, size_t count)
{
	int64_t pods = 0;
	for (size_t r = 0; r < count; r++)
		pods = count_least(pods + count_clamp(roles[r].replicas) * pods_of(&roles[r]), COUNT_MAX);
	return pods;
}

int64_t minimum_segment(const struct minimum_role *roles, size_t role_count, const struct segment_rule *rule,
                        int64_t segment)
{
	int64_t pods = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_size *entry = &rule->sizes[i];
		if (entry->role >= role_count || entry->size < 1)
			continue;
		const struct minimum_role *role = &roles[entry->role];
		int64_t members = segment_end(segment + 1, entry->size, role->replicas) -
		                  segment_end(segment, entry->size, role->replicas);
		pods = count_least(pods + members * pods_of(role), COUNT_MAX);
	}
	return pods;
}

int64_t minimum_started(int64_t minimum, int64_t running, int64_t waiting, int64_t capacity)
{
	int64_t fitting = count_least(count_clamp(waiting), count_most(capacity - running, 0));
	return running + fitting >= minimum ? fitting : 0;
}
