/* Owns the random changes. Every kind of object comes, changes and goes; some of them are wrong on purpose. */
#include "yard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 10, PODS = 30, GROUPS = 6, QUEUES = 4, CLAIMS = 3 };

static const struct {
	const char *group, *version, *resource;
} kinds[YARD_KINDS] = {
	{"", "v1", "nodes"},
	{"", "v1", "pods"},
	{"", "v1", "persistentvolumes"},
	{"", "v1", "persistentvolumeclaims"},
	{"scheduling.run.ai", "v2alpha2", "podgroups"},
	{"scheduling.run.ai", "v2", "queues"},
	{"kai.scheduler", "v1alpha1", "topologies"},
	{"scheduling.k8s.io", "v1", "priorityclasses"},
};

static const struct store_api *api_of(const struct yard *yard, const char *resource)
{
	for (size_t k = 0; k < YARD_KINDS; k++)
		if (strcmp(kinds[k].resource, resource) == 0)
			return store_api_find(yard->store, kinds[k].group, kinds[k].version, resource);
	return NULL;
}

int yard_write(struct yard *yard, struct store_request request, const char *resource, const char *namespace_,
               const char *name, const char *body)
{
	struct error error = {0};
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct doc *doc = body ? doc_parse_json(body, strlen(body), &error) : NULL;
	if (body && !doc) {
		fprintf(stderr, "%s: %s\n", error.text, body);
		abort();
	}
	request.api = api_of(yard, resource);
	request.namespace_ = namespace_;
	request.name = name;
	request.body = doc ? doc_root(doc) : NULL;
	request.manager = "test";
	store_write(yard->store, &request, &result);
	int code = result.error.code ? result.error.code : 200;
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
	return code;
}

struct store_object *yard_peek(const struct yard *yard, const char *resource, const char *namespace_, const char *name)
{
	return store_peek(yard->store, api_of(yard, resource)->type, namespace_, name);
}

int yard_delete(struct yard *yard, const char *resource, const char *namespace_, const char *name, int64_t grace)
{
	struct store_request request = {.verb = STORE_DELETE, .options = {.has_grace = grace >= 0, .grace = grace}};
	return yard_write(yard, request, resource, namespace_, name, NULL);
}

int yard_bind(struct yard *yard, const char *namespace_, const char *pod, const char *node)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"%s\"},"
	         "\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}",
	         pod, node);
	return yard_write(yard, (struct store_request){.verb = STORE_CREATE, .subresource = STORE_BINDING}, "pods",
	                  namespace_, pod, body);
}

void yard_commit(struct yard *yard)
{
	struct error error = {0};
	while (store_chores(yard->store, 100))
		;
	if (store_commit(yard->store, &error) < 0)
		abort();
}

void yard_list(const struct yard *yard, struct store_list lists[YARD_KINDS], struct arena *arena,
               struct manifests *manifests)
{
	size_t total = 0;
	for (size_t k = 0; k < YARD_KINDS; k++) {
		struct store_list_request request = {.api = api_of(yard, kinds[k].resource)};
		struct store_error error = {0};
		lists[k] = (struct store_list){0};
		if (store_list(yard->store, &request, &lists[k], arena, &error) < 0)
			abort();
		total += lists[k].count;
	}
	*manifests = (struct manifests){.arena = arena, .items = arena_array(arena, struct manifest, total)};
	for (size_t k = 0; k < YARD_KINDS; k++)
		for (size_t i = 0; i < lists[k].count; i++) {
			const struct store_object *object = lists[k].items[i];
			manifests->items[manifests->count++] = (struct manifest){
				.object = object->root,
				.source = "store",
				.api_version = val_str(val_get(object->root, "apiVersion"), ""),
				.kind = object->type->kind,
				.name = object->name,
				.namespace_ = object->namespace_,
			};
		}
}

/* ---- random changes ---- */

static int pick(struct yard *yard, int count)
{
	return random_range(&yard->random, 0, count - 1);
}

static bool chance(struct yard *yard, int percent)
{
	return random_chance(&yard->random, percent);
}

/* Creates the object, or replaces it by a merge patch when it exists. */
static void put(struct yard *yard, const char *resource, const char *namespace_, const char *name, const char *body)
{
	bool exists = yard_peek(yard, resource, namespace_, name) != NULL;
	struct store_request request = {.verb = exists ? STORE_PATCH : STORE_CREATE, .patch = STORE_PATCH_MERGE};
	int code = yard_write(yard, request, resource, namespace_, exists ? name : "", body);
	if (code == 400 || code == 404) {
		fprintf(stderr, "%d: %s\n", code, body);
		abort();
	}
	snprintf(yard->story, sizeof(yard->story), "%s %s %s/%s: %d: %.150s", exists ? "patch" : "create", resource,
	         namespace_, name, code, body);
}

static void take_away(struct yard *yard, const char *resource, const char *namespace_, const char *name)
{
	int64_t grace = chance(yard, 50) || yard->calm ? 0 : -1;
	int code = yard_delete(yard, resource, namespace_, name, grace);
	snprintf(yard->story, sizeof(yard->story), "delete %s %s/%s: %d", resource, namespace_, name, code);
}

static void change_node(struct yard *yard)
{
	char name[16], body[1024];
	snprintf(name, sizeof(name), "n%d", pick(yard, NODES));
	bool exists = yard_peek(yard, "nodes", "", name) != NULL;
	if (exists && chance(yard, 10)) {
		yard->structural = yard->some_unnamed;
		take_away(yard, "nodes", "", name);
		return;
	}
	if (exists && chance(yard, 75)) {
		static const char *const bodies[] = {
			"{\"spec\":{\"unschedulable\":true}}",
			"{\"spec\":{\"unschedulable\":null,\"taints\":null}}",
			"{\"spec\":{\"taints\":[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoSchedule\"}]}}",
			"{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"PreferNoSchedule\"}]}}",
			"{\"metadata\":{\"labels\":{\"disk\":\"fast\"}}}",
			"{\"metadata\":{\"labels\":{\"disk\":null}}}",
		};
		put(yard, "nodes", "", name, bodies[pick(yard, 6)]);
		return;
	}
	if (exists && chance(yard, 60)) {
		snprintf(
			body, sizeof(body),
			"{\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"memory\":\"%dGi\",\"nvidia.com/gpu\":\"%d\"%s},"
			"\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
			4 + pick(yard, 3) * 4, 8 + pick(yard, 2) * 8, 1 + pick(yard, 4),
			chance(yard, 20) ? ",\"example.com/odd\":\"3\"" : "", chance(yard, 70) ? "True" : "False");
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .subresource = STORE_STATUS};
		yard_write(yard, request, "nodes", "", name, body);
		snprintf(yard->story, sizeof(yard->story), "node %s status: %.200s", name, body);
		return;
	}
	char host[64] = "";
	/* Unique names of hosts make some rules simpler: when they no longer are, everything is built anew. */
	bool unnamed = yard->some_unnamed && chance(yard, 20);
	yard->structural = yard->some_unnamed;
	if (!unnamed)
		snprintf(host, sizeof(host), ",\"kubernetes.io/hostname\":\"%s\"", name);
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"zone\":\"z%d\","
	         "\"rack\":\"r%d\"%s}},\"status\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"16Gi\","
	         "\"pods\":\"10\",\"nvidia.com/gpu\":\"4\"}}}",
	         name, pick(yard, 2), pick(yard, 3), host);
	put(yard, "nodes", "", name, body);
}

static void put_pod_rules(struct yard *yard, struct buffer *body)
{
	if (chance(yard, 8))
		buffer_puts(body, ",\"nodeSelector\":{\"disk\":\"fast\"}");
	if (chance(yard, 8))
		buffer_puts(body, ",\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]");
	if (chance(yard, 10))
		buffer_puts(body,
		            ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":["
		            "{\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{"
		            "\"app\":\"x\"}}}]}}");
	if (chance(yard, 6))
		buffer_puts(body, ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","
		                  "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{"
		                  "\"app\":\"x\"}}}]");
	if (chance(yard, 8))
		buffer_printf(body, ",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c%d\"}}]",
		              pick(yard, CLAIMS));
	if (chance(yard, 25))
		buffer_puts(body, ",\"schedulingGates\":[{\"name\":\"wait\"}]");
	if (chance(yard, 15))
		buffer_printf(body, ",\"priorityClassName\":\"%s\"", chance(yard, 50) ? "high" : "train");
}

static int pick_group(struct yard *yard)
{
	return pick(yard, yard->hard ? 2 : GROUPS);
}

static void create_pod(struct yard *yard, const char *namespace_, const char *name)
{
	struct buffer body = {0};
	buffer_printf(&body,
	              "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
	              "\"app\":\"%s\"",
	              name, chance(yard, 50) ? "x" : "y");
	if (yard->hard)
		buffer_printf(&body, ",\"kai.scheduler/subgroup-name\":\"%c\"", 'a' + pick(yard, 4));
	else if (chance(yard, 60))
		buffer_printf(&body, ",\"kai.scheduler/subgroup-name\":\"%s\"",
		              chance(yard, 48)   ? "a"
		              : chance(yard, 90) ? "b"
		                                 : "nowhere");
	if (chance(yard, 10))
		buffer_printf(&body, ",\"kai.scheduler/task-priority\":\"%d\"", pick(yard, 5));
	if (chance(yard, 30))
		buffer_printf(&body, ",\"kai.scheduler/queue\":\"q%d\"", pick(yard, QUEUES));
	buffer_puts(&body, "}");
	if (chance(yard, 75))
		buffer_printf(&body, ",\"annotations\":{\"pod-group-name\":\"g%d\"}", pick_group(yard));
	buffer_printf(&body,
	              "},\"spec\":{\"schedulerName\":\"%s\",\"containers\":[{\"name\":\"m\",\"image\":\"i\","
	              "\"resources\":{\"requests\":{\"cpu\":\"%s\",\"nvidia.com/gpu\":\"%d\"}}%s}]",
	              chance(yard, 92) ? "platoon" : "other", chance(yard, 96) ? "1" : "many", 1 + pick(yard, 3),
	              chance(yard, 10) ? ",\"ports\":[{\"containerPort\":80,\"hostPort\":80}]" : "");
	put_pod_rules(yard, &body);
	if (chance(yard, 15))
		buffer_printf(&body, ",\"nodeName\":\"n%d\"", pick(yard, NODES));
	buffer_puts(&body, "}}");
	put(yard, "pods", namespace_, name, body.text);
	buffer_free(&body);
}

static void change_pod_status(struct yard *yard, const char *namespace_, const char *name)
{
	char body[256];
	static const char *const phases[] = {"Running", "Running", "Running", "Succeeded", "Failed", "Pending"};
	if (chance(yard, 25) && !yard->calm)
		snprintf(body, sizeof(body), "{\"status\":{\"nominatedNodeName\":\"n%d\"}}", pick(yard, NODES));
	else if (chance(yard, 10))
		snprintf(body, sizeof(body), "{\"status\":{\"nominatedNodeName\":null}}");
	else if (chance(yard, 10))
		snprintf(body, sizeof(body), "{\"status\":{\"message\":\"of no importance %d\"}}", pick(yard, 9));
	else
		snprintf(body, sizeof(body), "{\"status\":{\"phase\":\"%s\"}}", phases[pick(yard, 6)]);
	struct store_request request = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	int code = yard_write(yard, request, "pods", namespace_, name, body);
	snprintf(yard->story, sizeof(yard->story), "pod %s/%s status: %d %.150s", namespace_, name, code, body);
}

static void change_pod(struct yard *yard)
{
	char name[16], node[16];
	snprintf(name, sizeof(name), "p%d", pick(yard, PODS));
	const char *namespace_ = chance(yard, 80) ? "default" : "kube-system";
	const struct store_object *pod = yard_peek(yard, "pods", namespace_, name);
	bool bound = pod && val_str(val_path(pod->root, "spec", "nodeName", NULL), NULL);
	if (!pod) {
		create_pod(yard, namespace_, name);
	} else if (chance(yard, 20)) {
		take_away(yard, "pods", namespace_, name);
	} else if (!bound && chance(yard, 50)) {
		snprintf(node, sizeof(node), "n%d", pick(yard, NODES));
		int code = yard_bind(yard, namespace_, name, node);
		snprintf(yard->story, sizeof(yard->story), "bind %s/%s to %s: %d", namespace_, name, node, code);
	} else if (!bound && chance(yard, 30)) {
		put(yard, "pods", namespace_, name, "{\"spec\":{\"schedulingGates\":null}}");
	} else if (chance(yard, 30)) {
		static const char *const bodies[] = {
			"{\"metadata\":{\"labels\":{\"app\":\"y\"}}}",
			"{\"metadata\":{\"labels\":{\"kai.scheduler/subgroup-name\":\"a\"}}}",
			"{\"metadata\":{\"annotations\":{\"pod-group-name\":\"g1\"}}}",
			"{\"metadata\":{\"annotations\":{\"pod-group-name\":null}}}",
			"{\"metadata\":{\"labels\":{\"kai.scheduler/task-priority\":\"7\"}}}",
			"{\"metadata\":{\"labels\":{\"kai.scheduler/queue\":\"q1\"}}}",
		};
		put(yard, "pods", namespace_, name, bodies[pick(yard, 6)]);
	} else {
		change_pod_status(yard, namespace_, name);
	}
}

static void put_tree(struct yard *yard, struct buffer *body)
{
	static const char *const constraints[] = {
		"",
		"",
		",\"topologyConstraint\":{\"topology\":\"t0\",\"requiredTopologyLevel\":\"rack\"}",
		",\"topologyConstraint\":{\"topology\":\"t0\",\"preferredTopologyLevel\":\"rack\"}",
		",\"topologyConstraint\":{\"topology\":\"t1\",\"requiredTopologyLevel\":\"zone\"}",
		",\"topologyConstraint\":{\"topology\":\"t0\",\"requiredTopologyLevel\":\"unknown\"}",
	};
	const char *constraint = constraints[pick(yard, chance(yard, 80) ? 4 : 6)];
	if (yard->hard) {
		buffer_puts(body, "\"subGroups\":[");
		for (int i = 0; i < 4; i++)
			buffer_printf(body, "%s{\"name\":\"%c\",\"minMember\":%d%s}", i ? "," : "", 'a' + i,
			              1 + pick(yard, 3), constraints[2]);
		buffer_puts(body, "]");
		return;
	}
	if (chance(yard, 40))
		buffer_printf(body,
		              "\"subGroups\":[{\"name\":\"a\",\"minMember\":%d%s},{\"name\":\"b\",\"minMember\":%d}]",
		              pick(yard, 3), constraint, pick(yard, 3));
	else
		buffer_printf(body, "\"subGroups\":null,\"minMember\":%d%s", 1 + pick(yard, 4), constraint);
}

/* A place kept for a pod that was moved; some of them are written by somebody who does not know how. */
static void put_kept_place(struct yard *yard, struct buffer *body)
{
	char since[32], until[32];
	clock_print_rfc3339(yard->clock.now / CLOCK_SECOND - pick(yard, 30), since);
	clock_print_rfc3339(yard->clock.now / CLOCK_SECOND + pick(yard, 60), until);
	if (chance(yard, 30)) {
		buffer_printf(body, "{\"metadata\":{\"annotations\":{\"platoon.dev/kept-places\":%s}}}",
		              chance(yard, 50) ? "null" : "\"[{}, 1, {\\\"node\\\":\\\"n1\\\"}]\"");
		return;
	}
	buffer_puts(body, "{\"metadata\":{\"annotations\":{\"platoon.dev/kept-places\":\"[");
	for (int i = 0, count = 1 + pick(yard, 3); i < count; i++)
		buffer_printf(
			body,
			"%s{\\\"node\\\":\\\"n%d\\\",%s\\\"requests\\\":{\\\"cpu\\\":%d,\\\"nvidia.com/gpu\\\":%d},"
			"\\\"before\\\":%d,\\\"wanted\\\":%d,\\\"since\\\":\\\"%s\\\",\\\"until\\\":\\\"%s\\\"}",
			i ? "," : "", pick(yard, NODES), chance(yard, 40) ? "\\\"subGroup\\\":\\\"a\\\"," : "",
			1000 * (1 + pick(yard, 2)), 1 + pick(yard, 3), pick(yard, 2), 1 + pick(yard, 5), since, until);
	buffer_puts(body, "]\"}}}");
}

static void change_group(struct yard *yard)
{
	char name[16];
	snprintf(name, sizeof(name), "g%d", pick_group(yard));
	const char *namespace_ = chance(yard, 80) ? "default" : "kube-system";
	struct buffer body = {0};
	bool exists = yard_peek(yard, "podgroups", namespace_, name) != NULL;
	if (exists && chance(yard, 20)) {
		take_away(yard, "podgroups", namespace_, name);
		return;
	}
	if (exists && chance(yard, 25)) {
		put_kept_place(yard, &body);
	} else if (exists && chance(yard, 30)) {
		char since[32];
		clock_print_rfc3339(yard->clock.now / CLOCK_SECOND - pick(yard, 100), since);
		buffer_printf(&body, "{\"metadata\":{\"annotations\":{\"kai.scheduler/%s\":%s%s%s}}}",
		              chance(yard, 70) ? "stale-podgroup-timestamp" : "last-eviction-timestamp",
		              chance(yard, 70) ? "\"" : "null,\"x\":\"", since, "\"");
	} else if (exists && chance(yard, 20)) {
		buffer_printf(&body, "{\"status\":{\"phase\":\"P%d\"}}", pick(yard, 9));
	} else {
		buffer_printf(&body,
		              "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{"
		              "\"name\":\"%s\"},\"spec\":{",
		              name);
		put_tree(yard, &body);
		if (chance(yard, 70))
			buffer_printf(&body, ",\"queue\":\"q%d\"", pick(yard, QUEUES));
		if (chance(yard, 40))
			buffer_printf(&body, ",\"priorityClassName\":\"%s\"", chance(yard, 50) ? "high" : "build");
		if (chance(yard, 40))
			buffer_printf(&body, ",\"preemptibility\":\"%s\"",
			              chance(yard, 50) ? "preemptible" : "semi-preemptible");
		if (chance(yard, 10))
			buffer_puts(&body, ",\"preemptionDelay\":\"30s\"");
		buffer_puts(&body, "}}");
	}
	put(yard, "podgroups", namespace_, name, body.text);
	buffer_free(&body);
}

static void change_queue(struct yard *yard)
{
	char name[16], parent[64] = "", body[1024];
	int number = pick(yard, QUEUES);
	snprintf(name, sizeof(name), "q%d", number);
	yard->structural = true;
	if (yard_peek(yard, "queues", "", name) && chance(yard, 25)) {
		take_away(yard, "queues", "", name);
		return;
	}
	if (chance(yard, 30))
		snprintf(parent, sizeof(parent), "\"parentQueue\":\"q%d\",", pick(yard, QUEUES));
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"scheduling.run.ai/"
	         "v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"%s\"},\"spec\":{%s"
	         "\"priority\":%d,\"resources\":{\"gpu\":{\"quota\":%d,\"limit\":%d,\"overQuotaWeight\":%d},\"cpu\":{"
	         "\"quota\":-1,\"limit\":-1},\"memory\":{\"quota\":-1,\"limit\":-1}}}}",
	         name, parent, 100 + pick(yard, 2), pick(yard, 8), chance(yard, 70) ? -1 : 4 + pick(yard, 8),
	         pick(yard, 3));
	put(yard, "queues", "", name, body);
}

static void change_topology(struct yard *yard)
{
	char name[16], body[512];
	int number = pick(yard, 2);
	snprintf(name, sizeof(name), "t%d", number);
	yard->structural = true;
	if (yard_peek(yard, "topologies", "", name)) {
		if (chance(yard, 30))
			take_away(yard, "topologies", "", name);
		return;
	}
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"%s\"},"
	         "\"spec\":{\"levels\":[%s{\"nodeLabel\":\"rack\"}]}}",
	         name, chance(yard, 70) ? "{\"nodeLabel\":\"zone\"}," : "");
	put(yard, "topologies", "", name, body);
}

static void change_rest(struct yard *yard)
{
	char name[16], body[512];
	yard->structural = true;
	if (chance(yard, 30)) {
		if (yard_peek(yard, "priorityclasses", "", "high"))
			take_away(yard, "priorityclasses", "", "high");
		else
			put(yard, "priorityclasses", "", "high",
			    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
			    "\"metadata\":{\"name\":\"high\"},\"value\":90}");
		return;
	}
	yard->structural = false; /* volumes concern only the pods that use them */
	bool volume = chance(yard, 50);
	snprintf(name, sizeof(name), "%s%d", volume ? "v" : "c", pick(yard, CLAIMS));
	const char *resource = volume ? "persistentvolumes" : "persistentvolumeclaims";
	const char *namespace_ = volume ? "" : "default";
	if (yard_peek(yard, resource, namespace_, name)) {
		take_away(yard, resource, namespace_, name);
		return;
	}
	if (volume)
		snprintf(
			body, sizeof(body),
			"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
			"\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
			"\"zone\","
			"\"operator\":\"In\",\"values\":[\"z0\"]}]}]}}}}",
			name);
	else
		snprintf(body, sizeof(body),
		         "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"%s\"},"
		         "\"spec\":{\"volumeName\":\"v%d\"}}",
		         name, pick(yard, CLAIMS));
	put(yard, resource, namespace_, name, body);
}

void yard_change(struct yard *yard)
{
	yard->structural = false;
	yard->story[0] = '\0';
	int what = pick(yard, 100);
	if (what < 14)
		change_node(yard);
	else if (what < 66)
		change_pod(yard);
	else if (what < 86)
		change_group(yard);
	else if (what < 92)
		change_queue(yard);
	else if (what < 96)
		change_topology(yard);
	else
		change_rest(yard);
}

void yard_open(struct yard *yard, uint64_t seed)
{
	struct error error = {0};
	*yard = (struct yard){.random = {seed}};
	clock_virtual_init(&yard->clock, INT64_C(1767225600) * CLOCK_SECOND);
	/* A short history, so that watches lose their place now and then. */
	yard->store = store_open(&(struct store_options){.clock = &yard->clock.source,
	                                                 .seed = seed,
	                                                 .history = seed % 3 ? 0 : 4},
	                         &error);
	if (!yard->store)
		abort();
}

void yard_close(struct yard *yard)
{
	store_close(yard->store);
}
