/* RoleBasedGroupSets: copies of one template, changed one after the other. */
#include "fixtures/control_fixture.h"

#define SETS "rolebasedgroupsets.workloads.x-k8s.io"
#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

static void apply(struct town *town, int replicas, const char *image, int ready_seconds)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroupSet\nmetadata: {name: farm}\nspec:\n"
	         "  replicas: %d\n  groupTemplate:\n    labels: {team: x}\n    spec:\n      roles:\n"
	         "      - {name: a, replicas: 2, standalonePattern: {template: {metadata: {annotations: "
	         "{platoon.dev/ready-seconds: '%d'}}, spec: {containers: [{name: c, image: %s, resources: {limits: "
	         "{nvidia.com/gpu: 1}}}]}}}}\n",
	         replicas, ready_seconds, image);
	int code = town_apply(town, text);
	if (code >= 300)
		fail_msg("%s", town->kit.text.text);
}

static int with_image(struct town *town, const char *image)
{
	int count = 0;
	for (int g = 0; g < 5; g++)
		for (int i = 0; i < 2; i++) {
			char name[32];
			snprintf(name, sizeof(name), "farm-%d-a-%d", g, i);
			if (kit_get(&town->kit, "pods", "default", name) == 200)
				count += strcmp(kit_at(&town->kit, "spec.containers.0.image"), image) == 0;
		}
	return count;
}

static int most_down;

/* Groups that are not ready at one time. */
static void watch_groups(struct town *town)
{
	int down = 0;
	for (int g = 0; g < 3; g++) {
		char name[32];
		snprintf(name, sizeof(name), "farm-%d", g);
		down += strncmp(town_condition(town, name, "Ready"), "True", 4) != 0;
	}
	most_down = down > most_down ? down : most_down;
}

static void copies_of_a_template(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, 3, "one", 1);
	town_run(town, 20);
	assert_string_equal(kit_names(&town->kit, GROUPS, "default", NULL, NULL), "farm-0 farm-1 farm-2");
	assert_int_equal(with_image(town, "one"), 6);
	assert_string_equal(kit_names(&town->kit, GROUPS, "default", "rbg.workloads.x-k8s.io/groupset-index=1,team=x",
	                              NULL),
	                    "farm-1");
	kit_get(&town->kit, SETS, "default", "farm");
	assert_at(&town->kit, "status.readyReplicas", "3");
	assert_at(&town->kit, "status.conditions.0.reason", "AllReplicasReady");
	/* One that is lost comes back; scaling takes the last. */
	kit_delete(&town->kit, GROUPS, "default", "farm-0", NULL);
	town_run(town, 20);
	assert_int_equal(with_image(town, "one"), 6);
	kit_do(&town->kit,
	       (struct store_request){.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_SCALE},
	       SETS, "default", "farm", "{'spec':{'replicas':2}}");
	town_run(town, 20);
	assert_string_equal(kit_names(&town->kit, GROUPS, "default", NULL, NULL), "farm-0 farm-1");
	assert_int_equal(with_image(town, "one"), 4);
	kit_delete(&town->kit, SETS, "default", "farm", NULL);
	town_run(town, 20);
	assert_string_equal(kit_names(&town->kit, "pods", "default", NULL, NULL), "");
}

static void one_after_the_other(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, 3, "one", 1);
	town_run(town, 20);
	most_down = 0;
	town->watch = watch_groups;
	apply(town, 3, "two", 1);
	town_run(town, 100);
	town->watch = NULL;
	assert_int_equal(with_image(town, "two"), 6);
	assert_int_equal(most_down, 1);
	/* A template that never gets ready stops at the first group; the next one is let through to it. */
	apply(town, 3, "bad", 100000);
	town_run(town, 100);
	assert_true(with_image(town, "bad") > 0);
	assert_int_equal(with_image(town, "two"), 6 - with_image(town, "bad"));
	assert_true(with_image(town, "two") >= 4);
	apply(town, 3, "three", 1);
	town_run(town, 200);
	assert_int_equal(with_image(town, "three"), 6);
	kit_get(&town->kit, SETS, "default", "farm");
	assert_at(&town->kit, "status.updatedReplicas", "3");
}

/* v1alpha1 has the spec in another place and roles without patterns; both forms show the same set. */
static void both_forms(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	assert_int_equal(
		town_apply(town,
	                   "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroupSet\nmetadata: {name: "
	                   "farm}\nspec: {replicas: 2, template: {roles: [{name: a, replicas: 2, template: {spec: "
	                   "{containers: [{name: c, image: one}]}}}]}}\n"),
		201);
	town_run(town, 20);
	assert_int_equal(with_image(town, "one"), 4);
	kit_get(&town->kit, SETS, "default", "farm");
	assert_at(&town->kit, "spec.groupTemplate.spec.roles.0.standalonePattern.template.spec.containers.0.image",
	          "one");
	size_t length;
	const struct store_api *old =
		store_api_find(town->kit.store, "workloads.x-k8s.io", "v1alpha1", "rolebasedgroupsets");
	const char *text = store_object_json(town->kit.result.object, old, &length);
	assert_non_null(strstr(text, "\"spec\":{\"replicas\":2,\"template\":{\"roles\":[{\"name\":\"a\",\"replicas\":2,"
	                             "\"template\":{\"spec\""));
	assert_null(strstr(text, "groupTemplate"));
}

/* Bad templates are refused; past the door the set says what is wrong and keeps its groups. */
static void refused(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 8, 2);
	apply(town, 2, "one", 1);
	town_run(town, 20);
	kit_merge(&town->kit, SETS, "default", "farm", "{'spec':{'groupTemplate':{'spec':null}}}");
	town_run(town, 20);
	kit_get(&town->kit, SETS, "default", "farm");
	assert_at(&town->kit, "status.conditions.0.reason", "InvalidSpec");
	assert_int_equal(with_image(town, "one"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_of_a_template, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(one_after_the_other, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(both_forms, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(refused, town_setup_open_door, town_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
