/* Types: what is built in, what definitions add, change and take away. */
#include "fixtures/store_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#define CRDS "customresourcedefinitions.apiextensions.k8s.io"
#define NAMES "'names':{'plural':'gangs','singular':'gang','kind':'Gang','shortNames':['gg'],'categories':['all','ai']}"
#define GANGS(scope, versions)                                                                                         \
	"{'metadata':{'name':'gangs.example.com'},'spec':{'group':'example.com','scope':'" scope "'," NAMES            \
	",'versions':[" versions "]}}"
#define V1                                                                                                             \
	"{'name':'v1','served':true,'storage':true,'subresources':{'status':{},'scale':{'specReplicasPath':'.spec."    \
	"size',"                                                                                                       \
	"'statusReplicasPath':'.status.size','labelSelectorPath':'.status.selector'}},'selectableFields':[{'jsonPath'" \
	":'.spec.color'}],"                                                                                            \
	"'additionalPrinterColumns':[{'name':'Size','type':'integer','jsonPath':'.spec.size'},{'name':'Color','type':" \
	"'string','jsonPath':'.spec.color','priority':1}]}"
#define ALPHA "{'name':'v1alpha1','served':true,'storage':false}"
#define BETA "{'name':'v1beta1','served':true,'storage':false,'deprecated':true}"
#define HIDDEN "{'name':'v0','served':false,'storage':false}"

static void built_in_types_are_served(void **state)
{
	static const struct {
		const char *group, *version, *resource, *kind;
		bool namespaced, status, scale, custom;
	} table[] = {
		{"", "v1", "pods", "Pod", true, true, false, false},
		{"", "v1", "nodes", "Node", false, true, false, false},
		{"", "v1", "configmaps", "ConfigMap", true, false, false, false},
		{"apps", "v1", "deployments", "Deployment", true, true, true, false},
		{"apps", "v1", "controllerrevisions", "ControllerRevision", true, false, false, false},
		{"batch", "v1", "cronjobs", "CronJob", true, true, false, false},
		{"coordination.k8s.io", "v1", "leases", "Lease", true, false, false, false},
		{"events.k8s.io", "v1", "events", "Event", true, false, false, false},
		{"scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", true, true, false, true},
		{"scheduling.run.ai", "v2", "queues", "Queue", false, true, false, true},
		{"kai.scheduler", "v1alpha1", "topologies", "Topology", false, true, false, true},
		{"workloads.x-k8s.io", "v1alpha1", "rolebasedgroups", "RoleBasedGroup", true, true, false, true},
		{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroups", "RoleBasedGroup", true, true, false, true},
		{"workloads.x-k8s.io", "v1alpha2", "coordinatedpolicies", "CoordinatedPolicy", true, true, false, true},
		{"workloads.x-k8s.io", "v1alpha1", "clustertopologies", "ClusterTopology", false, true, false, true},
		{"autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, true, false, false},
		{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, true, false, false},
		{"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", true, true, true, true},
		{"kubeflow.org", "v1", "tfjobs", "TFJob", true, true, true, true},
		{"kubeflow.org", "v1", "mpijobs", "MPIJob", true, true, false, true},
		{"kubeflow.org", "v2beta1", "mpijobs", "MPIJob", true, true, false, true},
		{"kubeflow.org", "v1", "jaxjobs", "JAXJob", true, true, false, true},
		{"kubeflow.org", "v1", "xgboostjobs", "XGBoostJob", true, true, true, true},
		{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", true, true, true, true},
		{"jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", true, true, false, true},
		{"ray.io", "v1", "rayclusters", "RayCluster", true, true, false, true},
		{"ray.io", "v1", "rayjobs", "RayJob", true, true, false, true},
		{"ray.io", "v1", "rayservices", "RayService", true, true, false, true},
		{"run.ai", "v1alpha1", "kartas", "Karta", false, true, false, true},
		{"grove.io", "v1alpha1", "podcliquesets", "PodCliqueSet", true, true, true, true},
		{"grove.io", "v1alpha1", "podcliques", "PodClique", true, true, true, true},
		{"scheduler.grove.io", "v1alpha1", "podgangs", "PodGang", true, true, false, true},
		{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroupscalingadapters", "RoleBasedGroupScalingAdapter",
	         true, true, true, true},
		{"workloads.x-k8s.io", "v1alpha1", "rolebasedgroupscalingadapters", "RoleBasedGroupScalingAdapter",
	         true, true, true, true},
		{"workloads.x-k8s.io", "v1alpha2", "roleinstancesets", "RoleInstanceSet", true, true, true, true},
	};
	struct store_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct store_api *api =
			store_api_find(fixture->store, table[i].group, table[i].version, table[i].resource);
		if (!api) {
			fail_msg("%s is not served", table[i].resource);
			return;
		}
		assert_string_equal(api->type->kind, table[i].kind);
		assert_int_equal(api->type->namespaced, table[i].namespaced);
		assert_int_equal(api->has_status, table[i].status);
		assert_int_equal(api->has_scale, table[i].scale);
		assert_int_equal(api->type->custom, table[i].custom);
		assert_ptr_equal(store_api_of_kind(fixture->store, api->api_version, table[i].kind), api);
	}
	assert_null(store_api_find(fixture->store, "", "v2", "pods"));
	assert_null(store_api_of_kind(fixture->store, "v1", "pods"));
	assert_ptr_equal(fixture_api(fixture, "events")->type,
	                 store_api_find(fixture->store, "events.k8s.io", "v1", "events")->type);
}

/* Names are how kubectl finds a type: one name, one type. */
static void names_are_not_ambiguous(void **state)
{
	struct store_fixture *fixture = *state;
	size_t count;
	const struct store_api *const *apis = store_apis(fixture->store, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			for (const char *const *a = apis[i]->type->short_names; *a; a++)
				for (const char *const *b = apis[j]->type->short_names; *b; b++)
					if (apis[i]->type != apis[j]->type && strcmp(*a, *b) == 0)
						fail_msg("%s is short for %s and %s", *a, apis[i]->type->resource,
						         apis[j]->type->resource);
}

static void a_training_job_scales_its_workers(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_request scale = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_SCALE};
	assert_code(
		fixture,
		fixture_create(fixture, "pytorchjobs.kubeflow.org", "default",
	                       "{'metadata':{'name':'j'},'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':2}}}}"),
		201);
	assert_code(fixture,
	            fixture_do(fixture, scale, "pytorchjobs.kubeflow.org", "default", "j", "{'spec':{'replicas':7}}"),
	            200);
	assert_at(fixture, "spec.replicas", "7");
	assert_code(fixture, fixture_get(fixture, "pytorchjobs.kubeflow.org", "default", "j"), 200);
	assert_at(fixture, "spec.pytorchReplicaSpecs.Worker.replicas", "7");
}

static void autoscalers_have_two_forms(void **state)
{
	struct store_fixture *fixture = *state;
	static const char v1[] = "horizontalpodautoscalers.autoscaling/v1",
			  v2[] = "horizontalpodautoscalers.autoscaling";
	assert_code(fixture,
	            fixture_create(
			    fixture, v1, "default",
			    "{'metadata':{'name':'h'},'spec':{'maxReplicas':5,'targetCPUUtilizationPercentage':80}}"),
	            201);
	assert_code(fixture, fixture_get(fixture, v2, "default", "h"), 200);
	assert_at(fixture, "apiVersion", "autoscaling/v2");
	assert_at(fixture, "spec.metrics.0.resource.target.averageUtilization", "80");
	assert_at(fixture, "spec.targetCPUUtilizationPercentage", "");
	/* What only v2 can say survives a change through v1. */
	assert_code(
		fixture,
		fixture_merge(fixture, v2, "default", "h",
	                      "{'spec':{'metrics':[{'type':'Pods','pods':{'metric':{'name':'q'}}},{'type':'Resource',"
	                      "'resource':{'name':'cpu','target':{'type':'Utilization','averageUtilization':50}}}]}}"),
		200);
	assert_code(fixture, fixture_merge(fixture, v1, "default", "h", "{'spec':{'maxReplicas':9}}"), 200);
	fixture_get(fixture, v2, "default", "h");
	assert_at(fixture, "spec.maxReplicas", "9");
	assert_at(fixture, "spec.metrics.0.resource.target.averageUtilization", "50");
	assert_at(fixture, "spec.metrics.1.pods.metric.name", "q");
	size_t length;
	const char *json = store_object_json(fixture->result.object, fixture_api(fixture, v1), &length);
	assert_non_null(strstr(json, "\"targetCPUUtilizationPercentage\":50"));
}

static void discovery_is_in_order(void **state)
{
	struct store_fixture *fixture = *state;
	size_t count;
	const struct store_api *const *apis = store_apis(fixture->store, &count);
	assert_true(count > 40);
	assert_string_equal(apis[0]->group, "");
	for (size_t i = 1; i < count; i++) {
		/* Clients take the first podgroups they are told of: Platoon's own, then those of Kubernetes. */
		if (strcmp(apis[i]->group, "scheduling.run.ai") == 0 ||
		    strcmp(apis[i - 1]->group, "scheduling.run.ai") == 0) {
			assert_string_not_equal(apis[i - 1]->group, "scheduling.k8s.io");
			continue;
		}
		int order = strcmp(apis[i - 1]->group, apis[i]->group);
		assert_true(order <= 0);
		if (order == 0 && strcmp(apis[i - 1]->version, apis[i]->version) == 0)
			assert_true(strcmp(apis[i - 1]->type->resource, apis[i]->type->resource) < 0);
	}
	assert_string_equal(fixture_api(fixture, "rolebasedgroups.workloads.x-k8s.io")->version,
	                    "v1alpha2"); /* the newer first */
}

static void a_definition_makes_a_type(void **state)
{
	struct store_fixture *fixture = *state;
	uint64_t generation = store_types_generation(fixture->store);
	assert_code(fixture, fixture_create(fixture, CRDS, "", GANGS("Namespaced", ALPHA "," V1 "," HIDDEN "," BETA)),
	            201);
	assert_at(fixture, "status.conditions.0.type", "NamesAccepted");
	assert_at(fixture, "status.conditions.1.type", "Established");
	assert_at(fixture, "status.conditions.1.status", "True");
	assert_at(fixture, "status.acceptedNames.plural", "gangs");
	assert_at(fixture, "status.storedVersions", "[\"v1\"]");
	assert_true(store_types_generation(fixture->store) > generation);
	const struct store_type *type = store_type_find(fixture->store, "example.com", "gangs");
	assert_int_equal(type->api_count, 3);
	assert_string_equal(type->apis[0].version, "v1");
	assert_string_equal(type->apis[1].version, "v1beta1");
	assert_true(type->apis[1].deprecated);
	assert_string_equal(type->apis[2].version, "v1alpha1");
	assert_string_equal(type->list_kind, "GangList");
	assert_string_equal(type->short_names[0], "gg");
	assert_string_equal(type->categories[1], "ai");
	assert_true(type->custom && type->namespaced);
	assert_int_equal(type->apis[0].column_count, 2);
	assert_string_equal(type->apis[0].columns[1].path, ".spec.color");
	assert_int_equal(type->apis[0].columns[1].priority, 1);
	assert_string_equal(type->apis[1].columns[0].name, "Age");
	assert_code(fixture,
	            fixture_create(fixture, "gangs.example.com", "default",
	                           "{'metadata':{'name':'g'},'spec':{'size':2,'color':'red'}}"),
	            201);
	assert_at(fixture, "apiVersion", "example.com/v1");
	assert_at(fixture, "metadata.generation", "1");
	assert_string_equal(fixture_names(fixture, "gangs.example.com", "default", NULL, "spec.color=red"), "g");
	assert_string_equal(fixture_names(fixture, "gangs.example.com", "default", NULL, "spec.size=2"),
	                    "400 field label not supported: spec.size");
	struct store_request scale = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_SCALE};
	assert_code(fixture, fixture_do(fixture, scale, "gangs.example.com", "default", "g", "{'spec':{'replicas':5}}"),
	            200);
	fixture_get(fixture, "gangs.example.com", "default", "g");
	assert_at(fixture, "spec.size", "5");
	/* Another version shows the same object. */
	assert_code(fixture, fixture_get(fixture, "gangs.example.com/v1alpha1", "default", "g"), 200);
	size_t length;
	assert_non_null(strstr(store_object_json(fixture->result.object,
	                                         fixture_api(fixture, "gangs.example.com/v1alpha1"), &length),
	                       "\"apiVersion\":\"example.com/v1alpha1\""));
}

static void bad_definitions(void **state)
{
	static const char *const table[][2] = {
		{"{'metadata':{'name':'x'},'spec':{}}", "spec.versions"},
		{"{'metadata':{'name':'other.example.com'},'spec':{'group':'example.com','scope':'Cluster','names':{'"
	         "plural':'gangs','kind':'G'},"
	         "'versions':[" ALPHA "]}}",
	         "metadata.name"},
		{GANGS("Everywhere", V1), "spec.scope"},
		{GANGS("Cluster", ALPHA), "storage"},
		{GANGS("Cluster", V1 "," V1), "storage"},
		{GANGS("Cluster", "7"), "spec.versions[0].name"},
	};
	struct store_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_code(fixture, fixture_create(fixture, CRDS, "", table[i][0]), 422);
		if (!strstr(fixture->text.text, table[i][1]))
			fail_msg("row %zu: %s", i, fixture->text.text);
	}
	assert_null(store_type_find(fixture->store, "example.com", "gangs"));
}

static void a_definition_changes_and_goes(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, CRDS, "", GANGS("Namespaced", V1));
	const struct store_api *old = fixture_api(fixture, "gangs.example.com");
	for (int i = 0; i < 7; i++) {
		char body[64];
		snprintf(body, sizeof(body), "{'metadata':{'name':'g%d'}}", i);
		fixture_create(fixture, "gangs.example.com", i % 2 ? "default" : "kube-system", body);
	}
	assert_code(fixture, fixture_update(fixture, CRDS, "", "gangs.example.com", GANGS("Cluster", V1)), 422);
	assert_code(fixture, fixture_update(fixture, CRDS, "", "gangs.example.com", GANGS("Namespaced", V1 "," ALPHA)),
	            200);
	assert_at(fixture, "metadata.finalizers.0",
	          "customresourcecleanup.apiextensions.k8s.io"); /* a replace cannot drop it */
	assert_int_equal(fixture_api(fixture, "gangs.example.com")->type->api_count, 2);
	assert_string_equal(old->version, "v1"); /* still readable */
	struct store_watch_request request = {.api = fixture_api(fixture, "gangs.example.com"),
	                                      .namespace_ = "default"};
	struct store_watch *watch = store_watch_open(fixture->store, &request, fixture->arena, NULL);
	struct store_event event;
	while (store_watch_next(watch, &event, fixture->arena, NULL) > 0)
		;
	assert_code(fixture, fixture_delete(fixture, CRDS, "", "gangs.example.com", NULL), 200);
	fixture_settle(fixture);
	assert_code(fixture, fixture_get(fixture, CRDS, "", "gangs.example.com"), 404);
	assert_null(store_api_find(fixture->store, "example.com", "v1", "gangs"));
	struct store_error error;
	for (int i = 1; i < 7; i += 2) { /* first how each object went */
		assert_int_equal(store_watch_next(watch, &event, fixture->arena, &error), 1);
		assert_int_equal(event.type, STORE_DELETED);
		assert_int_equal(event.object->name[1], '0' + i);
	}
	assert_int_equal(store_watch_next(watch, &event, fixture->arena, &error), -1); /* the type is gone */
	assert_int_equal(error.code, 410);
	store_watch_close(watch);
	/* And comes back empty. */
	fixture_create(fixture, CRDS, "", GANGS("Namespaced", V1));
	assert_string_equal(fixture_names(fixture, "gangs.example.com", NULL, NULL, NULL), "");
	assert_code(fixture, fixture_create(fixture, "gangs.example.com", "default", "{'metadata':{'name':'g'}}"), 201);
}

static void definitions_of_built_in_kinds_are_taken_note_of(void **state)
{
	struct store_fixture *fixture = *state;
	assert_code(
		fixture,
		fixture_create(fixture, CRDS, "",
	                       "{'metadata':{'name':'podgroups.scheduling.run.ai'},'spec':{'group':'scheduling.run.ai',"
	                       "'scope':'Namespaced',"
	                       "'names':{'plural':'podgroups','kind':'PodGroup'},'versions':[" V1 "]}}"),
		201);
	assert_int_equal(fixture_api(fixture, "podgroups.scheduling.run.ai")->type->api_count, 1);
	fixture_create(fixture, "podgroups.scheduling.run.ai", "default", "{'metadata':{'name':'g'}}");
	assert_code(fixture, fixture_delete(fixture, CRDS, "", "podgroups.scheduling.run.ai", NULL), 200);
	fixture_settle(fixture);
	assert_code(fixture, fixture_get(fixture, CRDS, "", "podgroups.scheduling.run.ai"), 404);
	assert_string_equal(fixture_names(fixture, "podgroups.scheduling.run.ai", "default", NULL, NULL), "g");
}

static void custom_objects_survive_a_restart(void **state)
{
	char folder[] = "store-types-XXXXXX", path[64];
	struct store_fixture fixture = {0};
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/db", folder);
	fixture.options.sync = STORE_SYNC_NORMAL;
	fixture_open(&fixture, path);
	fixture_create(&fixture, CRDS, "", GANGS("Cluster", V1));
	fixture_create(&fixture, "gangs.example.com", "", "{'metadata':{'name':'g'},'spec':{'size':1}}");
	fixture_update(&fixture, CRDS, "", "gangs.example.com",
	               GANGS("Cluster", V1 "," ALPHA));                /* its row is now behind the object's */
	fixture_delete(&fixture, CRDS, "", "gangs.example.com", NULL); /* deletion half done */
	fixture_reopen(&fixture);
	assert_string_equal(fixture_names(&fixture, "gangs.example.com", NULL, NULL, NULL), "g");
	assert_int_equal(fixture_api(&fixture, "gangs.example.com")->type->api_count, 2);
	fixture_settle(&fixture); /* goes on where it was */
	assert_code(&fixture, fixture_get(&fixture, CRDS, "", "gangs.example.com"), 404);
	fixture_reopen(&fixture);
	assert_null(store_api_find(fixture.store, "example.com", "v1", "gangs"));
	fixture_close(&fixture);
	fixture_remove(path);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(built_in_types_are_served, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(names_are_not_ambiguous, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_training_job_scales_its_workers, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(autoscalers_have_two_forms, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(discovery_is_in_order, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_definition_makes_a_type, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(bad_definitions, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_definition_changes_and_goes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(definitions_of_built_in_kinds_are_taken_note_of, fixture_setup,
	                                        fixture_teardown),
		cmocka_unit_test(custom_objects_survive_a_restart),
	};
	return cmocka_run_group_tests_name("store types", tests, NULL, NULL);
}
