/* How long a mirror leaves alone what the server refuses. */
#include "fixtures/remote_fixture.h"

#define PODS "/api/v1/namespaces/default/pods"
#define FORBIDDEN "{'kind':'Status','code':403,'reason':'Forbidden','message':'no'}"

static const char *pod(int version)
{
	return remote_fixture_pod("a", "00000000-0000-0000-0000-000000000097", version, "", "");
}

static void start(struct remote_fixture *fixture)
{
	char text[4096];
	remote_fixture_start_empty(fixture);
	snprintf(text, sizeof(text), "{'type':'ADDED','object':%s}\n", pod(11));
	fake_server_send(fixture->fake, WATCH, text);
	remote_fixture_move(fixture);
}

static void write_label(struct remote_fixture *fixture)
{
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
}

/* Tenths of seconds from the refusal to the question what the server has, which takes the write back. */
static int64_t refuse(struct remote_fixture *fixture, size_t number, int code)
{
	write_label(fixture);
	fake_server_on(fixture->fake, "PATCH", code, "", FORBIDDEN);
	remote_fixture_await(fixture, "PATCH", number);
	int64_t tenths = remote_fixture_tenths(fixture, "GET " PODS "/a", number, 1000);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", pod(11));
	remote_fixture_move(fixture);
	return tenths;
}

static void pauses_grow_and_have_an_end(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	assert_in_range(refuse(fixture, 1, 403), 19, 42);
	assert_in_range(refuse(fixture, 2, 403), 39, 82);
	assert_in_range(refuse(fixture, 3, 422), 79, 162);
	assert_in_range(refuse(fixture, 4, 403), 159, 322);
	assert_in_range(refuse(fixture, 5, 403), 299, 602);
	assert_in_range(refuse(fixture, 6, 403), 299, 602);
	assert_int_equal(remote_counts(fixture->remote).refused, 6);
	/* Once it is accepted all is forgotten. */
	write_label(fixture);
	remote_fixture_await(fixture, "PATCH", 7);
	fake_server_answer(fixture->fake, "PATCH", 200, "", pod(12));
	remote_fixture_move(fixture);
	assert_true(remote_settled(fixture->remote));
	write_label(fixture);
	fake_server_on(fixture->fake, "PATCH", 403, "", FORBIDDEN);
	remote_fixture_await(fixture, "PATCH", 8);
	assert_in_range(remote_fixture_tenths(fixture, "GET " PODS "/a", 7, 1000), 19, 42);
}

/* Somebody else wrote: that is asked for at once, but not for ever. */
static void conflicts_pause_when_they_repeat(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	assert_in_range(refuse(fixture, 1, 409), 0, 1);
	assert_in_range(refuse(fixture, 2, 409), 19, 42);
	assert_in_range(refuse(fixture, 3, 409), 39, 82);
}

static void others_do_not_wait_for_it(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	for (size_t i = 1; i <= 5; i++)
		refuse(fixture, i, 403);
	write_label(fixture);
	fake_server_on(fixture->fake, "PATCH", 403, "", FORBIDDEN);
	remote_fixture_await(fixture, "PATCH", 6);
	remote_fixture_pass(fixture, 1);
	assert_int_equal(remote_counts(fixture->remote).waiting,
	                 0); /* nobody waits for it, not even the end of the program */
	assert_code(&fixture->base,
	            fixture_do(&fixture->base,
	                       (struct store_request){.verb = STORE_CREATE, .subresource = STORE_BINDING}, "pods",
	                       "default", "a", "{'target':{'kind':'Node','name':'n1'}}"),
	            201);
	assert_in_range(remote_fixture_tenths(fixture, "GET " PODS "/a", 6, 1000), 0, 2);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", pod(11));
	assert_in_range(remote_fixture_tenths(fixture, "POST " PODS "/a/binding", 1, 1000), 0, 2);
}

#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(pauses_grow_and_have_an_end),
		ON_FIXTURE(conflicts_pause_when_they_repeat),
		ON_FIXTURE(others_do_not_wait_for_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
