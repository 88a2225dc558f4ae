/* Deleting: finalizers, grace, preconditions, owners, namespaces, definitions, bindings and evictions. */
#include "fixtures/store_fixture.h"

static void plain_objects_go_at_once(void **state)
{
	struct kit *kit = *state;
	kit_create(kit, "configmaps", "default", "{'metadata':{'name':'a'}}");
	char uid[64];
	snprintf(uid, sizeof(uid), "%s", kit_at(kit, "metadata.uid"));
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", "{'preconditions':{'uid':'other'}}"), 409);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", "{'preconditions':{'resourceVersion':'1'}}"),
	            409);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", "{'propagationPolicy':'Never'}"), 422);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", "{'gracePeriodSeconds':'x'}"), 400);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", NULL), 200);
	assert_null(kit->result.object);
	assert_string_equal(kit->result.uid, uid);
	assert_code(kit, kit_get(kit, "configmaps", "default", "a"), 404);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", NULL), 404);
	assert_at(kit, "message", "configmaps \"a\" not found");
}

static void finalizers_hold_an_object(void **state)
{
	struct kit *kit = *state;
	kit_create(kit, "configmaps", "default",
	           "{'metadata':{'name':'a','finalizers':['example.com/x','example.com/y']}}");
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", NULL), 200);
	assert_at(kit, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z");
	assert_at(kit, "metadata.deletionGracePeriodSeconds", "0");
	uint64_t version = store_version(kit->store);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "a", NULL), 200); /* again: nothing happens */
	assert_int_equal(store_version(kit->store), version);
	assert_code(kit,
	            kit_merge(kit, "configmaps", "default", "a",
	                      "{'metadata':{'finalizers':['example.com/x','example.com/z']}}"),
	            422);
	assert_code(kit, kit_merge(kit, "configmaps", "default", "a", "{'metadata':{'finalizers':['example.com/x']}}"),
	            200);
	assert_code(kit, kit_get(kit, "configmaps", "default", "a"), 200);
	assert_code(kit, kit_merge(kit, "configmaps", "default", "a", "{'metadata':{'finalizers':null}}"), 200);
	assert_code(kit, kit_get(kit, "configmaps", "default", "a"), 404);
}

static void bind(struct kit *kit, const char *pod, const char *node)
{
	char body[128];
	snprintf(body, sizeof(body), "{'target':{'kind':'Node','name':'%s'}}", node);
	struct store_request request = {.verb = STORE_CREATE, .subresource = STORE_BINDING};
	assert_code(kit, kit_do(kit, request, "pods", "default", pod, body), 201);
}

static void running_pods_get_grace(void **state)
{
	struct kit *kit = *state;
	kit_create(kit, "pods", "default", "{'metadata':{'name':'waiting'}}");
	assert_code(kit, kit_delete(kit, "pods", "default", "waiting", NULL), 200); /* runs nowhere: gone */
	assert_at(kit, "kind", "Pod");
	assert_code(kit, kit_get(kit, "pods", "default", "waiting"), 404);
	kit_create(kit, "pods", "default", "{'metadata':{'name':'p'},'spec':{'terminationGracePeriodSeconds':60}}");
	bind(kit, "p", "n1");
	assert_code(kit, kit_delete(kit, "pods", "default", "p", NULL), 200);
	assert_at(kit, "metadata.deletionTimestamp", "2026-01-01T00:01:00Z");
	assert_at(kit, "metadata.deletionGracePeriodSeconds", "60");
	assert_at(kit, "metadata.generation", "3"); /* the binding changed the spec, the deletion counts too */
	assert_code(kit, kit_merge(kit, "pods", "default", "p", "{'metadata':{'labels':{'a':'b'}}}"), 200);
	assert_code(kit, kit_get(kit, "pods", "default", "p"), 200); /* an update does not end it */
	clock_virtual_advance(&kit->clock, 5000000000);
	assert_code(kit, kit_delete(kit, "pods", "default", "p", "{'gracePeriodSeconds':10}"), 200);
	assert_at(kit, "metadata.deletionTimestamp", "2026-01-01T00:00:10Z"); /* counted from the first delete */
	assert_code(kit, kit_delete(kit, "pods", "default", "p", "{'gracePeriodSeconds':99}"), 200);
	assert_at(kit, "metadata.deletionGracePeriodSeconds", "10"); /* never longer */
	assert_code(kit, kit_delete(kit, "pods", "default", "p", "{'gracePeriodSeconds':0}"), 200);
	assert_code(kit, kit_get(kit, "pods", "default", "p"), 404);
}

static void binding_happens_once(void **state)
{
	struct kit *kit = *state;
	struct store_request request = {.verb = STORE_CREATE, .subresource = STORE_BINDING};
	kit_create(kit, "pods", "default", "{'metadata':{'name':'p'}}");
	assert_code(kit, kit_do(kit, request, "pods", "default", "p", "{'metadata':{'uid':'x'},'target':{'name':'n'}}"),
	            409);
	assert_code(kit, kit_do(kit, request, "pods", "default", "p", "{'target':{}}"), 400);
	assert_code(kit, kit_do(kit, request, "pods", "default", "q", "{'target':{'name':'n'}}"), 404);
	assert_code(kit,
	            kit_do(kit, request, "pods", "default", "p",
	                   "{'metadata':{'annotations':{'a':'b'}},'target':{'name':'n'}}"),
	            201);
	assert_null(kit->result.object);
	kit_get(kit, "pods", "default", "p");
	assert_at(kit, "spec.nodeName", "n");
	assert_at(kit, "metadata.annotations.a", "b");
	assert_at(kit, "status.conditions.0.type", "PodScheduled");
	assert_at(kit, "status.conditions.0.status", "True");
	assert_code(kit, kit_do(kit, request, "pods", "default", "p", "{'target':{'name':'m'}}"), 409);
	assert_at(kit, "message",
	          "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\"");
	assert_code(kit, kit_do(kit, request, "nodes", "", "p", "{'target':{'name':'m'}}"), 405);
	kit_create(kit, "pods", "default", "{'metadata':{'name':'g'},'spec':{'schedulingGates':[{'name':'x'}]}}");
	assert_code(kit, kit_do(kit, request, "pods", "default", "g", "{'target':{'name':'m'}}"), 409);
}

static void evictions_respect_budgets(void **state)
{
	struct kit *kit = *state;
	struct store_request evict = {.verb = STORE_CREATE, .subresource = STORE_EVICTION};
	struct store_request status = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	kit_create(kit, "poddisruptionbudgets.policy", "default",
	           "{'metadata':{'name':'b'},'spec':{'selector':{'matchLabels':{'app':'x'}}}}");
	for (int i = 0; i < 2; i++) {
		char body[96], name[16];
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s','labels':{'app':'x'}}}", name);
		kit_create(kit, "pods", "default", body);
		bind(kit, name, "n");
		kit_do(kit, status, "pods", "default", name, "{'status':{'phase':'Running'}}");
	}
	assert_code(kit, kit_do(kit, evict, "pods", "default", "p0", "{}"), 429);
	assert_at(kit, "details.causes.0.reason", "DisruptionBudget");
	kit_do(kit, status, "poddisruptionbudgets.policy", "default", "b", "{'status':{'disruptionsAllowed':1}}");
	assert_code(kit, kit_do(kit, evict, "pods", "default", "p0", "{}"), 201);
	assert_code(kit, kit_do(kit, evict, "pods", "default", "p1", "{}"), 429);
	kit_get(kit, "pods", "default", "p0");
	assert_at(kit, "metadata.deletionGracePeriodSeconds", "30");
	assert_at(kit, "status.conditions.1.type", "DisruptionTarget");
	assert_code(kit, kit_do(kit, evict, "pods", "default", "p0", "{}"), 201); /* already going: costs nothing */
	kit_get(kit, "poddisruptionbudgets.policy", "default", "b");
	assert_at(kit, "status.disruptionsAllowed", "0");
	assert_at(kit, "status.disruptedPods.p0", "2026-01-01T00:00:00Z");
}

/* An owner "o" with dependents: one that blocks, one that does not, one with a second owner. */
static void family(struct kit *kit)
{
	char uid[64], other[64], body[512];
	kit_create(kit, "configmaps", "default", "{'metadata':{'name':'o'}}");
	snprintf(uid, sizeof(uid), "%s", kit_at(kit, "metadata.uid"));
	kit_create(kit, "configmaps", "default", "{'metadata':{'name':'o2'}}");
	snprintf(other, sizeof(other), "%s", kit_at(kit, "metadata.uid"));
	static const char *const names[] = {"blocks", "free", "shared"};
	for (int i = 0; i < 3; i++) {
		char second[160] = "";
		if (i == 2)
			snprintf(second, sizeof(second),
			         ",{'apiVersion':'v1','kind':'ConfigMap','name':'o2','uid':'%s'}", other);
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'%s','finalizers':%s,'ownerReferences':[{'apiVersion':'v1','kind':'"
		         "ConfigMap','name':'o',"
		         "'uid':'%s','blockOwnerDeletion':%s}%s]}}",
		         names[i], i == 0 ? "['example.com/hold']" : "[]", uid, i == 0 ? "true" : "false", second);
		assert_code(kit, kit_create(kit, "secrets", "default", body), 201);
	}
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "secrets", "default", NULL, NULL), "blocks free shared");
}

/* By type and name, whatever the order of creation. */
static void dependents_are_found_in_order(void **state)
{
	static const char *const made[][2] = {
		{"services", "z"}, {"configmaps", "b"}, {"pods", "c"}, {"configmaps", "a"}, {"pods", "a"}};
	struct kit *kit = *state;
	kit_create(kit, "deployments.apps", "default", "{'metadata':{'name':'o'}}");
	char uid[64], body[512];
	snprintf(uid, sizeof(uid), "%s", kit_at(kit, "metadata.uid"));
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'apps/"
		         "v1','kind':'Deployment','name':'o','uid':'%s'}]}}",
		         made[i][1], uid);
		assert_code(kit, kit_create(kit, made[i][0], "default", body), 201);
	}
	struct store_list list;
	struct buffer found = {0};
	store_dependents(kit->store, uid, NULL, &list);
	for (size_t i = 0; i < list.count; i++)
		buffer_printf(&found, "%s/%s ", list.items[i]->type->resource, list.items[i]->name);
	store_list_clear(&list);
	assert_string_equal(found.text, "configmaps/a configmaps/b pods/a pods/c services/z ");
	buffer_free(&found);
	store_dependents(kit->store, uid, kit_api(kit, "pods")->type, &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[1]->name, "c");
	store_list_clear(&list);
	kit_delete(kit, "pods", "default", "c", NULL);
	store_dependents(kit->store, uid, kit_api(kit, "pods")->type, &list);
	assert_int_equal(list.count, 1);
	store_list_clear(&list);
	store_dependents(kit->store, "nobody", NULL, &list);
	assert_int_equal(list.count, 0);
	store_list_clear(&list);
}

static void background_takes_dependents_later(void **state)
{
	struct kit *kit = *state;
	family(kit);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "o", "{'propagationPolicy':'Background'}"), 200);
	assert_code(kit, kit_get(kit, "configmaps", "default", "o"), 404);
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "secrets", "default", NULL, NULL), "blocks shared");
	kit_get(kit, "secrets", "default", "blocks");
	assert_at(kit, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z");
	kit_get(kit, "secrets", "default", "shared");
	assert_at(kit, "metadata.ownerReferences.0.name", "o2");
	assert_at(kit, "metadata.ownerReferences.1", "");
}

static void foreground_waits_for_dependents(void **state)
{
	struct kit *kit = *state;
	family(kit);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "o", "{'propagationPolicy':'Foreground'}"), 200);
	assert_at(kit, "metadata.finalizers.0", "foregroundDeletion");
	kit_settle(kit);
	assert_code(kit, kit_get(kit, "configmaps", "default", "o"), 200); /* "blocks" is held by its finalizer */
	kit_merge(kit, "secrets", "default", "blocks", "{'metadata':{'finalizers':null}}");
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "configmaps", "default", NULL, NULL), "o2");
}

static void orphans_stay(void **state)
{
	struct kit *kit = *state;
	family(kit);
	assert_code(kit, kit_delete(kit, "configmaps", "default", "o", "{'propagationPolicy':'Orphan'}"), 200);
	kit_settle(kit);
	assert_code(kit, kit_get(kit, "configmaps", "default", "o"), 404);
	assert_string_equal(kit_names(kit, "secrets", "default", NULL, NULL), "blocks free shared");
	kit_get(kit, "secrets", "default", "free");
	assert_at(kit, "metadata.ownerReferences", "");
}

static void children_of_nobody_are_collected(void **state)
{
	struct kit *kit = *state;
	kit_create(kit, "secrets", "default",
	           "{'metadata':{'name':'late','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'gone','uid':'"
	           "u'}]}}");
	kit_create(kit, "secrets", "default",
	           "{'metadata':{'name':'odd','ownerReferences':[{'apiVersion':'x/"
	           "v1','kind':'Unknown','name':'y','uid':'u'}]}}");
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "secrets", "default", NULL, NULL), "odd"); /* who knows what an Unknown is */
}

static void a_namespace_takes_its_contents_along(void **state)
{
	struct kit *kit = *state;
	assert_code(kit, kit_delete(kit, "namespaces", "", "default", NULL), 403);
	assert_code(kit, kit_create(kit, "namespaces", "", "{'metadata':{'name':'team'}}"), 201);
	assert_at(kit, "status.phase", "Active");
	assert_at(kit, "metadata.labels.[kubernetes.io/metadata.name]", "team");
	for (int i = 0; i < 10; i++) {
		char body[64];
		snprintf(body, sizeof(body), "{'metadata':{'name':'c%d'}}", i);
		kit_create(kit, "configmaps", "team", body);
	}
	kit_create(kit, "secrets", "team", "{'metadata':{'name':'s','finalizers':['example.com/hold']}}");
	kit_create(kit, "secrets", "default", "{'metadata':{'name':'s'}}");
	assert_code(kit, kit_delete(kit, "namespaces", "", "team", NULL), 200);
	assert_at(kit, "status.phase", "Terminating");
	assert_code(kit, kit_create(kit, "configmaps", "team", "{'metadata':{'name':'new'}}"), 403);
	assert_at(kit, "details.causes.0.reason", "NamespaceTerminating");
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "configmaps", "team", NULL, NULL), "");
	assert_code(kit, kit_get(kit, "namespaces", "", "team"), 200);
	kit_merge(kit, "secrets", "team", "s", "{'metadata':{'finalizers':[]}}");
	kit_settle(kit);
	assert_code(kit, kit_get(kit, "namespaces", "", "team"), 404);
	assert_string_equal(kit_names(kit, "secrets", NULL, NULL, NULL), "default/s");
}

static void collections(void **state)
{
	struct kit *kit = *state;
	kit_create(kit, "configmaps", "default", "{'metadata':{'name':'a','labels':{'x':'1'}}}");
	kit_create(kit, "configmaps", "default", "{'metadata':{'name':'b','labels':{'x':'2'}}}");
	kit_create(kit, "configmaps", "default", "{'metadata':{'name':'c','labels':{'x':'1'}}}");
	kit_create(kit, "configmaps", "kube-system", "{'metadata':{'name':'d','labels':{'x':'1'}}}");
	struct store_selector selector;
	struct arena *arena = arena_create();
	store_selector_parse(arena, kit_api(kit, "configmaps"), "x=1", NULL, &selector, NULL);
	struct store_request request = {.verb = STORE_DELETE_COLLECTION, .selector = &selector};
	assert_code(kit, kit_do(kit, request, "configmaps", "default", NULL, NULL), 200);
	assert_int_equal(kit->result.item_count, 2);
	assert_string_equal(kit_names(kit, "configmaps", NULL, NULL, NULL), "default/b kube-system/d");
	arena_destroy(arena);
}

static void old_events_go(void **state)
{
	struct kit *kit = *state;
	kit_create(kit, "events", "default", "{'metadata':{'name':'a'}}");
	clock_virtual_advance(&kit->clock, (int64_t)3000 * 1000000000);
	kit_create(kit, "events", "default", "{'metadata':{'name':'b'}}");
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "events", "default", NULL, NULL), "a b");
	clock_virtual_advance(&kit->clock, (int64_t)700 * 1000000000);
	kit_settle(kit);
	assert_string_equal(kit_names(kit, "events", "default", NULL, NULL), "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain_objects_go_at_once, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(finalizers_hold_an_object, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(running_pods_get_grace, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(binding_happens_once, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(evictions_respect_budgets, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(dependents_are_found_in_order, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(background_takes_dependents_later, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(foreground_waits_for_dependents, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(orphans_stay, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(children_of_nobody_are_collected, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(a_namespace_takes_its_contents_along, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(collections, kit_setup, kit_teardown),
		cmocka_unit_test_setup_teardown(old_events_go, kit_setup, kit_teardown),
	};
	return cmocka_run_group_tests_name("store deletes", tests, NULL, NULL);
}
