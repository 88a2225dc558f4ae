/* What becomes of an instance, or of the whole group, when a pod of it ends; and the pauses between. */
#include "fixtures/control_fixture.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

/* Two roles: `a` has two instances of a main and a helper pod, `b` one of one pod. `policy` is YAML of fields of a. */
static void open_group(struct control_fixture *fixture, const char *policy, const char *helper)
{
	char text[2048];
	control_nodes(fixture, 2, 8, 2);
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: a, replicas: 2, customComponentsPattern: {%s components: [{name: main, template: {spec: "
	         "{containers: [{name: c, image: i}]}}}, {name: helper, %s template: {spec: {containers: [{name: c, "
	         "image: "
	         "i}]}}}]}}\n"
	         "  - {name: b, replicas: 1, standalonePattern: {template: {spec: {containers: [{name: c, image: "
	         "i}]}}}}\n",
	         policy, helper);
	assert_code(&fixture->base, control_apply(fixture, text), 201);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 5);
}

static void fail_pod(struct control_fixture *fixture, const char *name)
{
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "pods", "default", name, "{'status':{'phase':'Failed'}}"),
	            200);
}

/* One letter per pod: the same as in `uids` or new. Takes the present ones over. */
static const char *changes(struct control_fixture *fixture, char uids[5][64])
{
	static const char *const names[] = {"llm-a-0-main-0", "llm-a-0-helper-0", "llm-a-1-main-0", "llm-a-1-helper-0",
	                                    "llm-b-0"};
	static char text[6];
	for (int i = 0; i < 5; i++) {
		assert_int_equal(fixture_get(&fixture->base, "pods", "default", names[i]), 200);
		const char *uid = fixture_at(&fixture->base, "metadata.uid");
		text[i] = strcmp(uid, uids[i]) == 0 ? '.' : 'N';
		snprintf(uids[i], 64, "%s", uid);
	}
	return text;
}

static void policies(void **state)
{
	static const struct {
		const char *policy, *helper, *victim, *changes;
	} rows[] = {
		{"", "", "llm-a-1-main-0", "..NN."},
		{"", "", "llm-a-1-helper-0", "..NN."},
		{"restartPolicy: None,", "", "llm-a-1-main-0", "..N.."},
		{"restartPolicy: RecreateRoleInstanceOnPodRestart,", "", "llm-a-0-main-0", "NN..."},
		{"restartPolicy: RecreateRBGOnPodRestart,", "", "llm-a-0-main-0", "NNNNN"},
		{"restartPolicyConfig: {type: RecreateRBGOnPodRestart},", "", "llm-a-1-helper-0", "NNNNN"},
		/* It is the policy of a; the roles without one go on. */
		{"restartPolicy: RecreateRBGOnPodRestart,", "", "llm-b-0", "....N"},
		{"", "annotations: {rbg.workloads.x-k8s.io/restart-trigger-policy: Ignore},", "llm-a-1-helper-0",
	         "...N."},
		{"", "annotations: {rbg.workloads.x-k8s.io/restart-trigger-policy: Ignore},", "llm-a-1-main-0",
	         "..NN."},
		{"restartPolicy: RecreateRBGOnPodRestart,",
	         "annotations: {rbg.workloads.x-k8s.io/restart-trigger-policy: Ignore},", "llm-a-1-helper-0", "...N."},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char uids[5][64] = {0};
		control_setup(state);
		struct control_fixture *fixture = *state;
		open_group(fixture, rows[i].policy, rows[i].helper);
		changes(fixture, uids);
		fail_pod(fixture, rows[i].victim);
		control_run(fixture, 20);
		assert_int_equal(control_ready(fixture, "llm", ""), 5);
		if (strcmp(changes(fixture, uids), rows[i].changes) != 0)
			fail_msg("row %zu: %s instead of %s", i, changes(fixture, uids), rows[i].changes);
		control_teardown(state);
	}
}

/* The first time at once, then after growing pauses. */
static void groups_pause_between(void **state)
{
	char uids[5][64] = {0};
	struct control_fixture *fixture = *state;
	open_group(fixture,
	           "restartPolicyConfig: {type: RecreateRBGOnPodRestart, baseDelaySeconds: 60, maxDelaySeconds: 300},",
	           "");
	changes(fixture, uids);
	fail_pod(fixture, "llm-a-0-main-0");
	control_run(fixture, 20);
	assert_string_equal(changes(fixture, uids), "NNNNN");
	assert_int_equal(control_events(fixture, "ReCreateGroup"), 1);
	fail_pod(fixture, "llm-a-0-main-0");
	control_run(fixture, 30);
	assert_string_equal(changes(fixture, uids), ".....");
	control_run(fixture, 40);
	assert_string_equal(changes(fixture, uids), "NNNNN");
	assert_int_equal(control_ready(fixture, "llm", ""), 5);
	/* What is kept about it is in the status. */
	assert_string_equal(control_group_at(fixture, "llm", "status.restarts.0.instance"), "llm");
	assert_string_equal(control_group_at(fixture, "llm", "status.restarts.0.count"), "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies),
		cmocka_unit_test_setup_teardown(groups_pause_between, control_setup, control_teardown),
	};
	return cmocka_run_group_tests_name("restarts of RoleBasedGroups", tests, NULL, NULL);
}
