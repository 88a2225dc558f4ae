/* Owns the checks on a finished placement, written apart from the search so that one does not excuse the other. */
#include "engine/place/solver.h"
#include "engine/place/rules.h"
#include "engine/place/verify_volumes.h"

static bool is_member(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

/* Levels from `level` upwards until all members below `node` share a domain; level + 1 when not even the top does. */
static int climb(const struct cluster *cluster, const struct gang *gang, const bool *below, int topology, int level)
{
	const struct topology *top = &cluster->topologies[topology];
	for (int l = level; l >= 0; l--) {
		int common = -2;
		for (size_t p = 0; p < gang->pod_count && common != -1; p++) {
			if (!is_member(&gang->pods[p]) || !below[gang->pods[p].leaf])
				continue;
			int domain = top->node_domain[l][gang->pods[p].node];
			common = common == -2 || common == domain ? domain : -1;
		}
		if (common >= 0)
			return level - l;
		if (common == -2)
			return -1; /* no members */
	}
	return level + 1;
}

static bool *subtree(const struct gang *gang, int node, struct arena *arena)
{
	bool *below = arena_array(arena, bool, gang->tree_count);
	below[node] = true;
	for (size_t i = (size_t)node + 1; i < gang->tree_count; i++)
		below[i] = gang->tree[i].parent >= 0 && below[gang->tree[i].parent];
	return below;
}

const char *engine_verify(const struct cluster *cluster, const struct gang *gang, struct arena *arena)
{
	for (size_t i = 0; i < gang->tree_count; i++) {
		struct gang_level required = gang->tree[i].required;
		if (required.topology >= 0 &&
		    climb(cluster, gang, subtree(gang, (int)i, arena), required.topology, required.level) > 0)
			return arena_printf(arena, "members of %s are not in one %s",
			                    gang->tree[i].name[0] ? gang->tree[i].name : gang->name,
			                    cluster->topologies[required.topology].labels[required.level]);
	}
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		if (!is_member(pod))
			continue;
		const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod->pod_class].shape];
		for (int i = 0; i < shape->request_count; i++)
			if (cluster_amount_in_view(cluster, shape->resource[i], pod->node, VIEW_RELEASING) < 0)
				return arena_printf(arena, "node %s is over-committed in %s",
				                    cluster->nodes[pod->node].name,
				                    cluster->resources.items[shape->resource[i]].name);
	}
	const char *problem = rules_verify_members(cluster, gang, arena);
	problem = problem ? problem : verify_volumes(cluster, arena);
	return problem ? problem : verify_attached(cluster, gang, arena);
}
