/* Owns rolling deploy beyond segment targets: gates, affinity, texts of topologies. */
#include "rollout/deploy.h"

#include "base/strings.h"
#include "rollout/count.h"

#include <stdlib.h>
#include <string.h>

#define SOFT_WEIGHT 100

bool deploy_mode_parse(const char *name, enum deploy_mode *out)
{
	if (!name || !name[0] || strcmp(name, "hard") == 0)
		*out = DEPLOY_HARD;
	else if (strcmp(name, "soft") == 0)
		*out = DEPLOY_SOFT;
	else
		return false;
	return true;
}

int64_t deploy_released(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule)
{
	struct segment_state state;
	/* All pods may exist from the start, gated, so what has been created says nothing: only the leading ones that
	 * arrived count. */
	int64_t released = 0;
	bool is_first = true;
	segment_judge(roles, role_count, rule, &state);
	if (rule->progression == SEGMENT_PARALLEL)
		return state.total;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_size *entry = &rule->sizes[i];
		if (entry->role >= role_count || entry->size < 1 || roles[entry->role].desired < 1)
			continue;
		int64_t prefix = segment_ready_prefix(&roles[entry->role]);
		int64_t arrived = prefix >= count_clamp(roles[entry->role].desired) ? state.total
		                                                                    : segment_of(prefix, entry->size);
		released = is_first ? arrived : count_least(released, arrived);
		is_first = false;
	}
	return count_least(released + 1, state.total);
}

struct pod_term *deploy_affinity(const char *group, const char *subgroup, const char *topology_key,
                                 enum deploy_mode mode, enum naming_family family, struct arena *arena)
{
	const char *keys[] = {naming_key(family, NAMING_SUBGROUP), naming_key(family, NAMING_GROUP)};
	const char *values[] = {subgroup, naming_value(group, arena)};
	struct pod_term *term = arena_new(arena, struct pod_term);
	term->selector.items = arena_array(arena, struct match, 2);
	term->selector.count = 2;
	for (size_t i = 0; i < 2; i++) {
		const char **value = arena_array(arena, const char *, 1);
		value[0] = arena_strdup(arena, values[i]);
		term->selector.items[i] =
			(struct match){.key = keys[i], .op = MATCH_IN, .values = value, .value_count = 1};
	}
	term->topology_key = arena_strdup(arena, topology_key);
	term->weight = mode == DEPLOY_SOFT ? SOFT_WEIGHT : 0;
	return term;
}

struct ranked_layer {
	const struct deploy_layer *layer;
	size_t index;
	bool by_scope;
};

static int compare_layers(const void *left, const void *right)
{
	const struct ranked_layer *a = left, *b = right;
	if (a->by_scope && a->layer->scope != b->layer->scope)
		return a->layer->scope < b->layer->scope ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

const char *deploy_level_text(const struct deploy_layer *layers, size_t count, struct arena *arena)
{
	struct ranked_layer *order = arena_array(arena, struct ranked_layer, count);
	bool by_scope = true;
	for (size_t i = 0; i < count; i++)
		by_scope = by_scope && layers[i].has_scope;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked_layer){&layers[i], i, by_scope};
	qsort(order, count, sizeof(*order), compare_layers);
	struct buffer buffer = {0};
	for (size_t i = 0; i < count; i++)
		buffer_printf(&buffer, "%s%s", i > 0 ? " < " : "", order[i].layer->name);
	const char *text = arena_strdup(arena, buffer.text ? buffer.text : "");
	buffer_free(&buffer);
	return text;
}
