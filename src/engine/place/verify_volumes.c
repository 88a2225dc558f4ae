/* Owns the check that claims of placed pods have volumes and that nodes can attach them, written apart from the matching of the
 * search: claims are counted from what is on the nodes, and paths are found breadth first. */
#include "engine/place/verify_volumes.h"

#include "base/vec.h"

#include <string.h>

/* One volume that is needed by all of the nodes at once. */
struct need {
	const struct pool_ask *ask;
	VEC(int) nodes;
};

struct needs {
	VEC(struct need) items;
};

static int64_t asked(const struct cluster *cluster, int pod_class, int resource)
{
	return cluster_pod_class_request(cluster, pod_class, resource);
}

static void list_needs(const struct cluster *cluster, const struct pool_ask *ask, struct needs *needs)
{
	const struct volume_pool *pool = cluster->volume_pool;
	struct need together = {.ask = ask};
	for (int node = 0; node < cluster->node_count; node++)
		for (size_t r = 0; r < cluster->residents[node].count; r++) {
			const struct resident *resident = &cluster->residents[node].items[r];
			int64_t each = asked(cluster, resident->pod_class, ask->resource);
			if (ask->larger >= 0)
				each -= asked(cluster, resident->pod_class, pool->asks[ask->larger].resource);
			if (ask->shared && each > 0 && resident->count > 0)
				vec_push(&together.nodes, node);
			for (int64_t i = 0; !ask->shared && i < each * resident->count; i++) {
				struct need need = {.ask = ask};
				vec_push(&need.nodes, node);
				vec_push(&needs->items, need);
			}
		}
	if (together.nodes.count)
		vec_push(&needs->items, together);
}

static bool is_made_new(const struct need *need)
{
	for (size_t i = 0; i < need->nodes.count; i++)
		if (!need->ask->make[need->nodes.items[i]] ||
		    (need->ask->one_node && need->nodes.items[i] != need->nodes.items[0]))
			return false;
	return true;
}

static bool serves_all_nodes(const struct pool_volume *volume, const struct need *need)
{
	for (size_t i = 0; i < need->nodes.count; i++) {
		bool found = false;
		for (size_t n = 0; n < volume->node_count && !found; n++)
			found = volume->nodes[n] == need->nodes.items[i];
		if (!found)
			return false;
	}
	return true;
}

/* Breadth first from one need to a volume that nobody has; `owner` is changed along the way back. */
static bool augment(const struct volume_pool *pool, const struct needs *needs, int from, int *owner, int *reached_by)
{
	VEC(int) queue = {0};
	for (size_t v = 0; v < pool->volume_count; v++)
		reached_by[v] = -1;
	vec_push(&queue, from);
	bool done = false;
	for (size_t at = 0; at < queue.count && !done; at++) {
		const struct need *need = &needs->items.items[queue.items[at]];
		for (size_t i = 0; i < need->ask->volume_count && !done; i++) {
			int volume = need->ask->volumes[i];
			if (reached_by[volume] >= 0 || !serves_all_nodes(&pool->volumes[volume], need))
				continue;
			reached_by[volume] = queue.items[at];
			if (owner[volume] >= 0) {
				vec_push(&queue, owner[volume]);
				continue;
			}
			while (volume >= 0) { /* each takes the volume it reached, and gives the one it had */
				int taker = reached_by[volume], had = -1;
				for (size_t v = 0; v < pool->volume_count && had < 0; v++)
					had = owner[v] == taker ? (int)v : -1;
				owner[volume] = taker;
				volume = taker == from ? -1 : had;
			}
			done = true;
		}
	}
	vec_free(&queue);
	return done;
}

const char *verify_volumes(const struct cluster *cluster, struct arena *arena)
{
	const struct volume_pool *pool = cluster->volume_pool;
	const char *problem = NULL;
	if (!pool)
		return NULL;
	struct needs needs = {0};
	for (size_t a = 0; a < pool->ask_count; a++)
		list_needs(cluster, &pool->asks[a], &needs);
	int *owner = arena_array(arena, int, pool->volume_count),
	    *reached = arena_array(arena, int, pool->volume_count);
	memset(owner, 0xff, pool->volume_count * sizeof(int));
	for (size_t n = 0; n < needs.items.count; n++) {
		const struct need *need = &needs.items.items[n];
		if (!problem && !is_made_new(need) && !augment(pool, &needs, (int)n, owner, reached))
			problem = arena_printf(arena, "no volume is left for a claim of node %s, %s",
			                       cluster->nodes[need->nodes.items[0]].name,
			                       cluster->resources.items[need->ask->resource].name);
	}
	for (size_t n = 0; n < needs.items.count; n++)
		vec_free(&needs.items.items[n].nodes);
	vec_free(&needs.items);
	return problem;
}

/* ---- what a node attaches ---- */

static int members_on(const struct gang *gang, int pod_class, int node)
{
	int count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		count += (gang->pods[p].state == MEMBER_RUNNING || gang->pods[p].state == MEMBER_RESERVED) &&
		         gang->pods[p].pod_class == pod_class && gang->pods[p].node == node;
	return count;
}

/* Units of `of` in use on the node, by all pods or by those that are not members of the gang. */
static int64_t count_attached(const struct cluster *cluster, const struct gang *without, int node, int of)
{
	int64_t units = 0;
	for (int r = 0; r < (int)cluster->resources.count; r++) {
		bool shared = cluster->resources.items[r].shared_of == of, used = false;
		if (!shared && r != of)
			continue;
		for (size_t i = 0; i < cluster->residents[node].count; i++) {
			const struct resident *resident = &cluster->residents[node].items[i];
			int64_t each = asked(cluster, resident->pod_class, r);
			int pods = resident->count -
			           (without && each ? members_on(without, resident->pod_class, node) : 0);
			used |= each > 0 && pods > 0;
			units += shared ? 0 : each * pods;
		}
		units += shared && used;
	}
	return units;
}

const char *verify_attached(const struct cluster *cluster, const struct gang *gang, struct arena *arena)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod->pod_class].shape];
		if (pod->state != MEMBER_RUNNING && pod->state != MEMBER_RESERVED)
			continue;
		for (int i = 0; shape->shares && i < shape->request_count; i++) {
			int of = cluster->resources.items[shape->resource[i]].shared_of;
			if (of < 0)
				continue;
			int64_t now = count_attached(cluster, NULL, pod->node, of);
			const struct resource_column *column = &cluster->resources.items[of];
			int64_t held = column->held ? column->held[pod->node] : 0;
			if (now + held > column->allocatable[pod->node] &&
			    now > count_attached(cluster, gang, pod->node, of))
				return arena_printf(arena, "node %s is over-committed in %s",
				                    cluster->nodes[pod->node].name, cluster->resources.items[of].name);
		}
	}
	return NULL;
}
