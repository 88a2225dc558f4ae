/* Segments that are not ready in time: what is taken back, and what is told. */
#include "fixtures/control_fixture.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

/* Segments of two prefill and one decode, `segments` of them. */
static void apply(struct control_fixture *fixture, const char *name, int segments, const char *image, int ready_seconds,
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
	int code = control_apply(fixture, text);
	if (code >= 300)
		fail_msg("%s", fixture->base.text.text);
}

#define BACK ", rollback: {deadlineSeconds: 30}"

static void assert_condition(struct control_fixture *fixture, const char *type, const char *status, const char *part)
{
	const char *text = control_condition(fixture, "llm", type);
	if (strncmp(text, status, strlen(status)) != 0 || !strstr(text, part))
		fail_msg("%s is \"%s\", not %s with \"%s\"", type, text, status, part);
}

/* Eight places: two segments fit, of the third two pods. */
static void a_scale_up_that_does_not_fit(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	apply(fixture, "llm", 2, "one", 1, BACK);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	apply(fixture, "llm", 4, "one", 1, BACK);
	control_run(fixture, 20);
	assert_int_equal(control_pods(fixture, "llm", ""), 9);
	assert_condition(fixture, "SegmentRolledBack", "", "");
	control_run(fixture, 40);
	/* What it held is free for others, what serves is left alone. */
	assert_int_equal(control_pods(fixture, "llm", ""), 6);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	assert_condition(fixture, "SegmentRolledBack", "True DeadlineExceeded", "segment 3 of coordination pd");
	assert_condition(fixture, "SegmentRolledBack", "True", "llm-d-2");
	assert_condition(fixture, "MinimumSegmentsAvailable", "True", "2/4 segments");
	assert_int_equal(control_events(fixture, "SegmentRolledBack"), 1);
	apply(fixture, "other", 1, "one", 1, "");
	fixture_merge(&fixture->base, GROUPS, "default", "other",
	              "{'spec':{'roles':[{'name':'p','replicas':1,'template':{'spec':"
	              "{'containers':[{'name':'c','image':'i','resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}}],"
	              "'coordination':null}}");
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "other", ""), 1);
	control_run(fixture, 200);
	assert_int_equal(control_pods(fixture, "llm", ""), 6);
	assert_int_equal(control_events(fixture, "SegmentRolledBack"), 1); /* it is not tried over and over */
	/* There is room now; another try has to be asked for. */
	fixture_merge_status(&fixture->base, "nodes", "", "n1", "{'status':{'allocatable':{'nvidia.com/gpu':'20'}}}");
	control_run(fixture, 30);
	assert_int_equal(control_pods(fixture, "llm", ""), 6);
	fixture_merge(&fixture->base, GROUPS, "default", "llm",
	              "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/retry-segments':'1'}}}");
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 12);
	assert_condition(fixture, "SegmentRolledBack", "False NotRolledBack", "");
}

static void a_first_deployment_that_never_gets_ready(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	apply(fixture, "llm", 2, "bad", 100000, BACK);
	control_run(fixture, 20);
	assert_int_equal(control_pods(fixture, "llm", ""), 2); /* decode waits for prefill */
	control_run(fixture, 40);
	assert_int_equal(control_pods(fixture, "llm", ""), 0);
	assert_condition(fixture, "SegmentRolledBack", "True DeadlineExceeded", "segment 1 of coordination pd");
	apply(fixture, "llm", 2, "good", 1, BACK);
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	assert_condition(fixture, "SegmentRolledBack", "False NotRolledBack", "");
}

/* A segment that serves is never taken away, however long it lacks a pod. */
static void what_served_stays(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 3, 1);
	apply(fixture, "llm", 2, "one", 1, BACK);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	fixture_delete(&fixture->base, "nodes", "", "n2", NULL);
	control_run(fixture, 300);
	assert_int_equal(control_pods(fixture, "llm", ""), 6);
	assert_condition(fixture, "SegmentRolledBack", "", "");
}

static void an_update(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	apply(fixture, "llm", 2, "one", 1, BACK);
	control_run(fixture, 30);
	apply(fixture, "llm", 2, "bad", 100000, BACK);
	control_run(fixture, 90);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	assert_condition(fixture, "SegmentRolledBack", "True DeadlineExceeded", "failed: segment 2 of coordination pd");
	assert_int_equal(control_events(fixture, "RolledBack"), 1);
	/* The next change begins with a clean slate and with all its time. */
	apply(fixture, "llm", 2, "two", 20, BACK);
	control_run(fixture, 300);
	assert_condition(fixture, "SegmentRolledBack", "False NotRolledBack", "");
	assert_int_equal(control_events(fixture, "RolledBack"), 1);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	fixture_get(&fixture->base, "pods", "default", "llm-p-0");
	assert_at(&fixture->base, "spec.containers.0.image", "two");
}

/* Also a segment of which only a part exists is stuck, and the cause is the pod that keeps the rest away. */
static void stuck_before_it_is_whole(void **state)
{
	struct control_fixture *fixture = *state;
	apply(fixture, "llm", 2, "one", 1, ", stuckAfterSeconds: 20");
	control_run(fixture, 40);
	assert_condition(fixture, "SegmentStuck", "True SegmentNotReady", "segment 1 of coordination pd: pod llm-p-0");
	control_nodes(fixture, 1, 8, 2);
	control_run(fixture, 40);
	assert_condition(fixture, "SegmentStuck", "False", "");
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_scale_up_that_does_not_fit, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(a_first_deployment_that_never_gets_ready, control_setup,
	                                        control_teardown),
		cmocka_unit_test_setup_teardown(what_served_stays, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(an_update, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(stuck_before_it_is_whole, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
