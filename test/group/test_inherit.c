/* What a group takes over from owners and pod, who is left alone, and how far the chain of owners is followed. */
#include "story.h"

#include "base/strings.h"

#include <stdio.h>
#include <string.h>

#define ALL(stories) story_check_all(stories, sizeof(stories) / sizeof(*(stories)))
#define FOO(more) WORKLOAD("example.com/v1", "Foo", more, "")
#define OF_FOO OWNED("example.com/v1", "Foo", "w")
#define CLASS(name)                                                                                                    \
	"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " name "}, value: 7}\n"

static void left_alone(void **state)
{
	static const struct story stories[] = {
		{"the pod asks", FOO("") POD(OF_FOO "annotations: {kai.scheduler/skip-podgrouper: \"true\"}, "),
	         "none: the pod asks not to be grouped"},
		{"its owner asks", FOO("annotations: {kai.scheduler/skip-podgrouper: \"true\"}, ") POD(OF_FOO),
	         "none: an owner of the pod asks not to be grouped"},
		{"only the word true counts",
	         FOO("annotations: {kai.scheduler/skip-podgrouper: \"yes\"}, ") POD(OF_FOO), "pg-w-u1 min=1"},
		{"a user's own group", POD("annotations: {pod-group-name: mine}, "),
	         "none: the pod names a PodGroup of its own"},
		{"our own mark is not a user's", POD("annotations: {pod-group-name: pg-p-pu}, "), "pg-p-pu min=1"},
		{"an owned pod is grouped with its siblings whatever it says",
	         FOO("") POD(OF_FOO "annotations: {pod-group-name: mine}, "), "pg-w-u1 min=1"},
		{"roles are grouped by their own controller",
	         WORKLOAD("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup", "", "")
	                 POD(OWNED("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup", "w")),
	         "none: the pod belongs to a RoleBasedGroup"},
		{"Kubernetes' first own groups",
	         "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, spec: {workloadRef: "
	         "{name: w, podGroup: g}}}\n",
	         "none: the pod names a Workload of scheduling.k8s.io/v1alpha1"},
	};
	ALL(stories);
}

static void broken_values(void **state)
{
	static const struct story stories[] = {
		{"a class nobody made", FOO("labels: {priorityClassName: gold}, ") POD(OF_FOO),
	         "pg-w-u1 min=1 ! priority-class-unknown"},
		{"each wrong class is named once",
	         FOO("labels: {priorityClassName: gold}, ") POD(OF_FOO "labels: {priorityClassName: gold}, "),
	         "pg-w-u1 min=1 ! priority-class-unknown"},
		{"no preemptibility", FOO("labels: {kai.scheduler/preemptibility: maybe}, ") POD(OF_FOO),
	         "pg-w-u1 min=1 ! preemptibility-invalid"},
		{"no durations",
	         FOO("annotations: {kai.scheduler/preemption-delay: -5m, kai.scheduler/staleness-grace-period: soon}, ")
	                 POD(OF_FOO),
	         "pg-w-u1 min=1 ! duration-invalid duration-invalid"},
		{"a level without Topology",
	         FOO("annotations: {kai.scheduler/topology-required-placement: rack}, ") POD(OF_FOO),
	         "pg-w-u1 min=1 ! topology-name-missing"},
		{"labels and annotations of wrong types are no labels",
	         FOO("labels: [a], annotations: {x: [1], y: {z: 1}}, ") POD(OF_FOO), "pg-w-u1 min=1"},
	};
	ALL(stories);
}

struct taken {
	const char *name, *objects;
	const char *queue, *class, *preemptibility, *delay, *grace;
};

static void check_taken(const struct taken *row, const struct group_options *options)
{
	struct story_run run;
	story_open(&run, row->objects, options);
	const struct group_result *result = &run.result;
	const char *expected[] = {row->queue, row->class, row->preemptibility, row->delay, row->grace};
	const char *got[] = {result->queue, result->priority_class, result->preemptibility, result->preemption_delay,
	                     result->staleness_grace};
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		if (!text_equal(expected[i], got[i]))
			print_error("%s: expected %s, got %s\n", row->name, expected[i] ? expected[i] : "nothing",
			            got[i] ? got[i] : "nothing");
		assert_true(text_equal(expected[i], got[i]));
	}
	story_close(&run);
}

static void taken_over(void **state)
{
	static const struct taken rows[] = {
		{"nothing said", FOO("") POD(OF_FOO), "default-queue", "train", NULL, NULL, NULL},
		{"the owner wins over the pod",
	         CLASS("gold") FOO(
			 "labels: {kai.scheduler/queue: a, priorityClassName: gold, kai.scheduler/preemptibility: "
			 "semi-preemptible}, annotations: {kai.scheduler/preemption-delay: 5m, "
			 "kai.scheduler/staleness-grace-period: -1s}, ")
	                 POD(OF_FOO "labels: {kai.scheduler/queue: b, kai.scheduler/preemptibility: preemptible}, "),
	         "a", "gold", "semi-preemptible", "5m", "-1s"},
		{"the pod where the owner is silent",
	         CLASS("gold") FOO("") POD(OF_FOO "labels: {kai.scheduler/queue: b, priorityClassName: gold, "
	                                          "kai.scheduler/preemptibility: preemptible}, annotations: "
	                                          "{kai.scheduler/preemption-delay: 1h}, "),
	         "b", "gold", "preemptible", "1h", NULL},
		{"a wrong value does not hide a right one below it",
	         CLASS("gold") FOO("labels: {priorityClassName: tin, kai.scheduler/preemptibility: x}, ")
	                 POD(OF_FOO "labels: {priorityClassName: gold, kai.scheduler/preemptibility: preemptible}, "),
	         "default-queue", "gold", "preemptible", NULL, NULL},
		{"a project is a queue", FOO("labels: {project: red}, ") POD(OF_FOO), "red", "train", NULL, NULL, NULL},
		{"a project has a queue per node pool",
	         FOO("labels: {project: red}, ") POD(OF_FOO "labels: {kai.scheduler/node-pool: blue}, "), "red-blue",
	         "train", NULL, NULL, NULL},
		{"any owner may name the queue",
	         WORKLOAD("batch/v1", "CronJob", "labels: {kai.scheduler/queue: night}, ",
	                  "") "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns, uid: "
	                      "j1, " OWNED("batch/v1", "CronJob",
	                                   "w") "}}\n"
	                                        "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, "
	                                        "ownerReferences: [{apiVersion: "
	                                        "batch/v1, kind: Job, name: j, uid: j1}]}}\n",
	         "night", "train", NULL, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_taken(&rows[i], NULL);
	static const struct group_kind_default defaults[] = {
		{"example.com", "Foo", "gold", "non-preemptible"},
	};
	const struct group_options options = {
		.queue_label = "team",
		.default_queue = "rest",
		.defaults = defaults,
		.default_count = 1,
	};
	static const struct taken configured[] = {
		{"defaults of a kind", FOO("") POD(OF_FOO), "rest", "gold", "non-preemptible", NULL, NULL},
		{"another label for queues", FOO("labels: {team: red}, ") POD(OF_FOO), "red", "gold", "non-preemptible",
	         NULL, NULL},
	};
	for (size_t i = 0; i < sizeof(configured) / sizeof(*configured); i++)
		check_taken(&configured[i], &options);
}

static void labels_of_wrappers(void **state)
{
	struct story_run run;
	story_open(
		&run,
		"---\n{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: wf, namespace: ns, uid: wf1, "
		"labels: {a: outer, b: outer}}}\n"
		"---\n{apiVersion: example.com/v1, kind: Foo, metadata: {name: w, namespace: ns, uid: u1, labels: {a: "
		"inner}, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Workflow, name: wf, uid: "
		"wf1}]}}\n" POD(OF_FOO "labels: {user: me, kai.scheduler/node-pool: blue, other: x}, "),
		NULL);
	const struct labels *labels = &run.result.labels;
	assert_string_equal(run.result.name, "pg-w-u1");
	assert_int_equal(labels->count, 3);
	assert_string_equal(labels_get(labels, "a"), "inner");
	assert_string_equal(labels_get(labels, "b"), "outer");
	assert_string_equal(labels_get(labels, "user"), "me");
	assert_string_equal(run.result.node_pool, "blue");
	struct doc *doc = group_document(&run.result, NULL, NULL);
	assert_string_equal(val_str(val_path(doc_root(doc), "metadata", "labels", "kai.scheduler/node-pool", NULL), ""),
	                    "blue");
	doc_destroy(doc);
	story_close(&run);
}

/* What an AppWrapper holds is grouped as if it stood alone, in the queue that the wrapper names. */
static void app_wrappers(void **state)
{
	static const char wrapped[] =
		"---\n{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {name: aw, namespace: "
		"ns, "
		"uid: aw1, labels: {kai.scheduler/queue: red}}}\n"
		"---\n{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: w, namespace: ns, uid: u1, "
		"ownerReferences: [{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, name: aw, uid: "
		"aw1}]}, "
		"spec: {pytorchReplicaSpecs: {Master: {replicas: 1}, Worker: {replicas: 3}}}}\n" POD(
			OWNED("kubeflow.org/v1", "PyTorchJob",
	                      "w") "labels: {training.kubeflow.org/replica-type: worker}, ");
	struct story_run run;
	story_open(&run, wrapped, NULL);
	assert_string_equal(run.result.name, "pg-w-u1");
	assert_string_equal(run.result.owner.kind, "PyTorchJob");
	assert_string_equal(run.result.queue, "red");
	story_close(&run);
}

#define LINK(name, up)                                                                                                 \
	"---\n{apiVersion: example.com/v1, kind: Foo, metadata: {name: " name ", namespace: ns, uid: " name            \
	", ownerReferences: [{apiVersion: example.com/v1, kind: Foo, name: " up ", uid: " up "}]}}\n"
#define POD_OF(name)                                                                                                   \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: pu, ownerReferences: [{apiVersion: " \
	"example.com/v1, kind: Foo, name: " name ", uid: " name "}]}}\n"

static void owners(void **state)
{
	static const struct story stories[] = {
		{"the controller among several owners",
	         FOO("") "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, ownerReferences: "
	                 "[{apiVersion: "
	                 "v1, kind: ConfigMap, name: c, uid: c}, {apiVersion: example.com/v1, kind: Foo, name: w, uid: "
	                 "u1, "
	                 "controller: true}]}}\n",
	         "pg-w-u1 min=1"},
		{"an unknown kind that cannot be read is known by its reference", POD(OF_FOO), "pg-w-u1 min=1"},
		{"a known kind is waited for", POD(OWNED("batch/v1", "Job", "w")), "refused ! owner-not-found"},
		{"an object of the same name that came later is not the owner",
	         "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: w, namespace: ns, uid: later}}\n" POD(
			 OWNED("batch/v1", "Job", "w")),
	         "refused ! owner-not-found"},
		{"two owners of each other", LINK("a", "b") LINK("b", "a") POD_OF("a"), "pg-b-b min=1 ! owner-chain"},
		{"an owner of itself", LINK("a", "a") POD_OF("a"), "pg-a-a min=1 ! owner-chain"},
		{"references that are none",
	         "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: pu, ownerReferences: [1, "
	         "x]}}\n",
	         "pg-p-pu min=1"},
		{"an empty reference",
	         "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: pu, ownerReferences: "
	         "[{}]}}\n",
	         "pg-p-pu min=1"},
	};
	ALL(stories);
	struct buffer text = {0};
	for (int i = 0; i < 100; i++)
		buffer_printf(&text, LINK("o%d", "o%d"), i, i, i + 1, i + 1);
	buffer_puts(&text, POD_OF("o0"));
	const struct story deep = {"a chain without end", text.text, "pg-o15-o15 min=1 ! owner-chain"};
	story_check(&deep, NULL);
	buffer_free(&text);
}

static void spark(void **state)
{
	static const struct story stories[] = {
		{"driver and executors share a group",
	         POD("labels: {spark-app-name: a, spark-app-selector: spark-1}, "), "spark-1 min=1"},
		{"a selector that is no name", POD("labels: {spark-app-name: a, spark-app-selector: Spark_1}, "),
	         "spark-1-83a7da5c min=1"},
		{"a selector alone is not Spark", POD("labels: {spark-app-selector: spark-1}, "), "pg-p-pu min=1"},
	};
	ALL(stories);
}

static void long_names(void **state)
{
	char name[254], objects[2000]; /* as long as a name may be; the group's name has more to hold */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(objects, sizeof(objects),
	         "---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: ns, uid: pu}}\n", name);
	struct story_run run;
	story_open(&run, objects, NULL);
	assert_int_equal(strlen(run.result.name), 253);
	story_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_alone),   cmocka_unit_test(broken_values),
		cmocka_unit_test(taken_over),   cmocka_unit_test(labels_of_wrappers),
		cmocka_unit_test(app_wrappers), cmocka_unit_test(owners),
		cmocka_unit_test(spark),        cmocka_unit_test(long_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
