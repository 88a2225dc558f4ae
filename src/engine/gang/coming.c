/* Owns what is known of members that do not exist yet: how many are to come, and what they will look like. */
#include "engine/gang/gang.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* Whether some level confines each node of the tree, at the node or above it. */
static bool *find_confined(const struct gang *gang)
{
	bool *confined = base_calloc(gang->tree_count, sizeof(bool));
	for (size_t i = 0; i < gang->tree_count; i++) {
		const struct gang_node *node = &gang->tree[i];
		confined[i] = node->required.topology >= 0 || node->preferred.topology >= 0 ||
		              (node->parent >= 0 && confined[node->parent]);
	}
	return confined;
}

int64_t gang_coming(const struct gang *gang, int *coming)
{
	bool expected = false;
	for (size_t i = 0; i < gang->tree_count; i++) {
		coming[i] = gang->tree[i].child_count == 0 ? gang->tree[i].expected : 0;
		expected |= coming[i] > 0;
	}
	if (!expected)
		return 0;
	for (size_t p = 0; p < gang->pod_count; p++) {
		enum member_state state = gang->pods[p].state;
		if (coming[gang->pods[p].leaf] > 0 &&
		    (state == MEMBER_WAITING || state == MEMBER_RUNNING || state == MEMBER_RESERVED))
			coming[gang->pods[p].leaf]--;
	}
	bool *confined = find_confined(gang);
	int64_t sum = 0;
	for (size_t i = 0; i < gang->tree_count; i++) {
		coming[i] = confined[i] || gang->starts_whole ? coming[i] : 0;
		sum += coming[i];
	}
	free(confined);
	return sum;
}

/* For each leaf the pod after which those to come are modelled, -1 where the gang says what they are; there is at least one pod. */
static int *find_models(const struct gang *gang, struct arena *arena)
{
	int *model = arena_array(arena, int, gang->tree_count);
	int any = 0;
	for (size_t i = 0; i < gang->tree_count; i++)
		model[i] = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		int *of = &model[pod->leaf];
		if (*of < 0 || pod->state != MEMBER_GONE)
			*of = (int)p;
		any = pod->state != MEMBER_GONE ? (int)p : any;
	}
	int *of_kids = arena_array(arena, int, gang->tree_count);
	memset(of_kids, -1, gang->tree_count * sizeof(int));
	for (size_t i = 1; i < gang->tree_count; i++)
		if (model[i] >= 0)
			of_kids[gang->tree[i].parent] = model[i];
	for (size_t i = 0; i < gang->tree_count; i++) {
		int parent = gang->tree[i].parent;
		if (model[i] < 0 && gang->coming_class == 0)
			model[i] = parent >= 0 && of_kids[parent] >= 0 ? of_kids[parent] : any;
	}
	return model;
}

bool gang_add_coming(const struct gang *gang, struct arena *arena, struct gang *out)
{
	int *coming = base_calloc(gang->tree_count, sizeof(int));
	int64_t more = gang->pod_count ? gang_coming(gang, coming) : 0;
	if (more > 0 && more <= GANG_MOST_COMING) {
		const int *model = find_models(gang, arena);
		*out = *gang;
		out->pods = arena_array(arena, struct gang_pod, gang->pod_count + (size_t)more);
		memcpy(out->pods, gang->pods, gang->pod_count * sizeof(*out->pods));
		for (size_t i = 0; i < gang->tree_count; i++)
			for (int k = 0; k < coming[i]; k++)
				out->pods[out->pod_count++] =
					(struct gang_pod){.name = "",
				                          .pod_class = model[i] < 0 ? gang->coming_class - 1
				                                                    : gang->pods[model[i]].pod_class,
				                          .leaf = (int)i,
				                          .state = MEMBER_COMING,
				                          .node = -1,
				                          .nominated = -1};
	}
	free(coming);
	return more > 0 && more <= GANG_MOST_COMING;
}
