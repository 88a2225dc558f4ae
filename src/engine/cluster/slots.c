/* Owns slots: how many more pods of a shape each node, and each domain, can take. Cached per shape and view. */
#include "engine/cluster/internal.h"

#include <string.h>

#define SLOTS_CAP 1000000 /* a shape without requests fits "often enough" */

/* Slots left after one more request is looked at: multiplication first, because the common node passes. */
static int64_t fewer(int64_t slots, int64_t free, int64_t amount)
{
	if (free < amount)
		return 0;
	if (amount <= INT64_MAX / SLOTS_CAP && slots * amount <= free)
		return slots;
	return free / amount < slots ? free / amount : slots;
}

static int32_t slots_by_amounts(const struct cluster *cluster, const struct shape *shape, int node, int view)
{
	int64_t slots = shape->one_per_node ? 1 : SLOTS_CAP;
	for (int i = 0; i < shape->request_count && slots; i++)
		slots = fewer(slots, cluster_amount_in_view(cluster, shape->resource[i], node, view), shape->amount[i]);
	return (int32_t)slots;
}

static int32_t slots_of_class(const struct shape *shape, const int64_t *amounts)
{
	int64_t slots = shape->one_per_node ? 1 : SLOTS_CAP;
	for (int i = 0; i < shape->request_count && slots; i++)
		slots = fewer(slots, amounts[shape->resource[i]], shape->amount[i]);
	return (int32_t)slots;
}

int32_t slots_count_on_node(const struct cluster *cluster, const struct shape *shape, int node, int view)
{
	return shape_allows_node(cluster, shape, node) ? slots_by_amounts(cluster, shape, node, view) : 0;
}

bool pod_class_fits_node(const struct cluster *cluster, int pod_class, int node, int view)
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++)
		if (cluster_amount_in_view(cluster, shape->resource[i], node, view) < shape->amount[i])
			return false;
	for (int i = 0; shape->shares && i < shape->request_count; i++) {
		int of = cluster->resources.items[shape->resource[i]].shared_of;
		int64_t need = of < 0 ? 0 : cluster_shared_need(cluster, shape, of, node, view);
		if (need > 0 && cluster_amount_in_view(cluster, of, node, view) < need)
			return false;
	}
	return true;
}

static struct slots *slots_alloc(const struct cluster *cluster)
{
	struct slots *slots = base_calloc(1, sizeof(*slots));
	slots->node = base_malloc((size_t)cluster->node_count * sizeof(int32_t));
	for (int t = 0; t < cluster->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[t];
		slots->sums[t] = base_calloc((size_t)topology->level_count, sizeof(int64_t *));
		for (int l = 0; l < topology->level_count; l++)
			if (!topology->hosts[l])
				slots->sums[t][l] = base_malloc((size_t)topology->domain_count[l] * sizeof(int64_t));
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

static void sum_level_from_nodes(const struct cluster *cluster, struct slots *slots, int t, int level)
{
	const struct topology *topology = &cluster->topologies[t];
	int64_t *sums = slots->sums[t][level];
	for (int d = 0; d < topology->domain_count[level]; d++) {
		const struct domain *domain = &topology->domains[level][d];
		int64_t sum = 0;
		if (t == 0)
			for (int p = domain->first; p < domain->end; p++)
				sum += slots->node[p];
		else
			for (int p = domain->first; p < domain->end; p++)
				sum += slots->node[topology->order[p]];
		sums[d] = sum;
	}
}

/* Sums per domain: the deepest level kept reads nodes, the others read the level below. With unlabelled nodes every
 * level reads nodes, because those count only in the domains they have. */
static void sum_topology(const struct cluster *cluster, struct slots *slots, int t)
{
	const struct topology *topology = &cluster->topologies[t];
	for (int l = topology->level_count - 1; l >= 0; l--) {
		if (!slots->sums[t][l])
			continue;
		if (l == topology->level_count - 1 || topology->unlabelled_count || !slots->sums[t][l + 1]) {
			sum_level_from_nodes(cluster, slots, t, l);
			continue;
		}
		for (int d = 0; d < topology->domain_count[l]; d++) {
			const struct domain *domain = &topology->domains[l][d];
			int64_t sum = 0;
			for (int c = domain->first_child; c < domain->child_end; c++)
				sum += slots->sums[t][l + 1][c];
			slots->sums[t][l][d] = sum;
		}
	}
}

void slots_need_level(const struct cluster *cluster, struct slots *slots, int topology, int level)
{
	if (slots->sums[topology][level])
		return;
	size_t domains = (size_t)cluster->topologies[topology].domain_count[level];
	slots->sums[topology][level] = base_malloc(domains * sizeof(int64_t));
	sum_level_from_nodes(cluster, slots, topology, level);
}

static void sum_all(const struct cluster *cluster, struct slots *slots)
{
	slots->total = slots->open = 0;
	for (int n = 0; n < cluster->node_count; n++) {
		slots->total += slots->node[n];
		slots->open += slots->node[n] > 0;
	}
	for (int t = 0; t < cluster->topology_count; t++)
		sum_topology(cluster, slots, t);
}

void slots_prepare_spare(struct cluster *cluster)
{
	if (cluster->spare_slots)
		return;
	cluster->spare_slots = slots_alloc(cluster);
	memset(cluster->spare_slots->node, 0, (size_t)cluster->node_count * sizeof(int32_t));
	sum_all(cluster, cluster->spare_slots);
}

/* One look-up per node; slots are counted once per class of nodes. */
static void count_all(struct cluster *cluster, const struct shape *shape, struct slots *slots, int view)
{
	int count = cluster->node_count;
	if (view != VIEW_FREE) {
		for (int n = 0; n < count; n++)
			slots->node[n] = slots_count_on_node(cluster, shape, n, view);
		return;
	}
	const struct node_classes *classes = node_classes_get(cluster);
	int32_t *by_class = base_malloc(classes->items.count * sizeof(int32_t));
	for (size_t s = 0; s < classes->items.count; s++)
		by_class[s] = slots_of_class(shape, classes->amounts + s * cluster->resources.count);
	const int32_t *of_node = classes->of_node;
	if (shape->everywhere)
		for (int n = 0; n < count; n++)
			slots->node[n] = by_class[of_node[n]];
	else
		for (int n = 0; n < count; n++)
			slots->node[n] = shape->allowed[n] ? by_class[of_node[n]] : 0;
	free(by_class);
}

static void refresh_node(const struct cluster *cluster, const struct shape *shape, struct slots *slots, int node,
                         int view)
{
	int32_t now = slots_count_on_node(cluster, shape, node, view);
	int32_t change = now - slots->node[node];
	if (!change)
		return;
	slots->open += (now > 0) - (slots->node[node] > 0);
	slots->node[node] = now;
	slots->total += change;
	for (int t = 0; t < cluster->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[t];
		for (int l = 0; l < topology->level_count && topology->node_domain[l][node] >= 0; l++)
			if (slots->sums[t][l])
				slots->sums[t][l][topology->node_domain[l][node]] += change;
	}
}

struct slots *slots_get(struct cluster *cluster, int number, int view)
{
	struct shape *shape = &cluster->shapes.items[number];
	if (!shape->slots[view]) {
		shape->slots[view] = cluster->spare_slots ? cluster->spare_slots : slots_alloc(cluster);
		cluster->spare_slots = NULL;
	}
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

struct slots *slots_copy_masked(struct cluster *cluster, int number, int view, const uint8_t *mask, struct arena *arena)
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
