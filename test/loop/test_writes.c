/* What controllers write beside others who write the same object. */
#include "fixtures/store_fixture.h"

#include "loop/writes.h"

#define NOW INT64_C(1767225600) /* 2026-01-01 */

static const char *condition_of(struct store_fixture *fixture, const struct store_object *pod, const char *type)
{
	struct buffer text = {0};
	const struct val *condition = writes_find_condition(pod->root, type);
	if (condition)
		val_write(condition, DOC_JSON_COMPACT, &text);
	const char *copy = arena_strdup(fixture->arena, text.text ? text.text : "");
	buffer_free(&text);
	return copy;
}

static int put_status(struct store_fixture *fixture, const char *body)
{
	struct store_request request = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	return fixture_do(fixture, request, "pods", "default", "a", body);
}

/* A kubelet says that the pod is ready after we looked at it: that stays. */
static void a_condition_of_a_pod_leaves_the_others_alone(void **state)
{
	struct store_fixture *fixture = *state;
	const struct store_type *type = store_type_find(fixture->store, "", "pods");
	assert_code(fixture,
	            fixture_create(fixture, "pods", "default",
	                           "{'metadata':{'name':'a'},'spec':{'containers':[{'name':'c','image':'i'}]}}"),
	            201);
	assert_code(
		fixture,
		put_status(fixture,
	                   "{'status':{'conditions':[{'type':'Ready','status':'False'},{'type':'Ours','status':'False',"
	                   "'reason':'Old','message':'m','lastTransitionTime':'2025-01-01T00:00:00Z'}]}}"),
		200);
	struct store_object *seen = store_object_retain(store_peek(fixture->store, type, "default", "a"));
	assert_code(
		fixture,
		put_status(fixture,
	                   "{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'Ours','status':'False',"
	                   "'reason':'Old','message':'m','lastTransitionTime':'2025-01-01T00:00:00Z'}]}}"),
		200);
	struct build *build = build_create();
	struct node *status = build_map(build);
	build_put_string(build, status, "nominatedNodeName", "n1");
	struct condition condition = {"Ours", "True", "New", ""};
	assert_int_equal(writes_pod_condition(fixture->store, seen, &condition, NOW, build, status), 1);
	store_object_release(seen);
	const struct store_object *pod = store_peek(fixture->store, type, "default", "a");
	assert_string_equal(condition_of(fixture, pod, "Ready"), "{\"type\":\"Ready\",\"status\":\"True\"}");
	const struct val *ours = writes_find_condition(pod->root, "Ours");
	assert_string_equal(val_str(val_get(ours, "reason"), ""), "New");
	assert_string_equal(val_str(val_get(ours, "lastTransitionTime"), ""), "2026-01-01T00:00:00Z");
	assert_null(val_get(ours, "message"));
	assert_string_equal(val_str(val_path(pod->root, "status", "nominatedNodeName", NULL), ""), "n1");
	/* The time stays where the status does, and nothing else is nothing new. */
	seen = store_object_retain(store_peek(fixture->store, type, "default", "a"));
	assert_int_equal(writes_pod_condition(fixture->store, seen, &condition, NOW + 5, build, NULL), 0);
	store_object_release(seen);
	build_destroy(build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_condition_of_a_pod_leaves_the_others_alone, fixture_setup,
	                                        fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
