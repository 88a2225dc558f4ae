/* Owns a store with nodes, pods and groups, and a scheduler at work on it. */
#include "control_loop.h"

#include "times.h"
#include "object/doc.h"

#include <stdio.h>
#include <string.h>

bool control_loop_write(struct control_loop *loop, struct store_request request, const char *api_version,
                        const char *kind, const char *body)
{
	struct error error = {0};
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct doc *doc = body ? doc_parse_json(body, strlen(body), &error) : NULL;
	request.api = store_api_of_kind(loop->store, api_version, kind);
	request.body = doc ? doc_root(doc) : NULL;
	bool done = (doc || !body) && store_write(loop->store, &request, &result) == 0;
	if (!done)
		fprintf(stderr, "%s: %s %s\n", kind, error.text, result.error.message ? result.error.message : "");
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
	return done;
}

static bool create(struct control_loop *loop, const char *namespace_, const char *api_version, const char *kind,
                   const char *body)
{
	return control_loop_write(loop, (struct store_request){.verb = STORE_CREATE, .namespace_ = namespace_},
	                          api_version, kind, body);
}

void control_loop_make_node(struct control_loop *loop, int number)
{
	char body[512];
	snprintf(
		body, sizeof(body),
		"{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"zone\":\"z%d\",\"block\":\"b%d\",\"rack\":\"r%d\","
		"\"kubernetes.io/hostname\":\"n%d\"}},\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":\"512Gi\","
		"\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"}}}",
		number, number / LOOP_ZONE, number / 128, number / LOOP_RACK, number);
	create(loop, "", "v1", "Node", body);
}

/* On a node, or waiting. */
void control_loop_make_pod(struct control_loop *loop, const char *name, const char *group, int gpus, int node)
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
	create(loop, "default", "v1", "Pod", body);
}

void control_loop_make_group(struct control_loop *loop, const char *name, int minimum, bool rack)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"%s\"},"
	         "\"spec\":{\"minMember\":%d,\"queue\":\"all\"%s%s}}",
	         name, minimum, rack ? ",\"preemptibility\":\"non-preemptible\"" : "",
	         rack ? ",\"topologyConstraint\":{\"topology\":\"cluster\",\"requiredTopologyLevel\":\"rack\"}" : "");
	create(loop, "default", "scheduling.run.ai/v2alpha2", "PodGroup", body);
}

void control_loop_commit(struct control_loop *loop)
{
	struct error error = {0};
	if (store_commit(loop->store, &error) < 0)
		fprintf(stderr, "commit: %s\n", error.text);
}

void control_loop_open(struct control_loop *loop, int nodes)
{
	struct error error = {0};
	*loop = (struct control_loop){.nodes = nodes};
	clock_virtual_init(&loop->clock, INT64_C(1767225600) * CLOCK_SECOND);
	loop->store = store_open(&(struct store_options){.clock = &loop->clock.source, .seed = 1}, &error);
	create(loop, "", "scheduling.run.ai/v2", "Queue",
	       "{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"all\"},\"spec\":{"
	       "\"resources\":{\"gpu\":{\"quota\":-1,\"limit\":-1},\"cpu\":{\"quota\":-1,\"limit\":-1},\"memory\":{"
	       "\"quota\":"
	       "-1,\"limit\":-1}}}}");
	create(loop, "", "kai.scheduler/v1alpha1", "Topology",
	       "{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"cluster\"},"
	       "\"spec\":{\"levels\":[{\"nodeLabel\":\"zone\"},{\"nodeLabel\":\"block\"},{\"nodeLabel\":\"rack\"},"
	       "{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
	for (int n = 0; n < nodes; n++)
		control_loop_make_node(loop, n);
	control_loop_commit(loop);
}

void control_loop_start(struct control_loop *loop)
{
	loop->scheduler = scheduler_create(
		&(struct scheduler_options){.store = loop->store, .clock = &loop->clock.source, .pause_ns = 1});
}

/* Turns until the scheduler has nothing more to do; the time of all of them. */
double control_loop_settle(struct control_loop *loop)
{
	double start = measure_processor_us();
	for (int turn = 0; turn < 10; turn++) {
		uint64_t before = store_version(loop->store);
		clock_virtual_advance(&loop->clock, CLOCK_SECOND / 100);
		/* A step reads and writes a part; the next one goes on. */
		while (scheduler_step(loop->scheduler) == 0)
			control_loop_commit(loop);
		control_loop_commit(loop);
		if (store_version(loop->store) == before)
			break;
	}
	return measure_processor_us() - start;
}

void control_loop_close(struct control_loop *loop)
{
	scheduler_destroy(loop->scheduler);
	store_close(loop->store);
}

bool control_loop_is_bound(const struct control_loop *loop, const char *name)
{
	const struct store_type *pods = store_type_find(loop->store, "", "pods");
	const struct store_object *pod = store_peek(loop->store, pods, "default", name);
	return pod && val_str(val_path(pod->root, "spec", "nodeName", NULL), NULL);
}

void control_loop_remove_pod(struct control_loop *loop, const char *name)
{
	struct store_request request = {.verb = STORE_DELETE,
	                                .namespace_ = "default",
	                                .name = name,
	                                .options = {.has_grace = true, .grace = 0}};
	control_loop_write(loop, request, "v1", "Pod", NULL);
}
