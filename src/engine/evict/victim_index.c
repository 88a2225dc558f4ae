/* Owns the lists of units per queue, which follow the decisions of an action. */
#include "engine/evict/victim_index.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct queue_units {
	int *groups; /* of the queue */
	size_t group_count;
	struct victim_list units;
	bool on_heap;     /* they are; the first list is in the arena as it was made */
	size_t dead;      /* of them have gone */
	size_t first;     /* and all before this one */
	VEC(int) changed; /* groups to be listed again */
	bool listed;
	bool ranked; /* stands in the order of queues where it belongs, or has no units; never set for queue -1 */
};

struct victim_index {
	const struct cycle_run *run;
	struct arena *arena;
	struct queue_units *queues; /* by queue + 1 */
	uint32_t *age;              /* by group: how often it changed */
	size_t *alive;              /* by group: its units in the list that have not gone */
	int *order;                 /* queues that have units, by the cheapest one */
	size_t order_count;
	VEC(int) unranked;       /* queues to be put into it anew */
	struct victim_list pods; /* on the heap */
	bool pods_listed;
};

const struct queue_census *victim_index_take_census(struct cycle_run *run)
{
	const struct cycle *cycle = run->cycle;
	if (run->census)
		return run->census;
	struct queue_census *census = arena_array(cycle->arena, struct queue_census, cycle->queue_count + 1);
	for (size_t q = 0; q <= cycle->queue_count; q++)
		census[q].lowest = INT32_MAX;
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct queue_census *queue = &census[cycle->groups[g].queue + 1];
		queue->groups++;
		if (cycle->groups[g].priority < queue->lowest)
			queue->lowest = cycle->groups[g].priority;
	}
	run->census = census;
	return census;
}

struct victim_index *victim_index_create(struct cycle_run *run, struct arena *arena)
{
	const struct cycle *cycle = run->cycle;
	const struct queue_census *census = victim_index_take_census(run);
	struct victim_index *index = arena_new(arena, struct victim_index);
	index->run = run;
	index->arena = arena;
	index->queues = arena_array(arena, struct queue_units, cycle->queue_count + 1);
	index->age = arena_array(arena, uint32_t, cycle->group_count);
	index->alive = arena_array(arena, size_t, cycle->group_count);
	index->order = arena_array(arena, int, cycle->queue_count);
	for (int q = 0; q < (int)cycle->queue_count; q++)
		vec_push(&index->unranked, q);
	int *groups = arena_array(arena, int, cycle->group_count);
	for (size_t q = 0, at = 0; q <= cycle->queue_count; q++) {
		index->queues[q].groups = groups + at;
		at += census[q].groups;
	}
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct queue_units *queue = &index->queues[cycle->groups[g].queue + 1];
		queue->groups[queue->group_count++] = (int)g;
	}
	return index;
}

void victim_index_destroy(struct victim_index *index)
{
	for (size_t q = 0; index && q <= index->run->cycle->queue_count; q++) {
		if (index->queues[q].on_heap)
			free(index->queues[q].units.items);
		vec_free(&index->queues[q].changed);
	}
	if (index) {
		free(index->pods.items);
		vec_free(&index->unranked);
	}
}

void victim_index_mark_changed(struct victim_index *index, int group)
{
	struct queue_units *queue = &index->queues[index->run->cycle->groups[group].queue + 1];
	index->age[group]++;
	index->pods_listed = false;
	if (queue->ranked)
		vec_push(&index->unranked, index->run->cycle->groups[group].queue);
	queue->ranked = false;
	if (!queue->listed)
		return;
	queue->dead += index->alive[group];
	index->alive[group] = 0;
	vec_push(&queue->changed, group);
}

static bool is_there(const struct victim_index *index, const struct victim_unit *unit)
{
	return unit->age == index->age[unit->group];
}

static bool has_reserved(const struct cycle_group *group)
{
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_RESERVED)
			return true;
	return false;
}

/* What must not be evicted gives nothing, and what is reserved or moved is settled. */
static bool may_give(const struct cycle_group *group)
{
	return group->preempt != CYCLE_NON_PREEMPTIBLE && !group->blocked && !has_reserved(group);
}

/* Whether something that runs would be of no use without the reserved pods. */
static bool leans_on_reserved(struct victim_index *index, struct gang *gang)
{
	bool *with = arena_array(index->arena, bool, gang->tree_count);
	int *running = arena_array(index->arena, int, gang->tree_count); /* members that run; satisfied children */
	gang_satisfied(gang, NULL, with);
	for (size_t p = 0; p < gang->pod_count; p++)
		running[gang->pods[p].leaf] += gang->pods[p].state == MEMBER_RUNNING;
	bool *without = arena_array(index->arena, bool, gang->tree_count);
	for (size_t i = gang->tree_count; i-- > 0;) {
		without[i] = running[i] >= gang->tree[i].minimum;
		if (i > 0)
			running[gang->tree[i].parent] += without[i];
	}
	for (size_t p = 0; p < gang->pod_count; p++)
		for (int at = gang->pods[p].leaf; gang->pods[p].state == MEMBER_RUNNING && at >= 0;
		     at = gang->tree[at].parent)
			if (with[at] && !without[at])
				return true;
	return false;
}

/* A reservation of an earlier cycle may be taken back as a whole: nobody has to leave for that. Not where it completes
 * something of which a part runs. */
static void list_reservation(struct victim_index *index, int number, struct victim_list *list)
{
	struct cycle_group *group = &index->run->cycle->groups[number];
	struct gang *gang = &group->gang;
	struct victim_unit unit = {.group = number,
	                           .tree = -1,
	                           .pods = arena_array(index->arena, int, gang->pod_count),
	                           .fresh = true,
	                           .reserved = true,
	                           .of = group,
	                           .priority = group->priority,
	                           .creation = group->creation};
	for (size_t p = 0; p < gang->pod_count; p++) {
		if (gang->pods[p].state != MEMBER_RESERVED)
			continue;
		if (!gang->pods[p].held)
			return;
		unit.pods[unit.pod_count++] = (int)p;
	}
	if (leans_on_reserved(index, gang))
		return;
	cycle_core_of_pods(index->run, group, unit.pods, unit.pod_count, unit.core);
	victims_add(list, &unit, index->arena);
}

/* What the units count for, and that they belong to the present state of their group. */
static void mark_units(const struct victim_index *index, struct victim_unit *units, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct gang *gang = &index->run->cycle->groups[units[i].group].gang;
		units[i].age = index->age[units[i].group];
		for (int k = 0; k < units[i].pod_count; k++)
			cycle_add_pod(index->run, gang->pods[units[i].pods[k]].pod_class, units[i].amounts);
	}
}

static void list_group(struct victim_index *index, int number, struct victim_list *list)
{
	const struct cycle_group *group = &index->run->cycle->groups[number];
	size_t first = list->count;
	if (may_give(group))
		victims_list_group(index->run->cycle, number, group->preempt == CYCLE_PREEMPTIBLE, index->arena, list);
	else if (!group->blocked && has_reserved(group))
		list_reservation(index, number, list);
	if (list->count > first)
		mark_units(index, list->items + first, list->count - first);
	index->alive[number] = list->count - first;
}

/* Drops the units that have gone and puts the added ones, sorted, where they belong. */
static void merge(const struct victim_index *index, struct queue_units *queue, const struct victim_list *added)
{
	struct victim_list *old = &queue->units;
	if (!old->count && !queue->on_heap) {
		*old = *added;
		return;
	}
	struct victim_list all = {.capacity = old->count - queue->dead + added->count};
	all.items = base_malloc(all.capacity * sizeof(*all.items));
	size_t a = 0;
	for (size_t i = 0; i < old->count; i++) {
		if (!is_there(index, &old->items[i]))
			continue;
		while (a < added->count && victims_compare(&added->items[a], &old->items[i]) < 0)
			all.items[all.count++] = added->items[a++];
		all.items[all.count++] = old->items[i];
	}
	while (a < added->count)
		all.items[all.count++] = added->items[a++];
	if (queue->on_heap)
		free(old->items);
	*old = all;
	queue->on_heap = true;
	queue->dead = queue->first = 0;
}

/* The list of the queue, brought up to date. */
static const struct victim_list *list_units(struct victim_index *index, int number)
{
	struct queue_units *queue = &index->queues[number + 1];
	struct victim_list added = {0};
	if (!queue->listed) {
		added.capacity = queue->group_count; /* mostly one unit each */
		added.items = arena_alloc_raw(index->arena, added.capacity * sizeof(*added.items));
	}
	for (size_t i = 0; !queue->listed && i < queue->group_count; i++)
		list_group(index, queue->groups[i], &added);
	for (size_t i = 0; i < queue->changed.count; i++) /* one that changed twice stands there twice */
		if (!index->alive[queue->changed.items[i]])
			list_group(index, queue->changed.items[i], &added);
	queue->listed = true;
	queue->changed.count = 0;
	victims_sort(&added);
	if (added.count || queue->dead > queue->units.count / 2)
		merge(index, queue, &added);
	return &queue->units;
}

const struct victim_unit *victim_index_next_unit(struct victim_index *index, int number, size_t *at)
{
	struct queue_units *queue = &index->queues[number + 1];
	if (!queue->listed || queue->changed.count)
		list_units(index, number);
	const struct victim_list *units = &queue->units;
	bool front = *at <= queue->first;
	size_t i = front ? queue->first : *at;
	while (i < units->count && !is_there(index, &units->items[i]))
		i++;
	if (front)
		queue->first = i;
	*at = i + 1;
	return i < units->count ? &units->items[i] : NULL;
}

/* ---- the order of queues ---- */

static const struct victim_unit *cheapest(struct victim_index *index, int queue)
{
	size_t at = 0;
	return victim_index_next_unit(index, queue, &at);
}

/* Where in the order a queue with this cheapest unit belongs. */
static size_t find_rank(struct victim_index *index, const struct victim_unit *unit)
{
	size_t low = 0, high = index->order_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (victims_compare(cheapest(index, index->order[middle]), unit) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const int *victim_index_list_queues(struct victim_index *index, size_t *count)
{
	size_t kept = 0;
	for (size_t i = 0; index->unranked.count && i < index->order_count; i++)
		if (index->queues[index->order[i] + 1].ranked)
			index->order[kept++] = index->order[i];
	index->order_count = index->unranked.count ? kept : index->order_count;
	for (size_t i = 0; i < index->unranked.count; i++) {
		int queue = index->unranked.items[i];
		const struct victim_unit *unit = cheapest(index, queue);
		index->queues[queue + 1].ranked = true;
		if (!unit)
			continue;
		size_t rank = find_rank(index, unit);
		memmove(&index->order[rank + 1], &index->order[rank], (index->order_count - rank) * sizeof(int));
		index->order[rank] = queue;
		index->order_count++;
	}
	index->unranked.count = 0;
	*count = index->order_count;
	return index->order;
}

size_t victim_index_count_units(struct victim_index *index, int queue)
{
	return list_units(index, queue)->count - index->queues[queue + 1].dead;
}

/* Consolidation moves pods one by one: nothing is lost, so minimums do not matter. But a move is an eviction too: the
 * core of a semi-preemptible gang stays where it is, and so does what runs of a gang below its minimum, because the pod that
 * comes in place of the moved one is not started there. */
static void list_pods_of(struct victim_index *index, int number)
{
	const struct cycle_group *group = &index->run->cycle->groups[number];
	const struct gang *gang = &group->gang;
	bool fresh = true, *core = arena_array(index->arena, bool, gang->pod_count);
	if (!gang_root_satisfied(gang) || group->disruption == CYCLE_DISRUPT_WHOLE)
		return;
	if (group->preempt == CYCLE_SEMI_PREEMPTIBLE)
		victims_mark_core(gang, core);
	for (size_t p = gang->pod_count; p-- > 0;) {
		if (gang->pods[p].state != MEMBER_RUNNING || core[p])
			continue;
		fresh &= !group->was_running[p];
		struct victim_unit unit = {.group = number,
		                           .sequence = (int)(gang->pod_count - p),
		                           .tree = -1,
		                           .pods = arena_array(index->arena, int, 1),
		                           .pod_count = 1,
		                           .fresh = fresh,
		                           .of = group,
		                           .priority = group->priority,
		                           .creation = group->creation};
		unit.pods[0] = (int)p;
		vec_push(&index->pods, unit);
	}
}

const struct victim_list *victim_index_list_pods(struct victim_index *index)
{
	const struct cycle *cycle = index->run->cycle;
	if (index->pods_listed)
		return &index->pods;
	index->pods.count = 0;
	for (size_t g = 0; g < cycle->group_count; g++)
		if (may_give(&cycle->groups[g]))
			list_pods_of(index, (int)g);
	mark_units(index, index->pods.items, index->pods.count);
	victims_sort(&index->pods);
	index->pods_listed = true;
	return &index->pods;
}
