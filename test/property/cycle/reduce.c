/* Removes groups, pods, tree nodes, nodes, queues and rules, and lowers numbers, one at a time, until no single change
 * keeps the failure. */
#include "reduce.h"

#include <string.h>

#define remove_at(array, count, at)                                                                                    \
	do {                                                                                                           \
		memmove(&(array)[at], &(array)[(at) + 1], (size_t)((count) - (at)-1) * sizeof((array)[0]));            \
		(count)--;                                                                                             \
	} while (0)

static bool set(int *field, int value)
{
	bool changed = *field != value;
	*field = value;
	return changed;
}

static bool remove_group(struct cycle_case *world, int at)
{
	if (at >= world->group_count || world->group_count == 1)
		return false;
	remove_at(world->groups, world->group_count, at);
	return true;
}

static bool remove_other(struct cycle_case *world, int at)
{
	if (at >= world->base.other_count)
		return false;
	remove_at(world->base.others, world->base.other_count, at);
	return true;
}

static int pods_in_leaf(const struct c_group *group, int leaf)
{
	int pods = 0;
	for (int p = 0; p < group->pod_count; p++)
		pods += group->pods[p].leaf == leaf;
	return pods;
}

static bool remove_pod(struct cycle_case *world, int at)
{
	if (at >= world->group_count * INSTANCE_PODS)
		return false;
	struct c_group *group = &world->groups[at / INSTANCE_PODS];
	int pod = at % INSTANCE_PODS;
	if (pod >= group->pod_count)
		return false;
	struct w_tree *leaf = &group->tree[group->pods[pod].leaf];
	if (leaf->minimum == pods_in_leaf(group, group->pods[pod].leaf) && leaf->minimum > 0)
		leaf->minimum--;
	remove_at(group->pods, group->pod_count, pod);
	return true;
}

static bool stop_pod(struct cycle_case *world, int at)
{
	if (at >= world->group_count * INSTANCE_PODS)
		return false;
	struct c_group *group = &world->groups[at / INSTANCE_PODS];
	struct w_pod *pod = &group->pods[at % INSTANCE_PODS];
	if (at % INSTANCE_PODS >= group->pod_count || pod->state == W_WAITING)
		return false;
	pod->state = W_WAITING;
	pod->node = -1;
	return true;
}

static int children_of(const struct c_group *group, int node)
{
	int children = 0;
	for (int i = 0; i < group->tree_count; i++)
		children += group->tree[i].parent == node;
	return children;
}

/* A childless, podless node goes; an only leaf hands its pods to its parent. */
static bool remove_tree_node(struct cycle_case *world, int at)
{
	if (at >= world->group_count * INSTANCE_TREE)
		return false;
	struct c_group *group = &world->groups[at / INSTANCE_TREE];
	int node = at % INSTANCE_TREE;
	if (node == 0 || node >= group->tree_count || children_of(group, node) > 0)
		return false;
	struct w_tree *above = &group->tree[group->tree[node].parent];
	if (children_of(group, group->tree[node].parent) == 1) {
		above->minimum = group->tree[node].minimum;
		if (above->required.topology < 0)
			above->required = group->tree[node].required;
		for (int p = 0; p < group->pod_count; p++)
			if (group->pods[p].leaf == node)
				group->pods[p].leaf = group->tree[node].parent;
	} else if (pods_in_leaf(group, node) > 0) {
		return false;
	} else if (above->minimum == children_of(group, group->tree[node].parent)) {
		above->minimum--;
	}
	remove_at(group->tree, group->tree_count, node);
	for (int i = 0; i < group->tree_count; i++)
		group->tree[i].parent -= group->tree[i].parent > node;
	for (int p = 0; p < group->pod_count; p++)
		group->pods[p].leaf -= group->pods[p].leaf > node;
	return true;
}

static bool remove_node(struct cycle_case *world, int at)
{
	struct instance *base = &world->base;
	if (at >= base->node_count || base->node_count == 1 || case_used(world, at, INSTANCE_RESOURCES, true) > 0)
		return false;
	remove_at(base->nodes, base->node_count, at);
	for (int i = 0; i < base->node_count; i++)
		base->nodes[i].label[KEY_HOST] = i;
	for (int i = 0; i < base->other_count; i++)
		base->others[i].node -= base->others[i].node > at;
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++)
			world->groups[g].pods[p].node -= world->groups[g].pods[p].node > at;
	return true;
}

/* The node and everything on it; pods of groups wait instead. */
static bool clear_node(struct cycle_case *world, int at)
{
	if (at >= world->base.node_count || world->base.node_count == 1)
		return false;
	for (int i = world->base.other_count; i-- > 0;)
		if (world->base.others[i].node == at)
			remove_at(world->base.others, world->base.other_count, i);
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++)
			if (world->groups[g].pods[p].node == at)
				stop_pod(world, g * INSTANCE_PODS + p);
	return remove_node(world, at);
}

static bool remove_queue(struct cycle_case *world, int at)
{
	if (at >= world->queue_count || world->queue_count == 1)
		return false;
	for (int g = 0; g < world->group_count; g++)
		if (world->groups[g].queue == at)
			return false;
	for (int q = 0; q < world->queue_count; q++)
		if (world->queues[q].parent == at)
			world->queues[q].parent = world->queues[at].parent;
	remove_at(world->queues, world->queue_count, at);
	for (int q = 0; q < world->queue_count; q++)
		world->queues[q].parent -= world->queues[q].parent > at;
	for (int g = 0; g < world->group_count; g++)
		world->groups[g].queue -= world->groups[g].queue > at;
	return true;
}

static bool simplify_queue(struct cycle_case *world, int at)
{
	enum { SIMPLIFICATIONS = 8 };
	if (at >= world->queue_count * SIMPLIFICATIONS)
		return false;
	struct c_queue *queue = &world->queues[at / SIMPLIFICATIONS];
	switch (at % SIMPLIFICATIONS) {
	case 0:
		return set(&queue->priority, 100);
	case 1:
		return set(&queue->limit[0], -1);
	case 2:
		return set(&queue->limit[1], -1);
	case 3:
		return set(&queue->quota[0], -1);
	case 4:
		return set(&queue->quota[1], -1);
	case 5:
		return set(&queue->preempt_runtime, -1);
	case 6:
		return set(&queue->reclaim_runtime, -1);
	default:
		return set(&queue->weight[0], 1);
	}
}

static bool simplify_group(struct cycle_case *world, int at)
{
	enum { SIMPLIFICATIONS = 7 };
	if (at >= world->group_count * SIMPLIFICATIONS)
		return false;
	struct c_group *group = &world->groups[at / SIMPLIFICATIONS];
	bool changed = false;
	switch (at % SIMPLIFICATIONS) {
	case 0:
		return set(&group->delay, 0);
	case 1:
		return set(&group->grace, group->preempt == C_NON_PREEMPTIBLE ? -1 : 60);
	case 2:
		changed = group->preempt != C_PREEMPTIBLE;
		group->preempt = C_PREEMPTIBLE;
		return changed;
	case 3:
		return set(&group->priority, 50);
	case 4:
		return set(&group->age, -1);
	case 5:
		for (int i = 0; i < group->tree_count; i++) {
			changed |= group->tree[i].preferred.topology >= 0;
			group->tree[i].preferred = W_NO_LEVEL;
		}
		return changed;
	default:
		for (int i = 0; i < group->tree_count; i++) {
			changed |= group->tree[i].required.topology >= 0;
			group->tree[i].required = W_NO_LEVEL;
		}
		return changed;
	}
}

static bool simplify_pod_class(struct cycle_case *world, int at)
{
	enum { SIMPLIFICATIONS = 4 };
	if (at >= world->base.pod_class_count * SIMPLIFICATIONS)
		return false;
	struct w_pod_class *pod_class = &world->base.pod_classes[at / SIMPLIFICATIONS];
	switch (at % SIMPLIFICATIONS) {
	case 0:
		return set(&pod_class->anti.key, KEY_NONE);
	case 1:
		return set(&pod_class->port, -1);
	case 2:
		return set(&pod_class->app, -1);
	default:
		return set(&pod_class->colour, -1);
	}
}

static bool simplify_base(struct cycle_case *world, int at)
{
	struct instance *base = &world->base;
	bool *flags[] = {&world->apart, &world->slow, &world->starved};
	if (at >= base->node_count + 5)
		return false;
	if (at >= base->node_count + 2) {
		bool *flag = flags[at - base->node_count - 2], was = *flag;
		*flag = false;
		return was;
	}
	if (at < base->node_count) {
		bool changed = base->nodes[at].unschedulable;
		changed |= set(&base->nodes[at].pods, 110);
		changed |= set(&base->nodes[at].colour, -1);
		base->nodes[at].unschedulable = false;
		return changed;
	}
	int *count = at == base->node_count ? &base->resource_count : &base->topology_count;
	if (*count == (at == base->node_count))
		return false;
	for (int g = 0; g < world->group_count && count == &base->topology_count; g++)
		for (int i = 0; i < world->groups[g].tree_count; i++)
			if (world->groups[g].tree[i].required.topology >= 0 ||
			    world->groups[g].tree[i].preferred.topology >= 0)
				return false;
	--*count;
	return true;
}

static bool lower_number(struct cycle_case *world, int at)
{
	struct instance *base = &world->base;
	int nodes = base->node_count * 2, pod_classes = base->pod_class_count * 2;
	int *number;
	if (at < nodes) {
		number = &base->nodes[at / 2].capacity[at % 2];
	} else if (at < nodes + pod_classes) {
		number = &base->pod_classes[(at - nodes) / 2].request[(at - nodes) % 2];
	} else if (at < nodes + pod_classes + world->queue_count * 2) {
		struct c_queue *queue = &world->queues[(at - nodes - pod_classes) / 2];
		number = (at - nodes - pod_classes) % 2 ? &queue->quota[0] : &queue->limit[0];
	} else {
		at -= nodes + pod_classes + world->queue_count * 2;
		if (at >= world->group_count * INSTANCE_TREE ||
		    at % INSTANCE_TREE >= world->groups[at / INSTANCE_TREE].tree_count)
			return false;
		number = &world->groups[at / INSTANCE_TREE].tree[at % INSTANCE_TREE].minimum;
	}
	if (*number <= 0)
		return false;
	--*number;
	return true;
}

static bool is_sane(const struct cycle_case *world)
{
	for (int node = 0; node < world->base.node_count; node++) {
		for (int r = 0; r < world->base.resource_count; r++)
			if (case_used(world, node, r, true) > world->base.nodes[node].capacity[r])
				return false;
		if (case_used(world, node, INSTANCE_RESOURCES, true) > world->base.nodes[node].pods)
			return false;
	}
	return true;
}

void case_shrink(void *given, bool (*still_fails)(const void *world, void *context), void *context)
{
	static bool (*const changes[])(struct cycle_case *, int) = {remove_group,   remove_other,       remove_pod,
	                                                            stop_pod,       remove_tree_node,   remove_node,
	                                                            clear_node,     remove_queue,       simplify_group,
	                                                            simplify_queue, simplify_pod_class, simplify_base,
	                                                            lower_number};
	enum { LARGEST = CASE_GROUPS * INSTANCE_TREE + 64, ROUNDS = 12 };
	struct cycle_case *world = given, candidate;
	bool changed = true;
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
			for (int at = 0; at < LARGEST; at++) {
				candidate = *world;
				while (changes[i](&candidate, at) && is_sane(&candidate) &&
				       still_fails(&candidate, context)) {
					*world = candidate;
					changed = true;
				}
			}
	}
}
