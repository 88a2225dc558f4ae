/* What a replica that has ceased to be the leader still sends of what it decided: nothing. */
#include "fixtures/remote_fixture.h"

#define PODS "/api/v1/namespaces/default/pods"
#define BINDING "POST " PODS "/a/binding"

/* A lease in the hands of the test. */
static struct {
	uint64_t term;
	bool held;
} lease;

static uint64_t term_of(void *context)
{
	(void)context;
	return lease.term;
}

static bool holds(void *context, uint64_t term)
{
	(void)context;
	return lease.held && lease.term == term;
}

static void start(struct remote_fixture *fixture)
{
	lease.term = 1;
	lease.held = true;
	remote_fixture_start_empty(fixture);
	remote_set_fence(fixture->remote, &(struct remote_fence){.term = term_of, .holds = holds});
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
}

static void bind(struct remote_fixture *fixture)
{
	assert_int_equal(remote_fixture_bind(fixture, "a", "n1"), 201);
	assert_string_equal(remote_fixture_field(fixture, "a", "spec", "nodeName"), "n1");
}

/* Only asking is sure: the server is asked what it has, and the mirror shows that. */
static void assert_taken_back(struct remote_fixture *fixture)
{
	remote_fixture_await(fixture, "GET " PODS "/a", 1);
	assert_int_equal(fake_server_count(fixture->fake, "POST"), 0);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", remote_fixture_plain_pod("a", 12));
	remote_fixture_move(fixture);
	assert_string_equal(remote_fixture_field(fixture, "a", "spec", "nodeName"), "");
	assert_true(remote_settled(fixture->remote));
	assert_int_equal(remote_counts(fixture->remote).fenced, 1);
	assert_int_equal(remote_counts(fixture->remote).refused, 1);
}

static void a_leader_writes(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	bind(fixture);
	remote_fixture_await(fixture, BINDING, 1);
	assert_int_equal(remote_counts(fixture->remote).fenced, 0);
}

/* As when the process was stopped between the decision and the connection. */
static void nothing_is_sent_after_the_lease(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	bind(fixture);
	lease.held = false;
	assert_taken_back(fixture);
}

/* Somebody else led meanwhile. */
static void nor_what_was_decided_in_an_earlier_term(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	bind(fixture);
	lease.term = 2;
	assert_taken_back(fixture);
}

/* What got no answer is sent again with pauses, which may last longer than the lease. */
static void nor_is_anything_sent_again(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	fake_server_on(fixture->fake, "POST", 503, "", "{'kind':'Status','code':503}");
	bind(fixture);
	remote_fixture_await(fixture, BINDING, 1);
	lease.held = false;
	remote_fixture_tenths(fixture, "GET " PODS "/a", 1, 100);
	assert_int_equal(fake_server_count(fixture->fake, "POST"), 1);
	assert_int_equal(remote_counts(fixture->remote).fenced, 1);
}

/* What is written by no leader, and leases, which say by their version whether they may be. */
static void what_needs_no_leader_always_goes(void **state)
{
	struct remote_fixture *fixture = *state;
	start(fixture);
	lease.term = 0;
	lease.held = false;
	bind(fixture);
	lease.term = 1;
	remote_fixture_await(fixture, BINDING, 1);
	assert_code(&fixture->base,
	            fixture_create(&fixture->base, "leases.coordination.k8s.io", "default",
	                           "{'metadata':{'name':'l'},'spec':{'holderIdentity':'me'}}"),
	            201);
	remote_fixture_await(fixture, "POST /apis/coordination.k8s.io", 1);
	assert_int_equal(remote_counts(fixture->remote).fenced, 0);
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(a_leader_writes),
		ON_FIXTURE(nothing_is_sent_after_the_lease),
		ON_FIXTURE(nor_what_was_decided_in_an_earlier_term),
		ON_FIXTURE(nor_is_anything_sent_again),
		ON_FIXTURE(what_needs_no_leader_always_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
