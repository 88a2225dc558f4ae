/* Pods that stand alone: nothing but a binding and an event is written about them, and they count like any group. */
#include "fixtures/control_fixture.h"

#include <stdio.h>
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

static const char *groups(struct control_fixture *fixture)
{
	return fixture_names(&fixture->base, GROUPS, "default", NULL, NULL);
}

static const char *pod_at(struct control_fixture *fixture, const char *name, const char *path)
{
	return fixture_get(&fixture->base, "pods", "default", name) == 200 ? fixture_at(&fixture->base, path) : "gone";
}

static const char *allocated(struct control_fixture *fixture, const char *queue)
{
	assert_code(&fixture->base, fixture_get(&fixture->base, "queues.scheduling.run.ai", "", queue), 200);
	return fixture_at(&fixture->base, "status.allocated.[nvidia.com/gpu]");
}

static void only_a_binding_and_an_event(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER POD("a", ", labels: {kai.scheduler/queue: research}", ""));
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "a", "spec.nodeName"), "n1");
	assert_string_equal(pod_at(fixture, "a", "metadata.annotations"), "");
	assert_string_equal(groups(fixture), "");
	assert_int_equal(control_events(fixture, "Scheduled"), 1);
	assert_string_equal(allocated(fixture, "research"), "1");
}

/* Its group cannot be told while what owns it says what cannot be read, which no node cures; without an owner it stands
 * alone. */
static void one_that_cannot_be_grouped_waits_until_it_can(void **state)
{
	struct control_fixture *fixture = *state;
	char pod[1024];
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: train, annotations: "
	                               "{kai.scheduler/batch-min-member: five}}\nspec: {suspend: true, template: "
	                               "{metadata: {labels: {a: b}}, spec: {restartPolicy: Never, " SPEC "}}}\n");
	assert_code(&fixture->base, fixture_get(&fixture->base, "jobs.batch", "default", "train"), 200);
	snprintf(pod, sizeof(pod),
	         POD("a", ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: %s}]", ""),
	         fixture_at(&fixture->base, "metadata.uid"));
	control_apply(fixture, pod);
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "a", "spec.nodeName"), "");
	assert_string_equal(pod_at(fixture, "a", "status.conditions.0.reason"), "NotGrouped");
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'ownerReferences':null}}"),
	            200);
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "a", "spec.nodeName"), "n1");
	assert_string_equal(groups(fixture), "");
}

static void it_gives_way_to_what_is_more_urgent(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER POD("a", "", ""));
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "a", "status.phase"), "Running");
	/* Also for a scheduler that was not there when it was bound. */
	fixture->restarts = true;
	control_apply(fixture, POD("b", "", ", priorityClassName: urgent"));
	control_run(fixture, 20);
	assert_string_equal(pod_at(fixture, "a", "status.phase"), "gone");
	assert_string_equal(pod_at(fixture, "b", "spec.nodeName"), "n1");
	assert_string_equal(groups(fixture), "");
}

/* Its priority is that of its workload, and changes with it. */
static void the_workload_says_how_urgent_it_is(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER
	              "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, "
	              "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" SPEC "}}}\n");
	control_run(fixture, 10);
	control_apply(fixture, POD("b", "", ", priorityClassName: urgent"));
	control_run(fixture, 20);
	assert_string_equal(pod_at(fixture, "b", "spec.nodeName"), "");
	assert_string_equal(groups(fixture), "");
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "deployments.apps", "default", "web",
	                          "{'metadata':{'labels':{'priorityClassName':'train'}}}"),
	            200);
	control_run(fixture, 20);
	assert_string_equal(pod_at(fixture, "b", "spec.nodeName"), "n1");
}

/* What the workload asks for beside its pods holds them, too, until it does not. */
static void the_workload_may_ask_for_what_is_not_served(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER
	              "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {gpu-fraction: "
	              "'0.5'}}\nspec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: "
	              "b}}, spec: {" SPEC "}}}\n");
	control_run(fixture, 10);
	assert_string_equal(groups(fixture), "");
	assert_string_equal(allocated(fixture, "default-queue"), "0");
	assert_int_equal(control_events(fixture, "Scheduled"), 0);
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "deployments.apps", "default", "web",
	                          "{'metadata':{'annotations':{'gpu-fraction':null}}}"),
	            200);
	control_run(fixture, 20);
	assert_int_equal(control_events(fixture, "Scheduled"), 1);
	assert_string_equal(allocated(fixture, "default-queue"), "1");
}

static void what_has_more_to_say_gets_a_group(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 4, 1);
	control_apply(fixture, CLUSTER POD("a", ", annotations: {kai.scheduler/preemption-delay: 1m}", ""));
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "a", "spec.nodeName"), "n1");
	assert_string_not_equal(pod_at(fixture, "a", "metadata.annotations.pod-group-name"), "");
	assert_string_equal(groups(fixture), fixture_at(&fixture->base, "metadata.annotations.pod-group-name"));
}

static void pods_that_a_pod_owns_join_it(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 4, 1);
	control_apply(fixture, CLUSTER POD("driver", "", ""));
	control_run(fixture, 10);
	assert_string_equal(groups(fixture), "");
	char pod[512];
	snprintf(pod, sizeof(pod),
	         POD("worker", ", ownerReferences: [{apiVersion: v1, kind: Pod, name: driver, uid: %s}]", ""),
	         pod_at(fixture, "driver", "metadata.uid"));
	control_apply(fixture, pod);
	control_run(fixture, 10);
	char *group = base_strdup(groups(fixture));
	assert_string_not_equal(group, "");
	assert_string_equal(pod_at(fixture, "driver", "metadata.annotations.pod-group-name"), group);
	assert_string_equal(pod_at(fixture, "worker", "metadata.annotations.pod-group-name"), group);
	assert_string_equal(pod_at(fixture, "worker", "spec.nodeName"), "n1");
	free(group);
}

/* Somebody writes the group by hand, while the pod waits. */
static void a_group_that_exists_is_used(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER POD("a", "", ", schedulingGates: [{name: later}]"));
	control_run(fixture, 10);
	char group[300];
	snprintf(group, sizeof(group),
	         "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg-a-%s}\n"
	         "spec: {minMember: 1, queue: research}\n",
	         pod_at(fixture, "a", "metadata.uid"));
	control_apply(fixture, group);
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "a", "metadata.annotations.pod-group-name"), groups(fixture));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'spec':{'schedulingGates':null}}"), 200);
	control_run(fixture, 20);
	assert_string_equal(pod_at(fixture, "a", "spec.nodeName"), "n1");
	assert_string_equal(allocated(fixture, "research"), "1");
}

/* A label that its pods do not have keeps them out of the other pool and out of this one, until it goes. */
static void labels_of_a_group_are_followed(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 1, 1);
	control_apply(fixture, CLUSTER
	              "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, labels: "
	              "{kai.scheduler/node-pool: a}}\nspec: {minMember: 1}\n" POD("p",
	                                                                          ", annotations: {pod-group-name: g}",
	                                                                          ""));
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "p", "spec.nodeName"), "");
	assert_string_equal(pod_at(fixture, "p", "status.conditions.0.reason"), "UnsupportedRequest");
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, GROUPS, "default", "g",
	                          "{'metadata':{'labels':{'kai.scheduler/node-pool':null}}}"),
	            200);
	control_run(fixture, 10);
	assert_string_equal(pod_at(fixture, "p", "spec.nodeName"), "n1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, control_setup, control_teardown)
	const struct CMUnitTest tests[] = {
		TEST(only_a_binding_and_an_event),
		TEST(it_gives_way_to_what_is_more_urgent),
		TEST(the_workload_says_how_urgent_it_is),
		TEST(the_workload_may_ask_for_what_is_not_served),
		TEST(what_has_more_to_say_gets_a_group),
		TEST(pods_that_a_pod_owns_join_it),
		TEST(labels_of_a_group_are_followed),
		TEST(a_group_that_exists_is_used),
		TEST(one_that_cannot_be_grouped_waits_until_it_can),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
