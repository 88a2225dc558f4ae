/* Pods that stand alone: nothing but a binding and an event is written about them, and they count like any group. */
#include "fixtures/control_fixture.h"

#include <stdlib.h>

#define GROUPS "podgroups.scheduling.run.ai"
#define CLASS(name, value)                                                                                             \
	"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " name "}\nvalue: " value "\n"
#define QUEUE(name)                                                                                                    \
	"---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: " name "}\nspec: {resources: {gpu: "     \
	"{quota: -1, limit: -1, overQuotaWeight: 1}}}\n"
#define SPEC "schedulerName: platoon, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]"
#define POD(name, metadata, spec)                                                                                      \
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name metadata "}\nspec: {" SPEC spec "}\n"
#define CLUSTER                                                                                                        \
	CLASS("train", "50") CLASS("inference", "125") CLASS("urgent", "90") QUEUE("default-queue") QUEUE("research")

static const char *groups(struct town *town)
{
	return kit_names(&town->kit, GROUPS, "default", NULL, NULL);
}

static const char *pod_at(struct town *town, const char *name, const char *path)
{
	return kit_get(&town->kit, "pods", "default", name) == 200 ? kit_at(&town->kit, path) : "gone";
}

static const char *allocated(struct town *town, const char *queue)
{
	assert_code(&town->kit, kit_get(&town->kit, "queues.scheduling.run.ai", "", queue), 200);
	return kit_at(&town->kit, "status.allocated.[nvidia.com/gpu]");
}

static void only_a_binding_and_an_event(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 1, 1);
	town_apply(town, CLUSTER POD("a", ", labels: {kai.scheduler/queue: research}", ""));
	town_run(town, 10);
	assert_string_equal(pod_at(town, "a", "spec.nodeName"), "n1");
	assert_string_equal(pod_at(town, "a", "metadata.annotations"), "");
	assert_string_equal(groups(town), "");
	assert_int_equal(town_events(town, "Scheduled"), 1);
	assert_string_equal(allocated(town, "research"), "1");
}

static void it_gives_way_to_what_is_more_urgent(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 1, 1);
	town_apply(town, CLUSTER POD("a", "", ""));
	town_run(town, 10);
	assert_string_equal(pod_at(town, "a", "status.phase"), "Running");
	/* Also for a scheduler that was not there when it was bound. */
	town->restarts = true;
	town_apply(town, POD("b", "", ", priorityClassName: urgent"));
	town_run(town, 20);
	assert_string_equal(pod_at(town, "a", "status.phase"), "gone");
	assert_string_equal(pod_at(town, "b", "spec.nodeName"), "n1");
	assert_string_equal(groups(town), "");
}

/* Its priority is that of its workload, and changes with it. */
static void the_workload_says_how_urgent_it_is(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 1, 1);
	town_apply(town, CLUSTER
	           "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, "
	           "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" SPEC "}}}\n");
	town_run(town, 10);
	town_apply(town, POD("b", "", ", priorityClassName: urgent"));
	town_run(town, 20);
	assert_string_equal(pod_at(town, "b", "spec.nodeName"), "");
	assert_string_equal(groups(town), "");
	assert_code(&town->kit,
	            kit_merge(&town->kit, "deployments.apps", "default", "web",
	                      "{'metadata':{'labels':{'priorityClassName':'train'}}}"),
	            200);
	town_run(town, 20);
	assert_string_equal(pod_at(town, "b", "spec.nodeName"), "n1");
}

static void what_has_more_to_say_gets_a_group(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 4, 1);
	town_apply(town, CLUSTER POD("a", ", annotations: {kai.scheduler/preemption-delay: 1m}", ""));
	town_run(town, 10);
	assert_string_equal(pod_at(town, "a", "spec.nodeName"), "n1");
	assert_string_not_equal(pod_at(town, "a", "metadata.annotations.pod-group-name"), "");
	assert_string_equal(groups(town), kit_at(&town->kit, "metadata.annotations.pod-group-name"));
}

static void pods_that_a_pod_owns_join_it(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 4, 1);
	town_apply(town, CLUSTER POD("driver", "", ""));
	town_run(town, 10);
	assert_string_equal(groups(town), "");
	char pod[512];
	snprintf(pod, sizeof(pod),
	         POD("worker", ", ownerReferences: [{apiVersion: v1, kind: Pod, name: driver, uid: %s}]", ""),
	         pod_at(town, "driver", "metadata.uid"));
	town_apply(town, pod);
	town_run(town, 10);
	char *group = base_strdup(groups(town));
	assert_string_not_equal(group, "");
	assert_string_equal(pod_at(town, "driver", "metadata.annotations.pod-group-name"), group);
	assert_string_equal(pod_at(town, "worker", "metadata.annotations.pod-group-name"), group);
	assert_string_equal(pod_at(town, "worker", "spec.nodeName"), "n1");
	free(group);
}

/* Somebody writes the group by hand, while the pod waits. */
static void a_group_that_exists_is_used(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 1, 1);
	town_apply(town, CLUSTER POD("a", "", ", schedulingGates: [{name: later}]"));
	town_run(town, 10);
	char group[300];
	snprintf(group, sizeof(group),
	         "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg-a-%s}\n"
	         "spec: {minMember: 1, queue: research}\n",
	         pod_at(town, "a", "metadata.uid"));
	town_apply(town, group);
	town_run(town, 10);
	assert_string_equal(pod_at(town, "a", "metadata.annotations.pod-group-name"), groups(town));
	assert_code(&town->kit, kit_merge(&town->kit, "pods", "default", "a", "{'spec':{'schedulingGates':null}}"),
	            200);
	town_run(town, 20);
	assert_string_equal(pod_at(town, "a", "spec.nodeName"), "n1");
	assert_string_equal(allocated(town, "research"), "1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, town_setup, town_teardown)
	const struct CMUnitTest tests[] = {
		TEST(only_a_binding_and_an_event),        TEST(it_gives_way_to_what_is_more_urgent),
		TEST(the_workload_says_how_urgent_it_is), TEST(what_has_more_to_say_gets_a_group),
		TEST(pods_that_a_pod_owns_join_it),       TEST(a_group_that_exists_is_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
