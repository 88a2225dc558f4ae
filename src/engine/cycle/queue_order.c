/* Owns the order in which an action serves: groups within their queues, queues by what they use of their shares. */
#include "engine/cycle/queue_order.h"

#include <stdlib.h>
#include <string.h>

/* ---- the state all actions share ---- */

void queue_order_open(struct cycle *cycle, struct queue_order *order)
{
	struct cycle_run *run = &order->run;
	*order = (struct queue_order){.run = {.cycle = cycle}};
	run->scratch = arena_create();
	run->amounts = cycle_pod_class_amounts(cycle->cluster);
	cycle_open_accounts(run);
	order->totals = cycle_pool_totals(cycle);
	share_compute(run->shares, cycle->queue_count, order->totals, cycle->arena);
	share_claim_init(&run->claim, run->shares, cycle->queue_count, cycle->arena);
	for (size_t q = 0; q < cycle->queue_count; q++) {
		memcpy(cycle->queues[q].allocated, run->shares[q].allocated, sizeof(run->shares[q].allocated));
		memcpy(cycle->queues[q].fair, run->shares[q].fair, sizeof(run->shares[q].fair));
		memcpy(cycle->queues[q].requested, run->shares[q].requested, sizeof(run->shares[q].requested));
	}
}

/* ---- order ---- */

bool queue_order_is_before(const struct cycle *cycle, const struct candidate *a, const struct candidate *b)
{
	const struct cycle_group *left = &cycle->groups[a->group], *right = &cycle->groups[b->group];
	if (left->priority != right->priority)
		return left->priority > right->priority;
	if (a->growth != b->growth)
		return a->growth < b->growth;
	if (left->creation != right->creation)
		return left->creation < right->creation;
	int order = cycle_compare(left, right);
	return order ? order < 0 : a->group < b->group;
}

void candidate_heap_push(const struct cycle *cycle, struct candidate_heap *heap, struct candidate candidate)
{
	vec_push(&heap->items, candidate);
	struct candidate *items = heap->items.items;
	for (size_t i = heap->items.count - 1; i > 0;) {
		size_t up = (i - 1) / 2;
		if (!queue_order_is_before(cycle, &items[i], &items[up]))
			break;
		struct candidate swap = items[i];
		items[i] = items[up];
		items[up] = swap;
		i = up;
	}
}

struct candidate candidate_heap_pop(const struct cycle *cycle, struct candidate_heap *heap)
{
	struct candidate *items = heap->items.items, best = items[0];
	size_t count = --heap->items.count;
	items[0] = items[count];
	for (size_t i = 0;;) {
		size_t down = 2 * i + 1;
		if (down >= count)
			break;
		if (down + 1 < count && queue_order_is_before(cycle, &items[down + 1], &items[down]))
			down++;
		if (!queue_order_is_before(cycle, &items[down], &items[i]))
			break;
		struct candidate swap = items[i];
		items[i] = items[down];
		items[down] = swap;
		i = down;
	}
	return best;
}

/* Amounts of the next thing the best group of a queue would get: its minimum, or one pod. */
void queue_order_update(struct queue_order *order, int queue)
{
	const struct cycle *cycle = order->run.cycle;
	const struct candidate_heap *heap = &order->heaps[queue];
	if (!heap->items.count) {
		share_order_set(order->by_share, queue, NULL);
		return;
	}
	const struct candidate *candidate = &heap->items.items[0];
	const struct gang *gang = &cycle->groups[candidate->group].gang;
	int64_t amounts[CYCLE_RESOURCES] = {0};
	int64_t pods = candidate->growth < 0 ? gang_minimum_pods(gang, 0) : 1;
	for (size_t p = 0; candidate->growth < 0 && p < gang->pod_count; p++)
		pods -= cycle_is_member(&gang->pods[p]);
	for (size_t p = 0; p < gang->pod_count && pods > 0; p++)
		if (gang->pods[p].state == MEMBER_WAITING) {
			cycle_add_pod(&order->run, gang->pods[p].pod_class, amounts);
			pods--;
		}
	share_order_set(order->by_share, queue, amounts);
}

bool cycle_has_waiting(const struct cycle_group *group)
{
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_WAITING)
			return true;
	return false;
}

/* Whether the group may be served at all. */
bool queue_order_is_candidate(const struct cycle_group *group)
{
	return !group->blocked && !group->gave_up && group->queue >= 0 && cycle_has_waiting(group);
}

bool queue_order_take(struct queue_order *order, struct candidate *candidate)
{
	int queue = share_order_best(order->by_share);
	if (queue < 0)
		return false;
	*candidate = candidate_heap_pop(order->run.cycle, &order->heaps[queue]);
	queue_order_update(order, queue);
	return true;
}

void queue_order_put_back(struct queue_order *order, const struct candidate *candidate)
{
	const struct cycle *cycle = order->run.cycle;
	int queue = cycle->groups[candidate->group].queue;
	candidate_heap_push(cycle, &order->heaps[queue], *candidate);
	queue_order_update(order, queue);
}

bool queue_order_is_empty(const struct queue_order *order)
{
	return share_order_best(order->by_share) < 0;
}

/* Fills the heaps with every group the filter accepts and announces all queues. */
void queue_order_fill(struct queue_order *order,
                      bool (*accept)(const struct cycle *cycle, const struct cycle_group *group))
{
	struct cycle *cycle = order->run.cycle;
	order->heaps = base_calloc(cycle->queue_count, sizeof(*order->heaps));
	order->by_share = share_order_create(order->run.shares, cycle->queue_count, order->totals, cycle->arena);
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int g = cycle_work_at(cycle, i);
		const struct cycle_group *group = &cycle->groups[g];
		if (!queue_order_is_candidate(group) || !accept(cycle, group))
			continue;
		int growth = gang_root_satisfied(&group->gang) ? 0 : -1;
		candidate_heap_push(cycle, &order->heaps[group->queue],
		                    (struct candidate){.group = g, .growth = growth});
	}
	for (size_t q = 0; q < cycle->queue_count; q++)
		queue_order_update(order, (int)q);
}

void queue_order_close(struct queue_order *order)
{
	struct cycle *cycle = order->run.cycle;
	for (size_t q = 0; q < cycle->queue_count; q++) {
		memcpy(cycle->queues[q].allocated, order->run.shares[q].allocated, sizeof(cycle->queues[q].allocated));
		memcpy(cycle->queues[q].allocated_protected, order->run.shares[q].allocated_protected,
		       sizeof(cycle->queues[q].allocated_protected));
		if (order->heaps)
			vec_free(&order->heaps[q].items);
	}
	free(order->heaps);
	arena_destroy(order->run.scratch);
	arena_destroy(order->run.decision);
}
