/* Owns a store with nodes, pods and groups, and a scheduler at work on it. */
#include "yard.h"

#include "times.h"
#include "object/doc.h"

#include <stdio.h>
#include <string.h>

bool yard_write(struct yard *yard, struct store_request request, const char *api_version, const char *kind,
                const char *body)
{
	struct error error = {0};
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct doc *doc = body ? doc_parse_json(body, strlen(body), &error) : NULL;
	request.api = store_api_of_kind(yard->store, api_version, kind);
	request.body = doc ? doc_root(doc) : NULL;
	bool done = (doc || !body) && store_write(yard->store, &request, &result) == 0;
	if (!done)
		fprintf(stderr, "%s: %s %s\n", kind, error.text, result.error.message ? result.error.message : "");
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
	return done;
}

static bool create(struct yard *yard, const char *namespace_, const char *api_version, const char *kind,
                   const char *body)
{
	return yard_write(yard, (struct store_request){.verb = STORE_CREATE, .namespace_ = namespace_}, api_version,
	                  kind, body);
}

void yard_make_node(struct yard *yard, int number)
{
	char body[512];
	snprintf(
		body, sizeof(body),
		"{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"zone\":\"z%d\",\"block\":\"b%d\",\"rack\":\"r%d\","
		"\"kubernetes.io/hostname\":\"n%d\"}},\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":\"512Gi\","
		"\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"}}}",
		number, number / YARD_ZONE, number / 128, number / YARD_RACK, number);
	create(yard, "", "v1", "Node", body);
}

/* On a node, or waiting. */
void yard_make_pod(struct yard *yard, const char *name, const char *group, int gpus, int node)
{
	char body[768], where[64] = "";
	if (node >= 0)
		snprintf(where, sizeof(where), ",\"nodeName\":\"n%d\"", node);
	snprintf(body, sizeof(body),
	         "{\"metadata\":{\"name\":\"%s\",\"annotations\":{\"pod-group-name\":\"%s\"}},\"spec\":{"
	         "\"schedulerName\":"
	         "\"platoon\"%s,\"containers\":[{\"name\":\"m\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"
	         "\"4\","
	         "\"nvidia.com/gpu\":\"%d\"}}}]},\"status\":{\"phase\":\"%s\"}}",
	         name, group, where, gpus, node >= 0 ? "Running" : "Pending");
	create(yard, "default", "v1", "Pod", body);
}

void yard_make_group(struct yard *yard, const char *name, int minimum, bool rack)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"%s\"},"
	         "\"spec\":{\"minMember\":%d,\"queue\":\"all\"%s%s}}",
	         name, minimum, rack ? ",\"preemptibility\":\"non-preemptible\"" : "",
	         rack ? ",\"topologyConstraint\":{\"topology\":\"cluster\",\"requiredTopologyLevel\":\"rack\"}" : "");
	create(yard, "default", "scheduling.run.ai/v2alpha2", "PodGroup", body);
}

void yard_commit(struct yard *yard)
{
	struct error error = {0};
	if (store_commit(yard->store, &error) < 0)
		fprintf(stderr, "commit: %s\n", error.text);
}

void yard_open(struct yard *yard, int nodes)
{
	struct error error = {0};
	*yard = (struct yard){.nodes = nodes};
	clock_virtual_init(&yard->clock, INT64_C(1767225600) * CLOCK_SECOND);
	yard->store = store_open(&(struct store_options){.clock = &yard->clock.source, .seed = 1}, &error);
	create(yard, "", "scheduling.run.ai/v2", "Queue",
	       "{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"all\"},\"spec\":{"
	       "\"resources\":{\"gpu\":{\"quota\":-1,\"limit\":-1},\"cpu\":{\"quota\":-1,\"limit\":-1},\"memory\":{"
	       "\"quota\":"
	       "-1,\"limit\":-1}}}}");
	create(yard, "", "kai.scheduler/v1alpha1", "Topology",
	       "{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"cluster\"},"
	       "\"spec\":{\"levels\":[{\"nodeLabel\":\"zone\"},{\"nodeLabel\":\"block\"},{\"nodeLabel\":\"rack\"},"
	       "{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
	for (int n = 0; n < nodes; n++)
		yard_make_node(yard, n);
	yard_commit(yard);
}

void yard_start(struct yard *yard)
{
	yard->scheduler = scheduler_create(
		&(struct scheduler_options){.store = yard->store, .clock = &yard->clock.source, .pause_ns = 1});
}

/* Turns until the scheduler has nothing more to do; the time of all of them. */
double yard_settle(struct yard *yard)
{
	double start = measure_processor_us();
	for (int turn = 0; turn < 10; turn++) {
		uint64_t before = store_version(yard->store);
		clock_virtual_advance(&yard->clock, CLOCK_SECOND / 100);
		/* A step reads and writes a part; the next one goes on. */
		while (scheduler_step(yard->scheduler) == 0)
			yard_commit(yard);
		yard_commit(yard);
		if (store_version(yard->store) == before)
			break;
	}
	return measure_processor_us() - start;
}

void yard_close(struct yard *yard)
{
	scheduler_destroy(yard->scheduler);
	store_close(yard->store);
}

bool yard_is_bound(const struct yard *yard, const char *name)
{
	const struct store_type *pods = store_type_find(yard->store, "", "pods");
	const struct store_object *pod = store_peek(yard->store, pods, "default", name);
	return pod && val_str(val_path(pod->root, "spec", "nodeName", NULL), NULL);
}

void yard_remove_pod(struct yard *yard, const char *name)
{
	struct store_request request = {.verb = STORE_DELETE,
	                                .namespace_ = "default",
	                                .name = name,
	                                .options = {.has_grace = true, .grace = 0}};
	yard_write(yard, request, "v1", "Pod", NULL);
}
