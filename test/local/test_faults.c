/* Faults that a simulation injects: refused and lost writes, watches that break. */
#include "fixtures/store_fixture.h"

struct plan {
	const char *actor; /* whose requests fail */
	struct store_fault fault;
	int asked;
};

static struct store_fault misfortune(void *context, const struct store_request *request)
{
	struct plan *plan = context;
	plan->asked++;
	bool theirs = request->actor && strcmp(request->actor, plan->actor) == 0;
	return theirs ? plan->fault : (struct store_fault){0};
}

static void writes_fail_before_and_after(void **state)
{
	static const struct {
		struct store_fault fault;
		const char *reason;
		bool there; /* whether the write took place */
	} table[] = {
		{{.code = 409}, "Conflict", false},
		{{.code = 429, .retry_after = 3}, "TooManyRequests", false},
		{{.code = 500}, "InternalError", false},
		{{.code = 503}, "InternalError", false},
		{{.code = 504, .after = true}, "Timeout", true},
		{{.code = 500, .after = true}, "InternalError", true},
	};
	struct store_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct plan plan = {.actor = "scheduler", .fault = table[i].fault};
		struct store_request theirs = {.verb = STORE_CREATE, .actor = "scheduler"};
		char body[64], name[8];
		snprintf(name, sizeof(name), "m%zu", i);
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s'}}", name);
		store_set_fault(fixture->store, misfortune, &plan);
		assert_code(fixture, fixture_do(fixture, theirs, "configmaps", "default", NULL, body),
		            table[i].fault.code);
		assert_string_equal(fixture->result.error.reason, table[i].reason);
		assert_int_equal(fixture->result.error.retry_after, table[i].fault.retry_after);
		assert_null(fixture->result.object);
		/* Others are not concerned. */
		assert_code(fixture,
		            fixture_merge(fixture, "namespaces", "", "default", "{'metadata':{'labels':{'x':'y'}}}"),
		            200);
		assert_int_equal(plan.asked, 2);
		store_set_fault(fixture->store, NULL, NULL);
		assert_int_equal(fixture_get(fixture, "configmaps", "default", name), table[i].there ? 200 : 404);
	}
}

/* A lost answer does not hide what is an error anyway, and a lost delete is a delete. */
static void lost_deletes_take_place(void **state)
{
	struct store_fixture *fixture = *state;
	struct plan plan = {.actor = "kubelet", .fault = {.code = 504, .after = true}};
	struct store_request theirs = {.verb = STORE_DELETE, .actor = "kubelet"};
	struct store_request all = {.verb = STORE_DELETE_COLLECTION, .actor = "kubelet"};
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'a'}}");
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'b'}}");
	store_set_fault(fixture->store, misfortune, &plan);
	assert_code(fixture, fixture_do(fixture, theirs, "configmaps", "default", "a", NULL), 504);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "a"), 404);
	assert_code(fixture, fixture_do(fixture, all, "configmaps", "default", NULL, NULL), 504);
	assert_code(fixture, fixture_get(fixture, "configmaps", "default", "b"), 404);
}

struct listener {
	struct store_watch *watch;
	int wakes;
};

static void wake(void *context)
{
	struct listener *listener = context;
	listener->wakes++;
}

static void listen(struct store_fixture *fixture, struct listener *listener, const char *resource, const char *fields)
{
	struct store_selector selector = {0};
	struct store_watch_request request = {.api = fixture_api(fixture, resource), .wake = wake, .context = listener};
	struct store_event event;
	if (fields) {
		assert_int_equal(store_selector_parse(fixture->arena, request.api, NULL, fields, &selector, NULL), 0);
		request.selector = &selector;
	}
	listener->watch = store_watch_open(fixture->store, &request, fixture->arena, NULL);
	while (store_watch_next(listener->watch, &event, fixture->arena, NULL) > 0)
		;
}

static void watches_break(void **state)
{
	struct store_fixture *fixture = *state;
	struct listener pods = {0}, one_node = {0}, maps = {0};
	listen(fixture, &pods, "pods", NULL);
	listen(fixture, &one_node, "pods", "spec.nodeName=n1");
	listen(fixture, &maps, "configmaps", NULL);
	assert_int_equal(store_watch_break(fixture->store, fixture_api(fixture, "pods")->type), 2);
	assert_int_equal(store_watch_break(fixture->store, fixture_api(fixture, "pods")->type),
	                 0); /* they are broken already */
	assert_true(store_pending(fixture->store));
	assert_int_equal(pods.wakes, 0);
	assert_int_equal(store_commit(fixture->store, NULL), 0);
	assert_false(store_pending(fixture->store));
	assert_int_equal(pods.wakes, 1);
	assert_int_equal(one_node.wakes, 1);
	assert_int_equal(maps.wakes, 0);
	struct store_event event;
	struct store_error error;
	assert_int_equal(store_watch_next(pods.watch, &event, fixture->arena, &error), -1);
	assert_int_equal(error.code, 410);
	assert_int_equal(store_watch_next(maps.watch, &event, fixture->arena, &error), 0);
	/* A new one is whole, and `all` means all. */
	store_watch_close(pods.watch);
	listen(fixture, &pods, "pods", NULL);
	assert_int_equal(store_watch_break(fixture->store, NULL), 2);
	store_watch_close(pods.watch);
	store_watch_close(one_node.watch);
	store_watch_close(maps.watch);
	assert_int_equal(store_commit(fixture->store, NULL), 0); /* closed in between: nobody to wake */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_fail_before_and_after, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lost_deletes_take_place, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(watches_break, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests_name("store faults", tests, NULL, NULL);
}
