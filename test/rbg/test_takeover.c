/* Groups that another controller of RoleBasedGroups ran before, and may run again: what it made stays as it is. */
#include "fixtures/control_fixture.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"
#define SETS "roleinstancesets.workloads.x-k8s.io"
#define INSTANCES "roleinstances.workloads.x-k8s.io"
#define REVISIONS "controllerrevisions.apps"
#define GANGS "podgroups.scheduling.run.ai"

/* With what typed clients write in other words: quantities, fields that say nothing, characters of HTML. */
static const char group[] =
	"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"
	"  roleTemplates:\n"
	"  - {name: base, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: main, image: 'app:1', "
	"resources: {requests: {cpu: '0.5', memory: 1024Mi}}}]}}}\n"
	"  roles:\n"
	"  - name: router\n    replicas: 1\n    labels: {team: red}\n    standalonePattern: {template: {spec: "
	"{hostNetwork: "
	"false, containers: [{name: main, image: 'app:1', command: [sh, -c, 'a && b < c'], ports: [{containerPort: "
	"80}], "
	"env: [{name: E, value: ''}], resources: {limits: {cpu: 1000m, memory: 2000}}}], volumes: [{name: v, emptyDir: "
	"{}}]}}}\n"
	"  - name: prefill\n    replicas: 2\n    minReadySeconds: 0\n    rolloutStrategy: {type: RollingUpdate, "
	"rollingUpdate: {maxUnavailable: 1}}\n    standalonePattern: {templateRef: {name: base, patch: {spec: "
	"{containers: "
	"[{name: main, env: [{name: B, value: '2'}]}]}}}}\n"
	"  - name: decode\n    replicas: 2\n    servicePorts: [{name: http, port: 80}]\n    leaderWorkerPattern: "
	"{size: 2, "
	"template: {spec: {containers: [{name: main, image: 'app:1'}]}}, workerTemplatePatch: {spec: {containers: "
	"[{name: "
	"main, args: [w]}]}}}\n"
	"  - name: eng\n    replicas: 1\n    customComponentsPattern: {components: [{name: a, size: 1, template: "
	"{spec: "
	"{containers: [{name: main, image: 'app:1'}]}}}, {name: b, size: 2, annotations: {note: x}, labels: {l: 'yy'}, "
	"template: {metadata: {annotations: {k: v}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: "
	"main, "
	"image: 'app:1', livenessProbe: {httpGet: {path: /, port: 80}, initialDelaySeconds: 0}}]}}}]}\n";

static const char *const pods[] = {"llm-router-0",   "llm-prefill-0",  "llm-prefill-1",  "llm-decode-0-0",
                                   "llm-decode-0-1", "llm-decode-1-0", "llm-decode-1-1", "llm-eng-0-a-0",
                                   "llm-eng-0-b-0",  "llm-eng-0-b-1"};
#define PODS (sizeof(pods) / sizeof(pods[0]))

static void start(struct control_fixture *fixture)
{
	control_nodes(fixture, 4, 8, 2);
	assert_code(&fixture->base, control_apply(fixture, group), 201);
	control_run(fixture, 40);
	assert_int_equal(control_ready(fixture, "llm", ""), (int)PODS);
}

static void copy_at(struct control_fixture *fixture, const char *type, const char *name, const char *path, char out[64])
{
	assert_int_equal(fixture_get(&fixture->base, type, "default", name), 200);
	snprintf(out, 64, "%s", fixture_at(&fixture->base, path));
}

/* These names came from the operator that these kinds are from, for this very group. */
static void revisions_have_the_names_they_have_elsewhere(void **state)
{
	struct control_fixture *fixture = *state;
	static const char *const hashes[][2] = {{"llm-router-0", "6c9bff4f8f"},
	                                        {"llm-prefill-0", "7bc476964f"},
	                                        {"llm-prefill-1", "596875596f"},
	                                        {"llm-decode-0-0", "d4f986ccf"},
	                                        {"llm-eng-0-b-1", "7d9b5f9dd8"}};
	char text[64];
	start(fixture);
	assert_string_equal(fixture_names(&fixture->base, REVISIONS, "default", NULL, NULL),
	                    "llm-6598c676f4-1 llm-decode-86d9c8f8c llm-eng-5465754988 llm-prefill-5f4dbc9486 "
	                    "llm-router-c599f944b");
	copy_at(fixture, SETS, "llm-decode", "status.updateRevision", text);
	assert_string_equal(text, "llm-decode-86d9c8f8c");
	copy_at(fixture, SETS, "llm-decode", "metadata.labels", text);
	assert_non_null(
		strstr(fixture->base.text.text, "\"rbg.workloads.x-k8s.io/role-revision-decode\":\"5b575cc7bb\""));
	copy_at(fixture, INSTANCES, "llm-eng-0", "status.currentRevision", text);
	assert_string_equal(text, "llm-eng-0-7d9b5f9dd8");
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		copy_at(fixture, "pods", hashes[i][0], "metadata.labels.controller-revision-hash", text);
		/* The pods of the second decode differ from those of the first by their labels. */
		if (strcmp(hashes[i][0], "llm-decode-0-0") != 0)
			assert_string_equal(text, hashes[i][1]);
	}
}

/* Takes away what only we write, so that objects are as another controller leaves them. */
static void disguise(struct control_fixture *fixture)
{
	struct store_fixture *base = &fixture->base;
	char names[512];
	for (size_t i = 0; i < PODS; i++)
		assert_code(base,
		            fixture_merge(base, "pods", "default", pods[i],
		                          "{'metadata':{'annotations':{'pod-group-name':null,"
		                          "'rbg.workloads.x-k8s.io/set-revision':null},'labels':{"
		                          "'rolebasedgroup.workloads.x-k8s.io/name':null,"
		                          "'rolebasedgroup.workloads.x-k8s.io/role':null,'team':null,"
		                          "'rolebasedgroup.workloads.x-k8s.io/role-instance-index':null}}}"),
		            200);
	snprintf(names, sizeof(names), "%s", fixture_names(base, GANGS, "default", NULL, NULL));
	for (char *rest = names, *name; (name = strsep(&rest, " "));)
		fixture_delete(base, GANGS, "default", name, NULL);
	assert_code(base,
	            fixture_merge_status(
			    base, GROUPS, "default", "llm",
			    "{'status':{'completeAt':null,'readyPods':null,'updateRevision':null,'updated':null,"
			    "'roleStatuses':[{'name':'router','replicas':1,'readyReplicas':1,'updatedReplicas':1},"
			    "{'name':'prefill','replicas':2,'readyReplicas':2,'updatedReplicas':2},{'name':'decode',"
			    "'replicas':2,'readyReplicas':2,'updatedReplicas':2},{'name':'eng','replicas':1,'"
			    "readyReplicas':1,"
			    "'updatedReplicas':1}]}}"),
	            200);
}

struct memory {
	char uids[PODS][64], generations[4][64];
};

static void remember(struct control_fixture *fixture, struct memory *out)
{
	static const char *const instances[] = {"llm-router-0", "llm-prefill-1", "llm-decode-0", "llm-eng-0"};
	for (size_t i = 0; i < PODS; i++)
		copy_at(fixture, "pods", pods[i], "metadata.uid", out->uids[i]);
	for (int i = 0; i < 4; i++)
		copy_at(fixture, INSTANCES, instances[i], "metadata.generation", out->generations[i]);
}

static void assert_untouched(struct control_fixture *fixture, const struct memory *before)
{
	struct memory after;
	remember(fixture, &after);
	for (size_t i = 0; i < PODS; i++)
		assert_string_equal(after.uids[i], before->uids[i]);
	for (int i = 0; i < 4; i++)
		assert_string_equal(after.generations[i], before->generations[i]);
	assert_int_equal(control_events(fixture, "InstanceReplaced"), 0);
}

static int least_ready;

static void watch_ready(struct control_fixture *fixture)
{
	int ready = control_ready(fixture, "llm", "");
	least_ready = ready < least_ready ? ready : least_ready;
}

static void running_groups_are_taken_over(void **state)
{
	struct control_fixture *fixture = *state;
	struct memory before;
	char revisions[512], text[64];
	start(fixture);
	snprintf(revisions, sizeof(revisions), "%s", fixture_names(&fixture->base, REVISIONS, "default", NULL, NULL));
	remember(fixture, &before);
	disguise(fixture);
	least_ready = (int)PODS;
	fixture->watch = watch_ready;
	fixture->restarts = true;
	control_run(fixture, 40);
	fixture->restarts = false;
	assert_untouched(fixture, &before);
	assert_int_equal(least_ready, (int)PODS);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllRolesReady: All roles are ready");
	assert_string_equal(fixture_names(&fixture->base, REVISIONS, "default", NULL, NULL), revisions);
	/* Pods have joined the PodGroups of their instances. */
	copy_at(fixture, "pods", "llm-decode-1-1", "metadata.annotations.pod-group-name", text);
	assert_string_equal(text, "llm-decode-1");
	assert_int_equal(fixture_get(&fixture->base, GANGS, "default", "llm-decode-1"), 200);
	/* From now on it is a group like any other. */
	fixture_merge(&fixture->base, GROUPS, "default", "llm", "{'metadata':{'labels':{'a':'b'}}}");
	fixture_delete(&fixture->base, "pods", "default", "llm-prefill-1", NULL);
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), (int)PODS);
	copy_at(fixture, "pods", "llm-prefill-1", "metadata.labels.controller-revision-hash", text);
	assert_string_equal(text, "596875596f");
}

/* A template that was rendered a little differently, by another release, is the revision it is called. */
static void what_was_written_for_the_role_counts(void **state)
{
	struct control_fixture *fixture = *state;
	struct memory before;
	char text[64];
	start(fixture);
	remember(fixture, &before);
	disguise(fixture);
	struct store_fixture *base = &fixture->base;
	char uid[64], other[1024];
	copy_at(fixture, SETS, "llm-router", "metadata.uid", uid);
	snprintf(other, sizeof(other),
	         "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: llm-router-bbbbbbbbb, "
	         "ownerReferences: "
	         "[{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleInstanceSet, name: llm-router, uid: %s, "
	         "controller: "
	         "true}]}\ndata: {spec: {roleInstanceTemplate: {components: [{name: router, size: 1, template: {spec: "
	         "{containers: [{name: main, image: other}]}}}]}}}\nrevision: 2\n",
	         uid);
	fixture_delete(base, REVISIONS, "default", "llm-router-c599f944b", NULL);
	assert_code(base, control_apply(fixture, other), 201);
	assert_code(base,
	            fixture_merge(base, INSTANCES, "default", "llm-router-0",
	                          "{'metadata':{'labels':{'controller-revision-hash':'llm-router-bbbbbbbbb'}}}"),
	            200);
	assert_code(
		base,
		fixture_merge_status(base, SETS, "default", "llm-router",
	                             "{'status':{'updateRevision':'llm-router-bbbbbbbbb','currentRevision':'llm-router-"
	                             "bbbbbbbbb'}}"),
		200);
	fixture->restarts = true;
	control_run(fixture, 40);
	fixture->restarts = false;
	assert_untouched(fixture, &before);
	copy_at(fixture, SETS, "llm-router", "status.updateRevision", text);
	assert_string_equal(text, "llm-router-bbbbbbbbb");
}

/* A workload that is not a set cannot be taken over: nothing is made beside it, nothing of it is taken away. */
static void other_workloads_are_named(void **state)
{
	struct control_fixture *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char uid[64], text[1024];
	control_nodes(fixture, 4, 8, 2);
	assert_code(base,
	            control_apply(
			    fixture,
			    "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: old}\n"
			    "spec: {roles: [{name: a, "
			    "replicas: 1, annotations: {rbg.workloads.x-k8s.io/role-workload-type: "
			    "apps/v1/StatefulSet}, standalonePattern: {template: {spec: {containers: [{name: c, image: "
			    "i}]}}}}]}\n"),
	            201);
	copy_at(fixture, GROUPS, "old", "metadata.uid", uid);
	snprintf(text, sizeof(text),
	         "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: old-a, ownerReferences: [{apiVersion: "
	         "workloads.x-k8s.io/v1alpha2, kind: RoleBasedGroup, name: old, uid: %s, controller: true}]}\nspec: "
	         "{replicas: 1, serviceName: s, selector: {matchLabels: {app: one}}, template: {metadata: {labels: "
	         "{app: one}}, spec: "
	         "{containers: [{name: c, image: i}]}}}\n",
	         uid);
	assert_code(base, control_apply(fixture, text), 201);
	control_run(fixture, 40);
	assert_non_null(strstr(control_condition(fixture, "old", "CoordinationConflict"),
	                       "True NotAdopted: StatefulSet old-a of this group was made by another controller"));
	assert_int_equal(strncmp(control_condition(fixture, "old", "Ready"), "False", 5), 0);
	assert_int_equal(fixture_get(base, "statefulsets.apps", "default", "old-a"), 200);
	assert_string_equal(fixture_names(base, SETS, "default", NULL, NULL), "");
	fixture_delete(base, "statefulsets.apps", "default", "old-a", NULL);
	control_run(fixture, 60);
	assert_string_equal(control_condition(fixture, "old", "Ready"), "True AllRolesReady: All roles are ready");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(revisions_have_the_names_they_have_elsewhere, control_setup,
	                                        control_teardown),
		cmocka_unit_test_setup_teardown(running_groups_are_taken_over, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(what_was_written_for_the_role_counts, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(other_workloads_are_named, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
