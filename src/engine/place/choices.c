/* Owns the way from a placement, which speaks of leaves and shapes, to choices of nodes for pods. */
#include "engine/place/decision.h"

int *choices_list_pods(const struct gang *gang, struct arena *arena, int *first)
{
	int *list = arena_array(arena, int, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		first[gang->pods[p].leaf + 1]++;
	for (size_t i = 0; i < gang->tree_count; i++)
		first[i + 1] += first[i];
	int *fill = arena_array(arena, int, gang->tree_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		list[first[gang->pods[p].leaf] + fill[gang->pods[p].leaf]++] = (int)p;
	return list;
}

/* Whether the pod is one that was placed there: its shape, and what it prefers. */
static bool is_like(const struct decision *decision, int pod, const struct assigned *assigned)
{
	return decision->solver.pod_shape[pod] == assigned->shape &&
	       (assigned->kind < 0 || liking_find_kind(decision->liking, pod) == assigned->kind);
}

void choices_make(struct decision *decision, const bool *keep, struct arena *arena, struct placement *out)
{
	const struct solver *solver = &decision->solver;
	const struct gang *gang = solver->gang;
	int *first = arena_array(arena, int, gang->tree_count + 1);
	int *list = choices_list_pods(gang, arena, first);
	int *cursor = arena_array(arena, int, gang->tree_count);
	int *node_of = arena_array(arena, int, gang->pod_count);
	bool *placed = arena_array(arena, bool, decision->best_count);
	int only = decision->demand.mode == DEMAND_UNIT ? decision->demand.unit_pod : -1;
	bool nominated = false;
	for (size_t p = 0; p < gang->pod_count; p++) {
		bool usable = solver->pod_shape[p] >= 0 && gang->pods[p].state != MEMBER_COMING;
		node_of[p] = usable && (only < 0 || only == (int)p) ? -1 : -2;
		nominated |= node_of[p] == -1 && gang->pods[p].nominated >= 0;
	}
	for (int pass = nominated ? 0 : 1; pass < 2; pass++) {
		for (size_t i = 0; i < decision->best_count; i++) {
			int leaf = decision->best_tree[i], node = decision->best[i].node;
			if (placed[i] || (keep && !keep[i]))
				continue;
			/* The first pass serves nominations and leaves the cursors alone. */
			int at = first[leaf] + (pass ? cursor[leaf] : 0);
			for (; at < first[leaf + 1]; at++) {
				int p = list[at];
				if (node_of[p] == -1 && is_like(decision, p, &decision->best[i]) &&
				    (pass || gang->pods[p].nominated == node))
					break;
			}
			if (at == first[leaf + 1])
				continue;
			node_of[list[at]] = node;
			placed[i] = true;
			while (first[leaf] + cursor[leaf] < first[leaf + 1] &&
			       node_of[list[first[leaf] + cursor[leaf]]] != -1)
				cursor[leaf]++;
		}
	}
	out->choices = arena_array(arena, struct place_choice, decision->best_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		if (node_of[p] >= 0)
			out->choices[out->choice_count++] = (struct place_choice){.pod = (int)p, .node = node_of[p]};
}

/* Per leaf and local shape the waiting pods, which meet the first of the assigned nodes. */
static int *count_waiting(const struct solver *solver, struct arena *arena)
{
	const struct gang *gang = solver->gang;
	int *left = arena_array(arena, int, gang->tree_count *(size_t)solver->shape_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING)
			left[gang->pods[p].leaf * solver->shape_count + solver->pod_shape[p]]++;
	return left;
}

void choices_make_coming(struct decision *decision, struct arena *arena, struct placement *out)
{
	const struct solver *solver = &decision->solver;
	int *left = count_waiting(solver, arena);
	out->coming = arena_array(arena, struct place_coming, decision->best_count);
	for (size_t i = 0; i < decision->best_count; i++) {
		int leaf = decision->best_tree[i], shape = decision->best[i].shape;
		if (left[leaf * solver->shape_count + shape]-- > 0)
			continue;
		out->coming[out->coming_count++] = (struct place_coming){.leaf = leaf,
		                                                         .pod_class = solver->shapes[shape].pod_class,
		                                                         .node = decision->best[i].node};
	}
}

bool *choices_minimum(struct decision *decision, struct arena *arena)
{
	const struct gang *gang = decision->solver.gang;
	const struct solver *solver = &decision->solver;
	size_t trees = gang->tree_count;
	int *left = count_waiting(solver, arena);
	int *members = arena_array(arena, int, trees);
	bool *satisfied = arena_array(arena, bool, trees);
	bool *reachable = arena_array(arena, bool, trees);
	bool *wanted = arena_array(arena, bool, trees);
	int *need = arena_array(arena, int, trees);
	gang_satisfied(gang, members, satisfied);
	gang_reachable(gang, need, reachable);
	int *kids_left = arena_array(arena, int, trees);
	for (size_t i = 0; i < trees; i++) {
		int parent = gang->tree[i].parent;
		wanted[i] = !satisfied[i] && reachable[i] && (parent < 0 || (wanted[parent] && kids_left[parent] > 0));
		if (wanted[i] && parent >= 0)
			kids_left[parent]--;
		need[i] = kids_left[i] = gang->tree[i].minimum - members[i];
	}
	bool *keep = arena_array(arena, bool, decision->best_count);
	for (size_t i = 0; i < decision->best_count; i++) {
		int tree = decision->best_tree[i];
		int *waiting = &left[tree * solver->shape_count + decision->best[i].shape];
		keep[i] = wanted[tree] && need[tree] > 0 && *waiting > 0;
		need[tree] -= keep[i];
		*waiting -= keep[i];
	}
	return keep;
}
