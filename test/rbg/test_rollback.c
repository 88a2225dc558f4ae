/* Segments that are not ready in time: what is taken back, and what is told. */
#include "fixtures/control_fixture.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

/* Segments of two prefill and one decode, `segments` of them. */
static void apply(struct town *town, const char *name, int segments, const char *image, int ready_seconds,
                  const char *more)
{
	char text[2048];
	snprintf(
		text, sizeof(text),
		"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: %s}\nspec:\n  roles:\n"
		"  - {name: p, replicas: %d, template: &t {metadata: {annotations: {platoon.dev/ready-seconds: '%d'}}, "
		"spec: {containers: [{name: c, image: %s, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"
		"  - {name: d, replicas: %d, dependencies: [p], template: *t}\n"
		"  coordination:\n  - name: pd\n    strategy: {segmentPlacement: {segmentSize: {p: 2, d: 1}%s}}\n",
		name, 2 * segments, ready_seconds, image, segments, more);
	int code = town_apply(town, text);
	if (code >= 300)
		fail_msg("%s", town->kit.text.text);
}

#define BACK ", rollback: {deadlineSeconds: 30}"

static void assert_condition(struct town *town, const char *type, const char *status, const char *part)
{
	const char *text = town_condition(town, "llm", type);
	if (strncmp(text, status, strlen(status)) != 0 || !strstr(text, part))
		fail_msg("%s is \"%s\", not %s with \"%s\"", type, text, status, part);
}

/* Eight places: two segments fit, of the third two pods. */
static void a_scale_up_that_does_not_fit(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	apply(town, "llm", 2, "one", 1, BACK);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	apply(town, "llm", 4, "one", 1, BACK);
	town_run(town, 20);
	assert_int_equal(town_pods(town, "llm", ""), 9);
	assert_condition(town, "SegmentRolledBack", "", "");
	town_run(town, 40);
	/* What it held is free for others, what serves is left alone. */
	assert_int_equal(town_pods(town, "llm", ""), 6);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	assert_condition(town, "SegmentRolledBack", "True DeadlineExceeded", "segment 3 of coordination pd");
	assert_condition(town, "SegmentRolledBack", "True", "llm-d-2");
	assert_condition(town, "MinimumSegmentsAvailable", "True", "2/4 segments");
	assert_int_equal(town_events(town, "SegmentRolledBack"), 1);
	apply(town, "other", 1, "one", 1, "");
	kit_merge(&town->kit, GROUPS, "default", "other",
	          "{'spec':{'roles':[{'name':'p','replicas':1,'template':{'spec':"
	          "{'containers':[{'name':'c','image':'i','resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}}],"
	          "'coordination':null}}");
	town_run(town, 30);
	assert_int_equal(town_ready(town, "other", ""), 1);
	town_run(town, 200);
	assert_int_equal(town_pods(town, "llm", ""), 6);
	assert_int_equal(town_events(town, "SegmentRolledBack"), 1); /* it is not tried over and over */
	/* There is room now; another try has to be asked for. */
	kit_merge_status(&town->kit, "nodes", "", "n1", "{'status':{'allocatable':{'nvidia.com/gpu':'20'}}}");
	town_run(town, 30);
	assert_int_equal(town_pods(town, "llm", ""), 6);
	kit_merge(&town->kit, GROUPS, "default", "llm",
	          "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/retry-segments':'1'}}}");
	town_run(town, 60);
	assert_int_equal(town_ready(town, "llm", ""), 12);
	assert_condition(town, "SegmentRolledBack", "False NotRolledBack", "");
}

static void a_first_deployment_that_never_gets_ready(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	apply(town, "llm", 2, "bad", 100000, BACK);
	town_run(town, 20);
	assert_int_equal(town_pods(town, "llm", ""), 2); /* decode waits for prefill */
	town_run(town, 40);
	assert_int_equal(town_pods(town, "llm", ""), 0);
	assert_condition(town, "SegmentRolledBack", "True DeadlineExceeded", "segment 1 of coordination pd");
	apply(town, "llm", 2, "good", 1, BACK);
	town_run(town, 60);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	assert_condition(town, "SegmentRolledBack", "False NotRolledBack", "");
}

/* A segment that serves is never taken away, however long it lacks a pod. */
static void what_served_stays(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 3, 1);
	apply(town, "llm", 2, "one", 1, BACK);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	kit_delete(&town->kit, "nodes", "", "n2", NULL);
	town_run(town, 300);
	assert_int_equal(town_pods(town, "llm", ""), 6);
	assert_condition(town, "SegmentRolledBack", "", "");
}

static void an_update(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	apply(town, "llm", 2, "one", 1, BACK);
	town_run(town, 30);
	apply(town, "llm", 2, "bad", 100000, BACK);
	town_run(town, 90);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	assert_condition(town, "SegmentRolledBack", "True DeadlineExceeded", "failed: segment 2 of coordination pd");
	assert_int_equal(town_events(town, "RolledBack"), 1);
	/* The next change begins with a clean slate and with all its time. */
	apply(town, "llm", 2, "two", 20, BACK);
	town_run(town, 300);
	assert_condition(town, "SegmentRolledBack", "False NotRolledBack", "");
	assert_int_equal(town_events(town, "RolledBack"), 1);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	kit_get(&town->kit, "pods", "default", "llm-p-0");
	assert_at(&town->kit, "spec.containers.0.image", "two");
}

/* Also a segment of which only a part exists is stuck, and the cause is the pod that keeps the rest away. */
static void stuck_before_it_is_whole(void **state)
{
	struct town *town = *state;
	apply(town, "llm", 2, "one", 1, ", stuckAfterSeconds: 20");
	town_run(town, 40);
	assert_condition(town, "SegmentStuck", "True SegmentNotReady", "segment 1 of coordination pd: pod llm-p-0");
	town_nodes(town, 1, 8, 2);
	town_run(town, 40);
	assert_condition(town, "SegmentStuck", "False", "");
	assert_int_equal(town_ready(town, "llm", ""), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_scale_up_that_does_not_fit, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(a_first_deployment_that_never_gets_ready, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(what_served_stays, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(an_update, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(stuck_before_it_is_whole, town_setup, town_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
