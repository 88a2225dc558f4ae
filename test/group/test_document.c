/* Results as documents: the PodGroup as it is stored, what an update leaves alone, and the marks on the pod. */
#include "story.h"

#include "base/strings.h"

#include <stdio.h>
#include <string.h>

#define JOB                                                                                                            \
	WORKLOAD("kubeflow.org/v1", "PyTorchJob",                                                                      \
	         "labels: {team: red}, annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: zone}, ",  \
	         "elasticPolicy: {minReplicas: 2}, pytorchReplicaSpecs: {Worker: {replicas: 4, " TEMPLATE(             \
			 SEGMENTS("2")) "}}")                                                                          \
	POD(OWNED("kubeflow.org/v1", "PyTorchJob", "w") "labels: {training.kubeflow.org/replica-type: worker, "        \
	                                                "training.kubeflow.org/replica-index: \"1\"}, ")

static void check_json(struct doc *doc, const char *expected)
{
	struct buffer got = {0};
	val_write(doc_root(doc), DOC_JSON_COMPACT, &got);
	assert_string_equal(got.text, expected);
	buffer_free(&got);
	doc_destroy(doc);
}

static void a_new_group(void **state)
{
	struct story_run run;
	story_open(&run, JOB, NULL);
	check_json(group_document(&run.result, NULL, NULL),
	           "{\"apiVersion\":\"scheduling.run.ai/"
	           "v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"pg-w-u1\","
	           "\"namespace\":\"ns\",\"labels\":{\"team\":\"red\"},\"annotations\":{\"kai.scheduler/"
	           "topology\":\"topo\","
	           "\"kai.scheduler/topology-required-placement\":\"zone\"},\"ownerReferences\":[{\"apiVersion\":"
	           "\"kubeflow.org/v1\",\"kind\":\"PyTorchJob\",\"name\":\"w\",\"uid\":\"u1\"}]},\"spec\":{\"queue\":"
	           "\"default-queue\",\"priorityClassName\":\"train\",\"topologyConstraint\":{\"topology\":\"topo\","
	           "\"requiredTopologyLevel\":\"zone\"},\"subGroups\":[{\"name\":\"worker\"},{\"name\":\"worker-0\","
	           "\"parent\":"
	           "\"worker\",\"minMember\":2,\"topologyConstraint\":{\"topology\":\"topo\",\"requiredTopologyLevel\":"
	           "\"rack\"}},{\"name\":\"worker-1\",\"parent\":\"worker\",\"minMember\":0,\"topologyConstraint\":"
	           "{\"topology\":\"topo\",\"requiredTopologyLevel\":\"rack\"}}]}}");
	story_close(&run);
}

/* What of the spec says how many are needed. */
static void check_minimums(const char *title, const char *objects, bool as_kai, const char *expected)
{
	struct group_options options = {.kai_minimums = as_kai};
	struct story_run run;
	story_open(&run, objects, &options);
	struct doc *doc = group_document(&run.result, &options, NULL);
	const struct val *spec = val_get(doc_root(doc), "spec"), *item;
	struct buffer got = {0};
	val_write(val_get(spec, "minMember"), DOC_JSON_COMPACT, &got);
	buffer_printf(&got, "/");
	val_write(val_get(spec, "minSubGroup"), DOC_JSON_COMPACT, &got);
	for (struct val_iter it = val_iter(val_get(spec, "subGroups")); val_next(&it, NULL, &item);) {
		buffer_printf(&got, " %s:", val_str(val_get(item, "name"), "?"));
		val_write(val_get(item, "minMember"), DOC_JSON_COMPACT, &got);
		buffer_printf(&got, "/");
		val_write(val_get(item, "minSubGroup"), DOC_JSON_COMPACT, &got);
	}
	if (strcmp(got.text, expected) != 0)
		fail_msg("%s: %s, not %s", title, got.text, expected);
	buffer_free(&got);
	doc_destroy(doc);
	story_close(&run);
}

#define JOBSET(spec)                                                                                                   \
	WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", "",                                                             \
	         spec "replicatedJobs: [{name: a, replicas: 2, template: {spec: {parallelism: 3}}}, {name: b, "        \
	              "template: {}}]")                                                                                \
	POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet", "w") "labels: {jobset.sigs.k8s.io/replicatedjob-name: a, "     \
	                                                     "jobset.sigs.k8s.io/job-index: \"0\"}, ")
#define REPLICA(startup, more)                                                                                         \
	WORKLOAD("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "",                                                 \
	         "startupPolicy: " startup ", leaderWorkerTemplate: {" more "size: 5}")                                \
	POD(OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",                                                    \
	          "w") "labels: {leaderworkerset.sigs.k8s.io/worker-index: \"0\"}, ")

/* Tools that know KAI-Scheduler look for the minimums where it writes them. */
static void minimums_as_kai_writes_them(void **state)
{
	static const struct {
		const char *title, *objects, *plain, *as_kai;
	} cases[] = {
		{"a JobSet that needs all", JOBSET(""),
	         "null/null a:null/null a-replica-0:3/null a-replica-1:3/null "
	         "b:null/null b-replica-0:1/null",
	         "null/2 a:null/2 a-replica-0:3/null a-replica-1:3/null b:null/1 b-replica-0:1/null"},
		{"one that starts in order", JOBSET("startupPolicy: {startupPolicyOrder: InOrder}, "),
	         "null/1 a:null/null a-replica-0:3/null a-replica-1:3/null b:null/null b-replica-0:1/null",
	         "null/1 a:null/2 a-replica-0:3/null a-replica-1:3/null b:null/1 b-replica-0:1/null"},
		{"a leader and its workers", REPLICA("LeaderCreated", ""), "null/null leader:1/null workers:4/null",
	         "5/null leader:1/null workers:4/null"},
		{"a leader whose workers are yet to come", REPLICA("LeaderReady", ""),
	         "null/null leader:1/null workers:0/null", "1/null leader:1/null workers:0/null"},
		{"segments", REPLICA("LeaderCreated", "subGroupPolicy: {subGroupSize: 2}, "),
	         "null/null segment-0:null/null segment-1:2/null leader:1/null workers:2/null",
	         "5/null segment-0:null/2 segment-1:2/null leader:1/null workers:2/null"},
		{"a group without subgroups",
	         WORKLOAD("kubeflow.org/v1", "TFJob", "", "tfReplicaSpecs: {Worker: {replicas: 3}}")
	                 POD(OWNED("kubeflow.org/v1", "TFJob", "w")),
	         "3/null", "3/null"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		check_minimums(cases[i].title, cases[i].objects, false, cases[i].plain);
		check_minimums(cases[i].title, cases[i].objects, true, cases[i].as_kai);
	}
}

#define RACK "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, "

/* How many pods there will be, where the minimums do not say it. */
static void declared_sizes(void **state)
{
	static const struct {
		const char *title, *objects, *expect;
	} cases[] = {
		{"a Job that starts with one pod",
	         WORKLOAD("batch/v1", "Job", RACK, "parallelism: 16, completions: 16")
	                 POD(OWNED("batch/v1", "Job", "w")),
	         "16"},
		{"one that runs fewer at a time than it has",
	         WORKLOAD("batch/v1", "Job", RACK, "parallelism: 4, completions: 16")
	                 POD(OWNED("batch/v1", "Job", "w")),
	         "4"},
		{"one pod is what the minimum says",
	         WORKLOAD("batch/v1", "Job", RACK, "parallelism: 1") POD(OWNED("batch/v1", "Job", "w")), NULL},
		{"without a level it does not matter",
	         WORKLOAD("batch/v1", "Job", "", "parallelism: 16") POD(OWNED("batch/v1", "Job", "w")), NULL},
		{"a StatefulSet",
	         WORKLOAD("apps/v1", "StatefulSet", RACK, "replicas: 4") POD(OWNED("apps/v1", "StatefulSet", "w")),
	         "4"},
		{"segments that are made one pod after the other",
	         WORKLOAD("apps/v1", "StatefulSet", RACK,
	                  "replicas: 5, " TEMPLATE(SEGMENTS("2") " kai.scheduler/pod-index-label: \"i\""))
	                 POD(OWNED("apps/v1", "StatefulSet", "w") "labels: {i: \"0\"}, "),
	         "{\"worker\":2,\"worker-2\":1}"},
		{"a leader whose workers come when it is ready",
	         WORKLOAD("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", RACK,
	                  "startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4}")
	                 POD(OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
	                           "w") "labels: {leaderworkerset.sigs.k8s.io/worker-index: \"0\"}, "),
	         "{\"leader\":1,\"workers\":3}"},
		{"a launcher that is made when the workers are ready",
	         WORKLOAD("kubeflow.org/v2beta1", "MPIJob", RACK,
	                  "launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: {replicas: 1}, "
	                  "Worker: {replicas: 3}}")
	                 POD(OWNED("kubeflow.org/v2beta1", "MPIJob",
	                           "w") "labels: {training.kubeflow.org/replica-type: worker}, "),
	         "4"},
		{"Jobs of a set that start one after the other",
	         WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", RACK,
	                  "startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: [{name: a, replicas: 2, "
	                  "template: {spec: {parallelism: 3}}}, {name: b, template: {}}]")
	                 POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet",
	                           "w") "labels: {jobset.sigs.k8s.io/replicatedjob-name: a, "
	                                "jobset.sigs.k8s.io/job-index: "
	                                "\"0\"}, "),
	         "{\"a\":3,\"b\":1}"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct story_run run;
		story_open(&run, cases[i].objects, NULL);
		struct doc *doc = group_document(&run.result, NULL, NULL);
		const char *got =
			val_str(val_path(doc_root(doc), "metadata", "annotations", "platoon.dev/expected-pods", NULL),
		                NULL);
		if (!text_equal(got, cases[i].expect))
			fail_msg("%s: %s, not %s", cases[i].title, got ? got : "nothing",
			         cases[i].expect ? cases[i].expect : "nothing");
		doc_destroy(doc);
		story_close(&run);
	}
}

/* Which groups start only where those have room that their owner makes later. */
static void starting_whole(void **state)
{
#define LEADER(spec)                                                                                                   \
	WORKLOAD("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "", spec)                                           \
	POD(OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",                                                    \
	          "w") "labels: {leaderworkerset.sigs.k8s.io/worker-index: \"0\"}, ")
#define PART(name, gpus) name "Template: {spec: {containers: [{name: m, resources: {limits: {gpu: " gpus "}}}]}}"
	static const struct {
		const char *title, *objects;
		bool expect;
		const char *coming; /* the pod that is to come, NULL for one like the leader */
	} cases[] = {
		{"workers that come when the leader is ready",
	         LEADER("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4}"), true},
		{"workers that come at once", LEADER("leaderWorkerTemplate: {size: 4}"), false},
		{"no workers", LEADER("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 1}"), false},
		{"a leader of its own that asks for the same",
	         LEADER("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4, " PART("leader", "8") ", " PART(
			 "worker", "8") "}"),
	         true},
		{"workers that ask for something else",
	         LEADER("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4, " PART("leader", "1") ", " PART(
			 "worker", "8") "}"),
	         true,
	         "{\"metadata\":{\"name\":\"coming\"},\"spec\":{\"containers\":[{\"name\":\"m\",\"resources\":{"
	         "\"limits\":{\"gpu\":8}}}]}}"},
		{"workers that stand elsewhere",
	         LEADER("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4, " PART(
			 "leader", "8") ", workerTemplate: {metadata: {labels: {a: b}}, spec: {nodeSelector: {c: d}, "
	                                "restartPolicy: Never, containers: [{name: m, command: [x]}]}}}"),
	         true,
	         "{\"metadata\":{\"name\":\"coming\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"nodeSelector\":{\"c\":\"d\"}"
	         ","
	         "\"containers\":[{\"name\":\"m\"}]}}"},
		{"workers with a volume of their own",
	         LEADER("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4, " PART(
			 "leader", "1") ", workerTemplate: {spec: {containers: [{name: m}], volumes: [{name: v, "
	                                "persistentVolumeClaim: {claimName: c}}]}}}"),
	         false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct story_run run;
		story_open(&run, cases[i].objects, NULL);
		struct doc *doc = group_document(&run.result, NULL, NULL);
		const struct val *annotations = val_path(doc_root(doc), "metadata", "annotations", NULL);
		bool whole = text_equal(val_str(val_get(annotations, "platoon.dev/starts-whole"), NULL), "true");
		if (whole != cases[i].expect || (whole && !val_get(annotations, "platoon.dev/expected-pods")))
			fail_msg("%s: it starts %s", cases[i].title, whole ? "whole" : "with its first pods");
		const char *coming = val_str(val_get(annotations, "platoon.dev/coming-pod"), NULL);
		if (!text_equal(coming, cases[i].coming))
			fail_msg("%s: to come is %s", cases[i].title, coming ? coming : "nothing else");
		doc_destroy(doc);
		story_close(&run);
	}
}

static void marks_on_the_pod(void **state)
{
	struct story_run run;
	story_open(&run, JOB, NULL);
	check_json(group_pod_patch(&run.result, run.pod),
	           "{\"metadata\":{\"labels\":{\"kai.scheduler/segment-index\":\"0\",\"kai.scheduler/subgroup-name\":"
	           "\"worker-0\"},\"annotations\":{\"pod-group-name\":\"pg-w-u1\"}}}");
	assert_int_equal(run.result.pod_env.count, 1);
	assert_string_equal(run.result.pod_env.items[0].key, "KAI_SEGMENT_INDEX");
	assert_string_equal(run.result.pod_env.items[0].value, "0");
	story_close(&run);
	story_open(&run, POD("annotations: {pod-group-name: pg-p-pu}, "), NULL);
	assert_null(group_pod_patch(&run.result, run.pod));
	assert_int_equal(run.result.pod_env.count, 0);
	story_close(&run);
}

#define STORED(more, spec)                                                                                             \
	"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: pg-w-u1, namespace: ns, "      \
	"resourceVersion: \"7\"" more "}, spec: {" spec "}, status: {conditions: []}}\n"

/* What is asked of the updated object: a path, and the value there as JSON; NULL for none. */
struct kept {
	const char *name, *objects;
	const char *field, *key, *expect;
};

static void what_an_update_keeps(void **state)
{
#define PLAIN WORKLOAD("example.com/v1", "Foo", "labels: {a: new}, ", "") POD(OWNED("example.com/v1", "Foo", "w"))
#define NAMED                                                                                                          \
	WORKLOAD("example.com/v1", "Foo",                                                                              \
	         "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: zone}, ", "")                   \
	POD(OWNED("example.com/v1", "Foo", "w") "labels: {kai.scheduler/node-pool: new}, ")
	static const struct kept rows[] = {
		{"the queue", STORED("", "queue: mine") PLAIN, "spec", "queue", "\"mine\""},
		{"but not an empty one", STORED("", "queue: \"\"") PLAIN, "spec", "queue", "\"default-queue\""},
		{"markUnschedulable", STORED("", "markUnschedulable: false") PLAIN, "spec", "markUnschedulable",
	         "false"},
		{"schedulingBackoff", STORED("", "schedulingBackoff: 1") PLAIN, "spec", "schedulingBackoff", "1"},
		{"a constraint somebody else gave",
	         STORED("", "topologyConstraint: {topology: t, requiredTopologyLevel: r}") PLAIN, "spec",
	         "topologyConstraint", "{\"topology\":\"t\",\"requiredTopologyLevel\":\"r\"}"},
		{"unless the workload has one",
	         STORED("", "topologyConstraint: {topology: t, requiredTopologyLevel: r}") NAMED, "spec",
	         "topologyConstraint", "{\"topology\":\"topo\",\"requiredTopologyLevel\":\"zone\"}"},
		{"the node pool", STORED(", labels: {kai.scheduler/node-pool: old}", "") NAMED, "metadata", "labels",
	         "{\"kai.scheduler/node-pool\":\"old\"}"},
		{"labels of others, not ours", STORED(", labels: {a: old, b: old}", "") PLAIN, "metadata", "labels",
	         "{\"a\":\"new\",\"b\":\"old\"}"},
		{"annotations of others", STORED(", annotations: {x: z}", "") PLAIN, "metadata", "annotations",
	         "{\"x\":\"z\"}"},
		{"the version", STORED("", "") PLAIN, "metadata", "resourceVersion", "\"7\""},
		{"minimums follow the workload", STORED("", "minMember: 9") PLAIN, "spec", "minMember", "1"},
		{"subgroups follow the workload", STORED("", "subGroups: [{name: a, minMember: 1}]") PLAIN, "spec",
	         "subGroups", NULL},
		{"priority follows the workload", STORED("", "priorityClassName: gold") PLAIN, "spec",
	         "priorityClassName", "\"train\""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story_run run;
		story_open(&run, rows[i].objects, NULL);
		struct doc *doc = group_document(&run.result, NULL, run.manifests.items[0].object);
		const struct val *got = val_path(doc_root(doc), rows[i].field, rows[i].key, NULL);
		struct buffer text = {0};
		val_write(got, DOC_JSON_COMPACT, &text);
		if (strcmp(got ? text.text : "", rows[i].expect ? rows[i].expect : "") != 0)
			print_error("%s: got %s\n", rows[i].name, got ? text.text : "nothing");
		assert_string_equal(got ? text.text : "", rows[i].expect ? rows[i].expect : "");
		assert_int_equal(val_kind(val_get(doc_root(doc), "status")), VAL_MAP);
		buffer_free(&text);
		/* An update of the update changes nothing, so a controller comes to rest. */
		struct doc *again = group_document(&run.result, NULL, doc_root(doc));
		assert_true(val_equal(doc_root(doc), doc_root(again)));
		doc_destroy(again);
		doc_destroy(doc);
		story_close(&run);
	}
}

static void names_of_causes(void **state)
{
	for (int i = 0; i < GROUP_ABOUT_COUNT; i++) {
		assert_non_null(group_about_name((enum group_about)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(group_about_name((enum group_about)i),
			                        group_about_name((enum group_about)j));
	}
	assert_string_equal(group_about_name(GROUP_ABOUT_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_group),      cmocka_unit_test(minimums_as_kai_writes_them),
		cmocka_unit_test(declared_sizes),   cmocka_unit_test(starting_whole),
		cmocka_unit_test(marks_on_the_pod), cmocka_unit_test(what_an_update_keeps),
		cmocka_unit_test(names_of_causes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
