/* Questions about an instance that need no search. */
#include "instance.h"

int instance_level_key(const struct instance *instance, int topology, int level)
{
	const struct w_topology *topo = &instance->topologies[topology];
	if (topo->host_level && level == topo->level_count - 1)
		return KEY_HOST;
	return 1 + topology * INSTANCE_LEVELS + level;
}

bool instance_same_domain(const struct instance *instance, int topology, int level, int a, int b)
{
	for (int above = 0; above <= level; above++) {
		int key = instance_level_key(instance, topology, above);
		int value = instance->nodes[a].label[key];
		if (value < 0 || value != instance->nodes[b].label[key])
			return false;
	}
	return true;
}

int instance_child_count(const struct instance *instance, int node)
{
	int count = 0;
	for (int other = 0; other < instance->tree_count; other++)
		count += instance->tree[other].parent == node;
	return count;
}

bool instance_below(const struct instance *instance, int node, int above)
{
	while (node >= 0 && node != above)
		node = instance->tree[node].parent;
	return node == above;
}

bool instance_is_member(const struct w_pod *pod)
{
	return pod->state == W_MEMBER_RUNNING || pod->state == W_MEMBER_RESERVED;
}

static bool pod_class_in_use(const struct instance *instance, int pod_class)
{
	for (int pod = 0; pod < instance->pod_count; pod++)
		if (instance->pods[pod].pod_class == pod_class)
			return true;
	for (int other = 0; other < instance->other_count; other++)
		if (instance->others[other].pod_class == pod_class)
			return true;
	return false;
}

bool instance_has_interactions(const struct instance *instance)
{
	for (int i = 0; i < instance->pod_class_count; i++) {
		const struct w_pod_class *pod_class = &instance->pod_classes[i];
		if (pod_class_in_use(instance, i) &&
		    (pod_class->port >= 0 || pod_class->affinity.key != KEY_NONE || pod_class->anti.key != KEY_NONE ||
		     pod_class->spread.key != KEY_NONE))
			return true;
	}
	return false;
}

bool instance_has_orderless_rules(const struct instance *instance)
{
	for (int i = 0; i < instance->pod_class_count; i++) {
		const struct w_pod_class *pod_class = &instance->pod_classes[i];
		if (pod_class_in_use(instance, i) &&
		    (pod_class->affinity.key != KEY_NONE || pod_class->spread.key != KEY_NONE))
			return true;
	}
	return false;
}

bool instance_is_rigid(const struct instance *instance)
{
	for (int node = 0; node < instance->tree_count; node++) {
		int have = instance_child_count(instance, node);
		if (have == 0)
			for (int pod = 0; pod < instance->pod_count; pod++)
				have += instance->pods[pod].leaf == node && instance->pods[pod].state != W_GONE &&
				        instance->pods[pod].state != W_GATED;
		if (instance->tree[node].minimum != have)
			return false;
	}
	return true;
}

bool instance_breaks_levels(const struct instance *instance)
{
	for (int node = 0; node < instance->tree_count; node++) {
		struct w_level level = instance->tree[node].required;
		if (level.topology < 0)
			continue;
		int first = -1;
		for (int pod = 0; pod < instance->pod_count; pod++) {
			const struct w_pod *member = &instance->pods[pod];
			if (!instance_is_member(member) || !instance_below(instance, member->leaf, node))
				continue;
			if (first < 0)
				first = member->node;
			if (!instance_same_domain(instance, level.topology, level.level, first, member->node))
				return true;
		}
	}
	return false;
}
