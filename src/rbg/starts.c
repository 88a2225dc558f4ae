/* Owns how new segments start: whole or not at all. Until every pod of a segment has a node its instances share one
 * PodGroup; from then on each has its own, so that one that is lost is replaced alone. */
#include "rbg/internal.h"

#include "rollout/count.h"

bool rbg_is_starting(const struct rbg_role_state *role, int64_t ordinal)
{
	if (!role->start)
		return false;
	int64_t number = segment_of(ordinal, role->start_size);
	return number < role->start->segments && !role->start->is_formed[number];
}

/* Whether its pods are, or were ever, instances of their own. */
static bool is_alone(const struct rbg_instance *instance)
{
	for (size_t i = 0; instance && i < instance->pod_count; i++)
		if (!(instance->pods[i].fact->flags & RBG_FACT_SUBGROUP))
			return true;
	return false;
}

/* A segment is formed when all of it has nodes. That some of it left the common PodGroup says that it once was. Where
 * something else lets a part of it be made before the rest (another coordination, a dependency, an order of instances),
 * that part must not wait for what waits for it: then its instances start on their own. */
static bool is_formed(const struct rbg_turn *turn, const struct rbg_rule_state *rule, int64_t number)
{
	bool is_whole = true;
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct segment_size *entry = &rule->rule.sizes[i];
		const struct rbg_role_state *role = &turn->roles[entry->role];
		int64_t end = segment_end(number + 1, entry->size, role->desired);
		if (role->start != rule)
			continue;
		if (role->target < end)
			return true;
		for (int64_t ordinal = number * entry->size; ordinal < end; ordinal++) {
			if (is_alone(rbg_instance_at(role, ordinal)))
				return true;
			is_whole &= role->is_scheduled[ordinal];
		}
	}
	return is_whole;
}

/* Leading segments that need not start whole any more: what was formed stays so for as long as it is wanted. */
static void find_formed(struct rbg_turn *turn, struct rbg_rule_state *rule)
{
	int64_t was = 0, wanted = 0;
	val_int(val_get(rbg_old_coordination(turn, rule->spec->name), "formedSegments"), &was);
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct segment_size *entry = &rule->rule.sizes[i];
		const struct rbg_role_state *role = &turn->roles[entry->role];
		if (role->start != rule)
			continue;
		rule->segments = count_most(rule->segments, segment_count(entry->size, role->desired));
		wanted = count_most(wanted, segment_count(entry->size, role->target));
	}
	rule->is_formed = arena_array(turn->arena, bool, (size_t)rule->segments + 1);
	for (int64_t number = 0; number < rule->segments; number++) {
		rule->is_formed[number] = number < was || is_formed(turn, rule, number);
		if (rule->formed == number && number < wanted && rule->is_formed[number])
			rule->formed = number + 1;
	}
}

void rbg_find_starts(struct rbg_turn *turn)
{
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		const struct rbg_coordination *one = rule->spec;
		if (one->is_deploy || one->may_be_partial || one->gang == SEGMENT_GANG_SEGMENT ||
		    one->affinity == RBG_AFFINITY_REQUIRE || one->affinity == RBG_AFFINITY_PREFER)
			continue;
		for (size_t i = 0; i < rule->rule.count; i++) {
			struct rbg_role_state *role = &turn->roles[rule->rule.sizes[i].role];
			/* Of several coordinations the first one has it. */
			if (role->start || rbg_is_segment_gang(role))
				continue;
			rule->starts_whole = true;
			role->start = rule;
			role->start_size = rule->rule.sizes[i].size;
		}
		if (rule->starts_whole)
			find_formed(turn, rule);
	}
}
