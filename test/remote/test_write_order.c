/* Which of many writes of a mirror go first, which wait, and which are dropped. */
#include "fixtures/remote_fixture.h"

static void decisions_go_first_and_events_last(void **state)
{
	struct remote_fixture *fixture = *state;
	fixture->options.writes = 1;
	remote_fixture_start_empty(fixture);
	for (const char *name = "abcde"; *name; name++)
		remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod((char[]){*name, '\0'}, 11));
	/* One write takes the only slot; the others come in the wrong order. */
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	remote_fixture_await(fixture, "PATCH", 1);
	assert_code(
		&fixture->base,
		fixture_create(
			&fixture->base, "events", "default",
			"{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'b','namespace':'default'}}"),
		201);
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "pods", "default", "e", "{'status':{'phase':'Running'}}"),
	            200);
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "b", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	assert_code(&fixture->base, remote_fixture_bind(fixture, "c", "n"), 201);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "d", "{'gracePeriodSeconds':0}"),
	            200);
	assert_int_equal(remote_counts(fixture->remote).waiting, 6);
	fake_server_answer(fixture->fake, "PATCH", 200, "", remote_fixture_plain_pod("a", 12));
	fake_server_on(fixture->fake, "/pods/c/binding", 201, "", "{'kind':'Status','status':'Success'}");
	fake_server_on(fixture->fake, "DELETE", 200, "", remote_fixture_plain_pod("d", 13));
	fake_server_on(fixture->fake, "/pods/b", 200, "", remote_fixture_plain_pod("b", 14));
	fake_server_on(fixture->fake, "/pods/e/status", 200, "", remote_fixture_plain_pod("e", 15));
	fake_server_on(fixture->fake, "/events", 201, "", "{}");
	remote_fixture_await(fixture, "/events", 1);
	static const char *const order[] = {"/pods/a", "/pods/c/binding", "/pods/d",
	                                    "/pods/b", "/pods/e/status",  "/events"};
	for (size_t i = 0; i < 6; i++)
		if (!strstr(fake_server_request(fixture->fake, "namespaces/default", i)->line, order[i]))
			fail_msg("%zu: %s instead of %s", i,
			         fake_server_request(fixture->fake, "namespaces/default", i)->line, order[i]);
}

/* 60 bindings, a patch and 20 events wait for the only slot for so long; then all are answered. How many requests are sent
 * before the first that matches. */
static size_t sent_before(struct remote_fixture *fixture, int64_t seconds, const char *match)
{
	static const char binding[] = "/binding";
	char text[64];
	fixture->options.writes = 1;
	remote_fixture_start_empty(fixture);
	for (int i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "p%d", i);
		remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod(text, 11));
		assert_code(&fixture->base, remote_fixture_bind(fixture, text, "n"), 201);
	}
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("told", 11));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "told", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "{'metadata':{'name':'e%d'}}", i);
		assert_code(&fixture->base, fixture_create(&fixture->base, "events", "default", text), 201);
	}
	remote_fixture_await(fixture, binding, 1);
	remote_fixture_pass(fixture, seconds);
	fake_server_always(fixture->fake, "/events", 201, "", "{}");
	fake_server_on(fixture->fake, "PATCH", 200, "", remote_fixture_plain_pod("told", 12));
	fake_server_always(fixture->fake, binding, 201, "", "{'kind':'Status','status':'Success'}");
	fake_server_answer(fixture->fake, binding, 201, "", "{'kind':'Status','status':'Success'}");
	remote_fixture_await(fixture, binding, 60);
	remote_fixture_await(fixture, "/events", 20);
	size_t before = 0;
	while (!strstr(fake_server_request(fixture->fake, "namespaces/default", before)->line, match))
		before++;
	return before;
}

static void what_is_told_waits_for_decisions(void **state)
{
	assert_int_equal(sent_before(*state, 0, "PATCH"), 60);
}

static void and_events_for_both(void **state)
{
	assert_int_equal(sent_before(*state, 3, "/events"), 61);
}

static void but_not_for_ever(void **state)
{
	assert_in_range(sent_before(*state, 3, "PATCH"), 1, 20);
}

static void nor_do_events(void **state)
{
	assert_in_range(sent_before(*state, 6, "/events"), 1, 40);
}

static void nor_do_others_for_events(void **state)
{
	assert_in_range(sent_before(*state, 6, "PATCH"), 1, 20);
}

/* Whoever else writes has to have its turn on the server: events never take more than an eighth of our slots. */
static void events_leave_room(void **state)
{
	struct remote_fixture *fixture = *state;
	char text[64];
	fixture->options.writes = 16;
	remote_fixture_start_empty(fixture);
	for (int i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "{'metadata':{'name':'e%d'}}", i);
		assert_code(&fixture->base, fixture_create(&fixture->base, "events", "default", text), 201);
	}
	remote_fixture_await(fixture, "/events", 2);
	remote_fixture_pass(fixture, 10);
	assert_int_equal(fake_server_count(fixture->fake, "/events"), 2);
	fake_server_answer(fixture->fake, "/events", 201, "", "{}");
	remote_fixture_await(fixture, "/events", 3);
	assert_int_equal(fake_server_count(fixture->fake, "/events"), 3);
}

/* A server that does not answer: events do not pile up, decisions do. */
static void too_many_events_are_dropped(void **state)
{
	struct remote_fixture *fixture = *state;
	fixture->options.writes = 1;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	for (int i = 0; i < 5000; i++) {
		char body[160];
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'e%d'},'involvedObject':{'kind':'Pod','name':'a','namespace':'default'}}",
		         i);
		assert_code(&fixture->base, fixture_create(&fixture->base, "events", "default", body), 201);
	}
	assert_code(&fixture->base, remote_fixture_bind(fixture, "a", "n"), 201);
	struct remote_counts counts = remote_counts(fixture->remote);
	assert_int_equal(counts.waiting + counts.dropped, 5001);
	assert_in_range(counts.dropped, 1, 1000);
	/* They are gone from the mirror too, and with the first answers there is room again. */
	assert_string_equal(fixture_names(&fixture->base, "events", "default", NULL, NULL), "");
	fake_server_on(fixture->fake, "/pods/a/binding", 201, "", "{'kind':'Status','status':'Success'}");
	fake_server_on(fixture->fake, "/events", 201, "", "{}");
	remote_fixture_await(fixture, "/events", 2);
	assert_code(&fixture->base, fixture_create(&fixture->base, "events", "default", "{'metadata':{'name':'more'}}"),
	            201);
	assert_int_equal(remote_counts(fixture->remote).dropped, counts.dropped);
}

/* Nobody tells of the end of events, so the mirror keeps only the last few thousand that it wrote. */
static void events_do_not_pile_up(void **state)
{
	enum { EVENTS = 4500, AT_ONCE = 500 };
	struct remote_fixture *fixture = *state;
	fixture->options.writes = 1; /* so that answers come in the order of the writes */
	remote_fixture_start_empty(fixture);
	for (int i = 0; i < EVENTS; i++) {
		char body[160], answer[320];
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'e%d'},'involvedObject':{'kind':'Pod','name':'a','namespace':'default'}}",
		         i);
		snprintf(answer, sizeof(answer),
		         "{'kind':'Event','metadata':{'name':'e%d','namespace':'default','uid':'u%d','resourceVersion':"
		         "'%d'}}",
		         i, i, 100 + i);
		fake_server_on(fixture->fake, "/events", 201, "", answer);
		assert_code(&fixture->base, fixture_create(&fixture->base, "events", "default", body), 201);
		if ((i + 1) % AT_ONCE == 0)
			remote_fixture_await(fixture, "POST /api/v1/namespaces/default/events", (size_t)i + 1);
	}
	remote_fixture_move(fixture);
	const char *names = fixture_names(&fixture->base, "events", "default", NULL, NULL);
	size_t count = *names != '\0';
	for (const char *at = names; *at; at++)
		count += *at == ' ';
	assert_int_equal(count, 4096);
}

static void writes_of_one_object_keep_their_order(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	for (int i = 0; i < 3; i++) {
		char body[64];
		snprintf(body, sizeof(body), "{'metadata':{'labels':{'x':'%d'}}}", i);
		assert_code(&fixture->base, fixture_merge(&fixture->base, "pods", "default", "a", body), 200);
	}
	for (size_t i = 0; i < 3; i++) {
		char expect[64];
		snprintf(expect, sizeof(expect), "\"x\":\"%zu\"", i);
		remote_fixture_await(fixture, "PATCH", i + 1);
		assert_int_equal(fake_server_count(fixture->fake, "PATCH"), i + 1); /* one at a time */
		assert_non_null(strstr(fake_server_request(fixture->fake, "PATCH", i)->body, expect));
		/* What the server says of the first is not shown while more is assumed. */
		fake_server_answer(fixture->fake, "PATCH", 200, "", remote_fixture_plain_pod("a", 12 + (int)i));
		remote_fixture_move(fixture);
	}
	assert_pods(fixture, "a:14");
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(decisions_go_first_and_events_last),
		ON_FIXTURE(what_is_told_waits_for_decisions),
		ON_FIXTURE(and_events_for_both),
		ON_FIXTURE(but_not_for_ever),
		ON_FIXTURE(nor_do_events),
		ON_FIXTURE(nor_do_others_for_events),
		ON_FIXTURE(events_leave_room),
		ON_FIXTURE(too_many_events_are_dropped),
		ON_FIXTURE(events_do_not_pile_up),
		ON_FIXTURE(writes_of_one_object_keep_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
