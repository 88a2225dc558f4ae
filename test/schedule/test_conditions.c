/* What readers of KAI-Scheduler find: status.schedulingConditions and the event NotReady. */
#include "fixtures/scheduler_fixture.h"

#include <stdio.h>
#include <string.h>

#define CONDITION "status.schedulingConditions.0."
#define REASON CONDITION "reasons.0."
#define QUEUE REASON "details.queueDetails."

static void expect_at(struct scheduler_fixture *fixture, const char *group, const char *path, const char *text)
{
	const char *found = scheduler_fixture_group_at(fixture, group, path);
	if (strcmp(found, text) != 0)
		fail_msg("%s %s: \"%s\", not \"%s\"", group, path, found, text);
}

static void limit_queue(struct scheduler_fixture *fixture, const char *limit)
{
	char body[128];
	snprintf(body, sizeof(body), "{'spec':{'resources':{'cpu':{'limit':%s}}}}", limit);
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "queues.scheduling.run.ai", "", "default-queue", body), 200);
}

static void over_the_limit_of_the_queue(void **state)
{
	struct scheduler_fixture *fixture = *state;
	limit_queue(fixture, "3500");
	scheduler_fixture_nodes(fixture, 3);
	scheduler_fixture_gang(fixture, "first", 1, 1, "");
	scheduler_fixture_turns(fixture, 15);
	scheduler_fixture_gang(fixture, "second", 1, 1, "");
	scheduler_fixture_turns(fixture, 30);
	expect_at(fixture, "first", "status.schedulingConditions", "");
	expect_at(fixture, "second", CONDITION "type", "UnschedulableOnNodePool");
	expect_at(fixture, "second", CONDITION "status", "True");
	expect_at(fixture, "second", CONDITION "nodePool", "default");
	expect_at(fixture, "second", CONDITION "reason", "Unschedulable");
	expect_at(fixture, "second", CONDITION "transitionID", "1");
	assert_string_not_equal(scheduler_fixture_group_at(fixture, "second", CONDITION "lastTransitionTime"), "");
	expect_at(fixture, "second", REASON "reason", "OverLimit");
	expect_at(fixture, "second", REASON "message",
	          "default-queue quota has reached the allowable limit of CPU cores. Limit is 3.5 cores, currently 2 "
	          "cores "
	          "allocated and workload requested 2 cores");
	expect_at(fixture, "second", QUEUE "name", "default-queue");
	expect_at(fixture, "second", QUEUE "queueRequestedResources.cpu", "4");
	expect_at(fixture, "second", QUEUE "queueDeservedResources.cpu", "4");
	expect_at(fixture, "second", QUEUE "queueAllocatedResources.cpu", "2");
	expect_at(fixture, "second", QUEUE "queueAllocatedNonPreemptibleResources.cpu", "0");
	expect_at(fixture, "second", QUEUE "queueResourceLimits.cpu", "3500m");
	expect_at(fixture, "second", QUEUE "podGroupRequestedResources.cpu", "2");
	expect_at(fixture, "second", QUEUE "podGroupRequestedNonPreemptibleResources.cpu", "0");
	/* nothing is written again while nothing changes */
	uint64_t version = store_version(fixture->base.store);
	scheduler_fixture_turns(fixture, 50);
	assert_int_equal(store_version(fixture->base.store), version);
	/* and it goes when the group has its place */
	limit_queue(fixture, "-1");
	scheduler_fixture_turns(fixture, 15);
	assert_int_equal(scheduler_fixture_placed(fixture, "second", 1), 1);
	expect_at(fixture, "second", "status.schedulingConditions", "");
}

static void non_preemptible_over_quota(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 4);
	scheduler_fixture_gang(fixture, "build", 3, 3, ",'preemptibility':'non-preemptible'");
	scheduler_fixture_turns(fixture, 15);
	expect_at(fixture, "build", REASON "reason", "NonPreemptibleOverQuota");
	expect_at(fixture, "build", REASON "message",
	          "Non-preemptible workload is over quota. Workload requested 6 CPU cores, but default-queue quota is "
	          "4 cores, "
	          "while 0 cores are already allocated for non-preemptible pods. Use a preemptible workload to go over "
	          "quota.");
	expect_at(fixture, "build", QUEUE "podGroupRequestedNonPreemptibleResources.cpu", "6");
}

static void other_reasons(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 1);
	scheduler_fixture_gang(fixture, "lost", 1, 1, ",'queue':'nowhere'");
	scheduler_fixture_gang(fixture, "large", 2, 2, ",'preemptionDelay':'10m'");
	scheduler_fixture_turns(fixture, 30);
	expect_at(fixture, "lost", REASON "reason", "QueueDoesNotExist");
	expect_at(fixture, "lost", REASON "message", "queue nowhere does not exist");
	expect_at(fixture, "large", REASON "reason", "PodSchedulingErrors");
	struct buffer all = {0};
	for (int i = 0; i < 6; i++) {
		char path[64];
		snprintf(path, sizeof(path), CONDITION "reasons.%d.reason", i);
		buffer_printf(&all, "%s ", scheduler_fixture_group_at(fixture, "large", path));
	}
	assert_non_null(strstr(all.text, "PreemptionDelayNotElapsed"));
	buffer_free(&all);
}

/* Each change of what is said counts, and what was said about another pool stays. */
static void pools_are_told_apart(void **state)
{
	struct scheduler_fixture *fixture = *state;
	static const char pools[] = "podgroups.scheduling.run.ai";
	scheduler_fixture_nodes(fixture, 1);
	scheduler_fixture_gang(fixture, "g", 2, 2, "");
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, pools, "default", "g",
	                          "{'metadata':{'labels':{'kai.scheduler/node-pool':'blue'}}}"),
	            200);
	assert_code(
		&fixture->base,
		fixture_merge_status(&fixture->base, pools, "default", "g",
	                             "{'status':{'schedulingConditions':[{'type':'UnschedulableOnNodePool','nodePool':"
	                             "'red','status':'True','transitionID':'4'}]}}"),
		200);
	scheduler_fixture_turns(fixture, 15);
	expect_at(fixture, "g", CONDITION "nodePool", "red");
	expect_at(fixture, "g", "status.schedulingConditions.1.nodePool", "blue");
	expect_at(fixture, "g", "status.schedulingConditions.1.transitionID", "5");
}

static const char *not_ready_event(struct scheduler_fixture *fixture, const char *group)
{
	char selector[96];
	snprintf(selector, sizeof(selector), "involvedObject.name=%s,reason=NotReady", group);
	static char name[256];
	snprintf(name, sizeof(name), "%s", fixture_names(&fixture->base, "events", "default", NULL, selector));
	return name[0] ? scheduler_fixture_at(fixture, "events", "default", name, "message") : "";
}

static void pods_are_missing(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 1);
	scheduler_fixture_gang(fixture, "flat", 4, 1, "");
	scheduler_fixture_group(fixture, "tree", "'subGroups':[{'name':'a','minMember':1},{'name':'b','minMember':2}]");
	scheduler_fixture_pod(fixture, "tree-0", "tree", "a");
	scheduler_fixture_group(fixture, "none", "'minMember':1");
	scheduler_fixture_turns(fixture, 150);
	assert_string_equal(not_ready_event(fixture, "flat"),
	                    "Job is not ready for scheduling. Waiting for 4 pods, currently 1 exist, 0 are gated");
	assert_string_equal(
		not_ready_event(fixture, "tree"),
		"Job is not ready for scheduling. Waiting for 2 pods for SubGroup b, currently 0 exist, 0 are gated.");
	assert_string_equal(not_ready_event(fixture, "none"), "");
	expect_at(fixture, "flat", "status.schedulingConditions", "");
}

static void nobody_waits_for_pods_of_a_finished_group(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	scheduler_fixture_gang(fixture, "done", 2, 2, "");
	scheduler_fixture_turns(fixture, 15);
	scheduler_fixture_phase(fixture, "done-0", "Succeeded");
	scheduler_fixture_phase(fixture, "done-1", "Failed");
	scheduler_fixture_turns(fixture, 150);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "done-0", NULL), 200);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "done-1", NULL), 200);
	scheduler_fixture_turns(fixture, 150);
	assert_string_equal(not_ready_event(fixture, "done"), "");
	expect_at(fixture, "done", "status.schedulingConditions", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(over_the_limit_of_the_queue, scheduler_fixture_begin,
	                                        scheduler_fixture_end),
		cmocka_unit_test_setup_teardown(non_preemptible_over_quota, scheduler_fixture_begin,
	                                        scheduler_fixture_end),
		cmocka_unit_test_setup_teardown(other_reasons, scheduler_fixture_begin, scheduler_fixture_end),
		cmocka_unit_test_setup_teardown(pools_are_told_apart, scheduler_fixture_begin, scheduler_fixture_end),
		cmocka_unit_test_setup_teardown(pods_are_missing, scheduler_fixture_begin, scheduler_fixture_end),
		cmocka_unit_test_setup_teardown(nobody_waits_for_pods_of_a_finished_group, scheduler_fixture_begin,
	                                        scheduler_fixture_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
