/* A RoleBasedGroup controller that has forgotten the order of segments, for the test of the fault runs: all of them may
 * begin at once, ready or not. The linker puts this in front of the real function. */
#include "rollout/segments.h"

void __real_segment_judge(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                          struct segment_state *state);
void __wrap_segment_judge(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                          struct segment_state *state);

void __wrap_segment_judge(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                          struct segment_state *state)
{
	__real_segment_judge(roles, role_count, rule, state);
	state->next = state->total;
	state->is_open = true;
}
