/* Owns the pods of the snapshot: what each one is (waiting, running, leaving, finished), what it occupies, and whether
 * it is ours to place. Which gang it belongs to is decided in snapshot_groups.c. */
#include "schedule/snapshot_build.h"

#include "admit/shard.h"

#include <string.h>

bool build_pod_is_ours(const struct snapshot_build *build, const struct pod_spec *pod)
{
	return settings_is_ours(build->settings, pod->scheduler) &&
	       settings_serves_pool(build->settings, labels_get(&pod->labels, settings_pool_label(build->settings)));
}

struct snapshot_pod build_pod(const struct pod_spec *spec, size_t order)
{
	return (struct snapshot_pod){
		.spec = spec,
		.namespace_ = build_namespace(spec->namespace_),
		.name = spec->name,
		.bound_to = spec->node,
		.nominated = spec->nominated,
		.block = spec->block,
		.deleting = spec->deleting,
		.creation =
			spec->creation_seconds != INT64_MIN ? spec->creation_seconds : build_creation_by_order(order),
		.node = -1,
		.group = -1,
		.leaf = -1,
		.member = -1,
	};
}

static bool is_gpu(const char *resource)
{
	return strcmp(resource, "nvidia.com/gpu") == 0 || text_starts_with(resource, "nvidia.com/mig-");
}

bool build_requests_gpus(const struct volume_needs *needs)
{
	for (size_t i = 0; i < needs->request_count; i++)
		if (needs->requests[i].amount > 0 && is_gpu(needs->requests[i].name))
			return true;
	return false;
}

int build_pod_class(struct snapshot_build *build, const struct snapshot_pod *pod, const struct volume_needs *needs)
{
	struct pod_rules rules = needs->rules ? *needs->rules : (struct pod_rules){0};
	rules.pool = labels_get(&pod->spec->labels, settings_pool_label(build->settings));
	const struct shard_spec *shard = build_shard(build, rules.pool);
	if (shard && shard->has_restrict ? shard->restrict_nodes : build->settings->restrict_nodes)
		rules.node_label = build_requests_gpus(needs) ? SETTINGS_GPU_WORKER : SETTINGS_CPU_WORKER;
	return cluster_add_pod_class(build->snapshot->cycle.cluster, &(struct pod_input){
									     .namespace_ = pod->namespace_,
									     .labels = needs->labels,
									     .requests = needs->requests,
									     .request_count = needs->request_count,
									     .rules = &rules,
								     });
}

int build_node_of(const struct snapshot_build *build, const struct snapshot_pod *pod)
{
	bool finished = pod->spec->phase == POD_SUCCEEDED || pod->spec->phase == POD_FAILED;
	return pod->bound_to && !finished ? cluster_find_node(build->snapshot->cycle.cluster, pod->bound_to) : -1;
}

void build_occupy(struct snapshot_build *build, struct snapshot_pod *pod)
{
	struct cluster *cluster = build->snapshot->cycle.cluster;
	bool finished = pod->spec->phase == POD_SUCCEEDED || pod->spec->phase == POD_FAILED;
	pod->gone = finished || pod->deleting;
	pod->node = -1;
	if (!pod->bound_to || finished)
		return;
	pod->node = cluster_find_node(cluster, pod->bound_to);
	if (pod->node < 0) {
		/* In another pool, or gone. */
		if (!build_serves_all(build)) {
			pod->gone = true;
			return;
		}
		build_warn(build, "pod %s/%s runs on node %s, which is not part of the input; its usage is unknown",
		           pod->namespace_, pod->name, pod->bound_to);
		pod->gone = true;
		return;
	}
	pod->releasing = pod->deleting;
	cluster_occupy(cluster, pod->pod_class, pod->node, pod->releasing ? OCCUPY_RELEASING : OCCUPY_RUNNING);
}

void build_vacate(struct snapshot_build *build, struct snapshot_pod *pod)
{
	if (pod->node >= 0)
		cluster_vacate(build->snapshot->cycle.cluster, pod->pod_class, pod->node,
		               pod->releasing ? OCCUPY_RELEASING : OCCUPY_RUNNING);
	pod->node = -1;
}

const char *build_group_of_bad_pod(const struct val *object)
{
	return val_str(val_path(object, "metadata", "annotations", "pod-group-name", NULL), NULL);
}

static void note_bad_pod(struct snapshot_build *build, const struct manifest *manifest)
{
	const char *group = build_group_of_bad_pod(manifest->object);
	if (group)
		build->bad_pods[build->bad_pod_count++] =
			(struct build_bad_pod){.group_key = build_key(build, manifest->namespace_, group),
		                               .name = manifest->name};
}

static int read_pod(struct snapshot_build *build, const struct manifest *manifest, size_t order,
                    struct snapshot_pod *pod)
{
	struct problems problems = {.arena = build->arena};
	struct pod_spec *spec = arena_new(build->arena, struct pod_spec);
	int rc = pod_decode(manifest->object, build->arena, spec, &problems);
	if (rc == 0) {
		spec->namespace_ = build_namespace(spec->namespace_);
		*pod = build_pod(spec, order);
	}
	build_verdict(build, manifest, &problems);
	return rc;
}

/* The class of each pod, and what it occupies. Only when all pods are read it is known who shares a claim. */
static void class_pods(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	const struct pod_spec **specs = arena_array(build->arena, const struct pod_spec *, snapshot->pod_count);
	for (size_t i = 0; i < snapshot->pod_count; i++)
		specs[i] = snapshot->pods[i].spec;
	build_claims(build, specs, snapshot->pod_count);
	build_device_columns(build, specs, snapshot->pod_count);
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		struct snapshot_pod *pod = &snapshot->pods[i];
		struct volume_needs needs = volume_columns_ask(build->columns, pod->spec, build->arena);
		device_columns_ask(build->device_columns, pod->spec, build_node_of(build, pod), build->arena, &needs);
		pod->block = needs.block;
		build_devices_block(build, pod->spec, build->arena, &pod->block);
		build_config_maps_block(build, pod->spec, build_has_config_map, build, build->arena, &pod->block);
		build_spread(build, pod->spec, build->arena, &needs);
		pod->pod_class = build_pod_class(build, pod, &needs);
		build_occupy(build, pod);
	}
	build_used_volumes(build);
	volume_columns_settle(build->columns);
	device_columns_settle(build->device_columns);
}

void build_pods(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	const struct build_slice *slice = &build->kinds[KIND_POD];
	snapshot->pods = arena_array(build->arena, struct snapshot_pod, slice->count);
	snapshot->pod_names = interner_create();
	build->bad_pods = arena_array(build->arena, struct build_bad_pod, slice->count);
	for (size_t i = 0; i < slice->count; i++) {
		const struct manifest *manifest = slice->items[i];
		struct snapshot_pod *pod = &snapshot->pods[snapshot->pod_count];
		if (read_pod(build, manifest, slice->order[i], pod) < 0) {
			note_bad_pod(build, manifest);
			continue;
		}
		if (build_claim_name(build, snapshot->pod_names, build_key(build, pod->namespace_, pod->name),
		                     manifest))
			snapshot->pod_count++;
	}
	class_pods(build);
}
