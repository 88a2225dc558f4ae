/* Owns the gang that stands for several groups. */
#include "engine/evict/joint.h"

#include <string.h>

/* Copies the tree and the pods of a group below the root. */
static void append_group(const struct cycle *cycle, int number, struct joint *joint)
{
	const struct gang *from = &cycle->groups[number].gang;
	struct gang *into = &joint->gang;
	int trees = (int)into->tree_count;
	for (size_t i = 0; i < from->tree_count; i++) {
		struct gang_node *node = &into->tree[into->tree_count++];
		*node = from->tree[i];
		node->parent = i == 0 ? 0 : node->parent + trees;
	}
	for (size_t p = 0; p < from->pod_count; p++) {
		joint->group[into->pod_count] = number;
		joint->pod[into->pod_count] = (int)p;
		into->pods[into->pod_count] = from->pods[p];
		into->pods[into->pod_count++].leaf += trees;
	}
	into->tree[0].child_count++;
	into->tree[0].minimum++;
}

/* Nothing of a group that is moved may be lost: every part needs as many members as it had. */
static void demand_all(struct joint *joint, size_t first_tree, size_t first_pod)
{
	struct gang *gang = &joint->gang;
	for (size_t i = first_tree; i < gang->tree_count; i++)
		gang->tree[i].minimum = 0;
	for (size_t p = first_pod; p < gang->pod_count; p++)
		gang->tree[gang->pods[p].leaf].minimum +=
			gang->pods[p].state == MEMBER_WAITING || cycle_is_member(&gang->pods[p]);
	for (size_t i = gang->tree_count; i-- > first_tree + 1;) {
		int *minimum = &gang->tree[i].minimum;
		gang->tree[gang->tree[i].parent].minimum += *minimum > 0;
		*minimum = *minimum > 0 ? *minimum
		                        : 1; /* a part without members must not count in place of one with some */
	}
}

/* A group of which units left. Its own pods that waited before stay out of it. */
static void append_leaving(const struct evict_attempt *attempt, int number, struct joint *joint)
{
	struct gang *gang = &joint->gang;
	size_t first_tree = gang->tree_count, first_pod = gang->pod_count;
	append_group(attempt->cycle, number, joint);
	for (size_t p = first_pod; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING)
			gang->pods[p].state = MEMBER_GATED;
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		for (int k = 0; unit->group == number && evict_is_to_move(attempt, i) && k < unit->pod_count; k++) {
			gang->pods[first_pod + (size_t)unit->pods[k]].state = MEMBER_WAITING;
			gang->pods[first_pod + (size_t)unit->pods[k]].nominated = -1;
		}
	}
	demand_all(joint, first_tree, first_pod);
}

static bool is_first_of_group(const struct evict_attempt *attempt, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (evict_is_to_move(attempt, i) && attempt->units[i]->group == attempt->units[number]->group)
			return false;
	return evict_is_to_move(attempt, number);
}

void joint_build(const struct evict_attempt *attempt, struct arena *arena, struct joint *joint)
{
	const struct cycle *cycle = attempt->cycle;
	const struct gang *own = &evict_beneficiary(attempt)->gang;
	size_t trees = 1 + own->tree_count, pods = own->pod_count;
	for (size_t i = 0; i < attempt->applied; i++)
		if (is_first_of_group(attempt, i)) {
			trees += cycle->groups[attempt->units[i]->group].gang.tree_count;
			pods += cycle->groups[attempt->units[i]->group].gang.pod_count;
		}
	*joint = (struct joint){.gang = {.namespace_ = own->namespace_, .name = own->name, .tree_count = 1}};
	joint->gang.tree = arena_array(arena, struct gang_node, trees);
	joint->gang.pods = arena_array(arena, struct gang_pod, pods);
	joint->group = arena_array(arena, int, pods);
	joint->pod = arena_array(arena, int, pods);
	joint->gang.tree[0] =
		(struct gang_node){.name = "", .parent = -1, .required = GANG_NO_LEVEL, .preferred = GANG_NO_LEVEL};
	append_group(cycle, attempt->group, joint);
	if (attempt->grow) {
		joint->gang.tree[1].minimum = 1;
		for (size_t p = 0; p < own->pod_count; p++)
			joint->gang.tree[1].minimum += cycle_is_member(&own->pods[p]);
	}
	for (size_t i = 0; i < attempt->applied; i++)
		if (is_first_of_group(attempt, i))
			append_leaving(attempt, attempt->units[i]->group, joint);
}
