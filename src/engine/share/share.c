/* Owns the division of the cluster among queues: tree, demand, quotas, and what lies beyond quotas. */
#include "engine/share/share.h"

#include <stdlib.h>
#include <string.h>

/* Products of an amount (below 2^63) and a sum of weights (below 2^64, see SHARE_WEIGHT_MAX) fit. */
typedef __int128 wide;

/* Somebody who wants more than the quota gave. */
struct claimant {
	int queue;
	int64_t priority, creation;
	int64_t want, weight, given;
	int64_t plain, past; /* the weight that the queue states, and what lessens it */
	wide rest;           /* what rounding down left, in parts of unit / sum of weights */
};

struct division {
	struct share_queue *queues;
	size_t count;
	int *first;      /* children of queue q: kids[first[q + 1]] .. kids[first[q + 2]]; those of -1 are the top */
	int *kids;       /* ascending */
	int *descending; /* all queues, parents before children */
	int64_t *demand; /* of the resource at hand, capped by the limits of the queue and of those below it */
	struct claimant *claimants;
};

static int64_t unit_of(int resource)
{
	return resource == SHARE_GPU ? 1000 : 1;
}

static int64_t at_most(int64_t amount, int64_t bound)
{
	return bound >= 0 && amount > bound ? bound : amount;
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* ---- tree ---- */

/* Each walk marks its way with its own number, so every queue is visited about once over all walks. */
static void cut_bad_parents(struct share_queue *queues, size_t count, struct arena *scratch)
{
	size_t *walked = arena_array(scratch, size_t, count);
	for (size_t i = 0; i < count; i++)
		if (queues[i].parent < 0 || (size_t)queues[i].parent >= count)
			queues[i].parent = -1;
	for (size_t i = 0; i < count; i++)
		for (int at = (int)i; at >= 0 && !walked[at]; at = queues[at].parent) {
			int up = queues[at].parent;
			walked[at] = i + 1;
			if (up >= 0 && walked[up] == i + 1)
				queues[at].parent = -1;
		}
}

/* Top queues of one pool stand together, those of each as they were. */
static void sort_top(struct division *division, struct arena *scratch)
{
	int count = division->first[1], pools = 0;
	for (int k = 0; k < count; k++)
		if (division->queues[division->kids[k]].pool >= pools)
			pools = division->queues[division->kids[k]].pool + 1;
	if (pools <= 1)
		return;
	int *next = arena_array(scratch, int, (size_t)pools + 1), *sorted = arena_array(scratch, int, (size_t)count);
	for (int k = 0; k < count; k++)
		next[division->queues[division->kids[k]].pool + 1]++;
	for (int p = 0; p < pools; p++)
		next[p + 1] += next[p];
	for (int k = 0; k < count; k++)
		sorted[next[division->queues[division->kids[k]].pool]++] = division->kids[k];
	memcpy(division->kids, sorted, (size_t)count * sizeof(*sorted));
}

static void build_tree(struct division *division, struct arena *scratch)
{
	size_t count = division->count;
	const struct share_queue *queues = division->queues;
	division->first = arena_array(scratch, int, count + 2);
	division->kids = arena_array(scratch, int, count);
	division->descending = arena_array(scratch, int, count);
	int *next = arena_array(scratch, int, count + 1);
	for (size_t i = 0; i < count; i++)
		division->first[queues[i].parent + 2]++;
	for (size_t i = 0; i <= count; i++) {
		division->first[i + 1] += division->first[i];
		next[i] = division->first[i];
	}
	for (size_t i = 0; i < count; i++)
		division->kids[next[queues[i].parent + 1]++] = (int)i;
	sort_top(division, scratch);
	size_t filled = 0;
	for (int k = division->first[0]; k < division->first[1]; k++)
		division->descending[filled++] = division->kids[k];
	for (size_t i = 0; i < filled; i++)
		for (int up = division->descending[i] + 1, k = division->first[up]; k < division->first[up + 1]; k++)
			division->descending[filled++] = division->kids[k];
}

static int64_t stated_demand(const struct share_queue *queue, int resource)
{
	int64_t requested = queue->requested[resource], allocated = queue->allocated[resource];
	int64_t demand = requested > allocated ? requested : allocated;
	return demand > 0 ? demand : 0;
}

/* From the leaves up. What a parent states beyond the statements of its children is demand of its own groups. */
static void collect_demand(struct division *division, int resource)
{
	for (size_t i = division->count; i-- > 0;) {
		int q = division->descending[i];
		const struct share_queue *queue = &division->queues[q];
		int64_t stated = 0, usable = 0;
		for (int k = division->first[q + 1]; k < division->first[q + 2]; k++) {
			stated = add(stated, stated_demand(&division->queues[division->kids[k]], resource));
			usable = add(usable, division->demand[division->kids[k]]);
		}
		int64_t own = stated_demand(queue, resource) - stated;
		division->demand[q] = at_most(add(usable, own > 0 ? own : 0), queue->limit[resource]);
	}
}

/* ---- beyond quotas ---- */

/* Higher priority first, then those who are satisfied by the smallest amount per weight. */
static int compare_claimants(const void *left, const void *right)
{
	const struct claimant *a = left, *b = right;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	wide per_a = (wide)a->want * b->weight, per_b = (wide)b->want * a->weight;
	if (per_a != per_b)
		return per_a < per_b ? -1 : 1;
	return a->queue < b->queue ? -1 : 1;
}

static int compare_rests(const void *left, const void *right)
{
	const struct claimant *a = left, *b = right;
	if (a->rest != b->rest)
		return a->rest > b->rest ? -1 : 1;
	if (a->creation != b->creation)
		return a->creation < b->creation ? -1 : 1;
	return a->queue < b->queue ? -1 : 1;
}

/* Divides `amount` among claimants of one priority, sorted by compare_claimants; returns what nobody wants.
 *
 * Filling all in proportion to their weights satisfies them in the order of want per weight. So those that can be
 * satisfied are a prefix, and one walk finds it; the others share the rest exactly by weight. Each of them wants more
 * than its exact part, so a unit more for the largest rests always finds takers, and nothing remains. */
static int64_t fill(struct claimant *claimants, size_t count, int64_t amount, int64_t unit)
{
	wide weights = 0;
	for (size_t i = 0; i < count; i++)
		weights += claimants[i].weight;
	size_t i = 0;
	for (; i < count && claimants[i].want * weights <= (wide)amount * claimants[i].weight; i++) {
		claimants[i].given = claimants[i].want;
		amount -= claimants[i].want;
		weights -= claimants[i].weight;
	}
	int64_t left = amount;
	for (size_t j = i; j < count; j++) {
		wide part = (wide)amount * claimants[j].weight;
		claimants[j].given = (int64_t)(part / (weights * unit)) * unit;
		claimants[j].rest = part - claimants[j].given * weights;
		left -= claimants[j].given;
	}
	if (i == count || !left)
		return left;
	qsort(claimants + i, count - i, sizeof(*claimants), compare_rests);
	for (size_t j = i; j < count && left > 0; j++) {
		int64_t more = claimants[j].want - claimants[j].given;
		more = at_most(at_most(more, unit), left);
		claimants[j].given += more;
		left -= more;
	}
	return left;
}

/* Lessens weights by what was used in the past and sorts again: those that are left without one come last. How many have
 * one. KAI's time-based fair share: max(0, n + k (n - u)) with n the part in all weights, k a factor and u the use of the
 * past; `past` is k u / (1 + k), which gives the same proportions. */
static size_t lessen_weights(struct claimant *claimants, size_t count)
{
	wide weights = 0, most = 0, bound = INT64_MAX / (wide)count; /* so that their sum stays below 2^63 */
	size_t left = 0;
	for (size_t i = 0; i < count; i++) {
		weights += claimants[i].plain;
		most = claimants[i].plain > most ? claimants[i].plain : most;
	}
	wide scale = most * SHARE_PAST_WHOLE / bound + 1;
	for (size_t i = 0; i < count; i++) {
		wide weight = (wide)claimants[i].plain * SHARE_PAST_WHOLE - weights * claimants[i].past;
		claimants[i].weight = weight > 0 ? (int64_t)(weight / scale) : 0;
		left += claimants[i].weight > 0;
	}
	qsort(claimants, count, sizeof(*claimants), compare_claimants);
	return left;
}

/* Like fill, where the past counts. */
static int64_t fill_by_past(struct claimant *claimants, size_t count, int64_t amount, int64_t unit)
{
	size_t first = lessen_weights(claimants, count), rest = count - first;
	if (first)
		amount = fill(claimants, first, amount, unit);
	if (!rest || !amount)
		return amount;
	for (size_t i = first; i < count; i++)
		claimants[i].weight = claimants[i].plain;
	qsort(claimants + first, rest, sizeof(*claimants), compare_claimants);
	return fill(claimants + first, rest, amount, unit);
}

static bool have_past(const struct claimant *claimants, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (claimants[i].past > 0)
			return true;
	return false;
}

static void divide_beyond_quotas(struct division *division, size_t count, int64_t amount, int resource)
{
	struct claimant *claimants = division->claimants;
	qsort(claimants, count, sizeof(*claimants), compare_claimants);
	for (size_t i = 0, end; i < count && amount > 0; i = end) {
		for (end = i + 1; end < count && claimants[end].priority == claimants[i].priority;)
			end++;
		int64_t (*divide)(struct claimant *, size_t, int64_t, int64_t) =
			have_past(claimants + i, end - i) ? fill_by_past : fill;
		amount = divide(claimants + i, end - i, amount, unit_of(resource));
	}
	for (size_t i = 0; i < count; i++)
		division->queues[claimants[i].queue].fair[resource] += claimants[i].given;
}

/* ---- one level ---- */

/* Divides `total` among the queues kids[from] .. kids[to - 1]. */
static void divide(struct division *division, int from, int to, int64_t total, int resource)
{
	wide left = total;
	size_t claimants = 0;
	for (int k = from; k < to; k++) {
		int q = division->kids[k];
		struct share_queue *queue = &division->queues[q];
		int64_t quota = queue->quota[resource], weight = queue->weight[resource];
		queue->fair[resource] = at_most(division->demand[q], quota < 0 ? total : quota);
		left -= queue->fair[resource];
		int64_t want = division->demand[q] - queue->fair[resource];
		if (want > 0 && weight > 0)
			division->claimants[claimants++] =
				(struct claimant){.queue = q,
			                          .priority = queue->priority,
			                          .creation = queue->creation,
			                          .want = want,
			                          .weight = at_most(weight, SHARE_WEIGHT_MAX),
			                          .plain = at_most(weight, SHARE_WEIGHT_MAX),
			                          .past = at_most(queue->past[resource], SHARE_PAST_WHOLE)};
	}
	if (left > 0 && claimants)
		divide_beyond_quotas(division, claimants, (int64_t)left, resource);
}

/* Each pool is divided among its own top queues, which stand together. */
static void divide_pools(struct division *division, const int64_t *totals, int resource)
{
	const struct share_queue *queues = division->queues;
	for (int from = division->first[0], to; from < division->first[1]; from = to) {
		int pool = queues[division->kids[from]].pool;
		for (to = from + 1; to < division->first[1] && queues[division->kids[to]].pool == pool;)
			to++;
		int64_t total = totals[(size_t)pool * SHARE_RESOURCES + (size_t)resource];
		divide(division, from, to, total > 0 ? total : 0, resource);
	}
}

void share_compute(struct share_queue *queues, size_t count, const int64_t *totals, struct arena *scratch)
{
	struct division division = {.queues = queues, .count = count};
	cut_bad_parents(queues, count, scratch);
	build_tree(&division, scratch);
	division.demand = arena_array(scratch, int64_t, count);
	division.claimants = arena_array(scratch, struct claimant, count);
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		collect_demand(&division, r);
		divide_pools(&division, totals, r);
		for (size_t i = 0; i < count; i++) {
			int q = division.descending[i];
			if (division.first[q + 1] < division.first[q + 2])
				divide(&division, division.first[q + 1], division.first[q + 2], queues[q].fair[r], r);
		}
	}
}

int64_t share_entitlement(const struct share_queue *queue, int resource)
{
	int64_t quota = queue->quota[resource], fair = queue->fair[resource];
	if (quota < 0)
		return queue->limit[resource];
	return at_most(quota > fair ? quota : fair, queue->limit[resource]);
}
