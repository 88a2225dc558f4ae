/* Deleting: finalizers, grace, preconditions, owners, namespaces, definitions, bindings and evictions. */
#include "base/random.h"
#include "fixtures/store_fixture.h"

static void plain_objects_go_at_once(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'a'}}");
	char uid[64];
	snprintf(uid, sizeof(uid), "%s", fixture_at(fixture, "metadata.uid"));
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", "{'preconditions':{'uid':'other'}}"),
	            409);
	assert_code(fixture,
	            fixture_delete(fixture, "configmaps", "default", "a", "{'preconditions':{'resourceVersion':'1'}}"),
	            409);
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", "{'propagationPolicy':'Never'}"),
	            422);
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", "{'gracePeriodSeconds':'x'}"), 400);
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", NULL), 200);
	assert_null(fixture->result.object);
	assert_string_equal(fixture->result.uid, uid);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "a"), 404);
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", NULL), 404);
	assert_at(fixture, "message", "configmaps \"a\" not found");
}

static void finalizers_hold_an_object(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "configmaps", "default",
	               "{'metadata':{'name':'a','finalizers':['example.com/x','example.com/y']}}");
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", NULL), 200);
	assert_at(fixture, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z");
	assert_at(fixture, "metadata.deletionGracePeriodSeconds", "0");
	uint64_t version = store_version(fixture->store);
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "a", NULL),
	            200); /* again: nothing happens */
	assert_int_equal(store_version(fixture->store), version);
	assert_code(fixture,
	            fixture_merge(fixture, "configmaps", "default", "a",
	                          "{'metadata':{'finalizers':['example.com/x','example.com/z']}}"),
	            422);
	assert_code(fixture,
	            fixture_merge(fixture, "configmaps", "default", "a",
	                          "{'metadata':{'finalizers':['example.com/x']}}"),
	            200);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "a"), 200);
	assert_code(fixture, fixture_merge(fixture, "configmaps", "default", "a", "{'metadata':{'finalizers':null}}"),
	            200);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "a"), 404);
}

static void bind(struct store_fixture *fixture, const char *pod, const char *node)
{
	char body[128];
	snprintf(body, sizeof(body), "{'target':{'kind':'Node','name':'%s'}}", node);
	struct store_request request = {.verb = STORE_CREATE, .subresource = STORE_BINDING};
	assert_code(fixture, fixture_do(fixture, request, "pods", "default", pod, body), 201);
}

static void running_pods_get_grace(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'waiting'}}");
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "waiting", NULL), 200); /* runs nowhere: gone */
	assert_at(fixture, "kind", "Pod");
	assert_code(fixture, fixture_get(fixture, "pods", "default", "waiting"), 404);
	fixture_create(fixture, "pods", "default",
	               "{'metadata':{'name':'p'},'spec':{'terminationGracePeriodSeconds':60}}");
	bind(fixture, "p", "n1");
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "p", NULL), 200);
	assert_at(fixture, "metadata.deletionTimestamp", "2026-01-01T00:01:00Z");
	assert_at(fixture, "metadata.deletionGracePeriodSeconds", "60");
	assert_at(fixture, "metadata.generation", "3"); /* the binding changed the spec, the deletion counts too */
	assert_code(fixture, fixture_merge(fixture, "pods", "default", "p", "{'metadata':{'labels':{'a':'b'}}}"), 200);
	assert_code(fixture, fixture_get(fixture, "pods", "default", "p"), 200); /* an update does not end it */
	clock_virtual_advance(&fixture->clock, 5000000000);
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "p", "{'gracePeriodSeconds':10}"), 200);
	assert_at(fixture, "metadata.deletionTimestamp", "2026-01-01T00:00:10Z"); /* counted from the first delete */
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "p", "{'gracePeriodSeconds':99}"), 200);
	assert_at(fixture, "metadata.deletionGracePeriodSeconds", "10"); /* never longer */
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "p", "{'gracePeriodSeconds':0}"), 200);
	assert_code(fixture, fixture_get(fixture, "pods", "default", "p"), 404);
}

static void binding_happens_once(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_request request = {.verb = STORE_CREATE, .subresource = STORE_BINDING};
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'p'}}");
	assert_code(fixture,
	            fixture_do(fixture, request, "pods", "default", "p",
	                       "{'metadata':{'uid':'x'},'target':{'name':'n'}}"),
	            409);
	assert_code(fixture, fixture_do(fixture, request, "pods", "default", "p", "{'target':{}}"), 400);
	assert_code(fixture, fixture_do(fixture, request, "pods", "default", "q", "{'target':{'name':'n'}}"), 404);
	assert_code(fixture,
	            fixture_do(fixture, request, "pods", "default", "p",
	                       "{'metadata':{'annotations':{'a':'b'}},'target':{'name':'n'}}"),
	            201);
	assert_null(fixture->result.object);
	fixture_get(fixture, "pods", "default", "p");
	assert_at(fixture, "spec.nodeName", "n");
	assert_at(fixture, "metadata.annotations.a", "b");
	assert_at(fixture, "status.conditions.0.type", "PodScheduled");
	assert_at(fixture, "status.conditions.0.status", "True");
	assert_code(fixture, fixture_do(fixture, request, "pods", "default", "p", "{'target':{'name':'m'}}"), 409);
	assert_at(fixture, "message",
	          "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\"");
	assert_code(fixture, fixture_do(fixture, request, "nodes", "", "p", "{'target':{'name':'m'}}"), 405);
	fixture_create(fixture, "pods", "default",
	               "{'metadata':{'name':'g'},'spec':{'schedulingGates':[{'name':'x'}]}}");
	assert_code(fixture, fixture_do(fixture, request, "pods", "default", "g", "{'target':{'name':'m'}}"), 409);
}

static void evictions_respect_budgets(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_request evict = {.verb = STORE_CREATE, .subresource = STORE_EVICTION};
	struct store_request status = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	fixture_create(fixture, "poddisruptionbudgets.policy", "default",
	               "{'metadata':{'name':'b'},'spec':{'selector':{'matchLabels':{'app':'x'}}}}");
	for (int i = 0; i < 2; i++) {
		char body[96], name[16];
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s','labels':{'app':'x'}}}", name);
		fixture_create(fixture, "pods", "default", body);
		bind(fixture, name, "n");
		fixture_do(fixture, status, "pods", "default", name, "{'status':{'phase':'Running'}}");
	}
	assert_code(fixture, fixture_do(fixture, evict, "pods", "default", "p0", "{}"), 429);
	assert_at(fixture, "details.causes.0.reason", "DisruptionBudget");
	fixture_do(fixture, status, "poddisruptionbudgets.policy", "default", "b",
	           "{'status':{'disruptionsAllowed':1}}");
	/* Written for an earlier spec, or for none. */
	assert_code(fixture, fixture_do(fixture, evict, "pods", "default", "p0", "{}"), 429);
	assert_at(fixture, "details.causes.0.message",
	          "The disruption budget b is still being processed by the server.");
	assert_at(fixture, "details.retryAfterSeconds", "10");
	fixture_do(fixture, status, "poddisruptionbudgets.policy", "default", "b",
	           "{'status':{'observedGeneration':1}}");
	assert_code(fixture, fixture_do(fixture, evict, "pods", "default", "p0", "{}"), 201);
	assert_code(fixture, fixture_do(fixture, evict, "pods", "default", "p1", "{}"), 429);
	assert_at(fixture, "details.causes.0.message",
	          "The disruption budget b needs 0 healthy pods and has 0 currently");
	/* One that is not ready may go where enough others are. */
	fixture_do(fixture, status, "poddisruptionbudgets.policy", "default", "b",
	           "{'status':{'desiredHealthy':1,'currentHealthy':1}}");
	struct store_request dry = evict;
	dry.dry_run = true;
	assert_code(fixture, fixture_do(fixture, dry, "pods", "default", "p1", "{}"), 201);
	fixture_do(fixture, status, "pods", "default", "p1",
	           "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
	assert_code(fixture, fixture_do(fixture, dry, "pods", "default", "p1", "{}"), 429);
	fixture_get(fixture, "pods", "default", "p0");
	assert_at(fixture, "metadata.deletionGracePeriodSeconds", "30");
	assert_at(fixture, "status.conditions.1.type", "DisruptionTarget");
	assert_code(fixture, fixture_do(fixture, evict, "pods", "default", "p0", "{}"),
	            201); /* already going: costs nothing */
	fixture_get(fixture, "poddisruptionbudgets.policy", "default", "b");
	assert_at(fixture, "status.disruptionsAllowed", "0");
	assert_at(fixture, "status.disruptedPods.p0", "2026-01-01T00:00:00Z");
}

/* An owner "o" with dependents: one that blocks, one that does not, one with a second owner. */
static void family(struct store_fixture *fixture)
{
	char uid[64], other[64], body[512];
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'o'}}");
	snprintf(uid, sizeof(uid), "%s", fixture_at(fixture, "metadata.uid"));
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'o2'}}");
	snprintf(other, sizeof(other), "%s", fixture_at(fixture, "metadata.uid"));
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
		assert_code(fixture, fixture_create(fixture, "secrets", "default", body), 201);
	}
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "secrets", "default", NULL, NULL), "blocks free shared");
}

/* By type and name, whatever the order of creation. */
static void dependents_are_found_in_order(void **state)
{
	static const char *const made[][2] = {
		{"services", "z"}, {"configmaps", "b"}, {"pods", "c"}, {"configmaps", "a"}, {"pods", "a"}};
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "deployments.apps", "default", "{'metadata':{'name':'o'}}");
	char uid[64], body[512];
	snprintf(uid, sizeof(uid), "%s", fixture_at(fixture, "metadata.uid"));
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'apps/"
		         "v1','kind':'Deployment','name':'o','uid':'%s'}]}}",
		         made[i][1], uid);
		assert_code(fixture, fixture_create(fixture, made[i][0], "default", body), 201);
	}
	struct store_list list;
	struct buffer found = {0};
	store_dependents(fixture->store, uid, NULL, &list);
	for (size_t i = 0; i < list.count; i++)
		buffer_printf(&found, "%s/%s ", list.items[i]->type->resource, list.items[i]->name);
	store_list_clear(&list);
	assert_string_equal(found.text, "configmaps/a configmaps/b pods/a pods/c services/z ");
	buffer_free(&found);
	store_dependents(fixture->store, uid, fixture_api(fixture, "pods")->type, &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[1]->name, "c");
	store_list_clear(&list);
	fixture_delete(fixture, "pods", "default", "c", NULL);
	store_dependents(fixture->store, uid, fixture_api(fixture, "pods")->type, &list);
	assert_int_equal(list.count, 1);
	store_list_clear(&list);
	store_dependents(fixture->store, "nobody", NULL, &list);
	assert_int_equal(list.count, 0);
	store_list_clear(&list);
}

/* Many come and go between two questions, in no order. */
static void dependents_stay_in_order(void **state)
{
	enum { NAMES = 60, ROUNDS = 40 };
	struct store_fixture *fixture = *state;
	struct random random = {7};
	bool there[NAMES] = {false};
	char uid[64], name[16], body[512];
	fixture_create(fixture, "deployments.apps", "default", "{'metadata':{'name':'o'}}");
	snprintf(uid, sizeof(uid), "%s", fixture_at(fixture, "metadata.uid"));
	for (int round = 0; round < ROUNDS; round++) {
		for (int change = random_range(&random, 0, 2 * NAMES); change > 0; change--) {
			int which = random_range(&random, 0, NAMES - 1);
			snprintf(name, sizeof(name), "s%02d", which);
			snprintf(body, sizeof(body),
			         "{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'apps/"
			         "v1','kind':'Deployment','name':'o','uid':'%s'}]}}",
			         name, uid);
			if (there[which])
				assert_code(fixture, fixture_delete(fixture, "secrets", "default", name, NULL), 200);
			else
				assert_code(fixture, fixture_create(fixture, "secrets", "default", body), 201);
			there[which] = !there[which];
		}
		struct store_list list;
		size_t found = 0;
		store_dependents(fixture->store, uid, NULL, &list);
		for (int which = 0; which < NAMES; which++) {
			if (!there[which])
				continue;
			snprintf(name, sizeof(name), "s%02d", which);
			assert_true(found < list.count);
			assert_string_equal(list.items[found++]->name, name);
		}
		assert_int_equal(list.count, found);
		store_list_clear(&list);
	}
}

/* However many there are, one call looks at a bounded number of them. */
static void old_events_go_a_part_at_a_time(void **state)
{
	enum { EVENTS = 1500, AT_ONCE = 1000 };
	struct store_fixture *fixture = *state;
	char body[128];
	for (int i = 0; i < EVENTS; i++) {
		snprintf(body, sizeof(body), "{'metadata':{'name':'e%04d'},'involvedObject':{'namespace':'default'}}",
		         i);
		assert_code(fixture, fixture_create(fixture, "events", "default", body), 201);
	}
	fixture_settle(fixture);
	clock_virtual_advance(&fixture->clock, INT64_C(7200000000000));
	for (int left = EVENTS; left > 0; left -= left < AT_ONCE ? left : AT_ONCE) {
		size_t names = strlen(fixture_names(fixture, "events", "default", NULL, NULL)) + 1;
		assert_int_equal(names, (size_t)left * strlen("e0000 "));
		assert_int_equal(store_collect_garbage(fixture->store, 2 * EVENTS), left > AT_ONCE);
	}
	assert_string_equal(fixture_names(fixture, "events", "default", NULL, NULL), "");
}

static void background_takes_dependents_later(void **state)
{
	struct store_fixture *fixture = *state;
	family(fixture);
	assert_code(fixture,
	            fixture_delete(fixture, "configmaps", "default", "o", "{'propagationPolicy':'Background'}"), 200);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "o"), 404);
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "secrets", "default", NULL, NULL), "blocks shared");
	fixture_get(fixture, "secrets", "default", "blocks");
	assert_at(fixture, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z");
	fixture_get(fixture, "secrets", "default", "shared");
	assert_at(fixture, "metadata.ownerReferences.0.name", "o2");
	assert_at(fixture, "metadata.ownerReferences.1", "");
}

static void foreground_waits_for_dependents(void **state)
{
	struct store_fixture *fixture = *state;
	family(fixture);
	assert_code(fixture,
	            fixture_delete(fixture, "configmaps", "default", "o", "{'propagationPolicy':'Foreground'}"), 200);
	assert_at(fixture, "metadata.finalizers.0", "foregroundDeletion");
	fixture_settle(fixture);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "o"),
	            200); /* "blocks" is held by its finalizer */
	fixture_merge(fixture, "secrets", "default", "blocks", "{'metadata':{'finalizers':null}}");
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), "o2");
}

static void orphans_stay(void **state)
{
	struct store_fixture *fixture = *state;
	family(fixture);
	assert_code(fixture, fixture_delete(fixture, "configmaps", "default", "o", "{'propagationPolicy':'Orphan'}"),
	            200);
	fixture_settle(fixture);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "o"), 404);
	assert_string_equal(fixture_names(fixture, "secrets", "default", NULL, NULL), "blocks free shared");
	fixture_get(fixture, "secrets", "default", "free");
	assert_at(fixture, "metadata.ownerReferences", "");
}

static void children_of_nobody_are_collected(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(
		fixture, "secrets", "default",
		"{'metadata':{'name':'late','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'gone','uid':'"
		"u'}]}}");
	fixture_create(fixture, "secrets", "default",
	               "{'metadata':{'name':'odd','ownerReferences':[{'apiVersion':'x/"
	               "v1','kind':'Unknown','name':'y','uid':'u'}]}}");
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "secrets", "default", NULL, NULL),
	                    "odd"); /* who knows what an Unknown is */
}

static void a_namespace_takes_its_contents_along(void **state)
{
	struct store_fixture *fixture = *state;
	assert_code(fixture, fixture_delete(fixture, "namespaces", "", "default", NULL), 403);
	assert_code(fixture, fixture_create(fixture, "namespaces", "", "{'metadata':{'name':'team'}}"), 201);
	assert_at(fixture, "status.phase", "Active");
	assert_at(fixture, "metadata.labels.[kubernetes.io/metadata.name]", "team");
	for (int i = 0; i < 10; i++) {
		char body[64];
		snprintf(body, sizeof(body), "{'metadata':{'name':'c%d'}}", i);
		fixture_create(fixture, "configmaps", "team", body);
	}
	fixture_create(fixture, "secrets", "team", "{'metadata':{'name':'s','finalizers':['example.com/hold']}}");
	fixture_create(fixture, "secrets", "default", "{'metadata':{'name':'s'}}");
	assert_code(fixture, fixture_delete(fixture, "namespaces", "", "team", NULL), 200);
	assert_at(fixture, "status.phase", "Terminating");
	assert_code(fixture, fixture_create(fixture, "configmaps", "team", "{'metadata':{'name':'new'}}"), 403);
	assert_at(fixture, "details.causes.0.reason", "NamespaceTerminating");
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "configmaps", "team", NULL, NULL), "");
	assert_code(fixture, fixture_get(fixture, "namespaces", "", "team"), 200);
	fixture_merge(fixture, "secrets", "team", "s", "{'metadata':{'finalizers':[]}}");
	fixture_settle(fixture);
	assert_code(fixture, fixture_get(fixture, "namespaces", "", "team"), 404);
	assert_string_equal(fixture_names(fixture, "secrets", NULL, NULL, NULL), "default/s");
}

static void collections(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'a','labels':{'x':'1'}}}");
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'b','labels':{'x':'2'}}}");
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'c','labels':{'x':'1'}}}");
	fixture_create(fixture, "configmaps", "kube-system", "{'metadata':{'name':'d','labels':{'x':'1'}}}");
	struct store_selector selector;
	struct arena *arena = arena_create();
	store_selector_parse(arena, fixture_api(fixture, "configmaps"), "x=1", NULL, &selector, NULL);
	struct store_request request = {.verb = STORE_DELETE_COLLECTION, .selector = &selector};
	assert_code(fixture, fixture_do(fixture, request, "configmaps", "default", NULL, NULL), 200);
	assert_int_equal(fixture->result.item_count, 2);
	assert_string_equal(fixture_names(fixture, "configmaps", NULL, NULL, NULL), "default/b kube-system/d");
	arena_destroy(arena);
}

static void old_events_go(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "events", "default", "{'metadata':{'name':'a'}}");
	clock_virtual_advance(&fixture->clock, (int64_t)3000 * 1000000000);
	fixture_create(fixture, "events", "default", "{'metadata':{'name':'b'}}");
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "events", "default", NULL, NULL), "a b");
	clock_virtual_advance(&fixture->clock, (int64_t)700 * 1000000000);
	fixture_settle(fixture);
	assert_string_equal(fixture_names(fixture, "events", "default", NULL, NULL), "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain_objects_go_at_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(finalizers_hold_an_object, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(running_pods_get_grace, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(binding_happens_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(evictions_respect_budgets, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(dependents_are_found_in_order, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(dependents_stay_in_order, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(old_events_go_a_part_at_a_time, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(background_takes_dependents_later, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(foreground_waits_for_dependents, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(orphans_stay, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(children_of_nobody_are_collected, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_namespace_takes_its_contents_along, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(collections, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(old_events_go, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests_name("store deletes", tests, NULL, NULL);
}
