/* The objects between a group and its pods: RoleInstanceSets and RoleInstances. */
#include "fixtures/control_fixture.h"

#include <stdlib.h>

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"
#define SETS "roleinstancesets.workloads.x-k8s.io"
#define INSTANCES "roleinstances.workloads.x-k8s.io"
#define POD "{spec: {containers: [{name: c, image: i}]}}"

static void open_group(struct control_fixture *fixture, const char *image, int replicas)
{
	char text[2048];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"
	         "  roles:\n"
	         "  - {name: a, replicas: %d, labels: {team: red}, annotations: {note: why}, leaderWorkerPattern: "
	         "{size: 3, "
	         "template: {spec: {containers: [{name: c, image: %s}]}}}}\n"
	         "  - {name: b, replicas: 1, standalonePattern: {template: " POD "}}\n",
	         replicas, image);
	int code = control_apply(fixture, text);
	assert_true(code == 200 || code == 201);
	control_run(fixture, 40);
}

static void setup_group(struct control_fixture *fixture)
{
	control_nodes(fixture, 4, 8, 2);
	open_group(fixture, "i", 2);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllRolesReady: All roles are ready");
}

static void groups_own_sets_own_instances_own_pods(void **state)
{
	struct control_fixture *fixture = *state;
	setup_group(fixture);
	struct store_fixture *base = &fixture->base;
	assert_string_equal(fixture_names(base, SETS, "default", NULL, NULL), "llm-a llm-b");
	assert_string_equal(fixture_names(base, INSTANCES, "default", NULL, NULL), "llm-a-0 llm-a-1 llm-b-0");
	assert_int_equal(fixture_get(base, SETS, "default", "llm-a"), 200);
	assert_at(base, "metadata.ownerReferences.0.kind", "RoleBasedGroup");
	assert_at(base, "metadata.labels.team", "red");
	assert_at(base, "metadata.annotations.note", "why");
	assert_at(base, "spec.replicas", "2");
	assert_at(base, "spec.roleInstanceTemplate.components.0.name", "leader");
	assert_at(base, "spec.roleInstanceTemplate.components.1.size", "2");
	assert_at(base, "spec.roleInstanceTemplate.components.1.template.spec.containers.0.image", "i");
	assert_at(base, "status.replicas", "2");
	assert_at(base, "status.readyReplicas", "2");
	assert_at(base, "status.updatedReadyReplicas", "2");
	char revision[64];
	snprintf(revision, sizeof(revision), "%s", fixture_at(base, "status.updateRevision"));
	assert_at(base, "status.currentRevision", revision);
	assert_int_equal(fixture_get(base, INSTANCES, "default", "llm-a-1"), 200);
	assert_at(base, "metadata.ownerReferences.0.kind", "RoleInstanceSet");
	assert_at(base, "metadata.ownerReferences.0.name", "llm-a");
	assert_at(base, "metadata.labels.controller-revision-hash", revision);
	assert_at(base, "spec.restartPolicyConfig.type", "RecreateRoleInstanceOnPodRestart");
	assert_at(base, "status.componentStatuses.1.name", "worker");
	assert_at(base, "status.componentStatuses.1.readyReplicas", "2");
	assert_at(base, "status.conditions.0.type", "RoleInstanceReady");
	assert_at(base, "status.conditions.0.status", "True");
	assert_int_equal(fixture_get(base, "pods", "default", "llm-a-1-2"), 200);
	assert_at(base, "metadata.ownerReferences.0.kind", "RoleInstance");
	assert_at(base, "metadata.ownerReferences.0.name", "llm-a-1");
	assert_int_equal(fixture_get(base, INSTANCES, "default", "llm-b-0"), 200);
	assert_at(base, "spec.components.0.name", "b");
	assert_at(base, "spec.restartPolicyConfig.type", "None");
	/* With the group everything goes. */
	assert_code(base, fixture_delete(base, GROUPS, "default", "llm", NULL), 200);
	control_run(fixture, 40);
	assert_string_equal(fixture_names(base, INSTANCES, "default", NULL, NULL), "");
	assert_string_equal(fixture_names(base, "pods", "default", NULL, NULL), "");
}

/* An instance that somebody deletes is made anew, with its pods and no others. */
static void deleted_instances_come_back(void **state)
{
	struct control_fixture *fixture = *state;
	static const char *const names[] = {"llm-a-0-0", "llm-a-1-0", "llm-a-1-2", "llm-b-0"};
	char before[4][64];
	setup_group(fixture);
	for (int i = 0; i < 4; i++) {
		fixture_get(&fixture->base, "pods", "default", names[i]);
		snprintf(before[i], sizeof(before[i]), "%s", fixture_at(&fixture->base, "metadata.uid"));
	}
	assert_code(&fixture->base, fixture_delete(&fixture->base, INSTANCES, "default", "llm-a-1", NULL), 200);
	control_run(fixture, 60);
	assert_string_equal(fixture_names(&fixture->base, INSTANCES, "default", NULL, NULL), "llm-a-0 llm-a-1 llm-b-0");
	assert_int_equal(control_ready(fixture, "llm", ""), 7);
	assert_string_equal(control_condition(fixture, "llm", "ReconcileFailed"), "");
	for (int i = 0; i < 4; i++) {
		fixture_get(&fixture->base, "pods", "default", names[i]);
		bool same = strcmp(before[i], fixture_at(&fixture->base, "metadata.uid")) == 0;
		assert_int_equal(same, i == 0 || i == 3);
	}
	/* The same for all instances of a role. */
	assert_code(&fixture->base, fixture_delete(&fixture->base, SETS, "default", "llm-b", NULL), 200);
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 7);
	assert_int_equal(fixture_get(&fixture->base, SETS, "default", "llm-b"), 200);
	assert_at(&fixture->base, "status.readyReplicas", "1");
}

/* What a set asks for is decided by the group. */
/* An instance that somebody else made under the name of ours: the group says so and goes on when it is gone. */
static void instances_of_others_are_named(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	control_apply(fixture,
	              "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleInstance\nmetadata: {name: llm-a-1}\n"
	              "spec: {components: []}\n");
	open_group(fixture, "i", 2);
	assert_string_equal(control_condition(fixture, "llm", "ReconcileFailed"),
	                    "True Refused: RoleInstance llm-a-1 is there already and does not belong to the group");
	fixture_delete(&fixture->base, INSTANCES, "default", "llm-a-1", NULL);
	control_run(fixture, 100);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllRolesReady: All roles are ready");
}

static void sets_follow_their_group(void **state)
{
	struct control_fixture *fixture = *state;
	setup_group(fixture);
	assert_code(&fixture->base, fixture_merge(&fixture->base, SETS, "default", "llm-a", "{'spec':{'replicas':5}}"),
	            200);
	control_run(fixture, 10);
	fixture_get(&fixture->base, SETS, "default", "llm-a");
	assert_at(&fixture->base, "spec.replicas", "2");
	assert_int_equal(control_pods(fixture, "llm", "a"), 6);
	open_group(fixture, "i", 3);
	assert_string_equal(fixture_names(&fixture->base, INSTANCES, "default", NULL, NULL),
	                    "llm-a-0 llm-a-1 llm-a-2 llm-b-0");
	open_group(fixture, "i", 1);
	assert_string_equal(fixture_names(&fixture->base, INSTANCES, "default", NULL, NULL), "llm-a-0 llm-b-0");
	fixture_get(&fixture->base, SETS, "default", "llm-a");
	assert_at(&fixture->base, "status.replicas", "1");
}

/* An update changes the spec of a set once, and its instances one after the other. */
static void updates_change_sets_and_instances(void **state)
{
	struct control_fixture *fixture = *state;
	setup_group(fixture);
	fixture_get(&fixture->base, SETS, "default", "llm-a");
	int64_t before = strtoll(fixture_at(&fixture->base, "metadata.generation"), NULL, 10), after;
	char old[64], new[64];
	snprintf(old, sizeof(old), "%s", fixture_at(&fixture->base, "status.updateRevision"));
	open_group(fixture, "j", 2);
	control_run(fixture, 60);
	fixture_get(&fixture->base, SETS, "default", "llm-a");
	after = strtoll(fixture_at(&fixture->base, "metadata.generation"), NULL, 10);
	assert_int_equal(after, before + 1);
	snprintf(new, sizeof(new), "%s", fixture_at(&fixture->base, "status.updateRevision"));
	assert_string_not_equal(new, old);
	assert_at(&fixture->base, "status.currentRevision", new);
	for (int i = 0; i < 2; i++) {
		fixture_get(&fixture->base, INSTANCES, "default", i ? "llm-a-1" : "llm-a-0");
		assert_at(&fixture->base, "metadata.labels.controller-revision-hash", new);
		assert_at(&fixture->base, "spec.components.0.template.spec.containers.0.image", "j");
	}
}

static void restarts_are_told(void **state)
{
	struct control_fixture *fixture = *state;
	setup_group(fixture);
	fixture_merge_status(&fixture->base, "pods", "default", "llm-a-0-1", "{'status':{'phase':'Failed'}}");
	control_run(fixture, 0);
	fixture_get(&fixture->base, INSTANCES, "default", "llm-a-0");
	assert_at(&fixture->base, "status.conditions.0.status", "False");
	assert_at(&fixture->base, "status.conditions.2.type", "Restarting");
	assert_at(&fixture->base, "status.restartCount", "1");
	control_run(fixture, 40);
	fixture_get(&fixture->base, INSTANCES, "default", "llm-a-0");
	assert_at(&fixture->base, "status.conditions.0.status", "True");
	assert_at(&fixture->base, "status.conditions.2.type", "");
}

static int least_ready;

static void watch_ready(struct control_fixture *fixture)
{
	int ready = control_ready(fixture, "farm", "");
	least_ready = ready < least_ready ? ready : least_ready;
}

/* Pods as another controller labels them: without a number in their instance, and of a revision that is not known. They are
 * replaced as in an update, not all at once. */
static void foreign_pods_are_replaced_step_by_step(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	assert_code(&fixture->base,
	            control_apply(fixture, "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\n"
	                                   "metadata: {name: farm}\nspec: {roles: [{name: b, replicas: 4, "
	                                   "standalonePattern: {template: " POD "}}]}\n"),
	            201);
	control_run(fixture, 40);
	assert_int_equal(control_ready(fixture, "farm", ""), 4);
	for (int i = 0; i < 4; i++) {
		char name[24];
		snprintf(name, sizeof(name), "farm-b-%d", i);
		assert_code(&fixture->base,
		            fixture_merge(&fixture->base, "pods", "default", name,
		                          "{'metadata':{'labels':{'rbg.workloads.x-k8s.io/component-index':null,"
		                          "'rbg.workloads.x-k8s.io/component-id':'0',"
		                          "'controller-revision-hash':'5d8f9c7b6d'}}}"),
		            200);
	}
	least_ready = 4;
	fixture->watch = watch_ready;
	control_run(fixture, 120);
	assert_int_equal(least_ready, 3);
	assert_int_equal(control_ready(fixture, "farm", ""), 4);
	fixture_get(&fixture->base, "pods", "default", "farm-b-0");
	assert_string_not_equal(fixture_at(&fixture->base, "metadata.labels.controller-revision-hash"), "5d8f9c7b6d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(groups_own_sets_own_instances_own_pods, control_setup,
	                                        control_teardown),
		cmocka_unit_test_setup_teardown(deleted_instances_come_back, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(instances_of_others_are_named, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(sets_follow_their_group, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(updates_change_sets_and_instances, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(restarts_are_told, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(foreign_pods_are_replaced_step_by_step, control_setup,
	                                        control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
