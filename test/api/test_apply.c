/* Server-side apply: owners of fields, conflicts, force, fields that are given up. */
#include "fixtures/store_fixture.h"

static int apply(struct store_fixture *fixture, const char *resource, const char *name, const char *manager, bool force,
                 const char *body)
{
	struct store_request request = {.verb = STORE_PATCH,
	                                .patch = STORE_PATCH_APPLY,
	                                .manager = manager,
	                                .force = force};
	return fixture_do(fixture, request, resource, "default", name, body);
}

static int merge_as(struct store_fixture *fixture, const char *resource, const char *name, const char *manager,
                    const char *body)
{
	struct store_request request = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .manager = manager};
	return fixture_do(fixture, request, resource, "default", name, body);
}

static void applying_creates_and_repeats(void **state)
{
	struct store_fixture *fixture = *state;
	const char *config = "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d','labels':{'a':'b'}},"
			     "'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'c','image':'x'}]}}}}";
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "kubectl", false, config), 201);
	assert_at(fixture, "metadata.managedFields.0.manager", "kubectl");
	assert_at(fixture, "metadata.managedFields.0.operation", "Apply");
	assert_at(fixture, "metadata.managedFields.0.apiVersion", "apps/v1");
	assert_at(fixture, "metadata.managedFields.0.fieldsType", "FieldsV1");
	assert_at(
		fixture, "metadata.managedFields.0.fieldsV1",
		"{\"f:metadata\":{\"f:labels\":{\"f:a\":{}}},\"f:spec\":{\"f:replicas\":{},\"f:template\":{\"f:spec\":{"
		"\"f:containers\":{\"k:{\\\"name\\\":\\\"c\\\"}\":{\"f:name\":{},\"f:image\":{},\".\":{}}}}}}}");
	uint64_t version = store_version(fixture->store);
	clock_virtual_advance(&fixture->clock, 5000000000);
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "kubectl", false, config), 200);
	assert_int_equal(store_version(fixture->store), version); /* nothing changed, not even the time */
}

static void what_is_no_longer_applied_goes(void **state)
{
	struct store_fixture *fixture = *state;
	apply(fixture, "configmaps", "c", "me", false,
	      "{'metadata':{'name':'c','labels':{'l':'1'}},'data':{'a':'1','b':'2'}}");
	assert_code(fixture,
	            apply(fixture, "configmaps", "c", "me", false, "{'metadata':{'name':'c'},'data':{'a':'1'}}"), 200);
	assert_at(fixture, "data", "{\"a\":\"1\"}");
	assert_at(fixture, "metadata.labels", "");
	/* but not what somebody else wants too */
	apply(fixture, "configmaps", "c", "other", false, "{'data':{'a':'1','o':'9'}}");
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "{'data':{'z':'0'}}"), 200);
	assert_at(fixture, "data", "{\"a\":\"1\",\"o\":\"9\",\"z\":\"0\"}");
	assert_code(fixture, apply(fixture, "configmaps", "c", "other", false, "{}"), 200);
	assert_at(fixture, "data", "{\"z\":\"0\"}");
	assert_at(fixture, "metadata.managedFields.1", "");
}

static void two_managers_conflict(void **state)
{
	struct store_fixture *fixture = *state;
	apply(fixture, "deployments.apps", "d", "one", false, "{'spec':{'replicas':1,'paused':false}}");
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "two", false, "{'spec':{'replicas':1}}"),
	            200); /* the same wish */
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "two", false, "{'spec':{'replicas':2}}"), 409);
	assert_at(fixture, "reason", "Conflict");
	assert_at(fixture, "message",
	          "Apply failed with 1 conflict: conflict with \"one\" using apps/v1: .spec.replicas");
	assert_at(fixture, "details.causes.0.reason", "FieldManagerConflict");
	assert_at(fixture, "details.causes.0.field", ".spec.replicas");
	assert_at(fixture, "details.causes.0.message", "conflict with \"one\" using apps/v1");
	fixture_get(fixture, "deployments.apps", "default", "d");
	assert_at(fixture, "spec.replicas", "1");
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "two", true, "{'spec':{'replicas':2}}"), 200);
	assert_at(fixture, "spec.replicas", "2");
	assert_at(fixture, "metadata.managedFields.0.fieldsV1", "{\"f:spec\":{\"f:paused\":{}}}");
	assert_at(fixture, "metadata.managedFields.1.fieldsV1", "{\"f:spec\":{\"f:replicas\":{}}}");
	assert_code(fixture,
	            apply(fixture, "deployments.apps", "d", "one", false, "{'spec':{'replicas':1,'paused':true}}"),
	            409);
	assert_code(fixture,
	            apply(fixture, "deployments.apps", "d", "three", false, "{'spec':{'replicas':7,'paused':true}}"),
	            409);
	assert_at(fixture, "details.causes.1.field", ".spec.replicas");
}

static void updates_take_fields_over(void **state)
{
	struct store_fixture *fixture = *state;
	const char *config = "{'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'c','image':'x'}]}}}}";
	apply(fixture, "deployments.apps", "d", "gitops", false, config);
	assert_code(fixture, merge_as(fixture, "deployments.apps", "d", "kubectl-edit", "{'spec':{'replicas':5}}"),
	            200);
	assert_at(fixture, "metadata.managedFields.1.manager", "kubectl-edit");
	assert_at(fixture, "metadata.managedFields.1.operation", "Update");
	assert_at(fixture, "metadata.managedFields.1.fieldsV1", "{\"f:spec\":{\"f:replicas\":{}}}");
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "gitops", false, config), 409);
	assert_at(fixture, "details.causes.0.message", "conflict with \"kubectl-edit\" using apps/v1");
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "gitops", true, config), 200);
	assert_at(fixture, "spec.replicas", "1");
	assert_at(fixture, "metadata.managedFields.1", "");
	struct store_request strategic = {.verb = STORE_PATCH,
	                                  .patch = STORE_PATCH_STRATEGIC,
	                                  .manager = "kubectl-set"};
	fixture_do(fixture, strategic, "deployments.apps", "default", "d",
	           "{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'y'}]}}}}");
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "gitops", false, config), 409);
	assert_at(fixture, "details.causes.0.field", ".spec.template.spec.containers[name=\"c\"].image");
	/* A status has its own owner and is in nobody's way. */
	struct store_request status = {.verb = STORE_PATCH,
	                               .patch = STORE_PATCH_MERGE,
	                               .subresource = STORE_STATUS,
	                               .manager = "controller"};
	assert_code(fixture,
	            fixture_do(fixture, status, "deployments.apps", "default", "d", "{'status':{'replicas':1}}"), 200);
	assert_at(fixture, "metadata.managedFields.2.subresource", "status");
	assert_code(fixture, apply(fixture, "deployments.apps", "d", "gitops", true, config), 200);
	assert_at(fixture, "status.replicas", "1");
}

static void objects_that_were_never_applied(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'c'},'data':{'a':'1'}}");
	merge_as(fixture, "configmaps", "c", "kubectl-edit", "{'data':{'b':'2'}}");
	assert_at(fixture, "metadata.managedFields", ""); /* no bookkeeping for plain writes */
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "{'data':{'a':'9'}}"), 409);
	assert_at(fixture, "details.causes.0.message", "conflict with \"before-first-apply\" using v1");
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "{'data':{'a':'1'}}"), 200);
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", true, "{'data':{'a':'9'}}"), 200);
	assert_at(fixture, "data", "{\"a\":\"9\",\"b\":\"2\"}");
	fixture_create(fixture, "configmaps", "default",
	               "{'metadata':{'name':'k','annotations':{'kubectl.kubernetes.io/"
	               "last-applied-configuration':'x'}},'data':{'a':'1'}}");
	apply(fixture, "configmaps", "k", "kubectl", false, "{'data':{'a':'1'}}");
	assert_at(fixture, "metadata.managedFields.0.manager", "kubectl-client-side-apply");
}

static void lists_with_keys(void **state)
{
	struct store_fixture *fixture = *state;
	apply(fixture, "pods", "p", "one", false,
	      "{'spec':{'containers':[{'name':'a','image':'x','ports':[{'containerPort':80}]}],'tolerations':[{'key':'"
	      "k'}]}}");
	assert_code(fixture,
	            apply(fixture, "pods", "p", "two", false, "{'spec':{'containers':[{'name':'b','image':'y'}]}}"),
	            200);
	assert_at(fixture, "spec.containers.1.name", "b");
	assert_code(fixture,
	            apply(fixture, "pods", "p", "two", false,
	                  "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP','name':'h'}"
	                  "]}]}}"),
	            200);
	assert_at(fixture, "spec.containers.1", ""); /* b was given up */
	assert_at(fixture, "spec.containers.0.ports.0.name", "h");
	assert_at(fixture, "spec.containers.0.ports.1", "");
	assert_code(fixture, apply(fixture, "pods", "p", "two", false, "{'spec':{'tolerations':[{'key':'z'}]}}"), 409);
	assert_at(fixture, "details.causes.0.field", ".spec.tolerations"); /* a whole */
	assert_at(fixture, "details.causes.1", "");
	assert_code(fixture, apply(fixture, "pods", "p", "two", false, "{'metadata':{'finalizers':['example.com/a']}}"),
	            200);
	assert_at(fixture, "spec.containers.0.image",
	          "x"); /* the container is still wanted, the name of its port is not */
	assert_at(fixture, "spec.containers.0.ports.0", "{\"containerPort\":80}");
	assert_code(
		fixture,
		apply(fixture, "pods", "p", "one", false,
	              "{'metadata':{'finalizers':['example.com/b']},'spec':{'containers':[{'name':'a','image':'x'}]}}"),
		200);
	assert_at(fixture, "metadata.finalizers", "[\"example.com/a\",\"example.com/b\"]");
	assert_code(fixture, apply(fixture, "pods", "p", "two", false, "{}"), 200);
	assert_at(fixture, "metadata.finalizers", "[\"example.com/b\"]");
}

static void status_is_applied_apart(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_request request = {.verb = STORE_PATCH,
	                                .patch = STORE_PATCH_APPLY,
	                                .manager = "ctl",
	                                .subresource = STORE_STATUS};
	assert_code(fixture,
	            fixture_do(fixture, request, "deployments.apps", "default", "d", "{'status':{'replicas':1}}"), 404);
	apply(fixture, "deployments.apps", "d", "me", false, "{'spec':{'replicas':1},'status':{'replicas':5}}");
	assert_at(fixture, "status", "");
	assert_code(
		fixture,
		fixture_do(fixture, request, "deployments.apps", "default", "d",
	                   "{'spec':{'replicas':9},'status':{'replicas':1,'conditions':[{'type':'Available','status':'"
	                   "True'}]}}"),
		200);
	assert_at(fixture, "spec.replicas", "1");
	assert_at(fixture, "status.replicas", "1");
	assert_at(fixture, "metadata.managedFields.1.subresource", "status");
	assert_code(fixture,
	            fixture_do(fixture, request, "deployments.apps", "default", "d",
	                       "{'status':{'conditions':[{'type':'Available','status':'False'}]}}"),
	            200);
	assert_at(fixture, "status", "{\"conditions\":[{\"type\":\"Available\",\"status\":\"False\"}]}");
}

static void refused_applies(void **state)
{
	struct store_fixture *fixture = *state;
	assert_code(fixture, apply(fixture, "configmaps", "c", NULL, false, "{}"), 422);
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "[]"), 400);
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "{'metadata':{'name':'d'}}"), 400);
	assert_code(fixture,
	            apply(fixture, "configmaps", "c", "me", false, "{'metadata':{'managedFields':[{'manager':'x'}]}}"),
	            400);
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "{'kind':'Pod'}"), 400);
	assert_code(fixture, apply(fixture, "configmaps", "c", "me", false, "{'metadata':{'uid':'u'}}"), 409);
	assert_code(fixture, apply(fixture, "pods", "p", "me", false, "{'spec':{'containers':[{'image':'x'}]}}"), 400);
	assert_non_null(strstr(fixture_at(fixture, "message"), ".spec.containers[0]: the item has no name"));
	assert_code(fixture,
	            apply(fixture, "pods", "p", "me", false,
	                  "{'spec':{'containers':[{'name':'a','env':[{'name':'E'},{'name':'E'}]}]}}"),
	            400);
	assert_non_null(strstr(fixture_at(fixture, "message"), ".spec.containers[0].env[1]: the list already has"));
	assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), "");
	apply(fixture, "configmaps", "c", "me", false, "{}");
	assert_code(fixture,
	            apply(fixture, "configmaps", "c", "me", false,
	                  "{'metadata':{'resourceVersion':'1'},'data':{'a':'1'}}"),
	            409);
}

static void managed_fields_can_be_cleared(void **state)
{
	struct store_fixture *fixture = *state;
	apply(fixture, "configmaps", "c", "me", false, "{'data':{'a':'1'}}");
	struct store_request json = {.verb = STORE_PATCH, .patch = STORE_PATCH_JSON, .manager = "kubectl"};
	assert_code(fixture,
	            fixture_do(fixture, json, "configmaps", "default", "c",
	                       "[{'op':'replace','path':'/metadata/managedFields','value':[{}]}]"),
	            200);
	assert_at(fixture, "metadata.managedFields", "");
}

/* A custom kind says itself how its lists merge. */
static void schemas_name_their_keys(void **state)
{
	struct store_fixture *fixture = *state;
	assert_code(
		fixture,
		fixture_create(
			fixture, "customresourcedefinitions.apiextensions.k8s.io", "",
			"{'metadata':{'name':'gangs.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"
			"'names':{'plural':'gangs','kind':'Gang'},'versions':[{'name':'v1','served':true,'storage':"
			"true,'schema':{"
			"'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{"
			"'parts':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['id'],"
			"'items':{'type':'object','properties':{'tags':{'type':'array','x-kubernetes-list-type':'set'}}"
			"}},"
			"'plain':{'type':'array'},'ref':{'type':'object','x-kubernetes-map-type':'atomic'}}}}}}}]}}"),
		201);
	apply(fixture, "gangs.example.com", "g", "one", false,
	      "{'spec':{'parts':[{'id':'a','n':1,'tags':['x']}],'plain':[1],'ref':{'a':1}}}");
	assert_code(fixture,
	            apply(fixture, "gangs.example.com", "g", "two", false,
	                  "{'spec':{'parts':[{'id':'b'},{'id':'a','tags':['y']}]}}"),
	            200);
	assert_at(fixture, "spec.parts", "[{\"id\":\"a\",\"n\":1,\"tags\":[\"x\",\"y\"]},{\"id\":\"b\"}]");
	assert_code(fixture,
	            apply(fixture, "gangs.example.com", "g", "two", false, "{'spec':{'plain':[2],'ref':{'b':1}}}"),
	            409);
	assert_at(fixture, "details.causes.0.field", ".spec.plain");
	assert_at(fixture, "details.causes.1.field", ".spec.ref");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(applying_creates_and_repeats, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_no_longer_applied_goes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(two_managers_conflict, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(updates_take_fields_over, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(objects_that_were_never_applied, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lists_with_keys, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(status_is_applied_apart, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(refused_applies, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(managed_fields_can_be_cleared, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(schemas_name_their_keys, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests_name("store apply", tests, NULL, NULL);
}
