/* Questions about a case that need no engine. */
#include "case.h"

#include <string.h>

void case_instance(const struct cycle_case *world, int group, struct instance *instance)
{
	const struct c_group *from = &world->groups[group];
	*instance = world->base;
	instance->tree_count = from->tree_count;
	instance->pod_count = from->pod_count;
	memcpy(instance->tree, from->tree, sizeof(from->tree));
	memcpy(instance->pods, from->pods, sizeof(from->pods));
}

int case_used(const struct cycle_case *world, int node, int resource, bool leaving)
{
	const struct instance *base = &world->base;
	int used = 0;
	for (int i = 0; i < base->other_count; i++)
		if (base->others[i].node == node && (leaving || base->others[i].occupancy != W_RELEASING))
			used += resource == INSTANCE_RESOURCES
			                ? 1
			                : base->pod_classes[base->others[i].pod_class].request[resource];
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++) {
			const struct w_pod *pod = &world->groups[g].pods[p];
			if (instance_is_member(pod) && pod->node == node)
				used += resource == INSTANCE_RESOURCES
				                ? 1
				                : base->pod_classes[pod->pod_class].request[resource];
		}
	return used;
}

static bool excludes(const struct instance *base, int pod_class, int node, int other_pod_class, int other_node)
{
	struct w_term anti = base->pod_classes[pod_class].anti;
	if (anti.key == KEY_NONE || base->pod_classes[other_pod_class].app != anti.app)
		return false;
	int value = base->nodes[node].label[anti.key];
	return value >= 0 && value == base->nodes[other_node].label[anti.key];
}

bool case_tolerate(const struct instance *base, int pod_class, int node, int other_pod_class, int other_node)
{
	int port = base->pod_classes[pod_class].port;
	if (node == other_node && port >= 0 && port == base->pod_classes[other_pod_class].port)
		return false;
	return !excludes(base, pod_class, node, other_pod_class, other_node) &&
	       !excludes(base, other_pod_class, other_node, pod_class, node);
}
