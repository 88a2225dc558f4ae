/* Owns the pods of the snapshot: what each one is (waiting, running, leaving, finished), what it occupies, and whether
 * it is ours to place. Which gang it belongs to is decided in snapshot_groups.c. */
#include "schedule/snapshot_build.h"

#include <string.h>

bool build_pod_is_ours(const struct snapshot_build *build, const struct pod_spec *pod)
{
	return settings_is_ours(build->settings, pod->scheduler);
}

void build_occupy(struct snapshot_build *build, struct snapshot_pod *pod)
{
	struct cluster *cluster = build->snapshot->cycle.cluster;
	pod->pod_class = cluster_add_pod_class(cluster, &(struct pod_input){
								.namespace_ = pod->spec.namespace_,
								.labels = pod->spec.labels,
								.requests = pod->spec.requests,
								.request_count = pod->spec.request_count,
								.rules = &pod->spec.rules,
							});
	bool finished = pod->spec.phase == POD_SUCCEEDED || pod->spec.phase == POD_FAILED;
	pod->gone = finished || pod->spec.deleting;
	pod->node = -1;
	if (!pod->spec.node || finished)
		return;
	pod->node = cluster_find_node(cluster, pod->spec.node);
	if (pod->node < 0) {
		build_warn(build, "pod %s/%s runs on node %s, which is not part of the input; its usage is unknown",
		           pod->spec.namespace_, pod->spec.name, pod->spec.node);
		pod->gone = true;
		return;
	}
	pod->releasing = pod->spec.deleting;
	cluster_occupy(cluster, pod->pod_class, pod->node, pod->releasing ? OCCUPY_RELEASING : OCCUPY_RUNNING);
}

void build_vacate(struct snapshot_build *build, struct snapshot_pod *pod)
{
	if (pod->node >= 0)
		cluster_vacate(build->snapshot->cycle.cluster, pod->pod_class, pod->node,
		               pod->releasing ? OCCUPY_RELEASING : OCCUPY_RUNNING);
	pod->node = -1;
}

const char *build_group_of_bad_pod(const struct manifest *manifest)
{
	return val_str(val_path(manifest->object, "metadata", "annotations", "pod-group-name", NULL), NULL);
}

static void note_bad_pod(struct snapshot_build *build, const struct manifest *manifest)
{
	const char *group = build_group_of_bad_pod(manifest);
	if (group)
		build->bad_pods[build->bad_pod_count++] =
			(struct build_bad_pod){.group_key = build_key(build, manifest->namespace_, group),
		                               .name = manifest->name};
}

int build_read_pod(struct snapshot_build *build, const struct manifest *manifest, struct snapshot_pod *pod)
{
	struct problems problems = {.arena = build->arena};
	*pod = (struct snapshot_pod){.node = -1, .group = -1, .leaf = -1, .member = -1};
	int rc = pod_decode(manifest->object, build->arena, &pod->spec, &problems);
	if (rc == 0) {
		pod->spec.namespace_ = build_namespace(pod->spec.namespace_);
		const struct volume_index *volumes =
			build->volumes_of && pod->spec.claim_count
				? build->volumes_of(build->volumes_context, &pod->spec, build->arena)
				: build->volumes;
		pod_attach_volumes(&pod->spec, volumes, build->arena, &problems);
	}
	build_verdict(build, manifest, &problems);
	return rc;
}

void build_pods(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	const struct build_slice *slice = &build->kinds[BUILD_POD];
	snapshot->pods = arena_array(build->arena, struct snapshot_pod, slice->count);
	snapshot->pod_names = interner_create();
	build->bad_pods = arena_array(build->arena, struct build_bad_pod, slice->count);
	for (size_t i = 0; i < slice->count; i++) {
		const struct manifest *manifest = slice->items[i];
		struct snapshot_pod *pod = &snapshot->pods[snapshot->pod_count];
		if (build_read_pod(build, manifest, pod) < 0) {
			note_bad_pod(build, manifest);
			continue;
		}
		if (!build_claim_name(build, snapshot->pod_names,
		                      build_key(build, pod->spec.namespace_, pod->spec.name), manifest))
			continue;
		pod->creation = build_creation(manifest, slice->order[i]);
		build_occupy(build, pod);
		snapshot->pod_count++;
	}
}
