/* Bindings that the API refuses: who is told what, when it is tried again, and what becomes of the gang. */
#include "fixtures/scheduler_fixture.h"

static int events(struct scheduler_fixture *fixture, const char *reason)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(fixture->base.store, "", "v1", "events")};
	int count = 0;
	assert_int_equal(store_list(fixture->base.store, &request, &list, arena, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		const struct val *root = list.items[i]->root;
		count += strcmp(val_str(val_get(root, "reason"), ""), reason) == 0 &&
		         strcmp(val_str(val_path(root, "involvedObject", "kind", NULL), ""), "Pod") == 0;
	}
	store_list_clear(&list);
	arena_destroy(arena);
	return count;
}

#define CONDITION "status.conditions.0."

static void a_refusal_is_told_and_tried_again_with_pauses(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "g-0", .code = 403, .always = true};
	scheduler_fixture_nodes(fixture, 1);
	scheduler_fixture_gang(fixture, "g", 1, 1, "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 1), 0);
	assert_int_equal(events(fixture, "Scheduled"), 0);
	assert_int_equal(events(fixture, "FailedScheduling"), 1);
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "g-0", CONDITION "status"), "False");
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "g-0", CONDITION "reason"),
	                    "SchedulerError");
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "g-0", CONDITION "message"),
	                    "binding to node n0 refused (403): the request was refused by a policy");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Waiting");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", CONDITION "reason"), "BindingRefused");
	assert_true(scheduler_fixture_metric(fixture, "platoon_bindings_refused_total") >= 1);
	scheduler_fixture_turns(fixture, 600);
	assert_in_range(scheduler_fixture_metric(fixture, "platoon_bindings_refused_total"), 8, 12);
	assert_int_equal(events(fixture, "FailedScheduling"), 1);
	/* Somebody has seen to it. */
	fixture->troubles[0].pod = NULL;
	scheduler_fixture_turns(fixture, 620);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 1), 1);
	assert_int_equal(events(fixture, "Scheduled"), 1);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_placements_total"), 1);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Placed");
}

/* Others do not wait for a pod that nobody lets in. */
static void others_go_on(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "g-0", .code = 403, .always = true};
	scheduler_fixture_nodes(fixture, 2);
	scheduler_fixture_gang(fixture, "g", 1, 1, "");
	scheduler_fixture_turns(fixture, 100);
	scheduler_fixture_gang(fixture, "h", 1, 1, "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "h", 1), 1);
}

static void again(struct scheduler_fixture *fixture, const char *pod)
{
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", pod, "{'gracePeriodSeconds':0}"),
	            200);
	scheduler_fixture_pod(fixture, pod, "g", "");
}

/* One of three is refused for good: the others are let go, and from then on it is tried before them. */
static void a_gang_that_is_not_let_in_is_released_once(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "g-2", .code = 403, .always = true};
	scheduler_fixture_nodes(fixture, 3);
	scheduler_fixture_gang(fixture, "g", 3, 3, "");
	scheduler_fixture_turns(fixture, 10);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 2);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Waiting");
	scheduler_fixture_turns(fixture, 300);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 0);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
	again(fixture, "g-0");
	again(fixture, "g-1");
	scheduler_fixture_turns(fixture, 2000);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_placements_total"), 2); /* those of the beginning */
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
	fixture->troubles[0].pod = NULL;
	scheduler_fixture_turns(fixture, 620);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Placed");
}

/* What is more than the minimum does not hold the rest up. */
static void surplus_that_is_refused_leaves_the_rest_alone(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "g-2", .code = 403, .always = true};
	scheduler_fixture_nodes(fixture, 3);
	scheduler_fixture_gang(fixture, "g", 2, 3, "");
	scheduler_fixture_turns(fixture, 600);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 2);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Placed");
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_evictions_total{cause=\"unfinished\"}"), 0);
}

/* The answer is lost, the pod is bound: that is no refusal. */
static void what_the_store_shows_counts_more_than_the_answer(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "g-0", .code = 504, .after = true};
	scheduler_fixture_nodes(fixture, 1);
	scheduler_fixture_gang(fixture, "g", 1, 1, "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 1), 1);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_bindings_refused_total"), 0);
	assert_int_equal(events(fixture, "Scheduled"), 1);
	assert_int_equal(events(fixture, "FailedScheduling"), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scheduler_fixture_begin, scheduler_fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_refusal_is_told_and_tried_again_with_pauses),
		CASE(others_go_on),
		CASE(a_gang_that_is_not_let_in_is_released_once),
		CASE(surplus_that_is_refused_leaves_the_rest_alone),
		CASE(what_the_store_shows_counts_more_than_the_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
