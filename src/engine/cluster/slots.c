/* Owns slots: how many more pods of a shape each node, and each domain, can take. Cached per shape and view. */
#include "base/clamp.h"
#include "engine/cluster/internal.h"

#include <string.h>

#define SLOTS_CAP 1000000 /* a shape without requests fits "often enough" */
enum { RANGE = 1024 };    /* nodes; their slots together fit into 32 bits */
enum { LEVEL = 64 };      /* nodes that are compared at a time; divides RANGE */

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

/* Loops over a known number of nodes, which compilers turn into few instructions. */
static void sum_range(struct slots *slots, int first)
{
	const int32_t *node = slots->node + first;
	int32_t total = 0, open = 0;
	for (int n = 0; n < RANGE; n++) {
		total += node[n];
		open += node[n] > 0;
	}
	slots->total += total;
	slots->open += open;
}

static void fill_range(int32_t *slots, int32_t value)
{
	for (int n = 0; n < RANGE; n++)
		slots[n] = value;
}

static void sum_all(const struct cluster *cluster, struct slots *slots)
{
	int first = 0;
	slots->total = slots->open = 0;
	for (; first + RANGE <= cluster->node_count; first += RANGE)
		sum_range(slots, first);
	for (; first < cluster->node_count; first++) {
		slots->total += slots->node[first];
		slots->open += slots->node[first] > 0;
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

/* What a column lets each of these nodes have, no more than they had. The quotient comes from the high half of a product:
 * one too low at most, because free amounts are below 2^63. */
static void lower_by_column(int32_t *slots, const int64_t *free, int count, int64_t amount)
{
	uint64_t inverse = UINT64_MAX / (uint64_t)amount;
	for (int n = 0; n < count; n++) {
		int64_t has = free[n];
		if (slots[n] * amount <= has)
			continue;
		if (has < amount) {
			slots[n] = 0;
			continue;
		}
		int64_t fit = (int64_t)(((unsigned __int128)has * inverse) >> 64);
		slots[n] = (int32_t)(fit + (has - fit * amount >= amount));
	}
}

/* What is free and what is being released, together. */
static const int64_t *add_columns(const struct resource_column *column, int first, int count, int64_t *sums)
{
	if (!column->releasing)
		return column->free + first;
	for (int n = 0; n < count; n++)
		sums[n] = clamp_add(column->free[first + n], column->releasing[first + n]);
	return sums;
}

/* Some nodes in a row, while their slots are counted. As long as they look alike, one number stands for all of them. */
struct range {
	int32_t *slots;
	int first, count;
	bool alike;
	int32_t each;
};

/* Whether a whole range has the same of it. Two samples tell most of those that do not. */
static bool is_level(const int64_t *free)
{
	uint64_t difference = (uint64_t)(free[0] ^ free[1]) | (uint64_t)(free[0] ^ free[RANGE - 1]);
	for (int n = 0; !difference && n < RANGE; n += LEVEL)
		for (int i = 0; i < LEVEL; i++)
			difference |= (uint64_t)(free[0] ^ free[n + i]);
	return !difference;
}

static void lower_by_request(const struct cluster *cluster, const struct shape *shape, int request, struct range *range,
                             int view)
{
	int64_t sums[RANGE], amount = shape->amount[request];
	const struct resource_column *column = &cluster->resources.items[shape->resource[request]];
	const int64_t *free = view == VIEW_EMPTY       ? column->allocatable + range->first
	                      : view == VIEW_RELEASING ? add_columns(column, range->first, range->count, sums)
	                                               : column->free + range->first;
	if (range->alike && is_level(free)) {
		range->each = (int32_t)fewer(range->each, free[0], amount);
		return;
	}
	if (range->alike)
		fill_range(range->slots, range->each);
	range->alike = false;
	if (amount > 0 && amount <= INT64_MAX / SLOTS_CAP)
		lower_by_column(range->slots, free, range->count, amount);
	else
		for (int n = 0; n < range->count; n++)
			range->slots[n] = (int32_t)fewer(range->slots[n], free[n], amount);
}

/* The request that all nodes together can serve least often: where it comes first, the others mostly change nothing. */
static int scarcest_request(const struct cluster *cluster, const struct shape *shape)
{
	int scarcest = 0;
	int64_t fewest = INT64_MAX;
	for (int i = 0; i < shape->request_count; i++) {
		int64_t total = cluster->resources.items[shape->resource[i]].total;
		int64_t times = shape->amount[i] > 0 ? total / shape->amount[i] : total;
		if (times < fewest) {
			fewest = times;
			scarcest = i;
		}
	}
	return scarcest;
}

/* Column by column, for so many nodes at a time that their slots stay close by. */
static void count_all(const struct cluster *cluster, const struct shape *shape, struct slots *slots, int view)
{
	int32_t most = shape->one_per_node ? 1 : SLOTS_CAP;
	int scarcest = scarcest_request(cluster, shape);
	for (int first = 0; first < cluster->node_count; first += RANGE) {
		int count = cluster->node_count - first < RANGE ? cluster->node_count - first : RANGE;
		struct range range = {.slots = slots->node + first,
		                      .first = first,
		                      .count = count,
		                      .alike = shape->everywhere && count == RANGE,
		                      .each = most};
		for (int n = 0; n < count && !range.alike; n++)
			range.slots[n] = shape->everywhere || shape->allowed[first + n] ? most : 0;
		for (int i = 0; i < shape->request_count; i++) { /* the scarcest in front of the first */
			int request = i == 0 ? scarcest : i <= scarcest ? i - 1 : i;
			lower_by_request(cluster, shape, request, &range, view);
		}
		if (range.alike)
			fill_range(range.slots, range.each);
	}
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
