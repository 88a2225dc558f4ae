/* Owns nodes of the live state that come, go or move in a topology. The order of nodes follows, and with it their numbers
 * everywhere; nothing else is read again but the pods on these nodes. */
#include "schedule/live_internal.h"

#include <stdlib.h>
#include <string.h>

void live_node_note(struct live *live, const char *name)
{
	live->changed = true;
	if (!live->stale)
		vec_push(&live->moving_nodes, base_strdup(name));
}

void live_nodes_clear(struct live *live)
{
	for (size_t i = 0; i < live->moving_nodes.count; i++)
		free(live->moving_nodes.items[i]);
	live->moving_nodes.count = 0;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* What changes: nodes by number that go, and those that come. */
struct turnover {
	struct arena *arena;
	bool *out;
	struct cluster_node *in;
	size_t in_count, out_count;
};

static void note_node(struct live *live, const char *name, struct turnover *turnover)
{
	struct cluster *cluster = live->snapshot.cycle.cluster;
	struct problems ignored = {.arena = turnover->arena};
	struct node_spec *spec = arena_new(turnover->arena, struct node_spec);
	const struct live_object *object = live_find(live, KIND_NODE, "", name);
	int number = cluster_find_node(cluster, name);
	if (object && node_decode(object->object->root, turnover->arena, spec, &ignored) == 0 &&
	    build_node_is_ours(&live->build, spec)) {
		struct cluster_node node = build_cluster_node(spec);
		if (number >= 0 && cluster_update_node(cluster, &node) >= 0)
			return; /* it is where it was */
		turnover->in[turnover->in_count++] = node;
	}
	if (number >= 0) {
		turnover->out[number] = true;
		turnover->out_count++;
	}
}

static struct turnover find_turnover(struct live *live)
{
	struct turnover turnover = {.arena = arena_create()};
	char **names = live->moving_nodes.items;
	size_t count = live->moving_nodes.count;
	qsort(names, count, sizeof(*names), compare_names);
	turnover.out = arena_array(turnover.arena, bool, (size_t)cluster_node_count(live->snapshot.cycle.cluster));
	turnover.in = arena_array(turnover.arena, struct cluster_node, count);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			note_node(live, names[i], &turnover);
	return turnover;
}

/* Pods that are read again. */
struct live_pods {
	VEC(struct live_object *) list;
};

/* Whether the pod says that it is on a node which there was not. */
static bool misses_node(const struct snapshot_pod *pod)
{
	return pod->node < 0 && pod->bound_to && pod->spec->phase != POD_SUCCEEDED && pod->spec->phase != POD_FAILED;
}

/* Takes the pods off the nodes that go; lists them, and those that wait for a node to come. */
static void lift_pods(struct live *live, const struct turnover *turnover, struct live_pods *pods)
{
	for (size_t i = 0; i < live->pods.count; i++) {
		struct snapshot_pod *pod = &live->snapshot.pods[i];
		if (!live->pods.items[i] || live->pods.items[i]->bad)
			continue;
		if (pod->node >= 0 ? !turnover->out[pod->node] : !misses_node(pod))
			continue;
		vec_push(&pods->list, live->pods.items[i]);
		build_vacate(&live->build, pod);
	}
}

static void renumber_pods(struct live *live, const int32_t *moved)
{
	for (size_t i = 0; i < live->snapshot.pod_count; i++)
		if (live->pods.items[i] && live->snapshot.pods[i].node >= 0)
			live->snapshot.pods[i].node = moved[live->snapshot.pods[i].node];
}

void live_nodes_apply(struct live *live)
{
	if (live->moving_nodes.count == 0)
		return;
	struct turnover turnover = find_turnover(live);
	struct cluster *cluster = live->snapshot.cycle.cluster;
	live_nodes_clear(live);
	if (turnover.in_count + turnover.out_count > 0) {
		struct live_pods pods = {0};
		int32_t *moved = arena_array(turnover.arena, int32_t, (size_t)cluster_node_count(cluster));
		lift_pods(live, &turnover, &pods);
		device_columns_lift(live->build.device_columns);
		live->stale |= !cluster_change_nodes(cluster, turnover.in, turnover.in_count, turnover.out, moved);
		renumber_pods(live, moved);
		volume_columns_nodes(live->build.columns);
		device_columns_nodes(live->build.device_columns);
		live->turnover += turnover.in_count + turnover.out_count;
		for (size_t i = 0; i < pods.list.count && !live->stale; i++)
			live_pod_update(live, pods.list.items[i]);
		live_groups_refresh(live);
		for (size_t g = 0; g < live->snapshot.cycle.group_count; g++)
			if (live->slots[g].used)
				build_member_states(&live->build, g);
		vec_free(&pods.list);
	}
	arena_destroy(turnover.arena);
}
