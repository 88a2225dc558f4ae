/* The rules of placement: node rules, resources, inter-pod rules, required levels, minimums, preferences. */
#include "rules.h"

#include <string.h>

void positions_begin(struct positions *positions, const struct instance *instance)
{
	memset(positions, 0, sizeof(*positions));
	positions->instance = instance;
	positions->use_releasing = instance->use_releasing;
	for (int pod = 0; pod < INSTANCE_PODS; pod++) {
		positions->node[pod] = -1;
		if (pod < instance->pod_count && instance_is_member(&instance->pods[pod]))
			positions->node[pod] = instance->pods[pod].node;
	}
}

static bool colour_allows(const struct instance *instance, int pod_class, int node)
{
	const struct w_pod_class *wanted = &instance->pod_classes[pod_class];
	if (wanted->colour < 0)
		return true;
	bool equal = instance->nodes[node].colour == wanted->colour;
	return wanted->selection == SELECT_NOT_IN ? !equal : equal;
}

bool rules_node_allows(const struct instance *instance, int pod_class, int node)
{
	const struct w_node *place = &instance->nodes[node];
	if (place->unschedulable || place->not_ready)
		return false;
	if (place->tainted && !instance->pod_classes[pod_class].tolerates)
		return false;
	return colour_allows(instance, pod_class, node);
}

static int request_of(const struct instance *instance, int pod_class, int resource)
{
	return resource == INSTANCE_RESOURCES ? 1 : instance->pod_classes[pod_class].request[resource];
}

int rules_used(const struct positions *positions, int node, int resource, bool count_releasing)
{
	const struct instance *instance = positions->instance;
	int used = 0;
	for (int other = 0; other < instance->other_count; other++)
		if (instance->others[other].node == node &&
		    (count_releasing || instance->others[other].occupancy != W_RELEASING))
			used += request_of(instance, instance->others[other].pod_class, resource);
	for (int pod = 0; pod < instance->pod_count; pod++)
		if (positions->node[pod] == node)
			used += request_of(instance, instance->pods[pod].pod_class, resource);
	return used;
}

static bool resources_fit(const struct positions *positions, int pod, int node)
{
	const struct instance *instance = positions->instance;
	for (int resource = 0; resource <= INSTANCE_RESOURCES; resource++) {
		if (resource >= instance->resource_count && resource < INSTANCE_RESOURCES)
			continue;
		int capacity = resource == INSTANCE_RESOURCES ? instance->nodes[node].pods
		                                              : instance->nodes[node].capacity[resource];
		int request = request_of(instance, instance->pods[pod].pod_class, resource);
		if (request > 0 &&
		    rules_used(positions, node, resource, !positions->use_releasing) + request > capacity)
			return false;
	}
	return true;
}

/* Everything on the cluster that a pod-level rule can see, besides pod `self`. */
struct actor {
	const struct w_pod_class *pod_class;
	int node;
	bool foreign, leaving;
};

static int list_actors(const struct positions *positions, int self, struct actor *actors)
{
	const struct instance *instance = positions->instance;
	int count = 0;
	for (int i = 0; i < instance->other_count; i++) {
		const struct w_other *other = &instance->others[i];
		actors[count++] = (struct actor){.pod_class = &instance->pod_classes[other->pod_class],
		                                 .node = other->node,
		                                 .foreign = other->foreign,
		                                 .leaving = other->occupancy == W_RELEASING};
	}
	for (int pod = 0; pod < instance->pod_count; pod++)
		if (pod != self && positions->node[pod] >= 0)
			actors[count++] =
				(struct actor){.pod_class = &instance->pod_classes[instance->pods[pod].pod_class],
			                       .node = positions->node[pod]};
	return count;
}

static bool same_value(const struct instance *instance, int key, int a, int b)
{
	return instance->nodes[a].label[key] >= 0 && instance->nodes[a].label[key] == instance->nodes[b].label[key];
}

/* Ports of leaving pods are still taken; foreign pods share the ports of the node but not the gang's selectors. */
static bool neighbours_allow(const struct positions *positions, int pod, int node)
{
	const struct instance *instance = positions->instance;
	const struct w_pod_class *self = &instance->pod_classes[instance->pods[pod].pod_class];
	struct actor actors[INSTANCE_OTHERS + INSTANCE_PODS];
	int count = list_actors(positions, pod, actors);
	for (int i = 0; i < count; i++) {
		const struct actor *actor = &actors[i];
		if (self->port >= 0 && actor->pod_class->port == self->port && actor->node == node)
			return false;
		if (actor->foreign || actor->leaving)
			continue;
		if (self->anti.key != KEY_NONE && actor->pod_class->app == self->anti.app &&
		    same_value(instance, self->anti.key, node, actor->node))
			return false;
		if (actor->pod_class->anti.key != KEY_NONE && self->app >= 0 &&
		    actor->pod_class->anti.app == self->app &&
		    same_value(instance, actor->pod_class->anti.key, node, actor->node))
			return false;
	}
	return true;
}

static bool levels_allow(const struct positions *positions, int pod, int node)
{
	const struct instance *instance = positions->instance;
	for (int above = instance->pods[pod].leaf; above >= 0; above = instance->tree[above].parent) {
		struct w_level level = instance->tree[above].required;
		if (level.topology < 0)
			continue;
		if (!instance_same_domain(instance, level.topology, level.level, node, node))
			return false; /* the node has no domain at this level */
		for (int other = 0; other < instance->pod_count; other++)
			if (positions->node[other] >= 0 &&
			    instance_below(instance, instance->pods[other].leaf, above) &&
			    !instance_same_domain(instance, level.topology, level.level, node, positions->node[other]))
				return false;
	}
	return true;
}

bool rules_fits(const struct positions *positions, int pod, int node)
{
	return rules_node_allows(positions->instance, positions->instance->pods[pod].pod_class, node) &&
	       levels_allow(positions, pod, node) && resources_fit(positions, pod, node) &&
	       neighbours_allow(positions, pod, node);
}

static bool affinity_holds(const struct positions *positions, int pod)
{
	const struct instance *instance = positions->instance;
	const struct w_pod_class *self = &instance->pod_classes[instance->pods[pod].pod_class];
	if (self->affinity.key == KEY_NONE)
		return true;
	int node = positions->node[pod];
	if (instance->nodes[node].label[self->affinity.key] < 0)
		return false;
	struct actor actors[INSTANCE_OTHERS + INSTANCE_PODS];
	int count = list_actors(positions, pod, actors);
	bool anywhere = false;
	for (int i = 0; i < count; i++) {
		if (actors[i].foreign || actors[i].leaving || actors[i].pod_class->app != self->affinity.app)
			continue;
		if (same_value(instance, self->affinity.key, node, actors[i].node))
			return true;
		anywhere = true;
	}
	return !anywhere && self->app == self->affinity.app; /* the first of its kind needs no neighbour */
}

static bool spread_counts_node(const struct instance *instance, int pod_class, int node)
{
	const struct w_spread *spread = &instance->pod_classes[pod_class].spread;
	if (instance->nodes[node].label[spread->key] < 0)
		return false;
	if (!spread->ignore_node_affinity && !colour_allows(instance, pod_class, node))
		return false;
	return !spread->honor_taints || !instance->nodes[node].tainted || instance->pod_classes[pod_class].tolerates;
}

static int spread_count(const struct positions *positions, int pod_class, int value, const struct actor *actors,
                        int actor_count)
{
	const struct instance *instance = positions->instance;
	const struct w_spread *spread = &instance->pod_classes[pod_class].spread;
	int count = 0;
	for (int i = 0; i < actor_count; i++)
		count += !actors[i].foreign && !actors[i].leaving && actors[i].pod_class->app == spread->app &&
		         instance->nodes[actors[i].node].label[spread->key] == value &&
		         spread_counts_node(instance, pod_class, actors[i].node);
	return count;
}

static bool spread_holds(const struct positions *positions, int pod)
{
	const struct instance *instance = positions->instance;
	int pod_class = instance->pods[pod].pod_class;
	const struct w_spread *spread = &instance->pod_classes[pod_class].spread;
	if (spread->key == KEY_NONE)
		return true;
	int own = instance->nodes[positions->node[pod]].label[spread->key];
	if (own < 0)
		return false;
	struct actor actors[INSTANCE_OTHERS + INSTANCE_PODS];
	int actor_count = list_actors(positions, -1, actors);
	int least = -1, domains = 0;
	for (int node = 0; node < instance->node_count; node++) {
		if (!spread_counts_node(instance, pod_class, node))
			continue;
		int value = instance->nodes[node].label[spread->key];
		bool seen = false;
		for (int before = 0; before < node; before++)
			seen |= spread_counts_node(instance, pod_class, before) &&
			        instance->nodes[before].label[spread->key] == value;
		domains += !seen;
		int count = spread_count(positions, pod_class, value, actors, actor_count);
		if (least < 0 || count < least)
			least = count;
	}
	if (least < 0 || domains < spread->min_domains)
		least = 0;
	return spread_count(positions, pod_class, own, actors, actor_count) - least <= spread->max_skew;
}

bool rules_complete(const struct positions *positions)
{
	for (int pod = 0; pod < positions->instance->pod_count; pod++)
		if (positions->fresh[pod] && (!affinity_holds(positions, pod) || !spread_holds(positions, pod)))
			return false;
	return true;
}

int rules_leaf_members(const struct positions *positions, int leaf)
{
	int count = 0;
	for (int pod = 0; pod < positions->instance->pod_count; pod++)
		count += positions->instance->pods[pod].leaf == leaf && positions->node[pod] >= 0;
	return count;
}

void rules_satisfied(const struct positions *positions, int undecided, bool optimistic, bool *satisfied)
{
	const struct instance *instance = positions->instance;
	int have[INSTANCE_TREE] = {0};
	for (int pod = 0; pod < instance->pod_count; pod++)
		have[instance->pods[pod].leaf] += positions->node[pod] >= 0 || (optimistic && pod >= undecided &&
		                                                                instance->pods[pod].state == W_WAITING);
	for (int node = instance->tree_count - 1; node >= 0; node--) {
		satisfied[node] = have[node] >= instance->tree[node].minimum;
		if (node > 0 && satisfied[node])
			have[instance->tree[node].parent]++;
	}
}

void rules_preference_cost(const struct positions *positions, int *cost)
{
	const struct instance *instance = positions->instance;
	for (int node = 0; node < instance->tree_count; node++) {
		struct w_level level = instance->tree[node].preferred;
		cost[node] = -1;
		if (level.topology < 0)
			continue;
		int first = -1, common = level.level;
		for (int pod = 0; pod < instance->pod_count; pod++) {
			if (positions->node[pod] < 0 || !instance_below(instance, instance->pods[pod].leaf, node))
				continue;
			if (first < 0)
				first = positions->node[pod];
			while (common >= 0 &&
			       !instance_same_domain(instance, level.topology, common, first, positions->node[pod]))
				common--;
		}
		if (first >= 0)
			cost[node] = level.level - common;
	}
}
