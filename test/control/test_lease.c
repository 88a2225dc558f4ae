/* Who leads: how long a holder may be silent, and who decides that. */
#include "kit.h"

#include "control/lease.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define HELD(seconds) "{'metadata':{'name':'l'},'spec':{'holderIdentity':'other','leaseDurationSeconds':" seconds "}}"

static bool held_after(const char *body, int64_t seconds)
{
	struct kit kit = {0};
	kit_open(&kit, NULL);
	assert_code(&kit, kit_create(&kit, "leases.coordination.k8s.io", "default", body), 201);
	struct lease *lease = lease_create(&(struct lease_options){.store = kit.store,
	                                                           .clock = &kit.clock.source,
	                                                           .namespace_ = "default",
	                                                           .name = "l",
	                                                           .identity = "me",
	                                                           .duration_ns = 60 * SECOND});
	int64_t end = kit.clock.now + seconds * SECOND;
	for (int turns = 0; kit.clock.now < end && turns < 1000; turns++) {
		int wait = lease_step(lease);
		store_commit(kit.store, NULL);
		kit.clock.now += (wait > 0 ? wait : 1) * INT64_C(1000000);
	}
	bool held = lease_held(lease);
	lease_destroy(lease);
	kit_close(&kit);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_holder_is_given_the_time_it_asked_for),
		cmocka_unit_test(a_holder_that_asks_for_nothing_sensible_gets_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
