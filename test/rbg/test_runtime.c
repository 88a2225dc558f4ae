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

static void profile(struct town *town, const char *strategy, const char *image)
{
	char text[1024];
	snprintf(text, sizeof(text), PROFILE, strategy, image);
	assert_true(town_apply(town, text) < 300);
}

static const char *sidecar(struct town *town)
{
	kit_get(&town->kit, "pods", "default", "llm-a-1");
	assert_at(&town->kit, "spec.containers.0.name", "main");
	return kit_at(&town->kit, "spec.containers.1.image");
}

static void sidecars_are_added(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	assert_int_equal(town_apply(town, group), 201);
	town_run(town, 20);
	/* The profile is missing: nothing is made, and it is told why. */
	assert_int_equal(town_pods(town, "llm", ""), 0);
	assert_non_null(strstr(town_condition(town, "llm", "CoordinationConflict"), "True EngineRuntimeNotFound: "));
	profile(town, "NoUpdate", "one");
	town_run(town, 20);
	assert_int_equal(town_ready(town, "llm", ""), 2);
	assert_string_equal(sidecar(town), "one");
	assert_at(&town->kit, "spec.initContainers.0.name", "prepare");
	assert_at(&town->kit, "spec.containers.1.args.0", "b");
	assert_non_null(strstr(town->kit.text.text, "{\"name\":\"B\",\"value\":\"two\"}"));
	assert_non_null(strstr(town->kit.text.text, "{\"name\":\"X\",\"value\":\"one\"}"));
	assert_non_null(strstr(town->kit.text.text, "\"name\":\"shared\""));
	/* NoUpdate: pods that are made from now on. */
	profile(town, "NoUpdate", "two");
	town_run(town, 30);
	assert_string_equal(sidecar(town), "one");
	kit_delete(&town->kit, "pods", "default", "llm-a-1", NULL);
	town_run(town, 20);
	assert_string_equal(sidecar(town), "two");
	profile(town, "RollingUpdate", "three");
	town_run(town, 60);
	assert_string_equal(sidecar(town), "three");
	assert_int_equal(town_ready(town, "llm", ""), 2);
}

/* A profile that goes away takes nothing with it. */
static void a_profile_goes_away(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	profile(town, "NoUpdate", "one");
	town_apply(town, group);
	town_run(town, 20);
	kit_delete(&town->kit, "clusterengineruntimeprofiles.workloads.x-k8s.io", "", "helper", NULL);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 2);
	assert_non_null(strstr(town_condition(town, "llm", "CoordinationConflict"), "True EngineRuntimeNotFound: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sidecars_are_added, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(a_profile_goes_away, town_setup, town_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
