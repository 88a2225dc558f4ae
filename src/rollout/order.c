/* Owns the order in which segments are updated. */
#include "rollout/order.h"

#include "rollout/count.h"

/* The highest ordinal that is still to be updated; -1 when there is none. */
static int64_t find_pending(const struct order_role *role)
{
	int64_t partition = count_clamp(role->partition);
	for (int64_t ordinal = count_clamp(role->replicas) - 1; ordinal >= partition; ordinal--)
		if (!role->is_updated[ordinal])
			return ordinal;
	return -1;
}

/* The segment, counted from 0, whose turn it is: the last one in which a role has something to update. -1 when none. */
static int64_t find_turn(const struct order_result *results, size_t role_count, const struct segment_rule *rule)
{
	int64_t turn = -1;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_size *entry = &rule->sizes[i];
		if (entry->role < role_count && entry->size >= 1 && results[entry->role].pending >= 0)
			turn = count_most(turn, segment_of(results[entry->role].pending, entry->size));
	}
	return turn;
}

void order_partitions(const struct order_role *roles, size_t role_count, const struct segment_rule *rules,
                      size_t rule_count, struct order_result *results)
{
	for (size_t r = 0; r < role_count; r++)
		results[r] = (struct order_result){
			.partition = count_clamp(roles[r].partition),
			.pending = find_pending(&roles[r]),
		};
	for (size_t k = 0; k < rule_count; k++) {
		const struct segment_rule *rule = &rules[k];
		int64_t turn = find_turn(results, role_count, rule);
		for (size_t i = 0; i < rule->count && turn >= 0; i++) {
			const struct segment_size *entry = &rule->sizes[i];
			if (entry->role >= role_count || entry->size < 1)
				continue;
			int64_t *partition = &results[entry->role].partition;
			*partition =
				count_most(*partition, segment_end(turn, entry->size, roles[entry->role].replicas));
		}
	}
	for (size_t r = 0; r < role_count; r++)
		results[r].is_waiting = results[r].pending >= 0 && results[r].pending < results[r].partition;
}
