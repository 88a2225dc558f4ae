/* Engine runtimes: sidecars that a profile adds to the pods of a role. */
#include "fixtures/control_fixture.h"

#define PROFILE                                                                                                        \
	"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: ClusterEngineRuntimeProfile\nmetadata: {name: helper}\nspec: " \
	"{updateStrategy: %s, initContainers: [{name: prepare, image: prep}], volumes: [{name: shared, emptyDir: "     \
	"{}}], "                                                                                                       \
	"containers: [{name: sidecar, image: %s, args: [a], env: [{name: X, value: one}]}]}\n"

static const char group[] =
	"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  roles:\n"
	"  - {name: a, replicas: 2, engineRuntimes: [{profileName: helper, containers: [{name: sidecar, args: [b], "
	"env: "
	"[{name: B, value: two}]}]}], template: {spec: {containers: [{name: main, image: app}]}}}\n";

static void profile(struct control_fixture *fixture, const char *strategy, const char *image)
{
	char text[1024];
	snprintf(text, sizeof(text), PROFILE, strategy, image);
	assert_true(control_apply(fixture, text) < 300);
}

static const char *sidecar(struct control_fixture *fixture)
{
	fixture_get(&fixture->base, "pods", "default", "llm-a-1");
	assert_at(&fixture->base, "spec.containers.0.name", "main");
	return fixture_at(&fixture->base, "spec.containers.1.image");
}

static void sidecars_are_added(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	assert_int_equal(control_apply(fixture, group), 201);
	control_run(fixture, 20);
	/* The profile is missing: nothing is made, and it is told why. */
	assert_int_equal(control_pods(fixture, "llm", ""), 0);
	assert_non_null(
		strstr(control_condition(fixture, "llm", "CoordinationConflict"), "True EngineRuntimeNotFound: "));
	profile(fixture, "NoUpdate", "one");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	assert_string_equal(sidecar(fixture), "one");
	assert_at(&fixture->base, "spec.initContainers.0.name", "prepare");
	assert_at(&fixture->base, "spec.containers.1.args.0", "b");
	assert_non_null(strstr(fixture->base.text.text, "{\"name\":\"B\",\"value\":\"two\"}"));
	assert_non_null(strstr(fixture->base.text.text, "{\"name\":\"X\",\"value\":\"one\"}"));
	assert_non_null(strstr(fixture->base.text.text, "\"name\":\"shared\""));
	/* NoUpdate: pods that are made from now on. */
	profile(fixture, "NoUpdate", "two");
	control_run(fixture, 30);
	assert_string_equal(sidecar(fixture), "one");
	fixture_delete(&fixture->base, "pods", "default", "llm-a-1", NULL);
	control_run(fixture, 20);
	assert_string_equal(sidecar(fixture), "two");
	profile(fixture, "RollingUpdate", "three");
	control_run(fixture, 60);
	assert_string_equal(sidecar(fixture), "three");
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
}

/* A profile that goes away takes nothing with it. */
static void a_profile_goes_away(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	profile(fixture, "NoUpdate", "one");
	control_apply(fixture, group);
	control_run(fixture, 20);
	fixture_delete(&fixture->base, "clusterengineruntimeprofiles.workloads.x-k8s.io", "", "helper", NULL);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	assert_non_null(
		strstr(control_condition(fixture, "llm", "CoordinationConflict"), "True EngineRuntimeNotFound: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sidecars_are_added, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(a_profile_goes_away, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
