/* Owns what `top` knows: what runs now, beside what the engine says about the rest. */
#include "cli/top.h"

#include "cli/map.h"

#include <string.h>

#define NODES_WIDTH 40
#define DEEPEST 32 /* levels of queues; more are not shown */

static bool has_node(const struct snapshot_group *about, const struct gang *gang, size_t pod)
{
	return about->ran[pod] && (gang->pods[pod].state == MEMBER_RUNNING || gang->pods[pod].state == MEMBER_RESERVED);
}

static const char *state_of(const struct top_group *group)
{
	if (group->pods > 0 && (int64_t)group->bound >= group->group->minimum)
		return group->bound < group->pods ? "Partial" : "Running";
	if (group->decided->state == GROUP_PLACED || group->decided->state == GROUP_PARTIAL)
		return group->pods > 0 ? "Binding" : "Empty";
	return group->group->state;
}

static void take_group(struct top_picture *picture, const struct plan_group *planned, struct arena *arena)
{
	const struct snapshot *snapshot = picture->plan->snapshot;
	const struct snapshot_group *about = &snapshot->groups[planned->index];
	const struct cycle_group *decided = &snapshot->cycle.groups[planned->index];
	const struct gang *gang = &decided->gang;
	const char **names = arena_array(arena, const char *, gang->pod_count);
	struct top_group *group = &picture->groups[picture->group_count++];
	*group = (struct top_group){.group = planned, .decided = decided, .queue = decided->queue_name};
	for (size_t i = 0; i < gang->pod_count; i++) {
		bool bound = has_node(about, gang, i);
		group->pods += gang->pods[i].state != MEMBER_GONE;
		if (bound)
			names[group->bound++] = cluster_node_name(snapshot->cycle.cluster, gang->pods[i].node);
	}
	group->nodes = output_nodes(arena, names, group->bound, NODES_WIDTH);
	group->state = state_of(group);
	group->pending = group->bound < group->pods || (int64_t)group->bound < planned->minimum;
	picture->waiting += group->pending;
	picture->pods += group->pods;
	picture->bound += group->bound;
}

/* ---- queues ---- */

static void add_queue(struct top_picture *picture, int queue, int depth)
{
	const struct cycle *cycle = &picture->plan->snapshot->cycle;
	picture->queues[picture->queue_count++] = (struct top_queue){.queue = &cycle->queues[queue], .depth = depth};
}

/* The children of each queue as lists, number 0 for those without a parent. */
struct kin {
	int *first, *next; /* -1 ends */
};

static struct kin kin_of(const struct cycle *cycle, struct arena *arena)
{
	struct kin kin = {arena_array(arena, int, cycle->queue_count + 1), arena_array(arena, int, cycle->queue_count)};
	for (size_t q = 0; q <= cycle->queue_count; q++)
		kin.first[q] = -1;
	for (size_t q = cycle->queue_count; q-- > 0;) {
		int *list = &kin.first[cycle->queues[q].parent + 1];
		kin.next[q] = *list;
		*list = (int)q;
	}
	return kin;
}

/* Whether there is something to show: a queue is in every pool, though perhaps with nothing. */
static bool is_used(const struct cycle *cycle, int queue)
{
	const struct cycle_queue *about = &cycle->queues[queue];
	bool used = about->first == queue;
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		used |= about->requested[r] > 0 || about->allocated[r] > 0;
	return used;
}

/* Children below their parents, each level in the order of the cycle. */
static void order_queues(struct top_picture *picture, const struct kin *kin, int parent, int depth)
{
	for (int q = kin->first[parent + 1]; q >= 0 && depth < DEEPEST; q = kin->next[q]) {
		if (!is_used(&picture->plan->snapshot->cycle, q))
			continue;
		add_queue(picture, q, depth);
		order_queues(picture, kin, q, depth + 1);
	}
}

static void count_in_queues(struct top_picture *picture, const struct top_group *group, struct top_queue **by_number)
{
	const struct snapshot *snapshot = picture->plan->snapshot;
	const struct cycle *cycle = &snapshot->cycle;
	const struct gang *gang = &group->decided->gang;
	int64_t used[CYCLE_RESOURCES] = {0}, scale;
	for (int r = 0; r < cluster_resource_count(cycle->cluster); r++) {
		int to = cycle_resource_of(cluster_resource_name(cycle->cluster, r), &scale);
		for (size_t i = 0; i < gang->pod_count && to >= 0; i++)
			if (has_node(&snapshot->groups[group->group->index], gang, i))
				used[to] +=
					cluster_pod_class_request(cycle->cluster, gang->pods[i].pod_class, r) * scale;
	}
	int steps = 0;
	for (int at = group->decided->queue; at >= 0 && steps < DEEPEST; at = cycle->queues[at].parent, steps++) {
		struct top_queue *queue = by_number[at];
		if (!queue)
			continue;
		queue->groups++;
		queue->waiting += group->pending;
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			queue->used[r] += used[r];
	}
}

static void take_queues(struct top_picture *picture, struct arena *arena)
{
	const struct cycle *cycle = &picture->plan->snapshot->cycle;
	struct top_queue **by_number = arena_array(arena, struct top_queue *, cycle->queue_count);
	picture->queues = arena_array(arena, struct top_queue, cycle->queue_count);
	struct kin kin = kin_of(cycle, arena);
	order_queues(picture, &kin, -1, 0);
	for (size_t i = 0; i < picture->queue_count; i++)
		by_number[picture->queues[i].queue - cycle->queues] = &picture->queues[i];
	for (size_t i = 0; i < picture->group_count; i++)
		count_in_queues(picture, &picture->groups[i], by_number);
}

static void take_slots(struct top_picture *picture)
{
	const struct snapshot *snapshot = picture->plan->snapshot;
	const struct cluster *cluster = snapshot->cycle.cluster;
	int resource = map_resource(cluster);
	picture->resource = resource >= 0 ? cluster_resource_name(cluster, resource) : "";
	if (resource < 0)
		return;
	picture->slots = cluster_total(cluster, resource);
	for (size_t g = 0; g < picture->group_count; g++) {
		const struct top_group *group = &picture->groups[g];
		const struct gang *gang = &group->decided->gang;
		for (size_t i = 0; i < gang->pod_count; i++)
			if (has_node(&snapshot->groups[group->group->index], gang, i))
				picture->used += cluster_pod_class_request(cluster, gang->pods[i].pod_class, resource);
	}
	for (size_t p = 0; p < snapshot->pod_count; p++) {
		const struct snapshot_pod *pod = &snapshot->pods[p];
		if (pod->node >= 0 && (pod->group < 0 || pod->member < 0))
			picture->used += cluster_pod_class_request(cluster, pod->pod_class, resource);
	}
}

struct top_picture *top_take(const struct plan *plan, int64_t now_seconds, struct arena *arena)
{
	struct top_picture *picture = arena_new(arena, struct top_picture);
	*picture = (struct top_picture){.plan = plan, .now = now_seconds};
	picture->groups = arena_array(arena, struct top_group, plan->group_count);
	for (size_t i = 0; i < plan->group_count; i++)
		take_group(picture, &plan->groups[plan->order[i]], arena);
	take_queues(picture, arena);
	take_slots(picture);
	return picture;
}

/* ---- as a document ---- */

static struct node *write_group(const struct top_picture *picture, const struct top_group *group, struct build *build)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "namespace", group->group->namespace_);
	build_put_string(build, item, "name", group->group->name);
	build_put_string(build, item, "state", group->state);
	build_put_string(build, item, "queue", group->queue);
	build_put_int(build, item, "priority", group->decided->priority);
	build_put_int(build, item, "bound", (int64_t)group->bound);
	build_put_int(build, item, "pods", (int64_t)group->pods);
	build_put_int(build, item, "minimum", group->group->minimum);
	build_put_bool(build, item, "pending", group->pending);
	build_put_int(build, item, "ageSeconds", picture->now - group->decided->creation);
	build_put(build, item, "reasons", plan_write_reasons(group->group, build));
	return item;
}

static struct node *write_queue(const struct top_queue *queue, bool with_past, struct build *build)
{
	static const char *const names[CYCLE_RESOURCES] = {"gpuMillis", "cpuMillis", "memoryBytes"};
	struct node *item = build_map(build);
	build_put_string(build, item, "name", queue->queue->name);
	build_put_string(build, item, "nodePool", queue->queue->pool_name);
	build_put_int(build, item, "groups", (int64_t)queue->groups);
	build_put_int(build, item, "waiting", (int64_t)queue->waiting);
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		struct node *amounts = build_map(build);
		build_put_int(build, amounts, "used", queue->used[r]);
		build_put_int(build, amounts, "quota", queue->queue->quota[r]);
		build_put_int(build, amounts, "limit", queue->queue->limit[r]);
		build_put_int(build, amounts, "fairShare", queue->queue->fair[r]);
		if (with_past)
			build_put_int(build, amounts, "pastUsePerBillion", queue->queue->used[r]);
		build_put(build, item, names[r], amounts);
	}
	return item;
}

struct node *top_write(const struct top_picture *picture, struct build *build)
{
	const struct cycle *cycle = &picture->plan->snapshot->cycle;
	const struct cluster *cluster = cycle->cluster;
	struct node *root = build_map(build), *groups = build_list(build), *queues = build_list(build);
	build_put_int(build, root, "nodes", cluster_node_count(cluster));
	build_put_string(build, root, "resource", picture->resource);
	build_put_int(build, root, "slots", picture->slots);
	build_put_int(build, root, "used", picture->used);
	build_put_int(build, root, "pods", (int64_t)picture->pods);
	build_put_int(build, root, "bound", (int64_t)picture->bound);
	build_put_int(build, root, "waitingGroups", (int64_t)picture->waiting);
	for (size_t i = 0; i < picture->group_count; i++)
		build_append(build, groups, write_group(picture, &picture->groups[i], build));
	for (size_t i = 0; i < picture->queue_count; i++)
		build_append(build, queues, write_queue(&picture->queues[i], cycle->past_factor > 0, build));
	build_put(build, root, "groups", groups);
	build_put(build, root, "queues", queues);
	return root;
}
