/* RoleBasedGroups from the manifest to ready pods, in virtual time. */
#include "fixtures/control_fixture.h"

#include "object/manifest.h"

#include <stdlib.h>

#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\n"

static void roles_become_pods(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	assert_int_equal(control_apply(fixture,
	                               HEAD "spec:\n"
	                                    "  roles:\n"
	                                    "  - {name: prefill, replicas: 3, template: " POD "}\n"
	                                    "  - {name: decode, replicas: 2, leaderWorkerSet: {size: 3}, template: " POD
	                                    "}\n"),
	                 201);
	control_run(fixture, 20);
	assert_int_equal(control_pods(fixture, "llm", "prefill"), 3);
	assert_int_equal(control_pods(fixture, "llm", "decode"), 6);
	assert_int_equal(control_ready(fixture, "llm", ""), 9);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllRolesReady: All roles are ready");
	assert_string_equal(fixture_names(&fixture->base, "podgroups.scheduling.run.ai", "default", NULL, NULL),
	                    "llm-decode-0 llm-decode-1 llm-prefill-0 llm-prefill-1 llm-prefill-2");
	assert_string_equal(fixture_names(&fixture->base, "services", "default", NULL, NULL),
	                    "s-llm-decode s-llm-prefill");
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", "llm-decode-1-2"), 200);
	/* Requests go to leaders: workers have no name in the network. */
	assert_at(&fixture->base, "spec.subdomain", "");
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", "llm-decode-1-0"), 200);
	assert_at(&fixture->base, "spec.subdomain", "s-llm-decode");
	assert_string_equal(control_group_at(fixture, "llm", "status.readyPods"), "9/9");
}

/* Written in one version, read in the other, written back: nothing is lost and nothing is made anew. */
static void versions_hold_the_same(void **state)
{
	static const char *const roles[] = {
		"{name: a, replicas: 2, template: " POD "}",
		"{name: a, replicas: 2, restartPolicy: None, workload: {apiVersion: apps/v1, kind: StatefulSet}, "
		"rolloutStrategy: {rollingUpdate: {type: Recreate}}, template: " POD "}",
		"{name: a, replicas: 2, templateRef: {name: base}, templatePatch: {spec: {priority: 3}}}",
		"{name: a, replicas: 1, template: " POD ", leaderWorkerSet: {size: 3, patchLeaderTemplate: {metadata: "
		"{labels: {x: y}}}, patchWorkerTemplate: {}}}",
		"{name: a, components: [{name: x, size: 2, template: " POD "}], restartPolicy: None}",
	};
	struct control_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		char text[2048];
		snprintf(text, sizeof(text),
		         HEAD "spec:\n  podGroupPolicy: {kubeScheduling: {scheduleTimeoutSeconds: 60}}\n"
		              "  roleTemplates: [{name: base, template: " POD "}]\n  roles:\n  - %s\n",
		         roles[i]);
		assert_code(&fixture->base, control_apply(fixture, text), 201);
		const struct store_type *type =
			store_type_find(fixture->base.store, "workloads.x-k8s.io", "rolebasedgroups");
		struct store_object *object = store_peek(fixture->base.store, type, "default", "llm");
		const struct store_api *old =
			store_api_find(fixture->base.store, "workloads.x-k8s.io", "v1alpha1", "rolebasedgroups");
		struct manifests manifests;
		struct problems problems = {.arena = fixture->base.arena};
		manifests_init(&manifests);
		manifests_parse(&manifests, text, strlen(text), "test", &problems);
		const struct val *shown = store_object_root(object, old);
		assert_string_equal(val_str(val_get(shown, "apiVersion"), ""), "workloads.x-k8s.io/v1alpha1");
		assert_true(val_equal(val_get(shown, "spec"), val_get(manifests.items[0].object, "spec")));
		assert_null(val_get(val_item(val_path(object->root, "spec", "roles", NULL), 0), "template"));
		manifests_free(&manifests);
		assert_code(&fixture->base,
		            fixture_delete(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm",
		                           NULL),
		            200);
		control_run(fixture, 3);
	}
}

static const char policy[] =
	"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: pace}\n"
	"spec:\n  targetRef: {name: llm}\n  policies:\n"
	"  - {name: pd, roles: [prefill, decode], strategy: {segmentPlacement: {segmentSize: {prefill: 2, decode: "
	"1}}}}\n";

static void policies_coordinate_and_adapters_scale(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	assert_code(&fixture->base, control_apply(fixture, policy), 201);
	control_run(fixture, 1);
	fixture_get(&fixture->base, "coordinatedpolicies.workloads.x-k8s.io", "default", "pace");
	assert_at(&fixture->base, "status.conditions.0.reason", "GroupNotFound");
	assert_code(
		&fixture->base,
		control_apply(
			fixture,
			"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"
			"  roles:\n"
			"  - {name: prefill, replicas: 6, scalingAdapter: {enable: true, labels: {team: x}}, "
			"standalonePattern: "
			"{template: " POD "}}\n"
			"  - {name: decode, replicas: 3, standalonePattern: {template: " POD "}}\n"),
		201);
	control_run(fixture, 1);
	assert_int_equal(control_pods(fixture, "llm", ""), 3);
	control_run(fixture, 40);
	assert_int_equal(control_ready(fixture, "llm", ""), 9);
	assert_string_equal(control_group_at(fixture, "llm", "status.segments"), "3/3");
	fixture_get(&fixture->base, "coordinatedpolicies.workloads.x-k8s.io", "default", "pace");
	assert_at(&fixture->base, "status.conditions.0.reason", "GroupFound");
	assert_at(&fixture->base, "status.target", "llm");
	/* The scale subresource of the role. */
	assert_code(&fixture->base,
	            fixture_do(&fixture->base,
	                       (struct store_request){.verb = STORE_PATCH,
	                                              .patch = STORE_PATCH_MERGE,
	                                              .subresource = STORE_SCALE},
	                       "rolebasedgroupscalingadapters.workloads.x-k8s.io", "default", "llm-prefill",
	                       "{'spec':{'replicas':8}}"),
	            200);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", "prefill"), 8);
	assert_int_equal(fixture_get(&fixture->base, "rolebasedgroupscalingadapters.workloads.x-k8s.io", "default",
	                             "llm-prefill"),
	                 200);
	assert_at(&fixture->base, "status.phase", "Bound");
	assert_at(&fixture->base, "status.readyReplicas", "8");
	assert_at(&fixture->base, "metadata.labels.team", "x");
	assert_string_not_equal(fixture_at(&fixture->base, "status.lastScaleTime"), "");
	assert_int_equal(control_events(fixture, "SuccessfulBound"), 1);
	assert_int_equal(control_events(fixture, "SuccessfulScale"), 1);
	assert_int_equal(control_events(fixture, "ReplicasOverriddenByAdapter"), 1);
	/* It stands in the group, and what the group says beside it does not last. */
	assert_string_equal(control_group_at(fixture, "llm", "spec.roles.0.name"), "prefill");
	assert_string_equal(control_group_at(fixture, "llm", "spec.roles.0.replicas"), "8");
	static const char other[] = "[{'op':'replace','path':'/spec/roles/0/replicas','value':3}]";
	assert_code(&fixture->base,
	            fixture_do(&fixture->base, (struct store_request){.verb = STORE_PATCH, .patch = STORE_PATCH_JSON},
	                       "rolebasedgroups.workloads.x-k8s.io", "default", "llm", other),
	            200);
	control_run(fixture, 10);
	assert_string_equal(control_group_at(fixture, "llm", "spec.roles.0.replicas"), "8");
	assert_int_equal(control_ready(fixture, "llm", "prefill"), 8);
}

static void dependencies_wait(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	control_apply(fixture, HEAD "spec:\n  roles:\n  - {name: front, dependencies: [back], template: " POD "}\n"
	                            "  - {name: back, replicas: 2, template: " POD "}\n");
	control_run(fixture, 1);
	assert_int_equal(control_pods(fixture, "llm", "front"), 0);
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", "front"), 1);
	assert_int_equal(control_events(fixture, "DependencyNotMet"), 1);
}

/* What a role had goes with it; what the template says is kept in order by patches. */
static void roles_come_and_go(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	control_apply(fixture, HEAD "spec:\n  roles:\n  - {name: a, replicas: 2, template: " POD
	                            "}\n  - {name: b, template: " POD "}\n");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 3);
	control_apply(fixture, HEAD "spec:\n  roles:\n  - {name: a, replicas: 2, template: " POD "}\n");
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, "pods", "default", NULL, NULL), "llm-a-0 llm-a-1");
	assert_string_equal(fixture_names(&fixture->base, "podgroups.scheduling.run.ai", "default", NULL, NULL),
	                    "llm-a-0 llm-a-1");
	assert_string_equal(fixture_names(&fixture->base, "services", "default", NULL, NULL), "s-llm-a");
	/* A pod that somebody deletes comes back under its name. */
	fixture_delete(&fixture->base, "pods", "default", "llm-a-1", NULL);
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	fixture_delete(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, "pods", "default", NULL, NULL), "");
	assert_string_equal(fixture_names(&fixture->base, "configmaps", "default", NULL, NULL), "");
}

/* podGroupPolicy: everything that grows at once is one gang. */
static void one_gang_for_all(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 4, 2);
	control_apply(fixture, HEAD
	              "spec:\n  podGroupPolicy: {kubeScheduling: {scheduleTimeoutSeconds: 60}}\n  roles:\n"
	              "  - {name: a, replicas: 3, template: " POD "}\n  - {name: b, replicas: 2, template: " POD "}\n");
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, "podgroups.scheduling.run.ai", "default", NULL, NULL), "llm");
	assert_int_equal(control_bound(fixture, "llm", ""), 0); /* four places for five pods */
	assert_int_equal(fixture_get(&fixture->base, "podgroups.scheduling.run.ai", "default", "llm"), 200);
	assert_at(&fixture->base, "spec.subGroups.1.minMember", "2");
	fixture_merge_status(&fixture->base, "nodes", "", "n1", "{'status':{'allocatable':{'nvidia.com/gpu':'5'}}}");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 5);
}

static void pods_find_each_other(void **state)
{
	struct control_fixture *fixture = *state;
	control_apply(fixture, HEAD
	              "spec:\n  roles:\n  - {name: a, replicas: 2, leaderWorkerSet: {size: 2}, servicePorts: [{name: "
	              "http-main, port: 8000}], template: " POD "}\n"
	              "  - {name: b, servicePorts: [{port: 9}], template: " POD "}\n");
	control_run(fixture, 3);
	fixture_get(&fixture->base, "configmaps", "default", "llm");
	const char *config = fixture->base.text.text;
	assert_non_null(strstr(config, "llm-a-1-0.s-llm-a"));
	assert_non_null(strstr(config, "http_main: 8000"));
	assert_non_null(strstr(config, "port9: 9"));
	fixture_get(&fixture->base, "services", "default", "s-llm-a");
	assert_at(&fixture->base, "spec.clusterIP", "None");
	assert_at(&fixture->base, "spec.ports.0.port", "8000");
	/* Requests go to leaders, unless the role says otherwise. */
	assert_non_null(strstr(fixture->base.text.text, "\"rbg.workloads.x-k8s.io/component-name\":\"leader\""));
	control_apply(fixture,
	              HEAD "spec:\n  roles:\n  - {name: a, replicas: 2, sharedServiceSelection: All, leaderWorkerSet: "
	                   "{size: 2}, template: " POD "}\n");
	control_run(fixture, 3);
	fixture_get(&fixture->base, "services", "default", "s-llm-a");
	assert_null(strstr(fixture->base.text.text, "component-name"));
	fixture_get(&fixture->base, "pods", "default", "llm-a-1-1");
	assert_non_null(strstr(
		fixture->base.text.text,
		"{\"name\":\"RBG_LWP_LEADER_ADDRESS\",\"value\":\"$(RBG_ROLE_INSTANCE_NAME)-0.s-llm-a.default\"}"));
	static const char *const labels[][2] = {
		{"RBG_COMPONENT_INDEX", "component-id"},     {"RBG_COMPONENT_NAME", "component-name"},
		{"RBG_ROLE_INDEX", "role-instance-index"},   {"RBG_ROLE_INSTANCE_NAME", "role-instance-name"},
		{"RBG_LWP_WORKER_INDEX", "component-index"}, {"RBG_LWP_GROUP_SIZE", "component-size"},
	};
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text),
		         "{\"name\":\"%s\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels['rbg.workloads."
		         "x-k8s.io/%s']\"}}}",
		         labels[i][0], labels[i][1]);
		assert_non_null(strstr(fixture->base.text.text, text));
	}
	assert_null(strstr(fixture->base.text.text, "LWS_"));
}

/* scaling: no role gets more than a quarter ahead of the other. */
static void watch_scaling(struct control_fixture *fixture)
{
	int a = control_pods(fixture, "llm", "a"), b = control_pods(fixture, "llm", "b");
	assert_true(a * 8 - b * 16 <= 5 * 8 * 2 && b * 16 - a * 8 <= 5 * 8 * 2);
}

/* Components have labels, annotations and a service of their own. */
static void components_differ(void **state)
{
	struct control_fixture *fixture = *state;
	struct store_fixture *base = &fixture->base;
	control_nodes(fixture, 4, 8, 2);
	assert_code(
		base,
		control_apply(fixture,
	                      "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: "
	                      "llm}\nspec:\n  roles:\n  - {name: a, labels: {l: role}, customComponentsPattern: "
	                      "{components: [{name: one, serviceName: mine, labels: {l: x}, annotations: {note: x}, "
	                      "template: " POD "}, {name: two, size: 2, template: " POD "}]}}\n"),
		201);
	control_run(fixture, 20);
	assert_int_equal(fixture_get(base, "pods", "default", "llm-a-0-one-0"), 200);
	assert_at(base, "metadata.labels.l", "x");
	assert_at(base, "metadata.annotations.note", "x");
	assert_at(base, "spec.subdomain", "mine");
	assert_null(strstr(base->text.text, "role-type"));
	assert_non_null(strstr(base->text.text, "\"rbg.workloads.x-k8s.io/component-name\":\"one\""));
	assert_non_null(strstr(base->text.text, "\"rbg.workloads.x-k8s.io/component-id\":\"0\""));
	assert_null(strstr(base->text.text, "component-index"));
	assert_int_equal(fixture_get(base, "pods", "default", "llm-a-0-two-1"), 200);
	assert_at(base, "metadata.labels.l", "role");
	assert_at(base, "spec.subdomain", "s-llm-a");
	assert_non_null(strstr(base->text.text, "\"rbg.workloads.x-k8s.io/component-size\":\"2\""));
	assert_int_equal(fixture_get(base, "configmaps", "default", "llm"), 200);
	assert_non_null(strstr(base->text.text, "llm-a-0-one-0.mine"));
}

/* What others change of the objects of a group is put right, also when the group itself has nothing to do. */
static void what_others_change_is_put_right(void **state)
{
	static const struct {
		const char *resource, *name, *change, *path, *before;
	} rows[] = {
		{"services", "s-llm-a", "{'spec':{'selector':{'x':'y'}}}", "spec.selector.x", ""},
		{"configmaps", "llm", "{'data':{'config.yaml':'none'}}", "data.other", ""},
		{"podgroups.scheduling.run.ai", "llm-a-1", "{'spec':{'minMember':7}}", "spec.minMember", "1"},
		{"podgroups.scheduling.run.ai", "llm-a-1", "{'spec':{'queue':'other'}}", "spec.queue", ""},
	};
	struct control_fixture *fixture = *state;
	struct store_fixture *base = &fixture->base;
	control_nodes(fixture, 4, 8, 2);
	assert_code(base, control_apply(fixture, HEAD "spec:\n  roles: [{name: a, replicas: 2, template: " POD "}]\n"),
	            201);
	control_run(fixture, 20);
	assert_int_equal(fixture_get(base, "configmaps", "default", "llm"), 200);
	char *config = base_strdup(fixture_at(base, "data"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_code(base, fixture_merge(base, rows[i].resource, "default", rows[i].name, rows[i].change), 200);
		assert_code(base,
		            fixture_merge(base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm",
		                          i % 2 ? "{'metadata':{'labels':{'x':'1'}}}"
		                                : "{'metadata':{'labels':{'x':'2'}}}"),
		            200);
		control_run(fixture, 2);
		assert_int_equal(fixture_get(base, rows[i].resource, "default", rows[i].name), 200);
		assert_at(base, rows[i].path, rows[i].before);
	}
	assert_int_equal(fixture_get(base, "configmaps", "default", "llm"), 200);
	assert_at(base, "data", config);
	free(config);
	/* Without its service nobody finds the pods: that is noticed at once. */
	assert_int_equal(fixture_delete(base, "services", "default", "s-llm-a", NULL), 200);
	control_run(fixture, 2);
	assert_int_equal(fixture_get(base, "services", "default", "s-llm-a"), 200);
}

static void scaling_in_step(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	fixture->watch = watch_scaling;
	control_apply(fixture, HEAD
	              "spec:\n  roles:\n  - {name: a, replicas: 16, template: " POD
	              "}\n  - {name: b, replicas: 8, template: " POD "}\n"
	              "  coordination:\n  - {name: s, roles: [a, b], strategy: {scaling: {maxSkew: 25%, progression: "
	              "OrderReady}}}\n");
	control_run(fixture, 2);
	assert_true(control_pods(fixture, "llm", "a") < 16);
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(roles_become_pods, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(versions_hold_the_same, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(policies_coordinate_and_adapters_scale, control_setup,
	                                        control_teardown),
		cmocka_unit_test_setup_teardown(dependencies_wait, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(one_gang_for_all, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(pods_find_each_other, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(components_differ, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(what_others_change_is_put_right, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(scaling_in_step, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(roles_come_and_go, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
