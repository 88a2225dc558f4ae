/* Controllers that are there before the objects are: what arrives is taken over, and nothing is done about it yet. */
#include "fixtures/store_fixture.h"

#include "manager/manager.h"

#define POD(name, gang)                                                                                                \
	"{'metadata':{'name':'" name "','annotations':{'pod-group-name':'" gang "'}},'spec':{'schedulerName':"         \
	"'platoon','containers':[{'name':'c','image':'i','resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}"

static const struct {
	const char *resource, *namespace_, *body;
} arrivals[] = {
	/* Pods before their group, before nodes, before queues: as lists may come in. */
	{"pods", "default", POD("a", "pair")},
	{"pods", "default", POD("b", "pair")},
	{"pods", "default", POD("c", "other")},
	{"podgroups.scheduling.run.ai", "default", "{'metadata':{'name':'pair'},'spec':{'minMember':2,'queue':'q'}}"},
	{"podgroups.scheduling.run.ai", "default", "{'metadata':{'name':'other'},'spec':{'minMember':2,'queue':'q'}}"},
	{"nodes", "", "{'metadata':{'name':'n'}}"},
	{"queues.scheduling.run.ai", "",
         "{'metadata':{'name':'q'},'spec':{'resources':{'cpu':{'limit':-1},'gpu':{'limit':-1},'memory':{'limit':-1}}}"
         "}"},
};

static void give_room(struct store_fixture *fixture)
{
	assert_code(fixture,
	            fixture_merge_status(
			    fixture, "nodes", "", "n",
			    "{'status':{'allocatable':{'cpu':'8','pods':'10','nvidia.com/gpu':'8'},'conditions':"
			    "[{'type':'Ready','status':'True'}]}}"),
	            200);
}

static struct manager *read_arrivals(struct store_fixture *fixture)
{
	struct manager *manager =
		manager_create(&(struct manager_options){.store = fixture->store, .clock = &fixture->clock.source});
	manager_read(manager);
	for (size_t i = 0; i < sizeof(arrivals) / sizeof(arrivals[0]); i++) {
		assert_code(fixture,
		            fixture_create(fixture, arrivals[i].resource, arrivals[i].namespace_, arrivals[i].body),
		            201);
		manager_read(manager);
	}
	give_room(fixture);
	return manager;
}

static const char *node_of(struct store_fixture *fixture, const char *pod)
{
	assert_code(fixture, fixture_get(fixture, "pods", "default", pod), 200);
	return fixture_at(fixture, "spec.nodeName");
}

static void act(struct store_fixture *fixture, struct manager *manager)
{
	struct error error;
	for (int i = 0; i < 50; i++) {
		manager_step(manager);
		store_commit(fixture->store, &error);
		clock_virtual_advance(&fixture->clock, INT64_C(100000000));
	}
}

static void nothing_is_decided_while_it_only_reads(void **state)
{
	struct store_fixture *fixture = *state;
	struct manager *manager = read_arrivals(fixture);
	uint64_t version = store_version(fixture->store);
	for (int i = 0; i < 20; i++) {
		manager_read(manager);
		clock_virtual_advance(&fixture->clock, INT64_C(1000000000));
	}
	assert_false(store_pending(fixture->store));
	assert_int_equal(store_version(fixture->store), version);
	assert_false(manager_ready(manager));
	act(fixture, manager);
	assert_true(manager_ready(manager));
	assert_string_equal(node_of(fixture, "a"), "n");
	assert_string_equal(node_of(fixture, "b"), "n");
	assert_string_equal(node_of(fixture, "c"), ""); /* half of its gang is missing */
	manager_destroy(manager);
}

/* What went again before anybody acted was never there. */
static void what_goes_while_it_only_reads(void **state)
{
	struct store_fixture *fixture = *state;
	struct manager *manager = read_arrivals(fixture);
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "b", "{'gracePeriodSeconds':0}"), 200);
	manager_read(manager);
	act(fixture, manager);
	assert_string_equal(node_of(fixture, "a"), "");
	manager_destroy(manager);
}

/* Others can be served between two controllers. */
static void one_controller_has_its_turn_at_a_time(void **state)
{
	enum { CONTROLLERS = 4, ROUNDS = 50 };
	struct store_fixture *fixture = *state;
	struct manager *manager = read_arrivals(fixture);
	struct error error;
	for (int round = 0; round < ROUNDS; round++) {
		int turns = 1, wait = 0;
		for (; !manager_turn(manager, &wait); turns++)
			store_commit(fixture->store, &error);
		assert_int_equal(turns, CONTROLLERS);
		store_commit(fixture->store, &error);
		clock_virtual_advance(&fixture->clock, INT64_C(100000000));
	}
	assert_string_equal(node_of(fixture, "a"), "n");
	assert_string_equal(node_of(fixture, "b"), "n");
	manager_destroy(manager);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_decided_while_it_only_reads, fixture_setup,
	                                        fixture_teardown),
		cmocka_unit_test_setup_teardown(what_goes_while_it_only_reads, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(one_controller_has_its_turn_at_a_time, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
