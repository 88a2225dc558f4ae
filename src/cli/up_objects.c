/* Owns the objects with which `up` starts. */
#include "cli/up_objects.h"

#include "cli/output.h"

#include <string.h>

static const char fixed_objects[] =
	"{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, spec: {levels: [\n"
	" {nodeLabel: topology.kubernetes.io/zone}, {nodeLabel: example.com/rack}, {nodeLabel: "
	"kubernetes.io/hostname}]}}\n"
	"---\n"
	"{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: default-queue}, spec: {resources: {\n"
	" gpu: {quota: -1, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1},\n"
	" memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}}\n"
	"---\n"
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: train}, value: 50}\n"
	"---\n"
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: build-preemptible}, value: 75}\n"
	"---\n"
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: build}, value: 100}\n"
	"---\n"
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: inference}, value: 125}\n";

static void print_node(struct buffer *out, const struct cli_shape *shape, int zone, int rack, int node)
{
	char name[64], amounts[160];
	snprintf(name, sizeof(name), "z%d-r%d-n%d", zone, rack, node);
	snprintf(amounts, sizeof(amounts), "{cpu: \"64\", memory: 512Gi, pods: \"110\", nvidia.com/gpu: \"%d\"}",
	         shape->gpus);
	buffer_printf(out,
	              "---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %s,\n"
	              " topology.kubernetes.io/zone: z%d, example.com/rack: z%d-r%d}},\n"
	              " status: {capacity: %s, allocatable: %s, conditions: [{type: Ready, status: \"True\",\n"
	              "  reason: SimulatedNode, message: the simulated node is ready}],\n"
	              "  nodeInfo: {kubeletVersion: v1.32.0-platoon, osImage: simulated, kernelVersion: none,\n"
	              "   containerRuntimeVersion: \"none://0\", architecture: amd64, operatingSystem: linux,\n"
	              "   bootID: \"\", machineID: \"\", systemUUID: \"\", kubeProxyVersion: \"\"}}}\n",
	              name, name, zone, zone, rack, amounts, amounts);
}

static int create(struct store *store, const struct manifest *manifest, struct arena *arena, struct error *error)
{
	struct store_result result = {.arena = arena};
	struct store_request request = {
		.verb = STORE_CREATE,
		.api = store_api_of_kind(store, manifest->api_version, manifest->kind),
		.body = manifest->object,
		.manager = "platoon-up",
		.actor = "platoon",
	};
	int rc = store_write(store, &request, &result);
	if (rc < 0 && strcmp(result.error.reason, "AlreadyExists") == 0)
		rc = 0;
	else if (rc < 0)
		error_set(error, ERROR_INTERNAL, "%s %s: %s", manifest->kind, manifest->name, result.error.message);
	store_result_clear(&result);
	return rc;
}

int up_seed(struct store *store, const struct cli_shape *shape, struct error *error)
{
	struct buffer text = {0};
	buffer_puts(&text, fixed_objects);
	for (int zone = 1; zone <= shape->zones; zone++)
		for (int rack = 1; rack <= shape->racks; rack++)
			for (int node = 1; node <= shape->nodes; node++)
				print_node(&text, shape, zone, rack, node);
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	manifests_init(&manifests);
	int rc = manifests_parse(&manifests, text.text, text.length, "built-in objects", &problems);
	if (rc < 0)
		error_set(error, ERROR_INTERNAL, "built-in objects: %s", problems.items[0].message);
	for (size_t i = 0; rc == 0 && i < manifests.count; i++)
		rc = create(store, &manifests.items[i], arena, error);
	manifests_free(&manifests);
	arena_destroy(arena);
	buffer_free(&text);
	return rc;
}

static bool apply(struct store *store, const struct manifest *manifest, struct arena *arena)
{
	const struct store_api *api = store_api_of_kind(store, manifest->api_version, manifest->kind);
	if (!api) {
		output_line(stderr,
		            "%s: error: the API has no %s of %s (a CustomResourceDefinition must stand before it)",
		            manifest->source, manifest->kind, manifest->api_version);
		return false;
	}
	struct store_result result = {.arena = arena};
	struct store_request request = {
		.verb = STORE_PATCH,
		.api = api,
		.namespace_ = !api->type->namespaced    ? ""
	                      : manifest->namespace_[0] ? manifest->namespace_
	                                                : "default",
		.name = manifest->name,
		.body = manifest->object,
		.patch = STORE_PATCH_APPLY,
		.force = true,
		.manager = "platoon-up",
		.actor = "platoon",
	};
	bool good = store_write(store, &request, &result) == 0;
	if (!good)
		output_line(stderr, "%s: error: %s", manifest->source, result.error.message);
	for (size_t i = 0; i < result.warning_count; i++)
		output_line(stderr, "%s: warning: %s", manifest->source, result.warnings[i]);
	store_result_clear(&result);
	return good;
}

size_t up_apply(struct store *store, const struct manifests *manifests)
{
	size_t refused = 0;
	struct arena *arena = arena_create();
	for (size_t i = 0; i < manifests->count; i++)
		refused += !apply(store, &manifests->items[i], arena);
	arena_destroy(arena);
	return refused;
}
