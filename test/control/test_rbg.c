/* RoleBasedGroups from the manifest to ready pods, in virtual time. */
#include "yard.h"

#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\n"

static void roles_become_pods(void **state)
{
	struct yard *yard = *state;
	yard_nodes(yard, 4, 8, 2);
	assert_int_equal(yard_apply(yard, HEAD
	                            "spec:\n"
	                            "  roles:\n"
	                            "  - {name: prefill, replicas: 3, template: " POD "}\n"
	                            "  - {name: decode, replicas: 2, leaderWorkerSet: {size: 3}, template: " POD "}\n"),
	                 201);
	yard_run(yard, 20);
	assert_int_equal(yard_pods(yard, "llm", "prefill"), 3);
	assert_int_equal(yard_pods(yard, "llm", "decode"), 6);
	assert_int_equal(yard_ready(yard, "llm", ""), 9);
	assert_string_equal(yard_condition(yard, "llm", "Ready"), "True AllRolesReady: All roles are ready");
	assert_string_equal(kit_names(&yard->kit, "podgroups.scheduling.run.ai", "default", NULL, NULL),
	                    "llm-decode-0 llm-decode-1 llm-prefill-0 llm-prefill-1 llm-prefill-2");
	assert_string_equal(kit_names(&yard->kit, "services", "default", NULL, NULL), "s-llm-decode s-llm-prefill");
	assert_int_equal(kit_get(&yard->kit, "pods", "default", "llm-decode-1-2"), 200);
	assert_at(&yard->kit, "spec.subdomain", "s-llm-decode");
	assert_string_equal(yard_group_at(yard, "llm", "status.readyPods"), "9/9");
}

static int setup(void **state)
{
	static struct yard yard;
	yard = (struct yard){0};
	yard_open(&yard);
	*state = &yard;
	return 0;
}

static int teardown(void **state)
{
	yard_close(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(roles_become_pods, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
