/* The judge: every mix of children in every rack is packed by trying all nodes, and sets of reachable numbers are joined
 * rack by rack. */
#include "instance.h"

#include <string.h>

/* Pods of each size and larger must not be more than the slots of that size. */
static bool may_fit(const int *free, int nodes, const int *left)
{
	int larger = 0;
	for (int size = MIX_GPUS; size > 0; size--) {
		int slots = 0;
		larger += left[size];
		for (int n = 0; n < nodes; n++)
			slots += free[n] / size;
		if (larger > slots)
			return false;
	}
	return true;
}

enum { MOST_STEPS = 300000 };
static int steps;

/* Pods from the largest to the smallest onto nodes; those of one size in the order of the nodes. */
static bool pack(int *free, int nodes, int *left, int size, int from)
{
	if (++steps > MOST_STEPS || !may_fit(free, nodes, left))
		return false;
	while (size > 0 && left[size] == 0) {
		size--;
		from = 0;
	}
	if (size == 0)
		return true;
	bool fine = false;
	left[size]--;
	for (int n = from; n < nodes && !fine; n++) {
		if (free[n] < size)
			continue;
		free[n] -= size;
		fine = pack(free, nodes, left, size, n);
		free[n] += size;
	}
	left[size]++;
	return fine;
}

static bool holds(const struct mix_instance *instance, int rack, const int *mix)
{
	int left[MIX_GPUS + 1] = {0}, free[MIX_NODES];
	for (int k = 0; k < instance->kind_count && k < MIX_MOST_KINDS; k++)
		for (int l = 0; l < instance->kinds[k].leaf_count; l++)
			left[instance->kinds[k].leaves[l].gpus] += mix[k] * instance->kinds[k].leaves[l].pods;
	for (int n = 0; n < instance->nodes; n++)
		free[n] = MIX_GPUS - instance->taken[rack][n];
	return pack(free, instance->nodes, left, MIX_GPUS, 0);
}

enum { SIDE = MIX_CHILDREN + 1, CELLS = SIDE * SIDE * SIDE };

static void join(const struct mix_instance *instance, const bool *now, const int *mix, bool *next)
{
	const struct mix_child *kinds = instance->kinds;
	for (int a = 0; a + mix[0] <= kinds[0].copies; a++)
		for (int b = 0; b + mix[1] <= kinds[1].copies; b++)
			for (int c = 0; c + mix[2] <= kinds[2].copies; c++)
				next[((a + mix[0]) * SIDE + b + mix[1]) * SIDE + c + mix[2]] |=
					now[(a * SIDE + b) * SIDE + c];
}

enum mix_verdict mix_judge(const struct mix_instance *instance)
{
	static bool now[CELLS], next[CELLS];
	memset(now, 0, sizeof(now));
	now[0] = true;
	steps = 0;
	for (int rack = 0; rack < instance->racks; rack++) {
		const struct mix_child *kinds = instance->kinds;
		int mix[MIX_MOST_KINDS];
		memset(next, 0, sizeof(next));
		for (mix[0] = 0; mix[0] <= kinds[0].copies; mix[0]++) {
			for (mix[1] = 0; mix[1] <= kinds[1].copies; mix[1]++) {
				for (mix[2] = 0; mix[2] <= kinds[2].copies && holds(instance, rack, mix); mix[2]++)
					join(instance, now, mix, next);
				if (mix[2] == 0)
					break;
			}
			if (mix[1] == 0)
				break;
		}
		memcpy(now, next, sizeof(now));
	}
	for (int a = 0; a < SIDE; a++)
		for (int b = 0; b < SIDE; b++)
			for (int c = 0; c < SIDE; c++)
				if (now[(a * SIDE + b) * SIDE + c] && a + b + c >= instance->need)
					return MIX_FITS;
	return steps > MOST_STEPS ? MIX_UNKNOWN : MIX_DOES_NOT_FIT;
}
