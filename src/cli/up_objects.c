/* Owns the objects with which `up` starts. */
#include "cli/up_objects.h"

#include "cli/output.h"
#include "cli/progress.h"
#include "loop/writes.h"
#include "cluster/nodes.h"

#include <errno.h>
#include <string.h>

#define LARGEST_LIST ((size_t)256 << 20) /* bytes of a table */

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
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: inference}, value: 125}\n"
	"---\n"
	"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: standard, annotations: {\n"
	" storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: platoon.dev/simulated,\n"
	" volumeBindingMode: WaitForFirstConsumer, reclaimPolicy: Delete}\n";

static int create(struct store *store, const struct manifest *manifest, struct arena *arena, struct error *error)
{
	struct store_request request = writes_create(store_api_of_kind(store, manifest->api_version, manifest->kind),
	                                             "", manifest->object, WRITES_ACTOR);
	struct store_error refused;
	request.manager = "platoon-up";
	int rc = writes_send(store, &request, arena, &refused);
	if (rc < 0 && strcmp(refused.reason, "AlreadyExists") == 0)
		rc = 0;
	else if (rc < 0)
		error_set(error, ERROR_INTERNAL, "%s %s: %s", manifest->kind, manifest->name, refused.message);
	return rc;
}

/* ---- nodes ---- */

static int parse_nodes(const struct buffer *text, struct problems *problems, struct manifests *nodes)
{
	if (problems->errors == 0)
		manifests_parse(nodes, text->text ? text->text : "", text->length, "nodes", problems);
	cli_print_problems(problems);
	return problems->errors > 0 ? CLI_USAGE : CLI_OK;
}

int up_read_table(const char *path, struct buffer *text)
{
	FILE *file = fopen(path, "r");
	char chunk[65536];
	size_t got;
	while (file && text->length <= LARGEST_LIST && (got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buffer_append(text, chunk, got);
	bool failed = !file || ferror(file) || text->length > LARGEST_LIST;
	if (failed)
		output_line(stderr, "%s: error: %s", path,
		            text->length > LARGEST_LIST ? "the table is too large" : strerror(errno));
	if (file)
		fclose(file);
	return failed ? CLI_USAGE : CLI_OK;
}

static int nodes_from_list(struct cli_args *args, struct manifests *nodes)
{
	struct buffer list = {0}, text = {0};
	struct problems problems = {.arena = args->arena};
	int rc = up_read_table(args->nodes_file, &list);
	if (rc == CLI_OK) {
		nodes_of_list(&text, list.text ? list.text : "", list.length, args->nodes_file, &problems);
		rc = parse_nodes(&text, &problems, nodes);
	}
	buffer_free(&list);
	buffer_free(&text);
	return rc;
}

/* Everything that is no Node, and every Node on which nothing can run, is reported. */
static int nodes_from_manifests(struct cli_args *args, struct manifests *nodes)
{
	int rc = cli_load(args, &args->nodes_file, 1, false, nodes);
	struct problems problems = {.arena = args->arena};
	for (size_t i = 0; rc == CLI_OK && i < nodes->count; i++) {
		const struct manifest *node = &nodes->items[i];
		if (strcmp(node->kind, "Node") != 0 || strcmp(node->api_version, "v1") != 0)
			problem_add(&problems, SEVERITY_ERROR, node->source, "give other objects with -f",
			            "%s %s is no Node", node->kind, node->name);
		else if (val_count(val_path(node->object, "status", "allocatable", NULL)) == 0)
			problem_add(&problems, SEVERITY_ERROR, node->source, "add cpu, memory and pods there",
			            "Node %s has no status.allocatable, so nothing could run on it", node->name);
	}
	if (rc == CLI_OK && nodes->count == 0)
		problem_add(&problems, SEVERITY_ERROR, args->nodes_file, NULL, "there are no nodes");
	cli_print_problems(&problems);
	return problems.errors > 0 ? CLI_USAGE : rc;
}

int up_nodes(struct cli_args *args, struct manifests *nodes)
{
	if (args->nodes_file)
		return text_ends_with(args->nodes_file, ".csv") ? nodes_from_list(args, nodes)
		                                                : nodes_from_manifests(args, nodes);
	struct buffer text = {0};
	struct problems problems = {.arena = args->arena};
	nodes_of_shape(&text, args->shape.zones, args->shape.racks, args->shape.nodes, args->shape.gpus,
	               args->gpus_as_devices);
	int rc = parse_nodes(&text, &problems, nodes);
	buffer_free(&text);
	return rc;
}

/* ---- the start ---- */

int up_fixed(struct manifests *manifests, struct problems *problems)
{
	return manifests_parse(manifests, fixed_objects, strlen(fixed_objects), "built-in objects", problems);
}

int up_seed(struct store *store, const struct manifests *nodes, struct error *error)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	manifests_init(&manifests);
	int rc = up_fixed(&manifests, &problems);
	if (rc < 0)
		error_set(error, ERROR_INTERNAL, "built-in objects: %s", problems.items[0].message);
	for (size_t i = 0; rc == 0 && i < manifests.count; i++)
		rc = create(store, &manifests.items[i], arena, error);
	struct progress progress = progress_begin();
	for (size_t i = 0; rc == 0 && i < nodes->count; i++) {
		rc = create(store, &nodes->items[i], arena, error);
		progress_show(&progress, "nodes", i + 1, nodes->count, "");
	}
	progress_clear(&progress);
	manifests_free(&manifests);
	arena_destroy(arena);
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
	struct progress progress = progress_begin();
	for (size_t i = 0; i < manifests->count; i++) {
		refused += !apply(store, &manifests->items[i], arena);
		progress_show(&progress, "objects", i + 1, manifests->count, "");
	}
	progress_clear(&progress);
	arena_destroy(arena);
	return refused;
}
