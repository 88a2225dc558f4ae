/* Workloads made of groups of pods: LeaderWorkerSet. */
#include "yard.h"

#define LWS "leaderworkersets.leaderworkerset.x-k8s.io"
#define GROUP(n) "leaderworkerset.sigs.k8s.io/group-index=" #n

static void make_lws(struct yard *yard, const char *more, const char *size, const char *replicas)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'metadata':{'name':'l'},'spec':{'replicas':%s%s,'leaderWorkerTemplate':{'size':%s,"
	              "'workerTemplate':" POD_TEMPLATE "}}}",
	              replicas, more, size);
	yard_make(yard, LWS, text.text);
	buffer_free(&text);
}

STORY(leaders_and_workers)
{
	make_lws(yard, "", "3", "2");
	assert_string_equal(yard_pods(yard, NULL), "l-0 l-0-1 l-0-2 l-1 l-1-1 l-1-2");
	assert_string_equal(yard_at(yard, "pods", "l-1-2",
	                            "metadata.labels.[leaderworkerset.sigs.k8s.io/worker-index]"),
	                    "2");
	assert_string_equal(yard_at(yard, "pods", "l-1", "metadata.labels.[leaderworkerset.sigs.k8s.io/worker-index]"),
	                    "0");
	assert_string_equal(yard_at(yard, "pods", "l-1", "metadata.annotations.[leaderworkerset.sigs.k8s.io/size]"),
	                    "3");
	yard_run(yard, GROUP(0));
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "1");
	assert_string_equal(yard_condition(yard, LWS, "l", "Available"), "False");
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, LWS, "l", "Available"), "True");
	yard_change(yard, LWS, "l", "{'spec':{'replicas':1}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "l-0 l-0-1 l-0-2");
	yard_change(yard, LWS, "l", "{'spec':{'replicas':3}}");
	assert_int_equal(yard_count(yard, NULL), 9);
}

STORY(a_group_starts_anew_as_a_whole)
{
	make_lws(yard, "", "3", "2");
	yard_run(yard, NULL);
	const char *leader = arena_strdup(yard->kit.arena, yard_at(yard, "pods", "l-0", "metadata.uid"));
	yard_end(yard, GROUP(0) ",leaderworkerset.sigs.k8s.io/worker-index=2", false, 1);
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 6);
	assert_string_not_equal(yard_at(yard, "pods", "l-0", "metadata.uid"), leader);
	assert_string_equal(yard_at(yard, "pods", "l-0-1", "status.phase"), "Pending");
	assert_string_equal(yard_at(yard, "pods", "l-1-1", "status.phase"), "Running");
	yard_run(yard, NULL);
	/* Also when the leader is lost without a trace. */
	kit_delete(&yard->kit, "pods", "default", "l-1", "{'gracePeriodSeconds':0}");
	yard_settle(yard);
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 6);
	assert_string_equal(yard_at(yard, "pods", "l-1-1", "status.phase"), "Pending");
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "2");
}

STORY(workers_may_wait_for_their_leader)
{
	make_lws(yard, ",'startupPolicy':'LeaderReady'", "3", "1");
	assert_string_equal(yard_pods(yard, NULL), "l-0");
	yard_run(yard, NULL);
	assert_string_equal(yard_pods(yard, NULL), "l-0 l-0-1 l-0-2");
}

STORY(groups_are_updated_one_after_the_other)
{
	make_lws(yard, "", "2", "3");
	yard_run(yard, NULL);
	yard_change(yard, LWS, "l",
	            "{'spec':{'leaderWorkerTemplate':{'workerTemplate':{'metadata':{'labels':{'version':'2'}}}}}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, "version=2"), "l-2 l-2-1");
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "2");
	for (int i = 0; i < 3; i++) {
		yard_run(yard, NULL);
		yard_gone(yard);
	}
	assert_int_equal(yard_count(yard, "version=2"), 6);
	assert_string_equal(yard_at(yard, LWS, "l", "status.updatedReplicas"), "3");
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaders_and_workers),
		cmocka_unit_test(a_group_starts_anew_as_a_whole),
		cmocka_unit_test(workers_may_wait_for_their_leader),
		cmocka_unit_test(groups_are_updated_one_after_the_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
