/* Owns the least that a group can cost its queue: what the cheapest pods that complete its minimum count for. Every placement of
 * it costs at least as much, so a queue that does not allow this much is what holds it back, room or not. */
#include "base/clamp.h"
#include "engine/cycle/internal.h"

#include <stdlib.h>
#include <string.h>

#define UNREACHABLE INT64_MAX

static int compare_amounts(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

/* The sum of the `need` smallest. */
static int64_t sum_smallest(int64_t *amounts, size_t count, int64_t need)
{
	int64_t sum = 0;
	if (need <= 0)
		return 0;
	if ((int64_t)count < need)
		return UNREACHABLE;
	qsort(amounts, count, sizeof(*amounts), compare_amounts);
	for (int64_t i = 0; i < need; i++)
		sum = clamp_add(sum, amounts[i]);
	return sum;
}

/* For every part of the gang what its minimum can be made of: the waiting pods of a leaf, the children of a parent. */
struct parts {
	size_t *first; /* by tree node: its first item; one more than there are nodes */
	size_t *count; /* items so far */
	int64_t *need; /* items that are missing to the minimum */
	int64_t *items;
};

static void parts_init(struct parts *parts, const struct gang *gang, struct arena *arena)
{
	size_t nodes = gang->tree_count;
	parts->first = arena_array(arena, size_t, nodes + 1);
	parts->count = arena_array(arena, size_t, nodes);
	parts->need = arena_array(arena, int64_t, nodes);
	for (size_t p = 0; p < gang->pod_count; p++)
		parts->first[gang->pods[p].leaf + 1] += gang->pods[p].state == MEMBER_WAITING;
	for (size_t n = 0; n < nodes; n++) {
		parts->need[n] = gang->tree[n].minimum;
		parts->first[n + 1] += parts->first[n] + (size_t)gang->tree[n].child_count;
	}
	for (size_t p = 0; p < gang->pod_count; p++)
		parts->need[gang->pods[p].leaf] -= cycle_is_member(&gang->pods[p]);
	parts->items = arena_array(arena, int64_t, parts->first[nodes]);
}

static void parts_add(struct parts *parts, int node, int64_t amount)
{
	if (amount != UNREACHABLE)
		parts->items[parts->first[node] + parts->count[node]++] = amount;
}

/* Of one resource: what is missing to the minimum of the root at least. */
static int64_t cheapest_of(const struct cycle_run *run, const struct gang *gang, int resource, struct arena *arena)
{
	struct parts parts;
	int64_t cost = 0;
	parts_init(&parts, gang, arena);
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING)
			parts_add(&parts, gang->pods[p].leaf, run->amounts[gang->pods[p].pod_class][resource]);
	for (size_t n = gang->tree_count; n-- > 0;) {
		cost = sum_smallest(parts.items + parts.first[n], parts.count[n], parts.need[n]);
		if (n > 0)
			parts_add(&parts, gang->tree[n].parent, cost);
	}
	return cost;
}

static bool is_bounded(const struct cycle_run *run, int queue, bool is_protected)
{
	for (; queue >= 0; queue = run->shares[queue].parent)
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			if (run->shares[queue].limit[r] >= 0 || (is_protected && run->shares[queue].quota[r] >= 0))
				return true;
	return false;
}

/* What one waiting pod costs at least. */
static int64_t cheapest_pod(const struct cycle_run *run, const struct gang *gang, int resource)
{
	int64_t least = UNREACHABLE;
	for (size_t p = 0; p < gang->pod_count; p++) {
		int64_t amount = run->amounts[gang->pods[p].pod_class][resource];
		if (gang->pods[p].state == MEMBER_WAITING && amount < least)
			least = amount;
	}
	return least;
}

static void find_least(struct cycle_run *run, const struct cycle_group *group, bool grow, struct cycle_cost *cost)
{
	*cost = (struct cycle_cost){0};
	arena_reset(run->scratch);
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t least =
			grow ? cheapest_pod(run, &group->gang, r) : cheapest_of(run, &group->gang, r, run->scratch);
		cost->amounts[r] = least == UNREACHABLE ? 0 : least;
	}
	if (!grow && group->preempt == CYCLE_NON_PREEMPTIBLE)
		memcpy(cost->core, cost->amounts, sizeof(cost->core));
}

void cycle_find_least(struct cycle_run *run, const struct cycle_group *group, struct cycle_cost *cost)
{
	find_least(run, group, false, cost);
}

bool cycle_queue_forbids(struct cycle_run *run, struct cycle_group *group, struct cycle_cost *least)
{
	if (!is_bounded(run, group->queue, group->preempt == CYCLE_NON_PREEMPTIBLE))
		return false;
	find_least(run, group, false, least);
	return !cycle_queue_allows(run, group, least);
}

bool cycle_queue_has_room_for_least(struct cycle_run *run, const struct cycle_group *group, bool grow)
{
	struct cycle_cost cost;
	if (!is_bounded(run, group->queue, group->preempt == CYCLE_NON_PREEMPTIBLE))
		return true;
	find_least(run, group, grow, &cost);
	return cycle_queue_has_room(run, group->queue, &cost);
}
