/* RoleBasedGroupSets: copies of one template, changed one after the other. */
#include "fixtures/control_fixture.h"

#define SETS "rolebasedgroupsets.workloads.x-k8s.io"
#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

static void apply(struct control_fixture *fixture, int replicas, const char *image, int ready_seconds)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroupSet\nmetadata: {name: farm}\nspec:\n"
	         "  replicas: %d\n  groupTemplate:\n    labels: {team: x}\n    spec:\n      roles:\n"
	         "      - {name: a, replicas: 2, standalonePattern: {template: {metadata: {annotations: "
	         "{platoon.dev/ready-seconds: '%d'}}, spec: {containers: [{name: c, image: %s, resources: {limits: "
	         "{nvidia.com/gpu: 1}}}]}}}}\n",
	         replicas, ready_seconds, image);
	int code = control_apply(fixture, text);
	if (code >= 300)
		fail_msg("%s", fixture->base.text.text);
}

static int with_image(struct control_fixture *fixture, const char *image)
{
	int count = 0;
	for (int g = 0; g < 5; g++)
		for (int i = 0; i < 2; i++) {
			char name[32];
			snprintf(name, sizeof(name), "farm-%d-a-%d", g, i);
			if (fixture_get(&fixture->base, "pods", "default", name) == 200)
				count += strcmp(fixture_at(&fixture->base, "spec.containers.0.image"), image) == 0;
		}
	return count;
}

static int most_down;

/* Groups that are not ready at one time. */
static void watch_groups(struct control_fixture *fixture)
{
	int down = 0;
	for (int g = 0; g < 3; g++) {
		char name[32];
		snprintf(name, sizeof(name), "farm-%d", g);
		down += strncmp(control_condition(fixture, name, "Ready"), "True", 4) != 0;
	}
	most_down = down > most_down ? down : most_down;
}

static void copies_of_a_template(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, 3, "one", 1);
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, GROUPS, "default", NULL, NULL), "farm-0 farm-1 farm-2");
	assert_int_equal(with_image(fixture, "one"), 6);
	assert_string_equal(fixture_names(&fixture->base, GROUPS, "default",
	                                  "rbg.workloads.x-k8s.io/groupset-index=1,team=x", NULL),
	                    "farm-1");
	fixture_get(&fixture->base, SETS, "default", "farm");
	assert_at(&fixture->base, "status.readyReplicas", "3");
	assert_at(&fixture->base, "status.conditions.0.reason", "AllReplicasReady");
	/* One that is lost comes back; scaling takes the last. */
	fixture_delete(&fixture->base, GROUPS, "default", "farm-0", NULL);
	control_run(fixture, 20);
	assert_int_equal(with_image(fixture, "one"), 6);
	fixture_do(&fixture->base,
	           (struct store_request){.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_SCALE},
	           SETS, "default", "farm", "{'spec':{'replicas':2}}");
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, GROUPS, "default", NULL, NULL), "farm-0 farm-1");
	assert_int_equal(with_image(fixture, "one"), 4);
	fixture_delete(&fixture->base, SETS, "default", "farm", NULL);
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, "pods", "default", NULL, NULL), "");
}

static void one_after_the_other(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, 3, "one", 1);
	control_run(fixture, 20);
	most_down = 0;
	fixture->watch = watch_groups;
	apply(fixture, 3, "two", 1);
	control_run(fixture, 100);
	fixture->watch = NULL;
	assert_int_equal(with_image(fixture, "two"), 6);
	assert_int_equal(most_down, 1);
	/* A template that never gets ready stops at the first group; the next one is let through to it. */
	apply(fixture, 3, "bad", 100000);
	control_run(fixture, 100);
	assert_true(with_image(fixture, "bad") > 0);
	assert_int_equal(with_image(fixture, "two"), 6 - with_image(fixture, "bad"));
	assert_true(with_image(fixture, "two") >= 4);
	apply(fixture, 3, "three", 1);
	control_run(fixture, 200);
	assert_int_equal(with_image(fixture, "three"), 6);
	fixture_get(&fixture->base, SETS, "default", "farm");
	assert_at(&fixture->base, "status.updatedReplicas", "3");
}

/* v1alpha1 has the spec in another place and roles without patterns; both forms show the same set. */
static void both_forms(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	assert_int_equal(
		control_apply(fixture,
	                      "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroupSet\nmetadata: {name: "
	                      "farm}\nspec: {replicas: 2, template: {roles: [{name: a, replicas: 2, template: {spec: "
	                      "{containers: [{name: c, image: one}]}}}]}}\n"),
		201);
	control_run(fixture, 20);
	assert_int_equal(with_image(fixture, "one"), 4);
	fixture_get(&fixture->base, SETS, "default", "farm");
	assert_at(&fixture->base, "spec.groupTemplate.spec.roles.0.standalonePattern.template.spec.containers.0.image",
	          "one");
	size_t length;
	const struct store_api *old =
		store_api_find(fixture->base.store, "workloads.x-k8s.io", "v1alpha1", "rolebasedgroupsets");
	const char *text = store_object_json(fixture->base.result.object, old, &length);
	assert_non_null(strstr(text, "\"spec\":{\"replicas\":2,\"template\":{\"roles\":[{\"name\":\"a\",\"replicas\":2,"
	                             "\"template\":{\"spec\""));
	assert_null(strstr(text, "groupTemplate"));
}

/* Bad templates are refused; past the door the set says what is wrong and keeps its groups. */
static void refused(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	apply(fixture, 2, "one", 1);
	control_run(fixture, 20);
	fixture_merge(&fixture->base, SETS, "default", "farm", "{'spec':{'groupTemplate':{'spec':null}}}");
	control_run(fixture, 20);
	fixture_get(&fixture->base, SETS, "default", "farm");
	assert_at(&fixture->base, "status.conditions.0.reason", "InvalidSpec");
	assert_int_equal(with_image(fixture, "one"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_of_a_template, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(one_after_the_other, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(both_forms, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(refused, control_setup_open_door, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
