/* Groups of other schedulers that pods name. */
#include "story.h"

#define ALL(stories) story_check_all(stories, sizeof(stories) / sizeof(*(stories)))
#define OBJECT(api_version, name, more, spec)                                                                          \
	"---\n{apiVersion: " api_version ", kind: PodGroup, metadata: {" more "name: " name                            \
	", namespace: ns, uid: u-" name "}, spec: {" spec "}}\n"
#define COSCHEDULING(name, more, spec) OBJECT("scheduling.x-k8s.io/v1alpha1", name, more, spec)
#define NAMES(name) "labels: {scheduling.x-k8s.io/pod-group: " name "}, "
#define LABEL_QUEUE "labels: {kai.scheduler/queue: q}, "

static void coscheduling(void **state)
{
	static const struct story stories[] = {
		{"a gang", COSCHEDULING("g", "", "minMember: 4") POD(NAMES("g")), "pg-g-u-g min=4"},
		{"without a minimum", COSCHEDULING("g", "", "") POD(NAMES("g")), "pg-g-u-g min=1"},
		{"whoever owns the pod",
	         COSCHEDULING("g", "", "minMember: 4") WORKLOAD("batch/v1", "Job", LABEL_QUEUE, "parallelism: 6")
	                 POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	         "pg-g-u-g min=4"},
		{"what was lost on the way is told",
	         COSCHEDULING("g", "", "minMember: 2, minResources: {cpu: 4}, scheduleTimeoutSeconds: 10")
	                 POD(NAMES("g")),
	         "pg-g-u-g min=2 ! no-counterpart no-counterpart"},
		{"a field that nobody knows", COSCHEDULING("g", "", "minMember: 2, maxMember: 3") POD(NAMES("g")),
	         "pg-g-u-g min=2 ! no-counterpart"},
		{"levels are for us to add",
	         COSCHEDULING("g", "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, ",
	                      "minMember: 2") POD(NAMES("g")),
	         "pg-g-u-g min=2@topo,rack,"},
		{"on the workload, too",
	         COSCHEDULING("g", "", "minMember: 2")
	                 WORKLOAD("batch/v1", "Job",
	                          "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, ", "")
	                         POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	         "pg-g-u-g min=2@topo,rack,"},
		{"pods may come before their group", POD(NAMES("g")), "refused ! object-not-found"},
		{"one of another group of APIs is not theirs",
	         OBJECT("scheduling.k8s.io/v1beta1", "g", "", "schedulingPolicy: {gang: {minCount: 2}}")
	                 POD(NAMES("g")),
	         "refused ! object-not-found"},
		{"no number", COSCHEDULING("g", "", "minMember: many") POD(NAMES("g")), "refused ! wrong-field-type"},
		{"below nothing", COSCHEDULING("g", "", "minMember: -1") POD(NAMES("g")), "refused ! wrong-field-type"},
		{"a group of Kubernetes itself comes first",
	         OBJECT("scheduling.k8s.io/v1beta1", "nat", "", "schedulingPolicy: {gang: {minCount: 3}}")
	                 COSCHEDULING("g", "", "minMember: 2") "---\n{apiVersion: v1, kind: Pod, metadata: {" NAMES(
				 "g") "name: p, namespace: ns, uid: pu}, spec: {schedulingGroup: {podGroupName: "
	                              "nat}}}\n",
	         "pg-nat-u-nat min=3"},
		{"a PodGroup of ours that the user named",
	         COSCHEDULING("g", "", "minMember: 2") POD(NAMES("g") "annotations: {pod-group-name: mine}, "),
	         "none: the pod names a PodGroup of its own"},
		{"one made from a group of that name before",
	         COSCHEDULING("g", "", "minMember: 2") POD(NAMES("g") "annotations: {pod-group-name: pg-g-old}, "),
	         "pg-g-u-g min=2"},
		{"the group that a controller made for its workload",
	         WORKLOAD("kubeflow.org/v1", "PyTorchJob", "", "pytorchReplicaSpecs: {Worker: {replicas: 3}}")
	                 COSCHEDULING("w",
	                              "ownerReferences: [{kind: PyTorchJob, name: w, uid: u1, controller: true}], ",
	                              "minMember: 3, minResources: {cpu: 3}")
	                         POD(OWNED("kubeflow.org/v1", "PyTorchJob",
	                                   "w") "labels: {scheduling.x-k8s.io/pod-group: w, "
	                                        "training.kubeflow.org/replica-type: worker}, "),
	         "pg-w-u1 min=3 worker:3 -> worker"},
		{"the group that one made for a workload without a rule",
	         WORKLOAD("example.com/v1", "Flow", "", "")
	                 COSCHEDULING("w", "ownerReferences: [{kind: Flow, name: w, uid: u1, controller: true}], ",
	                              "minMember: 3") POD(OWNED("example.com/v1", "Flow", "w") NAMES("w")),
	         "pg-w-u-w min=3"},
	};
	ALL(stories);
}

static bool serves_nothing(void *context, const char *api_version, const char *kind)
{
	return false;
}

static void a_kind_that_is_not_served(void **state)
{
	struct world world;
	struct group_result result;
	world_open(&world,
	           WORKLOAD("batch/v1", "Job", "", "parallelism: 3") POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	           NULL);
	world.source.is_served = serves_nothing;
	group_pod(world.pod, &world.source, NULL, world.arena, &result);
	assert_int_equal(result.verdict, GROUP_WANTED);
	assert_string_equal(result.name, "pg-w-u1");
	assert_int_equal(result.warning_count, 1);
	assert_string_equal(result.warnings[0].object, "Job ns/w");
	world_close(&world);
}

static void what_else_it_says(void **state)
{
	struct world world;
	world_open(&world,
	           COSCHEDULING("g", "labels: {kai.scheduler/preemptibility: non-preemptible}, ", "minMember: 2")
	                   WORKLOAD("batch/v1", "Job", LABEL_QUEUE, "") POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	           NULL);
	assert_string_equal(world.result.queue, "q");
	assert_string_equal(world.result.preemptibility, "non-preemptible");
	assert_string_equal(world.result.staleness_grace, "-1s");
	assert_string_equal(world.result.owner.kind, "PodGroup");
	assert_string_equal(world.result.owner.api_version, "scheduling.x-k8s.io/v1alpha1");
	assert_false(world.result.single);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coscheduling),
		cmocka_unit_test(a_kind_that_is_not_served),
		cmocka_unit_test(what_else_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
