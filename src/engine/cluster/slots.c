/* Owns slots: how many more pods of a shape each node, and each domain, can take. Cached per shape and view. */
#include "base/clamp.h"
#include "engine/cluster/internal.h"

#include <string.h>

#define SLOTS_CAP 1000000 /* a shape without requests fits "often enough" */
#define EXACT (INT64_C(1) << 50)
enum { STEP = 8 };

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

/* Where a search did not end, what it did not find is not counted; that nothing is proved by it is noted. */
static int32_t lower_by_devices(const struct cluster *cluster, const struct shape *shape, int node, int view,
                                int32_t slots)
{
	bool unsure;
	slots = device_stock_slots(cluster, shape, node, view, slots, &unsure);
	if (unsure)
		cluster->shapes.items[shape - cluster->shapes.items].unsure[view] = true;
	return slots;
}

int32_t slots_count_on_node(const struct cluster *cluster, const struct shape *shape, int node, int view)
{
	int32_t slots = shape_allows_node(cluster, shape, node) ? slots_by_amounts(cluster, shape, node, view) : 0;
	return slots && shape->claims ? lower_by_devices(cluster, shape, node, view, slots) : slots;
}

bool pod_class_fits_node(const struct cluster *cluster, int pod_class, int node, int view)
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++)
		if (cluster_amount_in_view(cluster, shape->resource[i], node, view) < shape->amount[i])
			return false;
	if (shape->claims && lower_by_devices(cluster, shape, node, view, 1) < 1)
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

/* In steps of a known size, which compilers turn into few instructions; their slots together fit into 32 bits. */
static int64_t sum_nodes(const int32_t *node, int count)
{
	int64_t sum = 0;
	int n = 0;
	for (; n + STEP <= count; n += STEP) {
		int32_t part = 0;
		for (int i = 0; i < STEP; i++)
			part += node[n + i];
		sum += part;
	}
	for (; n < count; n++)
		sum += node[n];
	return sum;
}

static void sum_level_from_nodes(const struct cluster *cluster, struct slots *slots, int t, int level)
{
	const struct topology *topology = &cluster->topologies[t];
	int64_t *sums = slots->sums[t][level];
	for (int d = 0; d < topology->domain_count[level]; d++) {
		const struct domain *domain = &topology->domains[level][d];
		int64_t sum = 0;
		if (t == 0) /* its order is that of the nodes */
			sum = sum_nodes(slots->node + domain->first, domain->end - domain->first);
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

static int count_open(const int32_t *node, int count)
{
	int open = 0, n = 0;
	for (; n + STEP <= count; n += STEP)
		for (int i = 0; i < STEP; i++)
			open += node[n + i] > 0;
	for (; n < count; n++)
		open += node[n] > 0;
	return open;
}

static void sum_topologies(const struct cluster *cluster, struct slots *slots)
{
	for (int t = 0; t < cluster->topology_count; t++)
		sum_topology(cluster, slots, t);
}

static void sum_all(const struct cluster *cluster, struct slots *slots)
{
	slots->total = sum_nodes(slots->node, cluster->node_count);
	slots->open = count_open(slots->node, cluster->node_count);
	sum_topologies(cluster, slots);
}

void slots_prepare_spare(struct cluster *cluster)
{
	if (cluster->spare_slots)
		return;
	cluster->spare_slots = slots_alloc(cluster);
	memset(cluster->spare_slots->node, 0, (size_t)cluster->node_count * sizeof(int32_t));
	sum_all(cluster, cluster->spare_slots);
}

/* The nodes of a span, while their slots are counted. */
struct range {
	int32_t *slots;
	int first, count;
	bool alike;   /* all have `most`; nothing is written yet */
	int32_t most; /* none has more */
};

static struct span bounds_in_view(const struct resource_column *column, int first, int view)
{
	int at = first / SPAN_NODES;
	if (view == VIEW_EMPTY)
		return column->allocatable_spans[at];
	struct span span = column->free_spans[at];
	if (view == VIEW_RELEASING && column->releasing) {
		span.low = clamp_add(span.low, column->releasing_spans[at].low);
		span.high = clamp_add(span.high, column->releasing_spans[at].high);
		span.loose |= column->releasing_spans[at].loose;
	}
	return span;
}

static struct span tightened(const struct cluster *cluster, struct resource_column *column, int first, int view)
{
	int nodes = cluster->node_count;
	if (view == VIEW_EMPTY)
		span_tighten(column->allocatable, nodes, first, column->allocatable_spans);
	else
		span_tighten(column->free, nodes, first, column->free_spans);
	if (view == VIEW_RELEASING && column->releasing)
		span_tighten(column->releasing, nodes, first, column->releasing_spans);
	return bounds_in_view(column, first, view);
}

/* The amounts of the nodes of a range; `sums` has room for those that have to be added up. */
static const int64_t *amounts_in_view(const struct resource_column *column, const struct range *range, int view,
                                      int64_t *sums)
{
	if (view == VIEW_EMPTY)
		return column->allocatable + range->first;
	const int64_t *free = column->free + range->first;
	if (view != VIEW_RELEASING || !column->releasing)
		return free;
	const int64_t *releasing = column->releasing + range->first;
	for (int n = 0; n < range->count; n++)
		sums[n] = clamp_add(free[n], releasing[n]);
	return sums;
}

/* What a column lets each of these nodes have, no more than they had. */
static void lower_by_column(const struct range *range, const int64_t *has, int64_t amount, const struct span *span)
{
	int32_t *slots = range->slots;
	if (range->most == 1) {
		for (int n = 0; n < range->count; n++)
			slots[n] = slots[n] > 0 && has[n] >= amount;
		return;
	}
	if (span->low < 0 || span->high >= EXACT || amount <= 0) {
		for (int n = 0; n < range->count; n++)
			slots[n] = (int32_t)fewer(slots[n], has[n], amount);
		return;
	}
	/* x / n as (x + 0.5) * (1 / n): exact for whole x below EXACT, and several times faster than dividing. */
	double per_slot = 1.0 / (double)amount;
	for (int n = 0; n < range->count; n++) {
		int64_t fit = (int64_t)(((double)has[n] + 0.5) * per_slot);
		slots[n] = fit < slots[n] ? (int32_t)fit : slots[n];
	}
}

static void fill(int32_t *slots, int count, int32_t value)
{
	for (int n = 0; n < count; n++)
		slots[n] = value;
}

/* Looks at the bounds first: where they say the same of all nodes, their amounts are not read. */
static void lower_by_request(const struct cluster *cluster, const struct shape *shape, int request, struct range *range,
                             int view)
{
	int64_t sums[SPAN_NODES], amount = shape->amount[request];
	struct resource_column *column = &cluster->resources.items[shape->resource[request]];
	struct span span = bounds_in_view(column, range->first, view);
	if (fewer(range->most, span.low, amount) == range->most)
		return;
	if (span.loose)
		span = tightened(cluster, column, range->first, view);
	int32_t least = (int32_t)fewer(range->most, span.low, amount);
	int32_t most = (int32_t)fewer(range->most, span.high, amount);
	if (least == range->most)
		return;
	bool wrote = !range->alike;
	range->alike = most == 0 || (range->alike && least == most);
	if (!wrote && !range->alike)
		fill(range->slots, range->count, range->most);
	range->most = most;
	if (!range->alike)
		lower_by_column(range, amounts_in_view(column, range, view, sums), amount, &span);
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

/* Column by column, for one span at a time. */
static void count_all(const struct cluster *cluster, const struct shape *shape, struct slots *slots, int view)
{
	int32_t most = shape->one_per_node ? 1 : SLOTS_CAP;
	int scarcest = scarcest_request(cluster, shape);
	cluster->shapes.items[shape - cluster->shapes.items].unsure[view] = false;
	slots->total = slots->open = 0;
	for (int first = 0; first < cluster->node_count; first += SPAN_NODES) {
		int count = cluster->node_count - first < SPAN_NODES ? cluster->node_count - first : SPAN_NODES;
		struct range range = {.slots = slots->node + first,
		                      .first = first,
		                      .count = count,
		                      .alike = shape->everywhere,
		                      .most = most};
		for (int n = 0; n < count && !range.alike; n++)
			range.slots[n] = shape->allowed[first + n] ? most : 0;
		for (int i = 0; i < shape->request_count && range.most; i++) { /* the scarcest in front of the first */
			int request = i == 0 ? scarcest : i <= scarcest ? i - 1 : i;
			lower_by_request(cluster, shape, request, &range, view);
		}
		if (shape->claims && range.most) {
			if (range.alike)
				fill(range.slots, count, range.most);
			range.alike = false;
			for (int n = 0; n < count; n++)
				range.slots[n] = lower_by_devices(cluster, shape, first + n, view, range.slots[n]);
		}
		if (range.alike)
			fill(range.slots, count, range.most);
		slots->total += range.alike ? (int64_t)count * range.most : sum_nodes(range.slots, count);
		slots->open += range.alike ? (range.most > 0) * count : count_open(range.slots, count);
	}
	sum_topologies(cluster, slots);
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
