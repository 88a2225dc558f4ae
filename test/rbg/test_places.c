/* In-place scheduling: pods that are made anew go to the nodes they ran on. */
#include "fixtures/control_fixture.h"

#define MODE "rbg.workloads.x-k8s.io/role-inplace-scheduling"

static void start(struct control_fixture *fixture, const char *annotations)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: a, replicas: 3, annotations: {%s}, leaderWorkerPattern: {size: 2, restartPolicy: None, "
	         "template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}\n",
	         annotations);
	control_nodes(fixture, 6, 1, 2);
	assert_code(&fixture->base, control_apply(fixture, text), 201);
	control_run(fixture, 40);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
}

static const char *node_of(struct control_fixture *fixture, const char *pod)
{
	return fixture_get(&fixture->base, "pods", "default", pod) == 200 ? fixture_at(&fixture->base, "spec.nodeName")
	                                                                  : "";
}

/* All at once, so that each could take the node of another, by controllers that know only what is written down. */
static void remake(struct control_fixture *fixture)
{
	static const char *const pods[] = {"llm-a-2-1", "llm-a-2-0", "llm-a-1-1",
	                                   "llm-a-1-0", "llm-a-0-1", "llm-a-0-0"};
	for (int i = 0; i < 6; i++)
		assert_true(fixture_delete(&fixture->base, "pods", "default", pods[i], NULL) < 300);
	fixture->restarts = true;
	control_run(fixture, 20);
	fixture->restarts = false;
	control_run(fixture, 60);
}

static void pods_return(void **state)
{
	struct control_fixture *fixture = *state;
	char name[32], before[6][16];
	start(fixture, MODE ": Required");
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "llm-a-%d-%d", i / 2, i % 2);
		snprintf(before[i], sizeof(before[i]), "%s", node_of(fixture, name));
	}
	remake(fixture);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "llm-a-%d-%d", i / 2, i % 2);
		assert_string_equal(node_of(fixture, name), before[i]);
	}
	assert_at(&fixture->base,
	          "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0."
	          "matchExpressions.0.values.0",
	          before[5]);
}

/* A wish alone is no reason to wait; what is to be avoided is, also for a pod that was nowhere yet. */
static void wishes_yield_and_avoid_does_not(void **state)
{
	struct control_fixture *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char before[16];
	start(fixture, MODE ": Preferred, " MODE "-avoid: 'example.com/bad, example.com/worse'");
	assert_int_equal(fixture_get(base, "pods", "default", "llm-a-0-0"), 200);
	assert_at(base,
	          "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0."
	          "matchExpressions.1.key",
	          "example.com/worse");
	assert_at(base, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", "");
	snprintf(before, sizeof(before), "%s", node_of(fixture, "llm-a-0-0"));
	fixture_delete(base, "pods", "default", "llm-a-0-0", NULL);
	control_run(fixture, 30);
	assert_string_equal(node_of(fixture, "llm-a-0-0"), before);
	assert_at(base, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.weight", "100");
	assert_int_equal(fixture_merge(base, "nodes", "", before, "{'metadata':{'labels':{'example.com/bad':'yes'}}}"),
	                 200);
	fixture_delete(base, "pods", "default", "llm-a-0-0", NULL);
	control_run(fixture, 30);
	assert_string_equal(node_of(fixture, "llm-a-0-0"), "");
	assert_int_equal(control_ready(fixture, "llm", ""), 5);
}

/* Any node that a pod of the same component ran on will do. */
static void components_share_their_nodes(void **state)
{
	struct control_fixture *fixture = *state;
	struct store_fixture *base = &fixture->base;
	start(fixture, MODE ": Preferred, " MODE "-granularity: Component");
	fixture_delete(base, "pods", "default", "llm-a-1-1", NULL);
	control_run(fixture, 30);
	assert_int_equal(fixture_get(base, "pods", "default", "llm-a-1-1"), 200);
#define VALUES                                                                                                         \
	"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.preference.matchExpressions.0."  \
	"values."
	assert_string_not_equal(fixture_at(base, VALUES "2"), "");
	assert_at(base, VALUES "3", "");
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pods_return, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(wishes_yield_and_avoid_does_not, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(components_share_their_nodes, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
