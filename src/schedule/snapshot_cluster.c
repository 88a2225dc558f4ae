/* Owns the cluster-scoped part of the snapshot: topologies, nodes and priority classes. */
#include "schedule/snapshot_build.h"
#include "kinds/names.h"

#include <string.h>

#define PRIORITY_FALLBACK 50

/* Classes every installation knows, used where the objects themselves are not part of the input. */
static const struct {
	const char *name;
	int32_t value;
} well_known_priorities[] = {
	{"train", 50},
	{"build-preemptible", 75},
	{"build", 100},
	{"inference", 125},
	{"system-cluster-critical", 2000000000},
	{"system-node-critical", 2000001000},
};

void build_priorities(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_PRIORITY_CLASS];
	build->priorities = arena_array(build->arena, struct priority_class, slice->count);
	size_t count = 0;
	for (size_t i = 0; i < slice->count; i++) {
		struct problems problems = {.arena = build->arena};
		struct priority_class class_;
		int rc = priority_class_decode(slice->items[i]->object, build->arena, &class_, &problems);
		build_verdict(build, slice->items[i], &problems);
		if (rc < 0 || !build_claim_name(build, build->priority_names, class_.name, slice->items[i]))
			continue;
		build->priorities[count] = class_;
		/* Kubernetes takes the lowest value when several classes claim to be the default. */
		if (class_.global_default &&
		    (!build->default_priority || class_.value < build->default_priority->value))
			build->default_priority = &build->priorities[count];
		count++;
	}
}

const char *snapshot_well_known_priority(size_t i, int32_t *value)
{
	if (i >= sizeof(well_known_priorities) / sizeof(well_known_priorities[0]))
		return NULL;
	*value = well_known_priorities[i].value;
	return well_known_priorities[i].name;
}

int32_t build_priority(const struct snapshot_build *build, const char *class_name, bool *never_preempts)
{
	const struct priority_class *class_ = build->default_priority;
	*never_preempts = false;
	if (class_name && class_name[0]) {
		uint32_t id = interner_find(build->priority_names, class_name);
		class_ = id != UINT32_MAX ? &build->priorities[id] : class_;
		int32_t value;
		const char *name;
		for (size_t i = 0; id == UINT32_MAX && (name = snapshot_well_known_priority(i, &value)); i++)
			if (strcmp(name, class_name) == 0)
				return value;
	}
	*never_preempts = class_ && class_->never_preempts;
	return class_ ? class_->value : PRIORITY_FALLBACK;
}

static void note_labels(struct interner *names, const struct val *constraint)
{
	const char *name = val_str(val_get(constraint, "topology"), "");
	if (text_starts_with(name, KINDS_LABEL_TOPOLOGY))
		interner_id(names, name);
}

void build_note_labels(struct interner *names, const struct val *pod_group)
{
	const struct val *spec = val_get(pod_group, "spec"), *forms = val_get(spec, "topologyConstraints"), *item;
	const char *key;
	note_labels(names, val_get(spec, "topologyConstraint"));
	note_labels(names, val_get(forms, "global"));
	for (struct val_iter it = val_iter(val_get(spec, "subGroups")); val_next(&it, NULL, &item);)
		note_labels(names, val_get(item, "topologyConstraint"));
	for (struct val_iter it = val_iter(val_get(forms, "subGroups")); val_next(&it, &key, &item);)
		note_labels(names, item);
	for (struct val_iter it = val_iter(val_get(forms, "subGroupSets")); val_next(&it, NULL, &item);)
		note_labels(names, val_get(item, "constraint"));
}

static void add_topology(struct snapshot_build *build, const struct topology_spec *topology)
{
	struct snapshot *snapshot = build->snapshot;
	if (cluster_add_topology(snapshot->cycle.cluster, topology->name, topology->levels, topology->level_count) < 0)
		build_warn(build, "Topology %s is ignored: more than %zu Topologies at once are not supported",
		           topology->name, snapshot->topology_count);
	else
		snapshot->topologies[snapshot->topology_count++] = *topology;
}

/* Those that need no object. */
static void add_label_topologies(struct snapshot_build *build)
{
	for (uint32_t i = 0; i < interner_count(build->label_topologies); i++) {
		struct topology_spec topology;
		const char *name = arena_strdup(build->arena, interner_text(build->label_topologies, i));
		if (topology_of_labels(name, build->arena, &topology))
			add_topology(build, &topology);
	}
}

void build_topologies(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	const struct build_slice *slice = &build->kinds[KIND_TOPOLOGY], *groups = &build->kinds[KIND_POD_GROUP];
	for (size_t i = 0; i < groups->count; i++)
		build_note_labels(build->label_topologies, groups->items[i]->object);
	snapshot->topologies =
		arena_array(build->arena, struct topology_spec, slice->count + interner_count(build->label_topologies));
	struct interner *names = interner_create();
	for (size_t i = 0; i < slice->count; i++) {
		struct problems ignored = {.arena = build->arena};
		struct topology_spec topology;
		build_judge(build, slice->items[i], build->arena);
		int rc = topology_decode(slice->items[i]->object, build->arena, &topology, &ignored);
		if (rc < 0 || !build_new_name(names, topology.name))
			continue;
		add_topology(build, &topology);
	}
	add_label_topologies(build);
	interner_destroy(names);
}

struct cluster_node build_cluster_node(const struct node_spec *node)
{
	return (struct cluster_node){
		.name = node->name,
		.labels = node->labels,
		.taints = node->taints,
		.taint_count = node->taint_count,
		.allocatable = node->allocatable,
		.allocatable_count = node->allocatable_count,
		.unschedulable = node->unschedulable || node->deleting,
		.ready = node->ready,
	};
}

bool build_node_is_ours(const struct snapshot_build *build, const struct node_spec *node)
{
	return settings_serves_pool(build->settings, labels_get(&node->labels, settings_pool_label(build->settings)));
}

bool build_serves_all(const struct snapshot_build *build)
{
	return settings_serves_pool(build->settings, SETTINGS_ALL_POOLS) && settings_serves_pool(build->settings, NULL);
}

void build_nodes(struct snapshot_build *build)
{
	struct cluster *cluster = build->snapshot->cycle.cluster;
	const struct build_slice *slice = &build->kinds[KIND_NODE];
	build->nodes = arena_array(build->arena, struct node_spec, slice->count);
	struct interner *names = interner_create();
	cluster_set_pool_key(cluster, settings_pool_label(build->settings));
	for (size_t i = 0; i < slice->count; i++) {
		struct problems problems = {.arena = build->arena};
		struct node_spec *node = &build->nodes[build->node_count];
		int rc = node_decode(slice->items[i]->object, build->arena, node, &problems);
		build_verdict(build, slice->items[i], &problems);
		if (rc < 0 || !build_claim_name(build, names, node->name, slice->items[i]) ||
		    !build_node_is_ours(build, node))
			continue;
		build->node_count++;
		struct cluster_node added = build_cluster_node(node);
		cluster_add_node(cluster, &added);
	}
	cluster_seal(cluster);
	cluster_set_strategy(cluster, build->settings->strategy);
	cluster_set_spare_gpus(cluster, build->settings->spare_gpus);
	interner_destroy(names);
}

void build_number_nodes(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	snapshot->nodes = arena_array(build->arena, const struct node_spec *, build->node_count);
	for (size_t i = 0; i < build->node_count; i++) {
		int number = cluster_find_node(snapshot->cycle.cluster, build->nodes[i].name);
		if (number >= 0)
			snapshot->nodes[number] = &build->nodes[i];
	}
}

const char *build_pool(const struct snapshot_build *build, const struct val *object)
{
	const char *pool =
		val_str(val_path(object, "metadata", "labels", settings_pool_label(build->settings), NULL), NULL);
	return pool && *pool ? pool : NULL;
}
