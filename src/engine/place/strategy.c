/* Owns the names of placement strategies, which nodes pods without GPUs take first, and the even division of pods over nodes. */
#include "engine/place/strategy.h"

#include "base/strings.h"
#include "base/vec.h"
#include "engine/place/solver.h"

#include <stdlib.h>
#include <string.h>

static const char *const order_names[] = {[ORDER_BINPACK] = "binpack", [ORDER_SPREAD] = "spread"};

static int parse_order(const char *text, size_t length, enum node_order *order)
{
	for (int i = 0; i < 2; i++)
		if (strlen(order_names[i]) == length && strncmp(text, order_names[i], length) == 0) {
			*order = (enum node_order)i;
			return 0;
		}
	return -1;
}

int strategy_parse(const char *text, struct strategy *out)
{
	struct strategy strategy = {0};
	bool seen[2] = {false, false};
	enum node_order both;
	if (parse_order(text, strlen(text), &both) == 0) {
		*out = (struct strategy){both, both};
		return 0;
	}
	for (const char *at = text;; at++) {
		bool cpu = strncmp(at, "cpu=", 4) == 0;
		size_t length = strcspn(at, ",");
		if ((!cpu && strncmp(at, "gpu=", 4) != 0) || seen[cpu] ||
		    parse_order(at + 4, length - 4, cpu ? &strategy.cpu : &strategy.gpu) < 0)
			return -1;
		seen[cpu] = true;
		at += length;
		if (!*at)
			break;
	}
	*out = strategy;
	return 0;
}

const char *strategy_name(struct strategy strategy)
{
	if (strategy.gpu == strategy.cpu)
		return order_names[strategy.gpu];
	return strategy.gpu == ORDER_SPREAD ? "gpu=spread" : "cpu=spread";
}

void cluster_set_strategy(struct cluster *cluster, struct strategy strategy)
{
	cluster->strategy = strategy;
}

void cluster_set_pool_strategy(struct cluster *cluster, const char *pool, struct strategy strategy)
{
	vec_push(&cluster->pool_strategies, ((struct pool_strategy){.pool = pool, .strategy = strategy}));
}

static struct strategy strategy_of(const struct cluster *cluster, const struct shape *shape)
{
	for (size_t i = 0; i < cluster->pool_strategies.count; i++)
		if (text_equal(cluster->pool_strategies.items[i].pool, shape->rules.pool))
			return cluster->pool_strategies.items[i].strategy;
	return cluster->strategy;
}

void cluster_set_spare_gpus(struct cluster *cluster, bool spare)
{
	cluster->spare_gpus = spare;
}

static bool is_gpu(const char *name)
{
	size_t length = strlen(name);
	return length > 4 && strcmp(name + length - 4, "/gpu") == 0;
}

/* ---- nodes without GPUs ---- */

static bool is_gpu_or_part(const char *name)
{
	return is_gpu(name) || text_starts_with(name, "nvidia.com/mig-");
}

bool strategy_spares_gpus(const struct cluster *cluster, const struct shape *shape)
{
	for (int i = 0; cluster->spare_gpus && i < shape->request_count; i++)
		if (shape->amount[i] > 0 && is_gpu_or_part(cluster->resources.items[shape->resource[i]].name))
			return false;
	return cluster->spare_gpus;
}

void strategy_score_spared(const struct cluster *cluster, int32_t *score)
{
	for (int n = 0; n < cluster->node_count; n++)
		score[n] = 2 * score[n] + 1;
	for (int r = 0; r < (int)cluster->resources.count; r++) {
		if (!is_gpu_or_part(cluster->resources.items[r].name))
			continue;
		for (int n = 0; n < cluster->node_count; n++)
			score[n] -= score[n] & 1 && cluster_allocatable(cluster, r, n) > 0;
	}
}

/* ---- spreading ---- */

/* Number of the request that says how empty a node is: GPUs, or CPU of pods without any. -1 when there is neither. */
static int measure_of(const struct cluster *cluster, const struct shape *shape)
{
	int cpu = -1;
	for (int i = 0; i < shape->request_count; i++) {
		const char *name = cluster->resources.items[shape->resource[i]].name;
		if (is_gpu(name) && shape->amount[i] > 0)
			return i;
		if (strcmp(name, "cpu") == 0 && shape->amount[i] > 0)
			cpu = i;
	}
	return cpu;
}

static const struct shape *shape_of(const struct solver *solver, int local)
{
	return &solver->cluster->shapes.items[solver->shapes[local].shape];
}

bool strategy_wants_spread(const struct solver *solver, int local)
{
	const struct cluster *cluster = solver->cluster;
	const struct shape *shape = shape_of(solver, local);
	struct strategy strategy = strategy_of(cluster, shape);
	if (strategy.gpu == ORDER_BINPACK && strategy.cpu == ORDER_BINPACK)
		return false;
	int measure = measure_of(cluster, shape);
	bool gpu = measure >= 0 && is_gpu(cluster->resources.items[shape->resource[measure]].name);
	return measure >= 0 && (gpu ? strategy.gpu : strategy.cpu) == ORDER_SPREAD;
}

struct emptiness { /* of a node: free of total */
	struct bin *bin;
	int64_t free, total, taken;
};

/* The emptier one first, then the one that stands first. Preferences of the pods come before. */
static bool is_before(const struct emptiness *a, const struct emptiness *b)
{
	if (a->bin->score != b->bin->score)
		return a->bin->score > b->bin->score;
	__int128 left = (__int128)a->free * b->total, right = (__int128)b->free * a->total;
	return left != right ? left > right : a->bin->number < b->bin->number;
}

static void sink(struct emptiness *heap, int count, int at)
{
	for (int down; (down = 2 * at + 1) < count; at = down) {
		if (down + 1 < count && is_before(&heap[down + 1], &heap[down]))
			down++;
		if (!is_before(&heap[down], &heap[at]))
			return;
		struct emptiness swap = heap[at];
		heap[at] = heap[down];
		heap[down] = swap;
	}
}

static int compare_shares(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	return (a->number > b->number) - (a->number < b->number);
}

int strategy_divide_spread(const struct solver *solver, int local, struct bin *bins, int count, int64_t need,
                           struct share *shares)
{
	const struct cluster *cluster = solver->cluster;
	const struct shape *shape = shape_of(solver, local);
	int measure = measure_of(cluster, shape), resource = shape->resource[measure], taken = 0;
	int64_t amount = shape->amount[measure], room = 0;
	struct emptiness *heap = base_calloc((size_t)count, sizeof(*heap));
	for (int i = 0; i < count; i++) {
		int node = bins[i].number;
		/* With one shape only its slots follow what was given out in this decision. */
		int64_t given = solver->shape_count == 1 ? slots_count_on_node(cluster, shape, node, solver->view) -
		                                                   solver->shapes[local].slots->node[node]
		                                         : 0;
		room += bins[i].room;
		heap[i] = (struct emptiness){
			.bin = &bins[i],
			.free = cluster_amount_in_view(cluster, resource, node, solver->view) - given * amount,
			.total = cluster_allocatable(cluster, resource, node),
		};
		heap[i].total = heap[i].total > 0 ? heap[i].total : 1;
	}
	for (int i = count / 2; i-- > 0;)
		sink(heap, count, i);
	int left = count;
	for (int64_t n = 0; room >= need && n < need; n++) {
		heap[0].free -= amount;
		heap[0].taken++;
		if (--heap[0].bin->room == 0) { /* full: behind the end, where what it took is still known */
			struct emptiness full = heap[0];
			heap[0] = heap[--left];
			heap[left] = full;
		}
		sink(heap, left, 0);
	}
	for (int i = 0; room >= need && i < count; i++)
		if (heap[i].taken > 0)
			shares[taken++] = (struct share){.number = heap[i].bin->number, .count = heap[i].taken};
	qsort(shares, (size_t)taken, sizeof(*shares), compare_shares);
	free(heap);
	return room >= need ? taken : -1;
}
