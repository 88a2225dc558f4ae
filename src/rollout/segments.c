/* Owns the arithmetic of one coordination. The number of created segments is computed in closed form; the tests compare
 * it with the definition. */
#include "rollout/segments.h"

#include "base/arena.h"
#include "rollout/count.h"

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

/* Segments first..last that a role keeps from being ready, because ordinals at its end are missing or not ready. */
struct span {
	int64_t first, last;
};

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	return (a->first > b->first) - (a->first < b->first);
}

/* Where the replicas that may be ready end: by count the ready ones, by ordinal those that exist. */
static int64_t find_end(const struct segment_role *role)
{
	int64_t end = role->is_ready ? count_clamp(role->current) : segment_ready_prefix(role);
	return count_least(end, count_clamp(role->desired));
}

/* Marks by segment, counted from 0, of single ordinals that are not ready. Returns how far the marks go. */
static int64_t mark_broken(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                           bool **is_broken)
{
	int64_t marked = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		if (role && role->is_ready)
			marked = count_most(marked, segment_count(rule->sizes[i].size, find_end(role)));
	}
	*is_broken = base_calloc((size_t)marked + 1, sizeof(**is_broken));
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		int64_t end = role && role->is_ready ? find_end(role) : 0;
		for (int64_t ordinal = 0; ordinal < end; ordinal++)
			if (!role->is_ready[ordinal])
				(*is_broken)[segment_of(ordinal, rule->sizes[i].size)] = true;
	}
	return marked;
}

/* Ready segments, wherever they are: all but those that a span covers or that have a broken ordinal. */
static int64_t count_ready(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                           int64_t total)
{
	struct span *spans = base_calloc(rule->count + 1, sizeof(*spans));
	size_t span_count = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = entry_role(roles, role_count, &rule->sizes[i]);
		if (role && find_end(role) < count_clamp(role->desired))
			spans[span_count++] = (struct span){segment_of(find_end(role), rule->sizes[i].size),
			                                    segment_count(rule->sizes[i].size, role->desired) - 1};
	}
	qsort(spans, span_count, sizeof(*spans), compare_spans);
	bool *is_broken;
	int64_t marked = mark_broken(roles, role_count, rule, &is_broken), ready = total, covered = 0;
	for (size_t i = 0; i < span_count; i++) {
		/* Up to `covered` everything is counted already. */
		int64_t first = count_most(spans[i].first, covered);
		for (int64_t segment = first; segment <= spans[i].last && segment < marked; segment++)
			is_broken[segment] = false;
		ready -= count_most(spans[i].last + 1 - first, 0);
		covered = count_most(covered, spans[i].last + 1);
	}
	for (int64_t segment = 0; segment < marked; segment++)
		ready -= is_broken[segment];
	free(is_broken);
	free(spans);
	return ready;
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
	state->ready = count_ready(roles, role_count, rule, state->total);
}

int64_t segment_target(const struct segment_role *role, int64_t size, const struct segment_state *state)
{
	return count_most(segment_end(state->next, size, role->desired), segment_hold(role));
}
