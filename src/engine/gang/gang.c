/* Owns counting in gang trees. Trees come as arrays with parents before children, so one backward pass does it all. */
#include "engine/gang/gang.h"

#include "base/arena.h"

#include <stdlib.h>

/* Sets of states: who counts. */
enum counted {
	COUNT_PLACED = 1 << MEMBER_RUNNING | 1 << MEMBER_RESERVED,
	COUNT_WAITING = COUNT_PLACED | 1 << MEMBER_WAITING,
	COUNT_BLOCKED = COUNT_WAITING | 1 << MEMBER_BLOCKED,
	COUNT_COMING = COUNT_WAITING | 1 << MEMBER_COMING,
};

static int counts(enum member_state state, enum counted counted)
{
	return (int)counted >> state & 1;
}

const char *gang_title(const struct gang *gang, struct arena *arena)
{
	return gang->title ? gang->title : arena_printf(arena, "%s/%.253s", gang->namespace_, gang->name);
}

static void count_tree(const struct gang *gang, enum counted counted, int *members, bool *satisfied)
{
	for (size_t i = 0; i < gang->tree_count; i++)
		members[i] = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		members[gang->pods[p].leaf] += counts(gang->pods[p].state, counted);
	for (size_t i = gang->tree_count; i-- > 0;) {
		satisfied[i] = members[i] >= gang->tree[i].minimum;
		if (satisfied[i] && i > 0)
			members[gang->tree[i].parent]++;
	}
}

static void count_with_scratch(const struct gang *gang, enum counted counted, int *members, bool *satisfied)
{
	int *own_members = members ? NULL : base_calloc(gang->tree_count, sizeof(int));
	bool *own_satisfied = satisfied ? NULL : base_calloc(gang->tree_count, sizeof(bool));
	count_tree(gang, counted, members ? members : own_members, satisfied ? satisfied : own_satisfied);
	free(own_members);
	free(own_satisfied);
}

void gang_satisfied(const struct gang *gang, int *members, bool *satisfied)
{
	count_with_scratch(gang, COUNT_PLACED, members, satisfied);
}

void gang_reachable(const struct gang *gang, int *members, bool *reachable)
{
	count_with_scratch(gang, COUNT_WAITING, members, reachable);
}

void gang_reachable_later(const struct gang *gang, int *members, bool *reachable)
{
	count_with_scratch(gang, COUNT_COMING, members, reachable);
}

static bool root_counts(const struct gang *gang, enum counted counted)
{
	if (gang->tree_count == 1) { /* the common flat group needs no tree */
		int members = 0;
		for (size_t p = 0; p < gang->pod_count; p++)
			members += counts(gang->pods[p].state, counted);
		return members >= gang->tree[0].minimum;
	}
	bool *satisfied = base_calloc(gang->tree_count, sizeof(bool));
	count_with_scratch(gang, counted, NULL, satisfied);
	bool result = satisfied[0];
	free(satisfied);
	return result;
}

bool gang_root_satisfied(const struct gang *gang)
{
	return root_counts(gang, COUNT_PLACED);
}

bool gang_root_reachable(const struct gang *gang)
{
	return root_counts(gang, COUNT_WAITING);
}

bool gang_root_blocked(const struct gang *gang)
{
	return !root_counts(gang, COUNT_WAITING) && root_counts(gang, COUNT_BLOCKED);
}

bool gang_has_blocked(const struct gang *gang)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_BLOCKED)
			return true;
	return false;
}

static int compare_counts(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

void gang_minimums(const struct gang *gang, int64_t *fewest)
{
	size_t count = gang->tree_count;
	int64_t *children = base_calloc(count, sizeof(int64_t));
	size_t *first = base_calloc(count + 1, sizeof(size_t)); /* children of i are children[first[i]..] */
	size_t *filled = base_calloc(count, sizeof(size_t));
	for (size_t i = 0, at = 0; i < count; i++) {
		first[i] = at;
		at += (size_t)gang->tree[i].child_count;
	}
	for (size_t i = count; i-- > 0;) {
		const struct gang_node *tree = &gang->tree[i];
		fewest[i] = tree->child_count == 0 ? tree->minimum : 0;
		if (tree->child_count) {
			qsort(children + first[i], filled[i], sizeof(int64_t), compare_counts);
			for (size_t c = 0; c < filled[i] && c < (size_t)tree->minimum; c++)
				fewest[i] += children[first[i] + c];
		}
		if (i > 0)
			children[first[tree->parent] + filled[tree->parent]++] = fewest[i];
	}
	free(children);
	free(first);
	free(filled);
}

int64_t gang_minimum_pods(const struct gang *gang, int node)
{
	if (gang->tree[node].child_count == 0)
		return gang->tree[node].minimum;
	int64_t *fewest = base_calloc(gang->tree_count, sizeof(int64_t));
	gang_minimums(gang, fewest);
	int64_t result = fewest[node];
	free(fewest);
	return result;
}
