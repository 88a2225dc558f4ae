/* Owns the arithmetic of one coordination. The number of created segments is computed in closed form; the tests compare
 * it with the definition. */
#include "plan/segments.h"

#include "base/arena.h"
#include "plan/count.h"

#include <stdlib.h>
#include <string.h>

static const char *const progression_names[] = {"OrderedReady", "Ordered", "Parallel"};

const char *segment_progression_name(enum segment_progression progression)
{
	return progression_names[progression];
}

bool segment_progression_parse(const char *name, enum segment_progression *out)
{
	if (!name || !name[0]) {
		*out = SEGMENT_ORDERED_READY;
		return true;
	}
	for (int i = 0; i <= SEGMENT_PARALLEL; i++)
		if (strcmp(name, progression_names[i]) == 0) {
			*out = (enum segment_progression)i;
			return true;
		}
	return false;
}

int64_t segment_end(int64_t number, int64_t size, int64_t desired)
{
	return count_least(count_clamp(number) * count_clamp(size), count_clamp(desired));
}

int64_t segment_count(int64_t size, int64_t desired)
{
	return size < 1 ? 0 : count_divide_up(count_clamp(desired), count_clamp(size));
}

int64_t segment_of(int64_t ordinal, int64_t size)
{
	return size < 1 ? 0 : count_clamp(ordinal) / count_clamp(size);
}

int64_t segment_ready_prefix(const struct segment_role *role)
{
	int64_t current = count_clamp(role->current);
	if (!role->is_ready)
		return count_least(count_clamp(role->ready), current);
	int64_t prefix = 0;
	while (prefix < current && role->is_ready[prefix])
		prefix++;
	return prefix;
}

int64_t segment_hold(const struct segment_role *role)
{
	return count_least(count_clamp(count_most(role->current, role->asked)), count_clamp(role->desired));
}

/* The role an entry speaks of, or NULL when the entry has no say. */
static const struct segment_role *entry_role(const struct segment_role *roles, size_t role_count,
                                             const struct segment_size *entry)
{
	if (entry->role >= role_count || entry->size < 1 || roles[entry->role].desired < 1)
		return NULL;
	return &roles[entry->role];
}

/* Leading segments of a role that `reached` replicas fill; a role that has all it wants fills every one. */
static int64_t filled(const struct segment_role *role, int64_t size, int64_t reached, int64_t total)
{
	return reached >= count_clamp(role->desired) ? total : count_least(reached / count_clamp(size), total);
}

/* Ready segments anywhere among the created ones. What is known by count is ready up to some segment and not beyond; in
 * what is known by ordinal any segment can be broken, and those are marked one by one. */
static int64_t count_ready(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                           int64_t created)
{
	int64_t ready = created, marked = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		int64_t size = rule->sizes[i].size;
		if (role && role->is_ready)
			marked = count_most(marked, segment_count(size, role->desired));
		else if (role)
			ready = count_least(ready, filled(role, size, segment_ready_prefix(role), created));
	}
	marked = count_least(marked, ready);
	bool *is_broken = base_calloc((size_t)marked + 1, sizeof(*is_broken));
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		int64_t size = rule->sizes[i].size;
		int64_t end = role && role->is_ready ? segment_end(marked, size, role->desired) : 0;
		for (int64_t ordinal = 0; ordinal < end; ordinal++)
			if (!role->is_ready[ordinal])
				is_broken[segment_of(ordinal, size)] = true;
	}
	int64_t broken = 0;
	for (int64_t i = 0; i < marked; i++)
		broken += is_broken[i];
	free(is_broken);
	return ready - broken;
}

void segment_judge(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                   struct segment_state *state)
{
	*state = (struct segment_state){.is_open = true, .waits_for = SEGMENT_NO_ROLE};
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		if (role)
			state->total = count_most(state->total, segment_count(rule->sizes[i].size, role->desired));
	}
	state->created = state->total;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		if (role)
			state->created = count_least(state->created, filled(role, rule->sizes[i].size,
			                                                    count_clamp(role->current), state->total));
	}
	for (size_t i = 0; i < rule->count && state->waits_for == SEGMENT_NO_ROLE; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		int64_t size = rule->sizes[i].size, prefix = role ? segment_ready_prefix(role) : 0;
		if (role && prefix < segment_end(state->created, size, role->desired)) {
			state->waits_for = rule->sizes[i].role;
			state->waits_in = segment_of(prefix, size) + 1;
		}
	}
	state->is_finished = state->created == state->total;
	state->is_open = rule->progression != SEGMENT_ORDERED_READY || state->waits_for == SEGMENT_NO_ROLE;
	if (rule->progression == SEGMENT_PARALLEL)
		state->next = state->total;
	else
		state->next = state->is_open ? count_least(state->created + 1, state->total) : state->created;
	state->ready = count_ready(roles, role_count, rule, state->created);
}

int64_t segment_target(const struct segment_role *role, int64_t size, const struct segment_state *state)
{
	return count_most(segment_end(state->next, size, role->desired), segment_hold(role));
}
