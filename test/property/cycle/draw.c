/* Random cases. Most clusters are nearly full, and most queues use more or less than their share, so that somebody has
 * a reason to make room. */
#include "case.h"

#include "../random.h"

#include <string.h>

struct style { /* what a case contains; drawn once per case */
	bool levels, required, trees, rules, second_resource, limits, deep_queues, gated, stale, delays, one_queue;
	int fill;     /* percent of the groups that try to run at the beginning */
	int capacity; /* GPUs per node at most */
};

static struct style draw_style(struct random *random)
{
	return (struct style){
		.levels = random_chance(random, 60),
		.required = random_chance(random, 60),
		.trees = random_chance(random, 45),
		.rules = random_chance(random, 15),
		.second_resource = random_chance(random, 25),
		.limits = random_chance(random, 40),
		.deep_queues = random_chance(random, 40),
		.gated = random_chance(random, 10),
		.stale = random_chance(random, 20),
		.delays = random_chance(random, 15),
		.one_queue = random_chance(random, 20),
		.fill = random_range(random, 40, 90),
		.capacity = random_chance(random, 50) ? 4 : 8,
	};
}

/* ---- the cluster ---- */

static void draw_nodes(struct random *random, struct instance *base, const struct style *style)
{
	base->node_count = random_range(random, 2, INSTANCE_NODES);
	base->topology_count = style->levels;
	base->topologies[0].level_count = random_range(random, 1, 2);
	int per_rack = random_range(random, 1, 3), racks_per_block = random_range(random, 1, 2);
	bool even = random_chance(random, 50);
	for (int i = 0; i < base->node_count; i++) {
		struct w_node *node = &base->nodes[i];
		memset(node->label, -1, sizeof(node->label));
		node->label[KEY_HOST] = i;
		if (style->levels && base->topologies[0].level_count == 2)
			node->label[1] = i / per_rack / racks_per_block;
		if (style->levels)
			node->label[base->topologies[0].level_count] = i / per_rack;
		if (style->levels && random_chance(random, 3))
			node->label[1] = -1;
		node->capacity[0] = even ? style->capacity : random_range(random, 1, style->capacity);
		node->capacity[1] = random_range(random, 2, 8);
		node->pods = random_chance(random, 5) ? random_range(random, 1, 4) : 110;
		node->colour = random_chance(random, 20) ? random_range(random, 0, 1) : -1;
		node->unschedulable = random_chance(random, 2);
	}
}

static void draw_pod_classes(struct random *random, struct instance *base, const struct style *style)
{
	base->resource_count = style->second_resource ? 2 : 1;
	base->pod_class_count = random_range(random, 1, 4);
	for (int i = 0; i < base->pod_class_count; i++) {
		struct w_pod_class *pod_class = &base->pod_classes[i];
		*pod_class = (struct w_pod_class){.colour = -1,
		                                  .app = -1,
		                                  .port = -1,
		                                  .affinity.key = KEY_NONE,
		                                  .anti.key = KEY_NONE,
		                                  .spread.key = KEY_NONE};
		pod_class->request[0] = random_chance(random, 60) ? 1 : random_range(random, 1, style->capacity);
		if (style->second_resource)
			pod_class->request[1] = random_range(random, 0, 2);
		if (!style->rules)
			continue;
		pod_class->app = random_range(random, -1, 1);
		if (random_chance(random, 25))
			pod_class->colour = random_range(random, 0, 1);
		if (random_chance(random, 25))
			pod_class->port = random_range(random, 0, 1);
		if (random_chance(random, 40))
			pod_class->anti = (struct w_term){random_chance(random, 70) || !style->levels ? KEY_HOST : 1,
			                                  random_range(random, 0, 1)};
	}
}

/* ---- queues ---- */

static void draw_queues(struct random *random, struct cycle_case *world, const struct style *style, int gpus)
{
	int tops = style->one_queue ? 1 : random_range(random, 1, 3);
	world->queue_count = tops;
	for (int q = 0; q < tops; q++)
		world->queues[q].parent = -1;
	while (style->deep_queues && world->queue_count < CASE_QUEUES && random_chance(random, 75)) {
		int q = world->queue_count++;
		world->queues[q].parent = random_range(random, 0, q - 1);
	}
	for (int q = 0; q < world->queue_count; q++) {
		struct c_queue *queue = &world->queues[q];
		queue->priority = random_chance(random, 75) ? 100 : random_range(random, 99, 101);
		for (int r = 0; r < INSTANCE_RESOURCES; r++) {
			bool counts = r == 0 || (r == 1 && random_chance(random, 30));
			queue->quota[r] = !counts                     ? -1
			                  : random_chance(random, 15) ? -1
			                  : random_chance(random, 20) ? 0
			                                              : random_range(random, 1, gpus / tops + 1);
			queue->limit[r] = counts && style->limits && random_chance(random, 40)
			                          ? random_range(random, 1, gpus > 0 ? gpus : 1)
			                          : -1;
			queue->weight[r] = random_chance(random, 80) ? 1 : random_range(random, 0, 3);
		}
	}
}

static bool is_leaf_queue(const struct cycle_case *world, int queue)
{
	for (int q = 0; q < world->queue_count; q++)
		if (world->queues[q].parent == queue)
			return false;
	return true;
}

/* ---- groups ---- */

static struct w_level draw_level(struct random *random, const struct instance *base)
{
	return (struct w_level){0, random_range(random, 0, base->topologies[0].level_count - 1)};
}

static int add_tree_node(struct random *random, const struct instance *base, struct c_group *group, int parent,
                         const struct style *style)
{
	int number = group->tree_count++;
	struct w_tree *node = &group->tree[number];
	*node = (struct w_tree){.parent = parent, .required = W_NO_LEVEL, .preferred = W_NO_LEVEL};
	if (base->topology_count && style->required && random_chance(random, 35))
		node->required = draw_level(random, base);
	if (base->topology_count && random_chance(random, 15)) {
		node->preferred = draw_level(random, base);
		if (node->required.topology >= 0 && node->preferred.level < node->required.level)
			node->preferred = node->required;
	}
	return number;
}

/* In preorder: children right behind their parent. */
static void draw_subtree(struct random *random, const struct instance *base, struct c_group *group, int parent,
                         int depth, const struct style *style)
{
	int self = add_tree_node(random, base, group, parent, style);
	if (!style->trees || depth == 2 || !random_chance(random, depth == 0 ? 60 : 20))
		return;
	int children = random_range(random, 1, 3);
	for (int i = 0; i < children && group->tree_count < INSTANCE_TREE; i++)
		draw_subtree(random, base, group, self, depth + 1, style);
}

static bool is_leaf(const struct c_group *group, int node)
{
	for (int i = node + 1; i < group->tree_count; i++)
		if (group->tree[i].parent == node)
			return false;
	return true;
}

static void draw_pods(struct random *random, const struct instance *base, struct c_group *group,
                      const struct style *style)
{
	int leaves = 0, pod_class = random_range(random, 0, base->pod_class_count - 1);
	bool mixed = random_chance(random, 20);
	for (int i = 0; i < group->tree_count; i++)
		leaves += is_leaf(group, i);
	for (int i = 0; i < group->tree_count; i++) {
		if (!is_leaf(group, i))
			continue;
		int pods = random_range(random, random_chance(random, 90), leaves > 3 ? 2 : leaves > 1 ? 3 : 5);
		for (int k = 0; k < pods && group->pod_count < INSTANCE_PODS; k++) {
			bool gated = style->gated && random_chance(random, 20);
			group->pods[group->pod_count++] =
				(struct w_pod){.pod_class = mixed ? random_range(random, 0, base->pod_class_count - 1)
			                                          : pod_class,
			                       .leaf = i,
			                       .node = -1,
			                       .nominated = -1,
			                       .state = gated ? W_GATED : W_WAITING};
		}
	}
}

static void draw_minimums(struct random *random, struct c_group *group)
{
	bool elastic = random_chance(random, 50);
	for (int i = 0; i < group->tree_count; i++) {
		int have = 0;
		for (int k = 0; k < group->tree_count; k++)
			have += group->tree[k].parent == i;
		for (int p = 0; p < group->pod_count; p++)
			have += group->pods[p].leaf == i;
		group->tree[i].minimum = have;
		if (elastic && have > 0 && random_chance(random, 60))
			group->tree[i].minimum = random_range(random, random_chance(random, 85), have);
		if (random_chance(random, 1))
			group->tree[i].minimum++;
	}
}

/* From numbers of their own, so that the rest of a case does not depend on them. */
static void draw_runtimes(struct cycle_case *world, uint64_t seed)
{
	struct random random = {.state = seed ^ UINT64_C(0x72756e74696d6573)};
	bool used = random_chance(&random, 25);
	for (int q = 0; q < world->queue_count; q++) {
		world->queues[q].preempt_runtime = world->queues[q].reclaim_runtime = -1;
		if (used && random_chance(&random, 50))
			world->queues[q].preempt_runtime = random_range(&random, 0, 3) * 100;
		if (used && random_chance(&random, 50))
			world->queues[q].reclaim_runtime = random_range(&random, 0, 3) * 100;
	}
	for (int g = 0; g < world->group_count; g++)
		world->groups[g].age = random_chance(&random, 80) ? random_range(&random, 0, 400) : -1;
}

static void draw_group(struct random *random, struct cycle_case *world, const struct style *style)
{
	static const int priorities[] = {50, 50, 50, 60, 75, 100, 125};
	struct c_group *group = &world->groups[world->group_count++];
	do
		group->queue = random_range(random, 0, world->queue_count - 1);
	while (!is_leaf_queue(world, group->queue) && random_chance(random, 95));
	group->priority = priorities[random_range(random, 0, 6)];
	group->preempt = random_chance(random, 65)   ? C_PREEMPTIBLE
	                 : random_chance(random, 50) ? C_NON_PREEMPTIBLE
	                                             : C_SEMI_PREEMPTIBLE;
	group->grace = random_chance(random, 70) ? 60 : random_range(random, -1, 1);
	if (group->preempt == C_NON_PREEMPTIBLE)
		group->grace = -1;
	group->delay = style->delays && random_chance(random, 40) ? random_range(random, 1, 3) * 100 : 0;
	draw_subtree(random, &world->base, group, -1, 0, style);
	draw_pods(random, &world->base, group, style);
	draw_minimums(random, group);
}

/* ---- what runs ---- */

static bool may_stand(const struct cycle_case *world, const struct c_group *group, int pod, int node)
{
	const struct instance *base = &world->base;
	const struct w_pod_class *pod_class = &base->pod_classes[group->pods[pod].pod_class];
	if (base->nodes[node].unschedulable ||
	    (pod_class->colour >= 0 && base->nodes[node].colour != pod_class->colour))
		return false;
	for (int r = 0; r < base->resource_count; r++)
		if (case_used(world, node, r, true) + pod_class->request[r] > base->nodes[node].capacity[r])
			return false;
	if (case_used(world, node, INSTANCE_RESOURCES, true) >= base->nodes[node].pods)
		return false;
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++) {
			const struct w_pod *other = &world->groups[g].pods[p];
			if (instance_is_member(other) &&
			    !case_tolerate(base, group->pods[pod].pod_class, node, other->pod_class, other->node))
				return false;
		}
	for (int at = group->pods[pod].leaf; at >= 0; at = group->tree[at].parent) {
		struct w_level level = group->tree[at].required;
		if (level.topology < 0)
			continue;
		if (!instance_same_domain(base, level.topology, level.level, node, node))
			return false;
		for (int p = 0; p < group->pod_count; p++) {
			int leaf = group->pods[p].leaf;
			while (leaf > at)
				leaf = group->tree[leaf].parent;
			if (leaf == at && instance_is_member(&group->pods[p]) &&
			    !instance_same_domain(base, level.topology, level.level, node, group->pods[p].node))
				return false;
		}
	}
	return true;
}

static void stop(struct c_group *group, int pod)
{
	group->pods[pod].state = W_WAITING;
	group->pods[pod].node = -1;
}

static void find_satisfied(const struct c_group *group, bool *satisfied)
{
	int members[INSTANCE_TREE] = {0};
	for (int p = 0; p < group->pod_count; p++)
		members[group->pods[p].leaf] += instance_is_member(&group->pods[p]);
	for (int i = group->tree_count; i-- > 0;) {
		satisfied[i] = members[i] >= group->tree[i].minimum;
		if (i > 0)
			members[group->tree[i].parent] += satisfied[i];
	}
}

/* Starts the pods in order, each where it may stand. What does not help the gang is stopped again, as far as the case
 * does not want something broken. */
static void start_group(struct random *random, struct cycle_case *world, struct c_group *group,
                        const struct style *style)
{
	const struct instance *base = &world->base;
	bool satisfied[INSTANCE_TREE], broken = style->stale && random_chance(random, 30);
	bool full = random_chance(random, 70);
	for (int p = 0; p < group->pod_count; p++) {
		int start = random_range(random, 0, base->node_count - 1);
		if (group->pods[p].state != W_WAITING || (!full && random_chance(random, 20)))
			continue;
		for (int i = 0; i < base->node_count; i++) {
			int node = (start + i) % base->node_count;
			if (!may_stand(world, group, p, node))
				continue;
			group->pods[p].state = W_MEMBER_RUNNING;
			group->pods[p].node = node;
			break;
		}
	}
	for (bool changed = !broken; changed;) {
		changed = false;
		find_satisfied(group, satisfied);
		for (int p = 0; p < group->pod_count; p++) {
			bool useful = true;
			for (int at = group->pods[p].leaf; at >= 0; at = group->tree[at].parent)
				useful &= satisfied[at];
			if (useful || !instance_is_member(&group->pods[p]))
				continue;
			stop(group, p);
			changed = true;
		}
	}
}

static void draw_others(struct random *random, struct cycle_case *world)
{
	struct instance *base = &world->base;
	int wanted = random_chance(random, 80) ? 0 : random_range(random, 1, 3);
	for (int i = 0; i < wanted; i++) {
		struct c_group probe = {.pod_count = 1, .tree_count = 1};
		probe.tree[0] = (struct w_tree){.parent = -1, .required = W_NO_LEVEL, .preferred = W_NO_LEVEL};
		probe.pods[0].pod_class = random_range(random, 0, base->pod_class_count - 1);
		int node = random_range(random, 0, base->node_count - 1);
		const struct w_pod_class *pod_class = &base->pod_classes[probe.pods[0].pod_class];
		if (pod_class->port < 0 && pod_class->anti.key == KEY_NONE && pod_class->app < 0 &&
		    may_stand(world, &probe, 0, node))
			base->others[base->other_count++] =
				(struct w_other){.pod_class = probe.pods[0].pod_class,
			                         .node = node,
			                         .occupancy = random_chance(random, 50) ? W_RELEASING : W_RUNNING};
	}
}

void case_generate(uint64_t seed, struct cycle_case *world)
{
	struct random random = {.state = seed * 0x9e6c63d0876a9a47ULL + 0x3c79ac492ba7b653ULL};
	memset(world, 0, sizeof(*world));
	world->base.seed = seed;
	struct style style = draw_style(&random);
	draw_nodes(&random, &world->base, &style);
	draw_pod_classes(&random, &world->base, &style);
	world->base.tree_count = 1;
	world->base.tree[0] = (struct w_tree){.parent = -1, .required = W_NO_LEVEL, .preferred = W_NO_LEVEL};
	int gpus = 0;
	for (int node = 0; node < world->base.node_count; node++)
		gpus += world->base.nodes[node].capacity[0];
	draw_queues(&random, world, &style, gpus);
	draw_others(&random, world);
	world->apart = random_chance(&random, 40);
	world->slow = random_chance(&random, 25);
	world->starved = random_chance(&random, 8);
	int groups = random_range(&random, 2, CASE_GROUPS);
	for (int g = 0; g < groups; g++) {
		draw_group(&random, world, &style);
		if (random_chance(&random, style.fill))
			start_group(&random, world, &world->groups[g], &style);
	}
	draw_runtimes(world, seed);
}
