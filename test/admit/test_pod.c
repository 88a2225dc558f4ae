/* Pods: identity, state, effective requests. */
#include "verdict.h"

#include "admit/pod.h"
#include "base/strings.h"

#include <stdio.h>
#include <string.h>

static const char head[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: ";

static void decode(struct parsed *parsed, const char *text, struct pod_spec *pod)
{
	parsed_open(parsed, text);
	assert_int_equal(pod_decode(parsed_object(parsed, 0), parsed->arena, pod, &parsed->problems), 0);
}

#define C(requests) "{name: c, resources: {requests: {" requests "}}}"

/* "cpu=1500 memory=4" in the order of the names, "pods" left out. */
static void requests_text(const struct pod_spec *pod, char *out, size_t size)
{
	size_t at = 0;
	bool pods = false;
	out[0] = 0;
	for (size_t i = 0; i < pod->request_count; i++) {
		if (strcmp(pod->requests[i].name, "pods") == 0) {
			pods = pod->requests[i].amount == 1;
			continue;
		}
		at += (size_t)snprintf(out + at, size - at, "%s%s=%lld", at ? " " : "", pod->requests[i].name,
		                       (long long)pod->requests[i].amount);
	}
	assert_true(pods);
}

#define STATUS(allocated, in_force)                                                                                    \
	"\nstatus: {containerStatuses: [{name: other, allocatedResources: {cpu: 64}}, {name: c, allocatedResources: "  \
	"{" allocated "}, resources: {requests: {" in_force "}}}]"

static void requests(void **state)
{
	static const struct {
		const char *story, *spec, *expect;
	} rows[] = {
		{"what runs is made smaller: it counts until the node says so",
	         "{nodeName: n1, containers: [" C("cpu: 1, memory: 4") "]}" STATUS("cpu: 1, memory: 4",
	                                                                           "cpu: 3, memory: 4") "}",
	         "cpu=3000 memory=4"},
		{"what runs is made larger: it counts at once",
	         "{nodeName: n1, containers: [" C("cpu: 5") "]}" STATUS("cpu: 2", "cpu: 2") "}", "cpu=5000"},
		{"unless the node can never give it",
	         "{nodeName: n1, containers: [" C("cpu: 5") "]}" STATUS(
			 "cpu: 2",
			 "cpu: 1") ", conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}]}",
	         "cpu=2000"},
		{"not yet, but later",
	         "{nodeName: n1, containers: [" C("cpu: 5") "]}" STATUS(
			 "cpu: 2",
			 "cpu: 1") ", conditions: [{type: PodResizePending, status: 'True', reason: Deferred}]}",
	         "cpu=5000"},
		{"a pod without a node has nothing yet",
	         "{containers: [" C("cpu: 1") "]}" STATUS("cpu: 2", "cpu: 2") "}", "cpu=1000"},
		{"what a kubelet writes does not make a pod wrong",
	         "{nodeName: n1, containers: [" C("cpu: 1") "]}" STATUS("cpu: many", "cpu: -1") "}", "cpu=1000"},
		{"devices that a plugin shares", "{containers: [" C("nvidia.com/gpu.shared: 2") "]}",
	         "nvidia.com/gpu.shared=2"},
		{"nothing", "{containers: [{name: c}]}", ""},
		{"sum of containers",
	         "{containers: [" C("cpu: 500m, memory: 1Ki") ", " C("cpu: 1, nvidia.com/gpu: 2") "]}",
	         "cpu=1500 memory=1024 nvidia.com/gpu=2"},
		{"zero is left out", "{containers: [" C("cpu: 0, memory: '0'") "]}", ""},
		{"numbers and texts", "{containers: [" C("cpu: 0.5, memory: 1e3") "]}", "cpu=500 memory=1000"},
		{"what is not whole is rounded up", "{containers: [" C("cpu: 1u, memory: 1500m") "]}",
	         "cpu=1 memory=2"},
		{"a limit without request is the request",
	         "{containers: [{name: c, resources: {limits: {cpu: 2, nvidia.com/gpu: 1}, requests: {cpu: 1}}}]}",
	         "cpu=1000 nvidia.com/gpu=1"},
		{"a large init container decides",
	         "{containers: [" C("cpu: 1") "], initContainers: [" C("cpu: 3") ", " C("cpu: 2") "]}", "cpu=3000"},
		{"a small one does not", "{containers: [" C("cpu: 4") "], initContainers: [" C("cpu: 3") "]}",
	         "cpu=4000"},
		{"sidecars run beside the containers",
	         "{containers: [" C(
			 "cpu: 1") "], initContainers: [{name: s, restartPolicy: Always, resources: {requests: "
	                           "{cpu: 2}}}]}",
	         "cpu=3000"},
		{"and beside later init containers, not earlier ones",
	         "{containers: [" C("cpu: 1") "], initContainers: [" C(
			 "cpu: 5") ", {name: s, restartPolicy: Always, resources: "
	                           "{requests: {cpu: 2}}}, " C("cpu: 4") "]}",
	         "cpu=6000"},
		{"an early init container alone",
	         "{containers: [" C("cpu: 1") "], initContainers: [" C(
			 "cpu: 7") ", {name: s, restartPolicy: Always, resources: "
	                           "{requests: {cpu: 2}}}, " C("cpu: 4") "]}",
	         "cpu=7000"},
		{"overhead on top",
	         "{containers: [" C("cpu: 1") "], initContainers: [" C("cpu: 3") "], overhead: {cpu: 250m, memory: 8}}",
	         "cpu=3250 memory=8"},
		{"the pod as a whole",
	         "{resources: {requests: {cpu: 5}}, containers: [" C("cpu: 1, memory: 4") "], overhead: {cpu: 1}}",
	         "cpu=6000 memory=4"},
		{"limits of the whole where nothing else is said",
	         "{resources: {limits: {cpu: 5, memory: 9}}, containers: [" C("cpu: 1") "]}", "cpu=1000 memory=9"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buffer text = {0};
		struct parsed parsed;
		struct pod_spec pod;
		char got[256];
		buffer_printf(&text, "%s%s\n", head, rows[i].spec);
		decode(&parsed, text.text, &pod);
		requests_text(&pod, got, sizeof(got));
		if (strcmp(got, rows[i].expect) != 0)
			print_error("%s\n", rows[i].story);
		assert_string_equal(got, rows[i].expect);
		parsed_close(&parsed);
		buffer_free(&text);
	}
}

static void bad_requests(void **state)
{
	static const struct row rows[] = {
		{"no containers", "{nodeName: n1}", {{'W', "spec.containers", "requests nothing"}}},
		{"malformed",
	         "{containers: [{name: a}, " C("cpu: 2 cores") "]}",
	         {{'E', "spec.containers[1].resources.requests.cpu", "2 cores"}}},
		{"negative",
	         "{containers: [" C("memory: -1Gi") "]}",
	         {{'E', "spec.containers[0].resources.requests.memory", "negative"}}},
		{"negative limit",
	         "{initContainers: [{name: a, resources: {limits: {cpu: -1}}}], containers: [{name: b}]}",
	         {{'E', "spec.initContainers[0].resources.limits.cpu", "negative"}}},
		{"half a GPU",
	         "{containers: [" C("nvidia.com/gpu: 500m") "]}",
	         {{'E', "spec.containers[0].resources.requests.nvidia.com/gpu", "cannot be split"}}},
		{"no quantity",
	         "{containers: [" C("cpu: [1], memory: true") "]}",
	         {{'E', "spec.containers[0].resources.requests.cpu", "not a list"},
	          {'E', "spec.containers[0].resources.requests.memory", "quantity"}}},
		{"too large",
	         "{containers: [" C("memory: 8Ei") "]}",
	         {{'E', "spec.containers[0].resources.requests.memory", "too large"}}},
		{"too large together",
	         "{containers: [" C("memory: 7Ei") ", " C("memory: 7Ei") "]}",
	         {{'E', "spec.containers[1]", "more than fits"}}},
		{"above the limit",
	         "{containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}",
	         {{'E', "spec.containers[0].resources.requests.cpu", "above the limit"}}},
		{"wrong types",
	         "{containers: [1, {resources: []}, {resources: {requests: 3}}], initContainers: {}}",
	         {{'E', "spec.containers[0]", "map"},
	          {'E', "spec.containers[1].resources", "map"},
	          {'E', "spec.containers[2].resources.requests", "map"},
	          {'E', "spec.initContainers", "list"}}},
		{"unknown restart policy",
	         "{initContainers: [{name: a, restartPolicy: always}], containers: [{name: b}]}",
	         {{'E', "spec.initContainers[0].restartPolicy", "always"}}},
		{"the pod asks less than its containers",
	         "{resources: {requests: {cpu: 1}}, containers: [" C("cpu: 2") "]}",
	         {{'E', "spec.resources.requests.cpu", "less than its containers"}}},
		{"devices belong to containers",
	         "{resources: {requests: {nvidia.com/gpu: 1}}, containers: [{name: c}]}",
	         {{'E', "spec.resources.requests.nvidia.com/gpu", "only cpu, memory and huge pages"}}},
		{"bad overhead", "{containers: [{name: c}], overhead: {cpu: x}}", {{'E', "spec.overhead.cpu", NULL}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void too_many_resources(void **state)
{
	for (int containers = 1; containers <= 2; containers++) {
		struct buffer text = {0};
		buffer_puts(&text, "{containers: [");
		for (int i = 0; i < 1026; i++) {
			if (i == 0 || (containers == 2 && i == 513))
				buffer_printf(&text, "%s{name: c, resources: {requests: {", i ? "}}}, " : "");
			buffer_printf(&text, "example.com/r-%04d: 1, ", i);
		}
		buffer_puts(&text, "}}}]}");
		struct row row = {"a bound", text.text, {{'E', "spec.containers[1]", "more than 1024 resources"}}};
		if (containers == 1)
			row.expect[0].path = "spec.containers[0].resources.requests";
		verdict_check(head, &row);
		buffer_free(&text);
	}
}

static void identity(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	decode(&parsed,
	       "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: ml\n  uid: u1\n"
	       "  creationTimestamp: '2025-01-01T00:00:00Z'\n  deletionTimestamp: '2025-01-01T00:01:00Z'\n"
	       "  labels: {kai.scheduler/subgroup-name: workers, kai.scheduler/task-priority: '-7'}\n"
	       "  annotations: {pod-group-name: job}\n"
	       "spec: {containers: [{name: c}], schedulerName: platoon, nodeName: n1, priority: 50, priorityClassName: "
	       "train,"
	       " schedulingGates: [{name: g}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, "
	       "{name: tmp, emptyDir: {}}, {name: e, ephemeral: {volumeClaimTemplate: {}}}]}\n"
	       "status: {phase: Running, nominatedNodeName: n2}\n",
	       &pod);
	assert_string_equal(pod.namespace_, "ml");
	assert_string_equal(pod.uid, "u1");
	assert_true(pod.creation_seconds == 1735689600);
	assert_true(pod.deleting && pod.gated && pod.has_priority);
	assert_string_equal(pod.group, "job");
	assert_string_equal(pod.subgroup, "workers");
	assert_int_equal(pod.task_priority, -7);
	assert_string_equal(pod.scheduler, "platoon");
	assert_string_equal(pod.node, "n1");
	assert_string_equal(pod.nominated, "n2");
	assert_int_equal(pod.phase, POD_RUNNING);
	assert_int_equal(pod.priority, 50);
	assert_string_equal(pod.priority_class, "train");
	assert_int_equal(pod.claim_count, 2);
	assert_string_equal(pod.claims[0], "data");
	assert_string_equal(pod.claims[1], "p-e");
	parsed_close(&parsed);
}

static void bare_pod(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	decode(&parsed,
	       "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], schedulingGates: []}\n",
	       &pod);
	assert_string_equal(pod.namespace_, "default");
	assert_null(pod.group);
	assert_null(pod.subgroup);
	assert_null(pod.node);
	assert_null(pod.nominated);
	assert_null(pod.priority_class);
	assert_string_equal(pod.scheduler, "default-scheduler");
	assert_int_equal(pod.phase, POD_PENDING);
	assert_false(pod.deleting || pod.gated || pod.has_priority);
	assert_true(pod.creation_seconds == INT64_MIN);
	assert_int_equal(pod.request_count, 1);
	parsed_close(&parsed);
}

static void bad_fields(void **state)
{
	static const struct row rows[] = {
		{"labels of other types",
	         "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {a: 1}, annotations: {pod-group-name: 2}}\n"
	         "spec: {containers: [{name: c}]}",
	         {{'E', "metadata.labels.a", "must be a string"},
	          {'E', "metadata.annotations.pod-group-name", "string"}}},
		{"task priority",
	         "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {kai.scheduler/task-priority: high}}\n"
	         "spec: {containers: [{name: c}]}",
	         {{'W', "metadata.labels.kai.scheduler/task-priority", "read as 0"}}},
		{"state",
	         "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], priority: "
	         "3000000000, "
	         "schedulingGates: x, volumes: [{name: a, persistentVolumeClaim: {}}]}\nstatus: {phase: running}",
	         {{'E', "spec.priority", "between"},
	          {'E', "spec.schedulingGates", "list"},
	          {'E', "spec.volumes[0].persistentVolumeClaim.claimName", "missing"},
	          {'E', "status.phase", "running"}}},
	};
	verdict_check_all(NULL, rows, COUNT_OF(rows));
}

/* Names of the ConfigMaps that the pod does not start without. */
static void config_maps(void **state)
{
	(void)state;
	static const struct {
		const char *story, *spec, *expect;
	} rows[] = {
		{"none", "{containers: [{name: c}]}", ""},
		{"environment, each name once, in their order",
	         "{containers: [{name: c, env: [{name: A, valueFrom: {configMapKeyRef: {name: b, key: k}}}, {name: B, "
	         "value: "
	         "x}], envFrom: [{configMapRef: {name: a}}, {configMapRef: {name: b}}, {secretRef: {name: s}}]}]}",
	         "a b "},
		{"init containers",
	         "{initContainers: [{name: i, envFrom: [{configMapRef: {name: a}}]}], containers: [{name: c}]}", "a "},
		{"optional ones",
	         "{volumes: [{name: v, configMap: {name: a, optional: true}}], containers: [{name: c, volumeMounts: "
	         "[{name: v}], "
	         "env: [{name: A, valueFrom: {configMapKeyRef: {name: b, key: k, optional: true}}}]}]}",
	         ""},
		{"volumes that a container mounts",
	         "{volumes: [{name: v, configMap: {name: a}}, {name: unused, configMap: {name: b}}, {name: p, "
	         "projected: "
	         "{sources: [{configMap: {name: c}}, {configMap: {name: kube-root-ca.crt}}, {secret: {name: s}}]}}], "
	         "containers: "
	         "[{name: c, volumeMounts: [{name: v}, {name: p}]}]}",
	         "a c "},
		{"something else",
	         "{volumes: [{name: v, configMap: 3}], containers: [{name: c, env: 1, envFrom: [2], volumeMounts: "
	         "[{name: v}]}]}",
	         ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024], names[64] = "";
		struct parsed parsed;
		struct pod_spec pod;
		print_message("%s\n", rows[i].story);
		snprintf(text, sizeof(text), "%s%s\n", head, rows[i].spec);
		parsed_open(&parsed, text);
		pod_decode(parsed_object(&parsed, 0), parsed.arena, &pod, &parsed.problems);
		for (size_t k = 0; k < pod.config_map_count; k++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", pod.config_maps[k]);
		assert_string_equal(names, rows[i].expect);
		parsed_close(&parsed);
	}
}

static void not_grouped(void **state)
{
	static const char said[] = "\nstatus: {conditions: [{type: PodScheduled, status: 'False', reason: NotGrouped, "
				   "message: 'Job default/a: five is not a number'}]}";
	static const struct {
		const char *story, *metadata, *spec, *status;
		bool blocked;
	} rows[] = {
		{"nobody could tell to what it belongs", "", "", said, true},
		{"it belongs to a group meanwhile", ", annotations: {pod-group-name: g}", "", said, false},
		{"it has its node", "", ", nodeName: n1", said, false},
		{"it waits for something else", "", "",
	         "\nstatus: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: m}]}",
	         false},
		{"it is not about its place", "", "",
	         "\nstatus: {conditions: [{type: Ready, status: 'False', reason: NotGrouped, message: m}]}", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		struct parsed parsed;
		struct pod_spec pod;
		print_message("%s\n", rows[i].story);
		snprintf(text, sizeof(text),
		         "apiVersion: v1\nkind: Pod\nmetadata: {name: p%s}\nspec: {containers: [{name: c}]%s}%s\n",
		         rows[i].metadata, rows[i].spec, rows[i].status);
		decode(&parsed, text, &pod);
		assert_int_equal(pod.block != NULL, rows[i].blocked);
		if (pod.block) {
			assert_string_equal(block_code_name(pod.block->code), "NotGrouped");
			assert_string_equal(pod.block->message, "Job default/a: five is not a number");
		}
		parsed_close(&parsed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),    cmocka_unit_test(bad_requests), cmocka_unit_test(too_many_resources),
		cmocka_unit_test(identity),    cmocka_unit_test(bare_pod),     cmocka_unit_test(bad_fields),
		cmocka_unit_test(config_maps), cmocka_unit_test(not_grouped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
