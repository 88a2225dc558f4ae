/* Slots: how many more pods of a shape each node, and each domain, can take. Cached per shape and view. */
#include "engine/internal.h"

#include <string.h>

#define SLOTS_CAP 1000000 /* a shape without requests fits "often enough" */

/* Slots by the first request, then multiplication instead of division for the others: the common node passes all. */
static int64_t count_slots(const struct shape *shape, const int64_t *available)
{
	int64_t slots = SLOTS_CAP;
	for (int i = 0; i < shape->request_count; i++) {
		int64_t free = available[i], amount = shape->amount[i];
		if (free < amount)
			return 0;
		if (amount <= INT64_MAX / SLOTS_CAP && slots * amount <= free)
			continue;
		slots = free / amount < slots ? free / amount : slots;
	}
	return shape->one_per_node && slots > 1 ? 1 : slots;
}

int32_t slots_of_node(const struct cluster *cluster, const struct shape *shape, int node, int view)
{
	if (!shape_allows_node(cluster, shape, node))
		return 0;
	int64_t slots = SLOTS_CAP;
	for (int i = 0; i < shape->request_count; i++) {
		int64_t free = resource_view(cluster, shape->resource[i], node, view), amount = shape->amount[i];
		if (free < amount)
			return 0;
		if (amount <= INT64_MAX / SLOTS_CAP && slots * amount <= free)
			continue;
		slots = free / amount < slots ? free / amount : slots;
	}
	return (int32_t)(shape->one_per_node && slots > 1 ? 1 : slots);
}

static struct slots *slots_alloc(const struct cluster *cluster)
{
	struct slots *slots = base_calloc(1, sizeof(*slots));
	slots->node = base_calloc((size_t)cluster->node_count, sizeof(int32_t));
	for (int t = 0; t < cluster->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[t];
		slots->sums[t] = base_calloc((size_t)topology->level_count, sizeof(int64_t *));
		for (int l = 0; l < topology->level_count; l++)
			slots->sums[t][l] = base_calloc((size_t)topology->domain_count[l], sizeof(int64_t));
	}
	slots->seen = UINT64_MAX;
	return slots;
}

void slots_free(struct cluster *cluster, struct slots *slots)
{
	if (!slots)
		return;
	for (int t = 0; t < cluster->topology_count; t++) {
		for (int l = 0; l < cluster->topologies[t].level_count; l++)
			free(slots->sums[t][l]);
		free(slots->sums[t]);
	}
	free(slots->node);
	free(slots);
}

/* Sums per domain from the node slots: the deepest level reads nodes, the others read the level below. Nodes that lack
 * a deeper label still count in the domains they have. */
static void sum_topology(const struct cluster *cluster, struct slots *slots, int t)
{
	const struct topology *topology = &cluster->topologies[t];
	for (int l = topology->level_count - 1; l >= 0; l--) {
		int64_t *sums = slots->sums[t][l];
		bool from_nodes = l == topology->level_count - 1 || topology->unlabelled_count;
		for (int d = 0; d < topology->domain_count[l]; d++) {
			const struct domain *domain = &topology->domains[l][d];
			int64_t sum = 0;
			if (!from_nodes)
				for (int c = domain->first_child; c < domain->child_end; c++)
					sum += slots->sums[t][l + 1][c];
			else if (t == 0)
				for (int p = domain->first; p < domain->end; p++)
					sum += slots->node[p];
			else
				for (int p = domain->first; p < domain->end; p++)
					sum += slots->node[topology->order[p]];
			sums[d] = sum;
		}
	}
}

static void sum_all(const struct cluster *cluster, struct slots *slots)
{
	slots->total = 0;
	for (int n = 0; n < cluster->node_count; n++)
		slots->total += slots->node[n];
	for (int t = 0; t < cluster->topology_count; t++)
		sum_topology(cluster, slots, t);
}

/* One pass over the columns the shape asks for. A run of equal nodes costs comparisons only. */
static void count_all(const struct cluster *cluster, const struct shape *shape, struct slots *slots, int view)
{
	enum { FEW = 16 };
	int count = shape->request_count;
	if (count > FEW || view != VIEW_FREE) {
		for (int n = 0; n < cluster->node_count; n++)
			slots->node[n] = slots_of_node(cluster, shape, n, view);
		return;
	}
	const int64_t *columns[FEW];
	int64_t last[FEW];
	for (int i = 0; i < count; i++) {
		columns[i] = cluster->resources.items[shape->resource[i]].free;
		last[i] = INT64_MIN;
	}
	int32_t last_slots = (int32_t)count_slots(shape, last);
	for (int n = 0; n < cluster->node_count; n++) {
		bool same = true;
		for (int i = 0; i < count; i++) {
			same &= columns[i][n] == last[i];
			last[i] = columns[i][n];
		}
		if (!same)
			last_slots = (int32_t)count_slots(shape, last);
		slots->node[n] = shape->allowed && !shape->allowed[n] ? 0 : last_slots;
	}
}

static void refresh_node(const struct cluster *cluster, const struct shape *shape, struct slots *slots, int node,
                         int view)
{
	int32_t now = slots_of_node(cluster, shape, node, view);
	int32_t change = now - slots->node[node];
	if (!change)
		return;
	slots->node[node] = now;
	slots->total += change;
	for (int t = 0; t < cluster->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[t];
		for (int l = 0; l < topology->level_count && topology->node_domain[l][node] >= 0; l++)
			slots->sums[t][l][topology->node_domain[l][node]] += change;
	}
}

struct slots *slots_get(struct cluster *cluster, int number, int view)
{
	struct shape *shape = &cluster->shapes.items[number];
	if (!shape->slots[view])
		shape->slots[view] = slots_alloc(cluster);
	struct slots *slots = shape->slots[view];
	uint64_t now = cluster->changed_base + cluster->changed.count;
	if (slots->seen < cluster->changed_base || slots->seen > now ||
	    now - slots->seen > (uint64_t)cluster->node_count / 4) {
		count_all(cluster, shape, slots, view);
		sum_all(cluster, slots);
	} else {
		for (uint64_t at = slots->seen; at < now; at++)
			refresh_node(cluster, shape, slots, cluster->changed.items[at - cluster->changed_base], view);
	}
	slots->seen = now;
	return slots;
}

struct slots *slots_masked(struct cluster *cluster, int number, int view, const uint8_t *mask, struct arena *arena)
{
	const struct slots *from = slots_get(cluster, number, view);
	struct slots *slots = arena_new(arena, struct slots);
	slots->node = arena_array(arena, int32_t, (size_t)cluster->node_count);
	for (int n = 0; n < cluster->node_count; n++)
		slots->node[n] = mask[n] ? from->node[n] : 0;
	for (int t = 0; t < cluster->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[t];
		slots->sums[t] = arena_array(arena, int64_t *, (size_t)topology->level_count);
		for (int l = 0; l < topology->level_count; l++)
			slots->sums[t][l] = arena_array(arena, int64_t, (size_t)topology->domain_count[l]);
	}
	sum_all(cluster, slots);
	return slots;
}
