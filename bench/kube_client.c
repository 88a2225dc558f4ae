/* The least of a client of the Kubernetes API, for the bench on a real control plane: it makes pods and nodes, binds pods
 * without any thought (the limit of the server), downloads lists, and says when pods were bound.
 *
 *     platoon-bench-kube KUBECONFIG nodes COUNT
 *     platoon-bench-kube KUBECONFIG create COUNT GANG SCHEDULER [PREFIX]
 *     platoon-bench-kube KUBECONFIG bind NODES IN_FLIGHT
 *     platoon-bench-kube KUBECONFIG download [protobuf]
 *     platoon-bench-kube KUBECONFIG watch COUNT      until that many more pods have a node
 *
 * Each prints one JSON object; `watch` prints a line before, when it has begun. Times are seconds of the wall clock since the epoch. */
#include "base/vec.h"
#include "kube_bindings.h"
#include "remote/client.h"
#include "remote/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MAKERS 32 /* requests in flight when objects are made */

static struct remote_client *client;
static size_t answered, failed;

static double now(void)
{
	return (double)clock_now(clock_system()) / 1e9;
}

static double cpu(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Peak resident, in MB. */
static double memory(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void on_answer(void *context, const struct remote_answer *answer)
{
	(void)context;
	answered++;
	if (answer->code >= 200 && answer->code < 300)
		return;
	if (failed++ == 0)
		fprintf(stderr, "%d: %s\n", answer->code, remote_answer_message(answer));
}

typedef void make_request(size_t i, struct buffer *path, struct buffer *body);

/* `count` POSTs (or PATCHes), at most `in_flight` at a time. */
static void flood(const char *method, const char *type, size_t count, size_t in_flight, make_request *make)
{
	struct buffer path = {0}, body = {0};
	answered = 0;
	for (size_t sent = 0; answered < count;) {
		for (; sent < count && sent - answered < in_flight; sent++) {
			path.length = body.length = 0;
			make(sent, &path, &body);
			remote_client_send(client, &(struct remote_call){
							   .method = method,
							   .path = path.text,
							   .content_type = type,
							   .body = body.text,
							   .length = body.length,
							   .done = on_answer,
						   });
		}
		remote_client_run(client, 100, -1);
	}
	buffer_free(&path);
	buffer_free(&body);
}

/* ---- nodes ---- */

static void make_node(size_t i, struct buffer *path, struct buffer *body)
{
	buffer_puts(path, "/api/v1/nodes");
	buffer_printf(body,
	              "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%05zu\",\"labels\":{"
	              "\"kubernetes.io/hostname\":\"node-%05zu\",\"example.com/rack\":\"rack-%03zu\"}}}",
	              i, i, i / 16);
}

static void make_node_status(size_t i, struct buffer *path, struct buffer *body)
{
	static const char amounts[] = "{\"cpu\":\"64\",\"memory\":\"512Gi\",\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"}";
	buffer_printf(path, "/api/v1/nodes/node-%05zu/status", i);
	buffer_printf(body,
	              "{\"status\":{\"capacity\":%s,\"allocatable\":%s,\"conditions\":[{\"type\":\"Ready\",\"status\":"
	              "\"True\",\"reason\":\"Fake\",\"lastHeartbeatTime\":\"2026-01-01T00:00:00Z\","
	              "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}",
	              amounts, amounts);
}

/* A new node is tainted until it is ready, which nobody here notices. */
static void make_node_clean(size_t i, struct buffer *path, struct buffer *body)
{
	buffer_printf(path, "/api/v1/nodes/node-%05zu", i);
	buffer_puts(body, "{\"spec\":{\"taints\":null}}");
}

static void nodes(size_t count)
{
	double start = now();
	flood("POST", NULL, count, MAKERS, make_node);
	flood("PATCH", "application/merge-patch+json", count, MAKERS, make_node_status);
	flood("PATCH", "application/merge-patch+json", count, MAKERS, make_node_clean);
	printf("{\"seconds\": %.3f, \"failed\": %zu}\n", now() - start, failed);
}

/* ---- pods ---- */

static size_t gang;
static const char *scheduler, *prefix;

static void make_group(size_t i, struct buffer *path, struct buffer *body)
{
	buffer_puts(path, "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups");
	buffer_printf(body,
	              "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":"
	              "\"%s-%zu\"},\"spec\":{\"minMember\":%zu,\"queue\":\"default-queue\"}}",
	              prefix, i, gang);
}

static void make_pod(size_t i, struct buffer *path, struct buffer *body)
{
	buffer_puts(path, "/api/v1/namespaces/default/pods");
	buffer_printf(body,
	              "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s-%zu-%zu\",\"labels\":{"
	              "\"app\":\"bench\"}",
	              prefix, gang ? i / gang : i, gang ? i % gang : 0);
	if (gang)
		buffer_printf(body, ",\"annotations\":{\"pod-group-name\":\"%s-%zu\"}", prefix, i / gang);
	buffer_printf(body,
	              "},\"spec\":{\"schedulerName\":\"%s\",\"containers\":[{\"name\":\"main\",\"image\":\"app:1\","
	              "\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"}}}]}}",
	              scheduler);
}

static void create(size_t count)
{
	double start = now();
	if (gang)
		flood("POST", NULL, (count + gang - 1) / gang, MAKERS, make_group);
	double pods = now();
	flood("POST", NULL, count, MAKERS, make_pod);
	printf("{\"start\": %.3f, \"pods\": %.3f, \"end\": %.3f, \"failed\": %zu}\n", start, pods, now(), failed);
}

/* ---- bindings without a scheduler ---- */

static VEC(const char *) waiting;
static size_t node_count;

static void make_binding(size_t i, struct buffer *path, struct buffer *body)
{
	buffer_printf(path, "/api/v1/namespaces/default/pods/%s/binding", waiting.items[i]);
	buffer_printf(body,
	              "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
	              "\"default\"},\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"node-%05zu\"}}",
	              waiting.items[i], i % node_count);
}

static int bind_all(size_t in_flight)
{
	struct error error = {0};
	struct doc *doc = remote_client_get(client, "/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3D",
	                                    NULL, &error);
	if (!doc) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(doc_root(doc), "items")); val_next(&it, NULL, &item);)
		vec_push(&waiting, val_str(val_path(item, "metadata", "name", NULL), ""));
	double start = now();
	flood("POST", NULL, waiting.count, in_flight, make_binding);
	printf("{\"pods\": %zu, \"seconds\": %.3f, \"cpu\": %.3f, \"memory\": %.1f, \"failed\": %zu}\n", waiting.count,
	       now() - start, cpu(), memory(), failed);
	vec_free(&waiting);
	doc_destroy(doc);
	return 0;
}

/* ---- lists and watches ---- */

static size_t bytes;

static void on_list(void *context, const struct remote_answer *answer)
{
	bytes += answer->length;
	on_answer(context, answer);
}

static void download(bool protobuf)
{
	double start = now();
	remote_client_send(client, &(struct remote_call){.method = "GET",
	                                                 .path = "/api/v1/pods",
	                                                 .accept = protobuf ? REMOTE_WIRE_ACCEPT : NULL,
	                                                 .timeout_ms = 600000,
	                                                 .done = on_list});
	while (answered == 0)
		remote_client_run(client, 1000, -1);
	printf("{\"bytes\": %zu, \"seconds\": %.3f, \"cpu\": %.3f, \"failed\": %zu}\n", bytes, now() - start, cpu(),
	       failed);
}

static struct bindings bindings;
static size_t wanted;

static bool on_watch(void *context, const char *text, size_t length)
{
	(void)context;
	bindings_feed(&bindings, text, length, now());
	return bindings.count < wanted;
}

/* The version of the list of all pods; those with a node are noted. "" when there is no answer. */
static void list_bound(bool first, char version[32])
{
	struct error error = {0};
	struct doc *doc = remote_client_get(client, "/api/v1/namespaces/default/pods", NULL, &error);
	const struct val *root = doc ? doc_root(doc) : NULL, *item;
	for (struct val_iter it = val_iter(val_get(root, "items")); val_next(&it, NULL, &item);) {
		const char *uid = val_str(val_path(item, "metadata", "uid", NULL), "");
		if (!*val_str(val_path(item, "spec", "nodeName", NULL), ""))
			continue;
		if (first)
			bindings_known(&bindings, uid);
		else
			bindings_saw(&bindings, uid, now());
	}
	snprintf(version, 32, "%s", val_str(val_path(root, "metadata", "resourceVersion", NULL), ""));
	if (!doc)
		fprintf(stderr, "%s\n", error.text);
	doc_destroy(doc);
}

/* From a list on, so that what is bound before is not counted and nothing afterwards is missed. A watch that the server ends,
 * because it is too slow for it, begins again in the same way. */
static int watch(size_t count)
{
	wanted = count;
	double used = cpu();
	char version[32];
	list_bound(true, version);
	printf("{\"watching\": true}\n");
	fflush(stdout);
	while (bindings.count < wanted && *version) {
		struct buffer path = {0};
		buffer_printf(&path, "/api/v1/namespaces/default/pods?watch=true&resourceVersion=%s", version);
		answered = 0;
		bindings.line.length = 0;
		remote_client_send(client, &(struct remote_call){.method = "GET",
		                                                 .path = path.text,
		                                                 .timeout_ms = -1,
		                                                 .data = on_watch,
		                                                 .done = on_answer});
		while (bindings.count < wanted && answered == 0)
			remote_client_run(client, 1000, -1);
		buffer_free(&path);
		if (bindings.count < wanted)
			list_bound(false, version);
	}
	printf("{\"bound\": %zu, \"first\": %.3f, \"last\": %.3f, \"cpu\": %.3f}\n", bindings.count, bindings.first,
	       bindings.last, cpu() - used);
	return bindings.count < wanted;
}

int main(int count, char **words)
{
	struct arena *arena = arena_create();
	struct remote_access access;
	struct error error = {0};
	int rc = 0;
	if (count < 3 || remote_config_load(words[1], NULL, arena, &access, &error) < 0 ||
	    !(client = remote_client_create(&access, NULL, &error))) {
		fprintf(stderr, "platoon-bench-kube: %s\n",
		        error.text[0] ? error.text : "see the head of kube_client.c");
		return 2;
	}
	const char *what = words[2];
	size_t number = count > 3 ? strtoul(words[3], NULL, 10) : 0;
	if (strcmp(what, "nodes") == 0) {
		nodes(number);
	} else if (strcmp(what, "create") == 0 && count > 5) {
		gang = strtoul(words[4], NULL, 10);
		scheduler = words[5];
		prefix = count > 6 ? words[6] : "pod";
		create(number);
	} else if (strcmp(what, "bind") == 0 && count > 4) {
		node_count = number;
		rc = bind_all(strtoul(words[4], NULL, 10));
	} else if (strcmp(what, "download") == 0) {
		download(count > 3 && strcmp(words[3], "protobuf") == 0);
	} else if (strcmp(what, "watch") == 0) {
		rc = watch(number);
	} else {
		fprintf(stderr, "platoon-bench-kube: see the head of kube_client.c\n");
		rc = 2;
	}
	remote_client_destroy(client);
	bindings_free(&bindings);
	arena_destroy(arena);
	return rc ? rc : failed > 0;
}
