/* RoleBasedGroups from the manifest to ready pods, in virtual time. */
#include "town.h"

#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\n"

static void roles_become_pods(void **state)
{
	struct town *town = *state;
	town_nodes(town, 4, 8, 2);
	assert_int_equal(town_apply(town, HEAD
	                            "spec:\n"
	                            "  roles:\n"
	                            "  - {name: prefill, replicas: 3, template: " POD "}\n"
	                            "  - {name: decode, replicas: 2, leaderWorkerSet: {size: 3}, template: " POD "}\n"),
	                 201);
	town_run(town, 20);
	assert_int_equal(town_pods(town, "llm", "prefill"), 3);
	assert_int_equal(town_pods(town, "llm", "decode"), 6);
	assert_int_equal(town_ready(town, "llm", ""), 9);
	assert_string_equal(town_condition(town, "llm", "Ready"), "True AllRolesReady: All roles are ready");
	assert_string_equal(kit_names(&town->kit, "podgroups.scheduling.run.ai", "default", NULL, NULL),
	                    "llm-decode-0 llm-decode-1 llm-prefill-0 llm-prefill-1 llm-prefill-2");
	assert_string_equal(kit_names(&town->kit, "services", "default", NULL, NULL), "s-llm-decode s-llm-prefill");
	assert_int_equal(kit_get(&town->kit, "pods", "default", "llm-decode-1-2"), 200);
	assert_at(&town->kit, "spec.subdomain", "s-llm-decode");
	assert_string_equal(town_group_at(town, "llm", "status.readyPods"), "9/9");
}

static int setup(void **state)
{
	static struct town town;
	town = (struct town){0};
	town_open(&town);
	*state = &town;
	return 0;
}

static int teardown(void **state)
{
	town_close(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(roles_become_pods, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
