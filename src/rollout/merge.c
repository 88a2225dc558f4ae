/* Owns the merge of several coordinations: blocking between them, minimum per role, dependencies. */
#include "rollout/merge.h"

#include "rollout/count.h"

/* Marks, for every role of a rule that waits, which rule that is; the first one in the order of the spec. */
static void mark_blocked(const struct merge_input *input, const struct segment_state *states, size_t *blocked_by)
{
	for (size_t k = 0; k < input->rule_count; k++) {
		const struct segment_rule *rule = &input->rules[k];
		if (states[k].is_open || states[k].is_finished)
			continue;
		for (size_t i = 0; i < rule->count; i++) {
			size_t role = rule->sizes[i].role;
			if (role < input->role_count && blocked_by[role] == MERGE_NO_RULE)
				blocked_by[role] = k;
		}
	}
}

/* A rule is held as a whole when it waits itself or shares a role with one that does. */
static size_t find_blocker(const struct merge_input *input, const struct segment_rule *rule, const size_t *blocked_by)
{
	for (size_t i = 0; i < rule->count; i++) {
		size_t role = rule->sizes[i].role;
		if (role < input->role_count && blocked_by[role] != MERGE_NO_RULE)
			return blocked_by[role];
	}
	return MERGE_NO_RULE;
}

static void take_minimum(const struct merge_input *input, struct merge_plan *plan, const size_t *blocked_by)
{
	for (size_t k = 0; k < input->rule_count; k++) {
		const struct segment_rule *rule = &input->rules[k];
		size_t blocker = find_blocker(input, rule, blocked_by);
		for (size_t i = 0; i < rule->count; i++) {
			size_t r = rule->sizes[i].role;
			if (r >= input->role_count || rule->sizes[i].size < 1)
				continue;
			const struct segment_role *role = &input->roles[r];
			int64_t allowed = blocker == MERGE_NO_RULE
			                          ? segment_target(role, rule->sizes[i].size, &plan->states[k])
			                          : segment_hold(role);
			plan->roles[r].target = count_least(plan->roles[r].target, allowed);
			if (plan->roles[r].held_by == MERGE_NO_RULE)
				plan->roles[r].held_by = blocker;
		}
	}
}

static void hold_dependents(const struct merge_input *input, struct merge_plan *plan, struct arena *arena)
{
	if (input->dependency_count == 0)
		return;
	size_t *set = linked_sets(input->role_count, input->rules, input->rule_count, input->dependencies,
	                          input->dependency_count, arena);
	int64_t *prefix = arena_array(arena, int64_t, input->role_count);
	for (size_t r = 0; r < input->role_count; r++)
		prefix[r] = segment_ready_prefix(&input->roles[r]);
	for (size_t d = 0; d < input->dependency_count; d++) {
		size_t role = input->dependencies[d].from, needs = input->dependencies[d].to;
		if (role >= input->role_count || needs >= input->role_count ||
		    plan->roles[role].depends_on != SEGMENT_NO_ROLE)
			continue;
		int64_t wanted =
			set[role] == set[needs] ? plan->roles[needs].target : count_clamp(input->roles[needs].desired);
		if (prefix[needs] < wanted)
			plan->roles[role].depends_on = needs;
	}
	/* Only now: a dependency is compared with what its role was to get before others held it. */
	for (size_t r = 0; r < input->role_count; r++)
		if (plan->roles[r].depends_on != SEGMENT_NO_ROLE)
			plan->roles[r].target = segment_hold(&input->roles[r]);
}

static void summarise(const struct merge_input *input, struct merge_plan *plan)
{
	plan->worst = MERGE_NO_RULE;
	plan->is_minimum_met = true;
	for (size_t k = 0; k < input->rule_count; k++) {
		const struct segment_state *state = &plan->states[k];
		if (state->total == 0)
			continue;
		if (state->ready == 0)
			plan->is_minimum_met = false;
		const struct segment_state *worst = plan->worst == MERGE_NO_RULE ? NULL : &plan->states[plan->worst];
		if (!worst || state->ready * worst->total < worst->ready * state->total ||
		    (state->ready * worst->total == worst->ready * state->total && state->total > worst->total))
			plan->worst = k;
	}
}

struct merge_plan *merge_targets(const struct merge_input *input, struct arena *arena)
{
	struct merge_plan *plan = arena_new(arena, struct merge_plan);
	plan->roles = arena_array(arena, struct merge_role, input->role_count);
	plan->states = arena_array(arena, struct segment_state, input->rule_count);
	size_t *blocked_by = arena_array(arena, size_t, input->role_count);
	for (size_t r = 0; r < input->role_count; r++) {
		plan->roles[r].target = count_clamp(input->roles[r].desired);
		plan->roles[r].held_by = blocked_by[r] = MERGE_NO_RULE;
		plan->roles[r].depends_on = SEGMENT_NO_ROLE;
	}
	for (size_t k = 0; k < input->rule_count; k++)
		segment_judge(input->roles, input->role_count, &input->rules[k], &plan->states[k]);
	mark_blocked(input, plan->states, blocked_by);
	take_minimum(input, plan, blocked_by);
	hold_dependents(input, plan, arena);
	summarise(input, plan);
	return plan;
}

const char *merge_reason(const struct merge_input *input, const struct merge_plan *plan, size_t role,
                         struct arena *arena)
{
	const struct merge_role *merged = &plan->roles[role];
	if (merged->target >= count_clamp(input->roles[role].desired))
		return NULL;
	if (merged->depends_on != SEGMENT_NO_ROLE) {
		const struct segment_role *needs = &input->roles[merged->depends_on];
		return arena_printf(arena, "waits for role %s, which it depends on: %lld ready", needs->name,
		                    (long long)segment_ready_prefix(needs));
	}
	if (merged->held_by == MERGE_NO_RULE)
		return NULL;
	const struct segment_state *state = &plan->states[merged->held_by];
	return arena_printf(arena, "waits for segment %lld of role %s (coordination %s)", (long long)state->waits_in,
	                    input->roles[state->waits_for].name, input->rules[merged->held_by].name);
}
