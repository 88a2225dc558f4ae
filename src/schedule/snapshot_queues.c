/* Owns the queues of the snapshot: what they say, the tree they form, and the pools of nodes that each of them divides. */
#include "schedule/snapshot_build.h"
#include "schedule/usage.h"

#include "admit/queue.h"
#include "admit/shard.h"

#include <stdlib.h>
#include <string.h>

/* ---- pools ---- */

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char *pool_of_node(const struct snapshot_build *build, const struct node_spec *node)
{
	const char *pool = labels_get(&node->labels, settings_pool_label(build->settings));
	return pool && *pool ? pool : NULL;
}

/* Those that have nodes or queues, and that of the nodes without the label; only the one that is served, where there is
 * one. */
static void list_pools(struct snapshot_build *build, size_t queue_count)
{
	struct cycle *cycle = &build->snapshot->cycle;
	const char **names = arena_array(build->arena, const char *, build->node_count + queue_count);
	size_t count = 0;
	cycle->pools = arena_array(build->arena, struct cycle_pool, build->node_count + queue_count + 1);
	cycle->pool_count = 1;
	if (!build_serves_all(build)) {
		cycle->pools[0].name = *build->settings->node_pool ? build->settings->node_pool : NULL;
		return;
	}
	for (size_t n = 0; n < build->node_count; n++) {
		const char *name = pool_of_node(build, &build->nodes[n]);
		if (name && (!count || strcmp(names[count - 1], name) != 0))
			names[count++] = name;
	}
	for (size_t q = 0; q < queue_count; q++)
		if (build->queue_pools[q] && *build->queue_pools[q])
			names[count++] = build->queue_pools[q];
	if (count > 1)
		qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			cycle->pools[cycle->pool_count++].name = arena_strdup(build->arena, names[i]);
}

bool build_knows_pool(const struct snapshot_build *build, const struct node_spec *node)
{
	return cycle_find_pool(&build->snapshot->cycle, pool_of_node(build, node)) >= 0;
}

/* ---- the tree ---- */

/* Parents by name; a parent that is missing or that leads back to the queue itself is cut, because the engine walks
 * upwards. The verdict on the queue says so. */
static void link_queues(struct snapshot_build *build, const struct queue_spec *specs)
{
	struct cycle *cycle = &build->snapshot->cycle;
	for (size_t i = 0; i < cycle->queue_count && !build->settings->ignore_parent_queues; i++) {
		if (!specs[i].parent)
			continue;
		uint32_t parent = interner_find(build->queue_names, specs[i].parent);
		if (parent == UINT32_MAX) {
			cycle->queues[i].closed =
				arena_printf(build->arena, "the parent of queue %s, queue %s, does not exist",
			                     specs[i].name, specs[i].parent);
			continue;
		}
		cycle->queues[i].parent = (int)parent;
		if (!cycle->queues[parent].closed)
			cycle->queues[parent].closed =
				arena_printf(build->arena,
			                     "queue %s has queues below it, such as %s: only those take pods",
			                     specs[parent].name, specs[i].name);
	}
	/* Each walk marks its way with its own number, so every queue is visited about once over all walks. */
	size_t *walked = arena_array(build->arena, size_t, cycle->queue_count);
	for (size_t i = 0; i < cycle->queue_count; i++) {
		size_t mark = i + 1;
		int at = (int)i;
		while (at >= 0 && walked[at] == 0) {
			walked[at] = mark;
			int parent = cycle->queues[at].parent;
			if (parent >= 0 && walked[parent] == mark) {
				cycle->queues[at].parent = -1;
				break;
			}
			at = parent;
		}
	}
}

/* Where queues need a pool, one that names none has that of the nodes without the label. */
static const char *pool_of_queue(const struct snapshot_build *build, const struct val *object)
{
	const char *pool = build_pool(build, object);
	return pool || !build->settings->queues_need_pool ? pool : "";
}

static const char *name_pool(const struct snapshot_build *build, const char *pool)
{
	return *pool ? arena_printf(build->arena, "one of node pool %s", pool) : "in no node pool";
}

/* A queue that may be in any pool is in that of its parents, if they have one. */
static void inherit_pools(struct snapshot_build *build, size_t queue_count)
{
	struct cycle *cycle = &build->snapshot->cycle;
	const char **own = arena_array(build->arena, const char *, queue_count);
	memcpy(own, build->queue_pools, queue_count * sizeof(*own));
	for (size_t q = 0; q < queue_count; q++)
		for (int up = cycle->queues[q].parent; up >= 0; up = cycle->queues[up].parent) {
			if (!own[up])
				continue;
			if (own[q] && strcmp(own[q], own[up]) != 0 && !cycle->queues[q].closed)
				cycle->queues[q].closed =
					arena_printf(build->arena, "queue %s is %s, and queue %s above it %s",
				                     cycle->queues[q].name, name_pool(build, own[q]),
				                     cycle->queues[up].name, name_pool(build, own[up]));
			build->queue_pools[q] = own[up];
		}
}

/* Rows for the other pools that a queue serves stand behind the first rows of all queues. */
static void add_rows(struct snapshot_build *build, size_t queue_count)
{
	struct cycle *cycle = &build->snapshot->cycle;
	struct cycle_queue *rows = arena_array(build->arena, struct cycle_queue, queue_count * cycle->pool_count);
	build->queue_rows = arena_array(build->arena, int, queue_count * cycle->pool_count);
	memcpy(rows, cycle->queues, queue_count * sizeof(*rows));
	cycle->queues = rows;
	for (size_t p = 0; p < cycle->pool_count; p++)
		for (size_t q = 0; q < queue_count; q++) {
			const char *only = build->queue_pools[q];
			int pool = only ? cycle_find_pool(cycle, *only ? only : NULL) : (int)p;
			int *row = &build->queue_rows[p * queue_count + q];
			*row = -1;
			if (pool != (int)p)
				continue;
			*row = p == 0 || only ? (int)q : (int)cycle->queue_count++;
			rows[*row] = rows[q];
			rows[*row].pool = pool;
			rows[*row].pool_name = cycle->pools[pool].name;
		}
}

/* The parent of each row is in its pool. Last, because it takes the place of the parents of the first rows. */
static void link_rows(struct snapshot_build *build, size_t queue_count)
{
	struct cycle *cycle = &build->snapshot->cycle;
	int *parents = arena_array(build->arena, int, queue_count);
	for (size_t q = 0; q < queue_count; q++) {
		cycle->queues[q].first = (int)q;
		parents[q] = cycle->queues[q].parent;
	}
	for (size_t p = 0; p < cycle->pool_count; p++)
		for (size_t q = 0; q < queue_count; q++) {
			int row = build->queue_rows[p * queue_count + q];
			if (row < 0)
				continue;
			cycle->queues[row].first = (int)q;
			cycle->queues[row].parent =
				parents[q] < 0 ? -1 : build->queue_rows[p * queue_count + (size_t)parents[q]];
		}
}

/* What the shard of the pool says where the queue, or none above it, does. */
static void apply_shard(struct cycle_queue *queue, const struct shard_spec *shard)
{
	if (shard->ignore_parents) {
		queue->parent = -1;
		queue->closed = NULL;
	}
	queue->has_past_factor = shard->factor >= 0;
	queue->past_factor = shard->factor;
	if (queue->parent >= 0)
		return;
	if (shard->has_preempt_runtime && !queue->has_runtime[0])
		queue->preempt_runtime = shard->preempt_runtime_ns;
	if (shard->has_reclaim_runtime && !queue->has_runtime[1])
		queue->reclaim_runtime = shard->reclaim_runtime_ns;
	queue->has_runtime[0] |= shard->has_preempt_runtime;
	queue->has_runtime[1] |= shard->has_reclaim_runtime;
}

static void apply_shards(struct snapshot_build *build)
{
	struct cycle *cycle = &build->snapshot->cycle;
	for (size_t q = 0; q < cycle->queue_count; q++) {
		const struct shard_spec *shard = build_shard(build, cycle->queues[q].pool_name);
		if (shard)
			apply_shard(&cycle->queues[q], shard);
	}
}

int build_queue_row(const struct snapshot_build *build, int queue, const char *pool)
{
	size_t queue_count = build->no_queues ? 1 : interner_count(build->queue_names);
	int number = cycle_find_pool(&build->snapshot->cycle, pool && *pool ? pool : NULL);
	return number < 0 ? -1 : build->queue_rows[(size_t)number * queue_count + (size_t)queue];
}

static struct cycle_queue unlimited_queue(const char *name)
{
	struct cycle_queue queue = {.name = name, .parent = -1, .priority = 100};
	for (int resource = 0; resource < CYCLE_RESOURCES; resource++) {
		queue.quota[resource] = queue.limit[resource] = -1;
		queue.weight[resource] = 1000;
	}
	return queue;
}

void build_usage(struct snapshot_build *build)
{
	struct cycle *cycle = &build->snapshot->cycle;
	const struct build_slice *slice = &build->kinds[KIND_QUEUE];
	struct usage *usage = usage_of_settings(build->settings, cycle->now);
	for (size_t i = 0; i < slice->count && usage; i++) {
		const struct val *object = slice->items[i]->object;
		const char *text = val_str(val_path(object, "metadata", "annotations", PAST_USAGE, NULL), NULL);
		uint32_t number = interner_find(build->queue_names, slice->items[i]->name);
		if (!text || number == UINT32_MAX)
			continue;
		int queue = usage_queue(usage, slice->items[i]->name);
		if (usage_read(usage, queue, text) < 0)
			build_warn(build, "queue %s: its annotation %s is not one that Platoon wrote, and is not read",
			           slice->items[i]->name, PAST_USAGE);
		usage_get(usage, queue, cycle->queues[number].used);
	}
	for (size_t q = 0; q < cycle->queue_count && usage; q++)
		memcpy(cycle->queues[q].used, cycle->queues[cycle->queues[q].first].used,
		       sizeof(cycle->queues[q].used));
	usage_destroy(usage);
}

void build_queues(struct snapshot_build *build)
{
	_Static_assert((int)QUEUE_GPU == (int)CYCLE_GPU && (int)QUEUE_CPU == (int)CYCLE_CPU &&
	                       (int)QUEUE_MEMORY == (int)CYCLE_MEMORY,
	               "the resources of queues are numbered alike in both layers");
	struct cycle *cycle = &build->snapshot->cycle;
	const struct build_slice *slice = &build->kinds[KIND_QUEUE];
	struct queue_spec *specs = arena_array(build->arena, struct queue_spec, slice->count);
	cycle->queues = arena_array(build->arena, struct cycle_queue, slice->count + 1);
	build->queue_pools = arena_array(build->arena, const char *, slice->count + 1);
	for (size_t i = 0; i < slice->count; i++) {
		struct problems ignored = {.arena = build->arena};
		struct queue_spec *spec = &specs[cycle->queue_count];
		build_judge(build, slice->items[i], build->arena);
		int rc = queue_decode(slice->items[i]->object, build->arena, spec, &ignored);
		if (rc < 0 || !build_new_name(build->queue_names, spec->name))
			continue;
		build->queue_pools[cycle->queue_count] = pool_of_queue(build, slice->items[i]->object);
		struct cycle_queue *queue = &cycle->queues[cycle->queue_count++];
		*queue = (struct cycle_queue){.name = spec->name,
		                              .parent = -1,
		                              .priority = spec->priority,
		                              .preempt_runtime = spec->preempt_runtime_ns,
		                              .reclaim_runtime = spec->reclaim_runtime_ns,
		                              .has_runtime = {spec->has_preempt_runtime, spec->has_reclaim_runtime}};
		for (int resource = 0; resource < CYCLE_RESOURCES; resource++) {
			queue->quota[resource] = spec->share[resource].quota;
			queue->limit[resource] = spec->share[resource].limit;
			queue->weight[resource] = spec->share[resource].weight;
		}
	}
	link_queues(build, specs);
	build->no_queues = slice->count == 0;
	if (build->no_queues)
		cycle->queues[cycle->queue_count++] = unlimited_queue(build->default_queue);
	size_t queue_count = cycle->queue_count;
	inherit_pools(build, queue_count);
	list_pools(build, queue_count);
	add_rows(build, queue_count);
	link_rows(build, queue_count);
	apply_shards(build);
}
