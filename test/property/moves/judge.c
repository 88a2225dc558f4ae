/* Tries every set of pods and every new place for them. Shares nothing with the engine. */
#include "instance.h"

#include <string.h>

struct pod {
	int group, member;
};

struct trial {
	const struct moves_instance *instance;
	int free[MOVES_NODES];
	int at[MOVES_GROUPS][MOVES_MEMBERS]; /* -1: off its node */
	struct pod moved[MOVES_ASKED];
	int count;
};

bool moves_together(const struct moves_instance *instance, int level, int a, int b)
{
	return level < 0 || instance->domain[a][level] == instance->domain[b][level];
}

/* Children that fit into the domain of a node on the level of children. */
static int count_children(const struct trial *trial, int node)
{
	int slots = 0;
	for (int n = 0; n < trial->instance->nodes; n++)
		if (moves_together(trial->instance, trial->instance->child_level, node, n))
			slots += trial->free[n] / trial->instance->size;
	return slots / trial->instance->pods;
}

static bool fits(const struct trial *trial)
{
	const struct moves_instance *instance = trial->instance;
	for (int root = 0; root < instance->nodes; root++) {
		int children = 0;
		for (int n = 0; n < instance->nodes; n++) {
			bool first = moves_together(instance, instance->root_level, root, n);
			for (int before = 0; before < n && first; before++) /* each domain once */
				first = !moves_together(instance, instance->child_level, before, n);
			children += first ? count_children(trial, n) : 0;
		}
		if (children >= instance->children)
			return true;
	}
	return false;
}

static bool may_stand(const struct trial *trial, const struct pod *pod, int node)
{
	const struct moves_group *group = &trial->instance->groups[pod->group];
	if (trial->free[node] < group->size)
		return false;
	for (int m = 0; m < group->count; m++) {
		int other = trial->at[pod->group][m];
		if (other >= 0 && !moves_together(trial->instance, group->level, node, other))
			return false;
	}
	return true;
}

/* New places for the pods from `from` on, with room for the group in the end. */
static bool find_places(struct trial *trial, int from)
{
	if (!fits(trial))
		return false;
	if (from == trial->count)
		return true;
	const struct pod *pod = &trial->moved[from];
	int size = trial->instance->groups[pod->group].size;
	for (int n = 0; n < trial->instance->nodes; n++) {
		if (!may_stand(trial, pod, n))
			continue;
		trial->free[n] -= size;
		trial->at[pod->group][pod->member] = n;
		bool found = find_places(trial, from + 1);
		trial->free[n] += size;
		trial->at[pod->group][pod->member] = -1;
		if (found)
			return true;
	}
	return false;
}

/* Sets of `size` pods, of those from group `g` and member `m` on. */
static bool try_sets(struct trial *trial, int size, int g, int m)
{
	const struct moves_instance *instance = trial->instance;
	if (trial->count == size)
		return find_places(trial, 0);
	for (; g < instance->group_count; g++, m = 0)
		for (; !instance->groups[g].stays && m < instance->groups[g].count; m++) {
			int node = instance->groups[g].node[m];
			trial->moved[trial->count++] = (struct pod){g, m};
			trial->free[node] += instance->groups[g].size;
			trial->at[g][m] = -1;
			bool found = try_sets(trial, size, g, m + 1);
			trial->at[g][m] = node;
			trial->free[node] -= instance->groups[g].size;
			trial->count--;
			if (found)
				return true;
		}
	return false;
}

static void begin(const struct moves_instance *instance, struct trial *trial)
{
	*trial = (struct trial){.instance = instance};
	memcpy(trial->free, instance->capacity, sizeof(trial->free));
	for (int g = 0; g < instance->group_count; g++)
		for (int m = 0; m < instance->groups[g].count; m++) {
			trial->at[g][m] = instance->groups[g].node[m];
			trial->free[instance->groups[g].node[m]] -= instance->groups[g].size;
		}
}

bool moves_fit(const struct moves_instance *instance)
{
	struct trial trial;
	begin(instance, &trial);
	return fits(&trial);
}

int moves_judge(const struct moves_instance *instance)
{
	struct trial trial;
	begin(instance, &trial);
	for (int size = 0; size <= MOVES_ASKED; size++)
		if (try_sets(&trial, size, 0, 0))
			return size;
	return -1;
}
