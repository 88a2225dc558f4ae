/* Makes a failing instance smaller: removes pods, nodes, tree nodes and rules, and lowers numbers, one at a time,
 * until no single change keeps the failure. */
#include "shrink.h"

#include "rules.h"

#include <string.h>

#define remove_at(array, count, at)                                                                                    \
	do {                                                                                                           \
		memmove(&(array)[at], &(array)[(at) + 1], (size_t)((count) - (at)-1) * sizeof((array)[0]));            \
		(count)--;                                                                                             \
	} while (0)

static bool remove_pod(struct instance *instance, int at)
{
	if (at >= instance->pod_count || instance->pod_count == 1)
		return false;
	struct w_tree *leaf = &instance->tree[instance->pods[at].leaf];
	int pods = 0;
	for (int pod = 0; pod < instance->pod_count; pod++)
		pods += instance->pods[pod].leaf == instance->pods[at].leaf;
	if (leaf->minimum == pods)
		leaf->minimum--;
	remove_at(instance->pods, instance->pod_count, at);
	return true;
}

static bool remove_other(struct instance *instance, int at)
{
	if (at >= instance->other_count)
		return false;
	remove_at(instance->others, instance->other_count, at);
	return true;
}

static bool remove_node(struct instance *instance, int at)
{
	if (at >= instance->node_count || instance->node_count == 1)
		return false;
	for (int i = 0; i < instance->other_count; i++)
		if (instance->others[i].node == at)
			return false;
	for (int i = 0; i < instance->pod_count; i++)
		if (instance->pods[i].node == at || instance->pods[i].nominated == at)
			return false;
	remove_at(instance->nodes, instance->node_count, at);
	for (int i = 0; i < instance->node_count; i++)
		instance->nodes[i].label[KEY_HOST] = i;
	for (int i = 0; i < instance->other_count; i++)
		instance->others[i].node -= instance->others[i].node > at;
	for (int i = 0; i < instance->pod_count; i++) {
		instance->pods[i].node -= instance->pods[i].node > at;
		instance->pods[i].nominated -= instance->pods[i].nominated > at;
	}
	return true;
}

static void renumber_tree(struct instance *instance, int removed)
{
	remove_at(instance->tree, instance->tree_count, removed);
	for (int i = 0; i < instance->tree_count; i++)
		instance->tree[i].parent -= instance->tree[i].parent > removed;
	for (int i = 0; i < instance->pod_count; i++)
		instance->pods[i].leaf -= instance->pods[i].leaf > removed;
}

/* An empty leaf goes; the last child of a parent hands its place to the parent. */
static bool remove_tree_node(struct instance *instance, int at)
{
	if (at <= 0 || at >= instance->tree_count || instance_child_count(instance, at) > 0)
		return false;
	int parent = instance->tree[at].parent;
	if (instance_child_count(instance, parent) == 1) {
		for (int i = 0; i < instance->pod_count; i++)
			if (instance->pods[i].leaf == at)
				instance->pods[i].leaf = parent;
		struct w_tree *above = &instance->tree[parent];
		above->minimum = instance->tree[at].minimum;
		if (above->required.topology < 0)
			above->required = instance->tree[at].required;
		if (above->preferred.topology < 0)
			above->preferred = instance->tree[at].preferred;
		renumber_tree(instance, at);
		return true;
	}
	for (int i = 0; i < instance->pod_count; i++)
		if (instance->pods[i].leaf == at)
			return false;
	if (instance->tree[parent].minimum == instance_child_count(instance, parent))
		instance->tree[parent].minimum--;
	renumber_tree(instance, at);
	return true;
}

static bool clear_level(struct instance *instance, int at)
{
	if (at >= instance->tree_count * 2)
		return false;
	struct w_tree *node = &instance->tree[at / 2];
	struct w_level *level = at % 2 ? &node->preferred : &node->required;
	if (level->topology < 0)
		return false;
	*level = W_NO_LEVEL;
	return true;
}

/* Both say whether they changed anything: a change that is none must not be tried for ever. */
static bool set(int *field, int value)
{
	bool changed = *field != value;
	*field = value;
	return changed;
}

static bool clear(bool *flag)
{
	bool changed = *flag;
	*flag = false;
	return changed;
}

static bool simplify_pod_class(struct instance *instance, int at)
{
	enum { SIMPLIFICATIONS = 9 };
	if (at >= instance->pod_class_count * SIMPLIFICATIONS)
		return false;
	struct w_pod_class *pod_class = &instance->pod_classes[at / SIMPLIFICATIONS];
	switch (at % SIMPLIFICATIONS) {
	case 0:
		return set(&pod_class->affinity.key, KEY_NONE);
	case 1:
		return set(&pod_class->anti.key, KEY_NONE);
	case 2:
		return set(&pod_class->spread.key, KEY_NONE);
	case 3:
		return set(&pod_class->port, -1);
	case 4:
		return set(&pod_class->app, -1);
	case 5:
		return set(&pod_class->colour, -1);
	case 6:
		return set(&pod_class->spread.min_domains, 0);
	case 7:
		return clear(&pod_class->spread.ignore_node_affinity) || clear(&pod_class->spread.honor_taints);
	default:
		return clear(&pod_class->tolerates);
	}
}

static bool simplify_node(struct instance *instance, int at)
{
	enum { SIMPLIFICATIONS = 5 };
	if (at >= instance->node_count * SIMPLIFICATIONS)
		return false;
	struct w_node *node = &instance->nodes[at / SIMPLIFICATIONS];
	switch (at % SIMPLIFICATIONS) {
	case 0:
		return clear(&node->unschedulable);
	case 1:
		return clear(&node->tainted);
	case 2:
		return clear(&node->not_ready);
	case 3:
		return set(&node->colour, -1);
	default:
		return set(&node->pods, 110);
	}
}

static bool simplify_pod(struct instance *instance, int at)
{
	if (at >= instance->pod_count * 2)
		return false;
	struct w_pod *pod = &instance->pods[at / 2];
	if (at % 2)
		return set(&pod->nominated, -1);
	if (pod->state == W_WAITING)
		return set(&pod->node, -1);
	pod->state = W_WAITING;
	pod->node = -1;
	return true;
}

static bool lower_number(struct instance *instance, int at)
{
	int nodes = instance->node_count * INSTANCE_RESOURCES,
	    pod_classes = instance->pod_class_count * INSTANCE_RESOURCES;
	int *number;
	if (at < nodes)
		number = &instance->nodes[at / INSTANCE_RESOURCES].capacity[at % INSTANCE_RESOURCES];
	else if (at < nodes + pod_classes)
		number = &instance->pod_classes[(at - nodes) / INSTANCE_RESOURCES]
		                  .request[(at - nodes) % INSTANCE_RESOURCES];
	else if (at < nodes + pod_classes + instance->tree_count)
		number = &instance->tree[at - nodes - pod_classes].minimum;
	else
		return false;
	if (*number == 0)
		return false;
	--*number;
	return true;
}

static bool drop_column(struct instance *instance, int at)
{
	if (at >= 1 || instance->resource_count == 1)
		return false;
	instance->resource_count--;
	return true;
}

static bool drop_topology(struct instance *instance, int at)
{
	int last = instance->topology_count - 1;
	if (at >= 1 || last < 0)
		return false;
	for (int i = 0; i < instance->tree_count; i++)
		if (instance->tree[i].required.topology == last || instance->tree[i].preferred.topology == last)
			return false;
	instance->topology_count--;
	return true;
}

static bool clear_flag(struct instance *instance, int at)
{
	bool *flag = at == 0 ? &instance->warm_up : at == 1 ? &instance->use_releasing : &instance->depth_first;
	return at <= 2 && clear(flag);
}

/* A change must not lead into worlds the generator never makes: full nodes over-committed, or a preferred level that
 * is not at or below the required one. */
static bool is_sane(const struct instance *instance)
{
	struct positions positions;
	positions_begin(&positions, instance);
	for (int node = 0; node < instance->node_count; node++) {
		if (rules_used(&positions, node, INSTANCE_RESOURCES, true) > instance->nodes[node].pods)
			return false;
		for (int r = 0; r < instance->resource_count; r++)
			if (rules_used(&positions, node, r, true) > instance->nodes[node].capacity[r])
				return false;
	}
	for (int i = 0; i < instance->tree_count; i++) {
		struct w_level required = instance->tree[i].required, preferred = instance->tree[i].preferred;
		if (required.topology >= 0 && preferred.topology >= 0 &&
		    (required.topology != preferred.topology || preferred.level < required.level))
			return false;
	}
	return true;
}

void shrink_instance(struct instance *instance, bool (*still_fails)(const struct instance *, void *), void *context)
{
	static bool (*const changes[])(struct instance *, int) = {remove_pod,       remove_other, remove_node,
	                                                          remove_tree_node, clear_level,  clear_flag,
	                                                          drop_topology,    drop_column,  simplify_pod_class,
	                                                          simplify_node,    simplify_pod, lower_number};
	enum { LARGEST = 128 };
	bool changed = true;
	for (int round = 0; changed && round < 20; round++) {
		changed = false;
		for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
			for (int at = 0; at < LARGEST; at++) {
				struct instance candidate = *instance;
				while (changes[i](&candidate, at) && is_sane(&candidate) &&
				       still_fails(&candidate, context)) {
					*instance = candidate;
					changed = true;
				}
			}
	}
}
