/* Components of one instance that know of each other: order and addresses. */
#include "fixtures/control_fixture.h"

#define OLD "rolebasedgroup.workloads.x-k8s.io/"
#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"

static void start(struct control_fixture *fixture, const char *leader, const char *router)
{
	char text[2048];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - name: a\n    replicas: 2\n    customComponentsPattern:\n      components:\n"
	         "      - {name: leader, size: 1, annotations: {%s}, template: " POD "}\n"
	         "      - {name: worker, size: 2, template: " POD "}\n"
	         "      - {name: router, size: 1, annotations: {%s}, template: " POD "}\n",
	         leader, router);
	control_nodes(fixture, 4, 8, 2);
	assert_code(&fixture->base, control_apply(fixture, text), 201);
}

static int names_of(struct control_fixture *fixture, const char *component)
{
	char selector[128];
	int count = 1;
	snprintf(selector, sizeof(selector), "rbg.workloads.x-k8s.io/component-name=%s", component);
	const char *names = fixture_names(&fixture->base, "pods", "default", selector, NULL);
	for (const char *at = names; *at; at++)
		count += *at == ' ';
	return *names ? count : 0;
}

static bool were_all_ready;

/* Nobody of the later ones is there before the earlier ones of its instance were ready. */
static void watch_order(struct control_fixture *fixture)
{
	were_all_ready |= names_of(fixture, "leader") + names_of(fixture, "worker") == 6 &&
	                  control_ready(fixture, "llm", "") == 6;
	if (names_of(fixture, "router") > 0)
		assert_true(were_all_ready);
}

static void components_start_in_order(void **state)
{
	struct control_fixture *fixture = *state;
	were_all_ready = false;
	start(fixture, "note: x", OLD "component-depends-on: '{\"startAfter\": [\"leader\", \"worker\"]}'");
	fixture->watch = watch_order;
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
	/* What starts later is no part of what has to start together. */
	assert_int_equal(fixture_get(&fixture->base, "podgroups.scheduling.run.ai", "default", "llm-a-1"), 200);
	assert_at(&fixture->base, "spec.minMember", "3");
}

/* Each after the other: that is no order, so all start at once. */
static void circles_are_no_order(void **state)
{
	struct control_fixture *fixture = *state;
	start(fixture, OLD "component-depends-on: '{\"startAfter\": [\"router\"]}'",
	      OLD "component-depends-on: '{\"startAfter\": [\"leader\"]}'");
	control_run(fixture, 40);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
}

static void addresses_are_told(void **state)
{
	struct control_fixture *fixture = *state;
	start(fixture, "note: x",
	      OLD "component-discovery: '{\"addressRefs\": [{\"env\": \"PEER\", \"component\": \"worker\", \"index\": "
	          "1}]}'");
	control_run(fixture, 40);
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", "llm-a-1-router-0"), 200);
	assert_non_null(strstr(fixture->base.text.text,
	                       "{\"name\":\"PEER\",\"value\":\"llm-a-1-worker-1.s-llm-a.default.svc.cluster.local\"}"));
	assert_null(strstr(fixture->base.text.text, "component-discovery"));
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(components_start_in_order, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(circles_are_no_order, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(addresses_are_told, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
