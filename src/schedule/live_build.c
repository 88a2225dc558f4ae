/* Owns what is built as a whole: the cluster with its topologies, queues and priority classes; and the decision whether a change there needs that. */
#include "schedule/live_internal.h"

#include "engine/cycle/refusal_cache.h"

#include <stdlib.h>
#include <string.h>

/* Pod classes, and the texts of nodes, are never forgotten by the cluster; with so many more than there are pods and nodes it
 * is built anew. */
#define SPARE_POD_CLASSES 100000
#define SPARE_NODES 10000

void live_unbuild(struct live *live)
{
	struct snapshot *snapshot = &live->snapshot;
	struct snapshot_build *build = &live->build;
	live_families_clear(live);
	live_volumes_clear(live);
	live_devices_clear(live);
	live_config_maps_clear(live);
	live_services_clear(live);
	live_nodes_clear(live);
	live->turnover = 0;
	volume_columns_destroy(build->columns);
	cluster_destroy(snapshot->cycle.cluster);
	refusal_cache_clear(snapshot->cycle.refusal_cache);
	arena_destroy(snapshot->arena);
	interner_destroy(build->priority_names);
	interner_destroy(build->queue_names);
	interner_destroy(build->label_topologies);
	admit_index_destroy(build->index);
	for (size_t i = 0; i < live->retired.count; i++)
		store_object_release(live->retired.items[i]);
	live->retired.count = 0;
	*build = (struct snapshot_build){0};
	snapshot->arena = NULL;
	snapshot->cycle.cluster = NULL;
}

static int compare_objects(const void *left, const void *right)
{
	const struct live_object *const *a = left, *const *b = right;
	if ((*a)->kind != (*b)->kind)
		return (*a)->kind < (*b)->kind ? -1 : 1;
	int order = strcmp((*a)->namespace_, (*b)->namespace_);
	return order ? order : strcmp((*a)->name, (*b)->name);
}

/* The objects of the frame in the order in which a store lists them. */
static void list_frame(struct live *live)
{
	VEC(struct live_object *) objects = {0};
	for (enum kind_id kind = KIND_OTHER; kind < KIND_IDS; kind++) {
		struct live_object *object, *next;
		if (kind == KIND_POD || kind == KIND_POD_GROUP || kind == KIND_BUDGET || kind == KIND_CONFIG_MAP ||
		    kind == KIND_SERVICE || build_is_storage(kind) || build_is_device(kind))
			continue;
		HASH_ITER(hh, live->objects[kind], object, next)
			vec_push(&objects, object);
	}
	if (objects.count > 1)
		qsort(objects.items, objects.count, sizeof(*objects.items), compare_objects);
	live->frame = (struct manifests){
		.arena = live->snapshot.arena,
		.items = arena_array(live->snapshot.arena, struct manifest, objects.count),
	};
	for (size_t i = 0; i < objects.count; i++) {
		struct live_object *object = objects.items[i];
		store_object_release(object->read);
		object->read = store_object_retain(object->object);
		live->frame.items[live->frame.count++] = live_manifest(object);
	}
	vec_free(&objects);
}

static void build_frame_again(struct live *live)
{
	struct snapshot *snapshot = &live->snapshot;
	struct snapshot_build *build = &live->build;
	struct live_object *object, *next;
	snapshot->arena = arena_create();
	snapshot->topology_count = snapshot->cycle.queue_count = 0;
	list_frame(live);
	*build = (struct snapshot_build){
		.snapshot = snapshot,
		.arena = snapshot->arena,
		.options = &live->options,
		.settings = live->options.settings,
		.priority_names = interner_create(),
		.queue_names = interner_create(),
		.label_topologies = interner_create(),
		.services = live->services,
		.index = admit_index_create(&live->frame),
		.quiet = true,
	};
	snapshot->cycle.cluster = cluster_create();
	HASH_ITER(hh, live->objects[KIND_POD_GROUP], object, next)
		build_note_labels(build->label_topologies, object->object->root);
	build_frame(build, &live->frame);
	live_volumes_build(live);
	live_devices_build(live);
	snapshot->cycle.accounts = arena_array(snapshot->arena, struct cycle_account, snapshot->cycle.queue_count);
}

static void forget_groups(struct live *live)
{
	for (size_t g = 0; g < live->group_capacity; g++)
		live->slots[g].used = live->slots[g].listed = false;
	live->snapshot.cycle.group_count = live->snapshot.pod_count = 0;
	live->pods.count = live->free_pods.count = live->free_groups.count = live->todo.count = 0;
}

void live_rebuild(struct live *live)
{
	struct live_object *object, *next;
	live_unbuild(live);
	forget_groups(live);
	build_frame_again(live);
	live->stale = false;
	live->budgets_stale = true;
	live->rebuilds++;
	HASH_ITER(hh, live->objects[KIND_POD_GROUP], object, next) {
		object->slot = -1;
		live_group_update(live, object);
	}
	HASH_ITER(hh, live->objects[KIND_POD], object, next) {
		object->slot = object->implicit = -1;
		object->family = NULL;
		if (!object->held)
			live_pod_update(live, object);
	}
}

bool live_is_worn(const struct live *live)
{
	const struct cluster *cluster = live->snapshot.cycle.cluster;
	return cluster &&
	       ((size_t)cluster_pod_class_count(cluster) > 2 * live->snapshot.pod_count + SPARE_POD_CLASSES ||
	        live->turnover > (size_t)cluster_node_count(cluster) + SPARE_NODES ||
	        device_columns_worn(live->build.device_columns));
}

/* What an object of the frame says that decisions depend on. */
static bool same_frame(const struct snapshot_build *build, const struct live_object *object)
{
	const struct val *a = object->read->root, *b = object->object->root;
	if (object->kind == KIND_PRIORITY_CLASS)
		return val_equal(val_get(a, "value"), val_get(b, "value")) &&
		       val_equal(val_get(a, "globalDefault"), val_get(b, "globalDefault"));
	if (object->kind == KIND_QUEUE && !text_equal(build_pool(build, a), build_pool(build, b)))
		return false;
	return val_equal(val_get(a, "spec"), val_get(b, "spec"));
}

static void update_node(struct live *live, struct live_object *object)
{
	struct problems ignored = {.arena = live->scratch};
	struct node_spec spec;
	arena_reset(live->scratch);
	bool bad = node_decode(object->object->root, live->scratch, &spec, &ignored) < 0 ||
	           !build_node_is_ours(&live->build, &spec);
	struct cluster *cluster = live->snapshot.cycle.cluster;
	if (!bad && !build_knows_pool(&live->build, &spec)) {
		live->stale = true; /* queues are divided by pools */
		return;
	}
	struct cluster_node node = build_cluster_node(&spec);
	int number = bad ? -1 : cluster_find_node(cluster, node.name);
	const struct label *labels = number < 0 ? NULL : cluster_node_labels(cluster, number)->items;
	int changed = bad ? -1 : cluster_update_node(cluster, &node);
	if (changed < 0)
		live_node_note(live, object->name);
	else if (labels != cluster_node_labels(cluster, number)->items)
		volume_columns_nodes(live->build.columns); /* a new copy: they are others */
	live->changed |= changed != 0;
}

void live_frame_update(struct live *live, struct live_object *object)
{
	if (object->kind == KIND_NODE)
		update_node(live, object);
	else if (!object->read || !same_frame(&live->build, object))
		live->stale = true;
}
