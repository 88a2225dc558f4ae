/* Owns where a placement costs least: slots and nodes that are free as they are. */
#include "engine/place/bias.h"

#include "engine/cluster/internal.h"

#include <string.h>

/* How much of one pod a node could take now, by its scarcest resource. */
static int32_t percent_free(const struct cluster *cluster, const struct shape *shape, int node)
{
	int64_t least = BIAS_IDLE;
	for (int i = 0; i < shape->request_count; i++) {
		int64_t free = cluster_amount_in_view(cluster, shape->resource[i], node, VIEW_RELEASING);
		int64_t part = free <= 0                  ? 0
		               : free >= shape->amount[i] ? BIAS_IDLE
		                                          : free / (shape->amount[i] / 100 + 1);
		least = part < least ? part : least;
	}
	return (int32_t)least;
}

/* The deepest level of the topology that the gang names, -1 when it names none. */
static int deepest_named(const struct gang *gang, int topology)
{
	int deepest = -1;
	for (size_t i = 0; i < gang->tree_count; i++) {
		const struct gang_node *node = &gang->tree[i];
		if (node->required.topology == topology && node->required.level > deepest)
			deepest = node->required.level;
		if (node->preferred.topology == topology && node->preferred.level > deepest)
			deepest = node->preferred.level;
	}
	return deepest;
}

void bias_build_from_free(struct cluster *cluster, const struct gang *gang, bool parts, struct arena *arena,
                          struct place_bias *bias)
{
	size_t p = 0;
	while (p < gang->pod_count && gang->pods[p].state != MEMBER_WAITING)
		p++;
	bias->node_score = arena_alloc_raw(arena, (size_t)cluster->node_count * sizeof(int32_t));
	if (p == gang->pod_count) {
		memset(bias->node_score, 0, (size_t)cluster->node_count * sizeof(int32_t));
		return;
	}
	int number = cluster->pod_classes.items[gang->pods[p].pod_class].shape;
	struct slots *idle = slots_get(cluster, number, VIEW_RELEASING);
	const struct shape *shape = &cluster->shapes.items[number];
	const int32_t *slots = idle->node;
	int32_t *score = bias->node_score;
	int nodes = cluster->node_count;
	for (int n = 0; n < nodes; n++)
		score[n] = slots[n] > 0;
	for (int n = 0; parts && n < nodes; n++)
		score[n] = slots[n] > 0 ? BIAS_IDLE : percent_free(cluster, shape, n);
	for (int t = 0; t < cluster->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[t];
		bias->idle[t] = arena_array(arena, int64_t *, (size_t)topology->level_count);
		for (int l = deepest_named(gang, t); l >= 0; l--) {
			size_t size = (size_t)topology->domain_count[l] * sizeof(int64_t);
			slots_need_level(cluster, idle, t, l);
			bias->idle[t][l] = arena_alloc_raw(arena, size);
			memcpy(bias->idle[t][l], idle->sums[t][l], size);
		}
	}
}
