/* Owns the difference between a gang that starts whole and what of it exists. */
#include "engine/place/whole.h"

#include "base/arena.h"
#include "engine/cluster/internal.h"

#include <string.h>

static bool is_model(const struct cluster *cluster, int pod_class)
{
	const struct pod_class *model = &cluster->pod_classes.items[pod_class];
	return !model->has_required_rules && cluster->shapes.items[model->shape].rules.volume_count == 0;
}

bool whole_make(const struct cluster *cluster, const struct gang *gang, struct arena *arena, struct gang *out)
{
	struct gang whole;
	if (!gang->starts_whole || !gang_add_coming(gang, arena, &whole))
		return false;
	for (size_t p = gang->pod_count; p < whole.pod_count; p++) {
		if (!is_model(cluster, whole.pods[p].pod_class))
			return false;
		whole.pods[p].state = MEMBER_WAITING;
	}
	whole.tree = arena_array(arena, struct gang_node, gang->tree_count);
	memcpy(whole.tree, gang->tree, gang->tree_count * sizeof(*whole.tree));
	for (size_t i = 0; i < whole.tree_count; i++)
		if (whole.tree[i].child_count == 0 && whole.tree[i].minimum < whole.tree[i].expected)
			whole.tree[i].minimum = whole.tree[i].expected;
	whole.starts_whole = false;
	*out = whole;
	return true;
}

void whole_take_apart(const struct gang *gang, const struct gang *whole, struct arena *arena, struct placement *out)
{
	size_t own = 0;
	while (own < out->choice_count && (size_t)out->choices[own].pod < gang->pod_count)
		own++;
	out->coming_count = out->choice_count - own;
	out->coming = arena_array(arena, struct place_coming, out->coming_count);
	for (size_t i = 0; i < out->coming_count; i++) {
		const struct place_choice *choice = &out->choices[own + i];
		const struct gang_pod *pod = &whole->pods[choice->pod];
		out->coming[i] = (struct place_coming){pod->leaf, pod->pod_class, choice->node};
	}
	out->choice_count = own;
}
