/* Owns the order in which queues are served. */
#include "engine/share/share.h"

#include <string.h>

static const int64_t nothing[SHARE_RESOURCES];

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

/* used / of; `beyond` is larger than any fraction: use of what the queue is entitled to nothing of. */
struct fraction {
	bool beyond;
	int64_t used, of;
};

static int compare_fractions(struct fraction a, struct fraction b)
{
	if (a.beyond != b.beyond)
		return a.beyond ? 1 : -1;
	__int128 left = (__int128)a.used * b.of, right = (__int128)b.used * a.of;
	return (left > right) - (left < right);
}

static struct fraction dominant_share(const struct share_queue *queue, const int64_t *next, const int64_t *total)
{
	struct fraction most = {.of = 1};
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		int64_t entitlement = share_entitlement(queue, r), used = plus(queue->allocated[r], next[r]);
		struct fraction share = {.beyond = entitlement == 0 && used > 0, .used = used, .of = entitlement};
		if (entitlement <= 0)
			share.of = total[r] > 0 ? total[r] : 1;
		if (compare_fractions(share, most) > 0)
			most = share;
	}
	return most;
}

static bool over_fair_share(const struct share_queue *queue)
{
	for (int r = 0; r < SHARE_RESOURCES; r++)
		if (queue->allocated[r] <= queue->fair[r])
			return false;
	return true;
}

static bool within_quota(const struct share_queue *queue, const int64_t *next)
{
	for (int r = 0; r < SHARE_RESOURCES; r++)
		if (queue->quota[r] >= 0 && plus(queue->allocated[r], next[r]) > queue->quota[r])
			return false;
	return true;
}

static bool uses_without_entitlement(const struct share_queue *queue, const int64_t *next)
{
	for (int r = 0; r < SHARE_RESOURCES; r++)
		if (share_entitlement(queue, r) == 0 && plus(queue->allocated[r], next[r]) > 0)
			return true;
	return false;
}

/* Resource by resource, so that the order of three queues never turns in a circle. */
static int compare_entitlements(const struct share_queue *a, const struct share_queue *b)
{
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		/* Unlimited is -1: as an unsigned number the largest. */
		uint64_t left = (uint64_t)share_entitlement(a, r), right = (uint64_t)share_entitlement(b, r);
		if (left != right)
			return left < right ? -1 : 1;
	}
	return 0;
}

/* All that the order asks of one queue with what it would get next. */
struct rank {
	bool over, within, without;
	struct fraction ahead, now; /* dominant shares, with what it would get and without */
	int64_t past;
};

static int64_t dominant_past(const struct share_queue *queue)
{
	int64_t most = 0;
	for (int r = 0; r < SHARE_RESOURCES; r++)
		most = queue->past[r] > most ? queue->past[r] : most;
	return most;
}

static struct rank rank_of(const struct share_queue *queue, const int64_t *next, const int64_t *totals)
{
	const int64_t *total = totals + (size_t)queue->pool * SHARE_RESOURCES;
	return (struct rank){.over = over_fair_share(queue),
	                     .within = within_quota(queue, next),
	                     .without = uses_without_entitlement(queue, next),
	                     .ahead = dominant_share(queue, next, total),
	                     .now = dominant_share(queue, nothing, total),
	                     .past = dominant_past(queue)};
}

static bool sibling_before(const struct share_queue *queues, int a, const struct rank *rank_a, int b,
                           const struct rank *rank_b)
{
	const struct share_queue *left = &queues[a], *right = &queues[b];
	if (rank_a->over != rank_b->over)
		return !rank_a->over;
	if (rank_a->within != rank_b->within)
		return rank_a->within;
	if (left->priority != right->priority)
		return left->priority > right->priority;
	if (rank_a->without != rank_b->without)
		return !rank_a->without;
	int order = compare_fractions(rank_a->ahead, rank_b->ahead);
	if (!order)
		order = compare_fractions(rank_a->now, rank_b->now);
	if (!order)
		order = (rank_a->past > rank_b->past) - (rank_a->past < rank_b->past);
	if (!order)
		order = compare_entitlements(left, right);
	if (order)
		return order < 0;
	return left->creation != right->creation ? left->creation < right->creation : a < b;
}

static int depth_of(const struct share_queue *queues, int queue)
{
	int depth = 0;
	for (; queue >= 0; queue = queues[queue].parent)
		depth++;
	return depth;
}

bool share_before(const struct share_queue *queues, const int64_t *totals, int a, const int64_t *next_a, int b,
                  const int64_t *next_b)
{
	int depth_a = depth_of(queues, a), depth_b = depth_of(queues, b);
	int up_a = a, up_b = b;
	for (int depth = depth_a; depth > depth_b; depth--)
		up_a = queues[up_a].parent;
	for (int depth = depth_b; depth > depth_a; depth--)
		up_b = queues[up_b].parent;
	if (up_a == up_b)
		return depth_a < depth_b;
	while (queues[up_a].parent != queues[up_b].parent) {
		up_a = queues[up_a].parent;
		up_b = queues[up_b].parent;
	}
	struct rank rank_a = rank_of(&queues[up_a], next_a ? next_a : nothing, totals),
		    rank_b = rank_of(&queues[up_b], next_b ? next_b : nothing, totals);
	return sibling_before(queues, up_a, &rank_a, up_b, &rank_b);
}

/* ---- many queues ---- */

/* Every queue, and the top above them all, has a heap of those children below which something waits. A child stands in
 * it with the next amounts of its own best queue. */
struct kept_rank { /* and what it was worked out from */
	bool known;
	int64_t allocated[SHARE_RESOURCES], next[SHARE_RESOURCES];
	struct rank rank;
};

struct share_order {
	const struct share_queue *queues;
	const int64_t *totals;
	int *best;                        /* by queue: the queue at or below it to serve next; -1 = nothing waits */
	int64_t (*next)[SHARE_RESOURCES]; /* by queue, of its own */
	struct kept_rank *ranks;          /* by queue */
	bool *waits;                      /* by queue: has something of its own */
	int *first;                       /* by queue + 1: where its heap begins in `heap` */
	int *size;                        /* by queue + 1 */
	int *heap;
	int *place; /* by queue: position in the heap of its parent, -1 = not in it */
};

struct share_order *share_order_create(const struct share_queue *queues, size_t count, const int64_t *totals,
                                       struct arena *arena)
{
	struct share_order *order = arena_new(arena, struct share_order);
	order->queues = queues;
	order->totals = totals;
	order->best = arena_array(arena, int, count);
	order->next = arena_array_bytes(arena, count, sizeof(*order->next));
	order->ranks = arena_array(arena, struct kept_rank, count);
	order->waits = arena_array(arena, bool, count);
	order->first = arena_array(arena, int, count + 2);
	order->size = arena_array(arena, int, count + 1);
	order->heap = arena_array(arena, int, count);
	order->place = arena_array(arena, int, count);
	for (size_t i = 0; i < count; i++) {
		order->best[i] = order->place[i] = -1;
		order->first[queues[i].parent + 2]++;
	}
	for (size_t i = 0; i <= count; i++)
		order->first[i + 1] += order->first[i];
	return order;
}

/* A queue is compared with many others between two changes of it. What it uses may change without anybody saying so. */
static const struct rank *heap_rank(struct share_order *order, int queue)
{
	struct kept_rank *kept = &order->ranks[queue];
	const int64_t *allocated = order->queues[queue].allocated, *next = order->next[order->best[queue]];
	if (kept->known && memcmp(kept->allocated, allocated, sizeof(kept->allocated)) == 0 &&
	    memcmp(kept->next, next, sizeof(kept->next)) == 0)
		return &kept->rank;
	kept->known = true;
	memcpy(kept->allocated, allocated, sizeof(kept->allocated));
	memcpy(kept->next, next, sizeof(kept->next));
	kept->rank = rank_of(&order->queues[queue], next, order->totals);
	return &kept->rank;
}

static bool heap_before(struct share_order *order, int a, int b)
{
	return sibling_before(order->queues, a, heap_rank(order, a), b, heap_rank(order, b));
}

static void heap_put(struct share_order *order, int *heap, int at, int queue)
{
	heap[at] = queue;
	order->place[queue] = at;
}

/* Moves the queue at `at` up or down to where it belongs. */
static void heap_fix(struct share_order *order, int *heap, int size, int at)
{
	int queue = heap[at];
	for (; at > 0 && heap_before(order, queue, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap_put(order, heap, at, heap[(at - 1) / 2]);
	for (int down; (down = 2 * at + 1) < size; at = down) {
		if (down + 1 < size && heap_before(order, heap[down + 1], heap[down]))
			down++;
		if (!heap_before(order, heap[down], queue))
			break;
		heap_put(order, heap, at, heap[down]);
	}
	heap_put(order, heap, at, queue);
}

/* Brings the queue's entry in the heap of its parent up to date. */
static void heap_update(struct share_order *order, int queue)
{
	int up = order->queues[queue].parent + 1, at = order->place[queue];
	int *heap = order->heap + order->first[up];
	if (order->best[queue] < 0) {
		if (at < 0)
			return;
		int last = heap[--order->size[up]];
		order->place[queue] = -1;
		if (last != queue) {
			heap_put(order, heap, at, last);
			heap_fix(order, heap, order->size[up], at);
		}
		return;
	}
	if (at < 0) {
		at = order->size[up]++;
		heap_put(order, heap, at, queue);
	}
	heap_fix(order, heap, order->size[up], at);
}

void share_order_set(struct share_order *order, int queue, const int64_t *next)
{
	order->waits[queue] = next != NULL;
	if (next)
		memcpy(order->next[queue], next, sizeof(order->next[queue]));
	for (int q = queue; q >= 0; q = order->queues[q].parent) {
		int child = order->size[q + 1] ? order->heap[order->first[q + 1]] : -1;
		order->best[q] = order->waits[q] ? q : child >= 0 ? order->best[child] : -1;
		heap_update(order, q);
	}
}

int share_order_best(const struct share_order *order)
{
	return order->size[0] ? order->best[order->heap[order->first[0]]] : -1;
}
