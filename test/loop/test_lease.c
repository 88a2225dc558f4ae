/* Who leads: how long a holder may be silent, and who decides that. */
#include "fixtures/store_fixture.h"

#include "loop/lease.h"

#include <stdlib.h>

#define HELD(seconds) "{'metadata':{'name':'l'},'spec':{'holderIdentity':'other','leaseDurationSeconds':" seconds "}}"

static bool held_after(const char *body, int64_t seconds)
{
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	assert_code(&fixture, fixture_create(&fixture, "leases.coordination.k8s.io", "default", body), 201);
	struct lease *lease = lease_create(&(struct lease_options){.store = fixture.store,
	                                                           .clock = &fixture.clock.source,
	                                                           .namespace_ = "default",
	                                                           .name = "l",
	                                                           .identity = "me",
	                                                           .duration_ns = 60 * CLOCK_SECOND});
	int64_t end = fixture.clock.now + seconds * CLOCK_SECOND;
	for (int turns = 0; fixture.clock.now < end && turns < 1000; turns++) {
		int wait = lease_step(lease);
		store_commit(fixture.store, NULL);
		fixture.clock.now += (wait > 0 ? wait : 1) * INT64_C(1000000);
	}
	bool held = lease_held(lease);
	lease_destroy(lease);
	fixture_close(&fixture);
	return held;
}

static void a_silent_holder_is_given_the_time_it_asked_for(void **state)
{
	assert_false(held_after(HELD("5"), 4));
	assert_true(held_after(HELD("5"), 14)); /* and not the minute that we would ask for */
	assert_false(held_after(HELD("200"), 150));
	assert_true(held_after(HELD("200"), 240));
}

static void a_holder_that_asks_for_nothing_sensible_gets_ours(void **state)
{
	static const char *const bodies[] = {HELD("999999999"),
	                                     "{'metadata':{'name':'l'},'spec':{'holderIdentity':'other'}}"};
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		assert_false(held_after(bodies[i], 50));
		assert_true(held_after(bodies[i], 80));
	}
	assert_true(held_after("{'metadata':{'name':'l'},'spec':{}}", 8));
}

static bool is_away;

static bool is_assumed(void *context, const struct store_type *type, const char *namespace_, const char *name)
{
	(void)context;
	(void)type;
	(void)namespace_;
	(void)name;
	return is_away;
}

static void pass(struct store_fixture *fixture, struct lease *lease, int64_t seconds)
{
	for (int64_t end = fixture->clock.now + seconds * CLOCK_SECOND; fixture->clock.now < end;
	     fixture->clock.now += CLOCK_SECOND / 10) {
		lease_step(lease);
		store_commit(fixture->store, NULL);
	}
}

/* The API server is away for longer than the lease lasts: the log says when nobody acts any more, once, and when again. */
static void a_lease_that_lapses_is_told_of(void **state)
{
	struct store_fixture fixture = {0};
	char *text = NULL;
	size_t length = 0;
	struct logger logger = {.stream = open_memstream(&text, &length), .level = LOG_INFO};
	fixture_open(&fixture, NULL);
	store_set_mirror(fixture.store, &(struct store_mirror){.is_assumed = is_assumed});
	struct lease *lease = lease_create(&(struct lease_options){.store = fixture.store,
	                                                           .clock = &fixture.clock.source,
	                                                           .logger = &logger,
	                                                           .namespace_ = "default",
	                                                           .name = "l",
	                                                           .identity = "me",
	                                                           .duration_ns = 15 * CLOCK_SECOND});
	pass(&fixture, lease, 20);
	assert_true(lease_held(lease));
	is_away = true;
	pass(&fixture, lease, 60);
	assert_false(lease_held(lease));
	is_away = false;
	pass(&fixture, lease, 5);
	assert_true(lease_held(lease));
	fflush(logger.stream);
	char *lapsed = strstr(text, "stops acting"), *again = strstr(text, "is the leader again");
	assert_true(strstr(text, "lease taken") && lapsed && again && lapsed < again);
	assert_null(strstr(lapsed + 1, "stops acting"));
	lease_destroy(lease);
	fixture_close(&fixture);
	fclose(logger.stream);
	free(text);
}

/* A clock whose time of day is set while it goes on. */
static int64_t steady, jump;

static int64_t time_of_day(const struct clock_source *clock)
{
	(void)clock;
	return INT64_C(2000000000) * CLOCK_SECOND + steady + jump;
}

static int64_t steady_time(const struct clock_source *clock)
{
	(void)clock;
	return steady;
}

static void pass_steadily(struct store_fixture *fixture, struct lease *lease, int64_t seconds)
{
	for (int64_t end = steady + seconds * CLOCK_SECOND; steady < end; steady += CLOCK_SECOND / 10) {
		lease_step(lease);
		store_commit(fixture->store, NULL);
	}
}

/* Neither does a leader stop because its clock was set ahead, nor does it go on because it was set back. */
static void a_clock_that_is_set_changes_nothing(void **state)
{
	static const int64_t jumps[] = {-3600 * CLOCK_SECOND, 3600 * CLOCK_SECOND};
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		struct store_fixture fixture = {0};
		struct clock_source clock = {.now_ns = time_of_day, .steady_ns = steady_time};
		fixture_open(&fixture, NULL);
		store_set_mirror(fixture.store, &(struct store_mirror){.is_assumed = is_assumed});
		jump = 0;
		steady = 5 * CLOCK_SECOND; /* the machine has just started */
		is_away = false;
		struct lease *lease = lease_create(&(struct lease_options){.store = fixture.store,
		                                                           .clock = &clock,
		                                                           .namespace_ = "default",
		                                                           .name = "l",
		                                                           .identity = "me",
		                                                           .duration_ns = 15 * CLOCK_SECOND});
		assert_int_equal(lease_term(lease), 0);
		pass_steadily(&fixture, lease, 20);
		assert_true(lease_held(lease));
		assert_int_equal(lease_term(lease), 1);
		jump = jumps[i];
		assert_true(lease_held(lease));
		is_away = true; /* from now on it is not renewed */
		pass_steadily(&fixture, lease, 4);
		assert_true(lease_held(lease));
		pass_steadily(&fixture, lease, 7);
		assert_false(lease_held(lease));
		assert_int_equal(lease_term(lease), 1); /* nobody else has taken it, as far as is known */
		lease_destroy(lease);
		fixture_close(&fixture);
	}
}

/* Each time it is taken is a term of its own. */
static void terms_are_counted(void **state)
{
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	struct lease *lease = lease_create(&(struct lease_options){.store = fixture.store,
	                                                           .clock = &fixture.clock.source,
	                                                           .namespace_ = "default",
	                                                           .name = "l",
	                                                           .identity = "me",
	                                                           .duration_ns = 15 * CLOCK_SECOND});
	pass(&fixture, lease, 1);
	assert_int_equal(lease_term(lease), 1);
	assert_code(&fixture,
	            fixture_merge(&fixture, "leases.coordination.k8s.io", "default", "l",
	                          "{'spec':{'holderIdentity':'other','leaseDurationSeconds':5}}"),
	            200);
	pass(&fixture, lease, 1);
	assert_int_equal(lease_term(lease), 0);
	pass(&fixture, lease, 10);
	assert_int_equal(lease_term(lease), 2);
	lease_destroy(lease);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_holder_is_given_the_time_it_asked_for),
		cmocka_unit_test(a_holder_that_asks_for_nothing_sensible_gets_ours),
		cmocka_unit_test(a_lease_that_lapses_is_told_of),
		cmocka_unit_test(a_clock_that_is_set_changes_nothing),
		cmocka_unit_test(terms_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
