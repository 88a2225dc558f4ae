/* Owns the devices of the snapshot: claims with the pods that name them, and resources that DeviceClasses stand behind. A pod
 * that asks for one of these that no node offers would get devices of a claim that is made for it, which is not done. It is
 * blocked, because nothing is proved about it. */
#include "schedule/snapshot_build.h"

#include <string.h>

#define MOST_READINGS 4 /* of all pods with device claims: what one asks for changes what others take */

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

/* ---- claims ---- */

_Static_assert((int)KIND_DEVICE_SLICE - (int)KIND_DEVICE_CLASS == (int)DEVICE_SLICE &&
                       (int)KIND_DEVICE_CLAIM - (int)KIND_DEVICE_CLASS == (int)DEVICE_CLAIM &&
                       (int)KIND_DEVICE_TAINT_RULE - (int)KIND_DEVICE_CLASS == (int)DEVICE_RULE,
               "kinds of devices are numbered alike in both layers");

static void read_objects(struct snapshot_build *build, enum device_kind kind)
{
	const struct build_slice *slice = &build->kinds[KIND_DEVICE_CLASS + (int)kind];
	struct interner *names = interner_create();
	for (size_t i = 0; i < slice->count; i++) {
		const struct manifest *manifest = slice->items[i];
		const char *key =
			kind == DEVICE_CLAIM ? build_key(build, manifest->namespace_, manifest->name) : manifest->name;
		struct problems problems = {.arena = build->arena};
		if (!build_claim_name(build, names, key, manifest))
			continue;
		device_book_set(build->snapshot->device_book, kind, manifest->object, &problems);
		build_verdict(build, manifest, &problems);
	}
	interner_destroy(names);
}

static size_t count_users(const void *context, const char *namespace_, const char *claim)
{
	const struct snapshot *snapshot = context;
	return build_count_users(&snapshot->device_claim_users, namespace_, claim);
}

static void count_claims(struct snapshot_build *build, const struct pod_spec *const *pods, size_t count)
{
	struct snapshot *snapshot = build->snapshot;
	size_t claims = 0;
	for (size_t i = 0; i < count; i++)
		claims += pods[i]->device_claim_count;
	build_users(build, &snapshot->device_claim_users, claims);
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < pods[i]->device_claim_count; c++)
			if (pods[i]->device_claims[c].claim)
				build_user(build, &snapshot->device_claim_users, pods[i],
				           pods[i]->device_claims[c].claim);
}

void build_device_columns(struct snapshot_build *build, const struct pod_spec *const *pods, size_t count)
{
	struct snapshot *snapshot = build->snapshot;
	snapshot->device_book = device_book_create();
	for (int kind = 0; kind < DEVICE_KINDS; kind++)
		read_objects(build, (enum device_kind)kind);
	count_claims(build, pods, count);
	build->device_columns = snapshot->device_columns =
		device_columns_create(snapshot->device_book, snapshot->cycle.cluster, count_users, snapshot);
	/* Everything that is asked for is known before it is said what a pod takes. */
	struct arena *arena = arena_create();
	for (int reading = 0; reading < MOST_READINGS; reading++) {
		for (size_t i = 0; i < count; i++) {
			struct volume_needs ignored = {.rules = pods[i]->rules};
			device_columns_ask(build->device_columns, pods[i], -1, arena, &ignored);
		}
		device_columns_settle(build->device_columns);
		if (!device_columns_grew(build->device_columns))
			break;
		arena_reset(arena);
	}
	arena_destroy(arena);
}
