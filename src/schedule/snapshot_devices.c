/* Owns resources that DeviceClasses stand behind: a pod that asks for one that no node offers would get devices of a claim,
 * which are not allocated. It is blocked, because nothing is proved about it. */
#include "schedule/snapshot_build.h"

#include <string.h>

/* A resource that a DeviceClass names. */
struct build_device {
	const char *resource, *class_name; /* borrowed from the manifest */
	bool offered;                      /* by a node, when it was asked last */
};

static bool is_offered(const struct snapshot_build *build, const char *resource)
{
	const struct cluster *cluster = build->snapshot->cycle.cluster;
	int number = cluster_find_resource(cluster, resource);
	return number >= 0 && cluster_total(cluster, number) > 0;
}

void build_devices(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_DEVICE_CLASS];
	build->device_count = 0;
	build->devices = arena_array(build->arena, struct build_device, slice->count);
	for (size_t i = 0; i < slice->count; i++) {
		const struct manifest *manifest = slice->items[i];
		const char *resource = val_str(val_path(manifest->object, "spec", "extendedResourceName", NULL), "");
		if (*resource)
			build->devices[build->device_count++] = (struct build_device){
				.resource = resource,
				.class_name = manifest->name,
				.offered = is_offered(build, resource),
			};
	}
}

bool build_devices_changed(const struct snapshot_build *build)
{
	for (size_t i = 0; i < build->device_count; i++)
		if (is_offered(build, build->devices[i].resource) != build->devices[i].offered)
			return true;
	return false;
}

void build_devices_block(const struct snapshot_build *build, const struct pod_spec *pod, struct arena *arena,
                         const struct pod_block **block)
{
	for (size_t d = 0; d < build->device_count; d++) {
		const struct build_device *device = &build->devices[d];
		for (size_t i = 0; i < pod->request_count && !device->offered; i++)
			if (strcmp(pod->requests[i].name, device->resource) == 0)
				pod_block_add(block, arena, BLOCK_UNSUPPORTED,
				              "resource %s: no node offers it, and devices of DeviceClass %s are not "
				              "allocated",
				              device->resource, device->class_name);
	}
}
