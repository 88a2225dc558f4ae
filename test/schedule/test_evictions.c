/* Evictions and disruption budgets: which way a pod is evicted, what is told, and what happens when the API refuses. */
#include "fixtures/scheduler_fixture.h"
#include "loop/writes.h"

static bool event_says(struct scheduler_fixture *fixture, const char *reason, const char *text)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(fixture->base.store, "", "v1", "events")};
	bool said = false;
	assert_int_equal(store_list(fixture->base.store, &request, &list, arena, &error), 0);
	for (size_t i = 0; i < list.count; i++)
		said |= strcmp(val_str(val_get(list.items[i]->root, "reason"), ""), reason) == 0 &&
		        strstr(val_str(val_get(list.items[i]->root, "message"), ""), text);
	store_list_clear(&list);
	arena_destroy(arena);
	return said;
}

static void budget(struct scheduler_fixture *fixture, int allowed)
{
	char body[512];
	assert_code(&fixture->base,
	            fixture_create(&fixture->base, "poddisruptionbudgets.policy", "default",
	                           "{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'guard'},"
	                           "'spec':{'minAvailable':1,'selector':{}}}"),
	            201);
	snprintf(body, sizeof(body),
	         "{'status':{'disruptionsAllowed':%d,'currentHealthy':1,'desiredHealthy':%d,'expectedPods':1,"
	         "'observedGeneration':1}}",
	         allowed, 1 - allowed);
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "poddisruptionbudgets.policy", "default", "guard", body), 200);
}

#define NO_BUDGET (-1)

/* One node, and a pod of low priority that runs on it. */
static void occupy(struct scheduler_fixture *fixture, int allowed)
{
	scheduler_fixture_nodes(fixture, 1);
	scheduler_fixture_gang(fixture, "low", 1, 1, "");
	scheduler_fixture_turns(fixture, 5);
	assert_code(&fixture->base,
	            fixture_merge_status(
			    &fixture->base, "pods", "default", "low-0",
			    "{'status':{'phase':'Running','conditions':[{'type':'PodScheduled','status':'True'},"
			    "{'type':'Ready','status':'True'}]}}"),
	            200);
	if (allowed != NO_BUDGET)
		budget(fixture, allowed);
}

/* A pod of higher priority that wants the node. */
static void demand(struct scheduler_fixture *fixture)
{
	fixture_create(&fixture->base, "priorityclasses.scheduling.k8s.io", "",
	               "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'high'},"
	               "'value':90}");
	scheduler_fixture_gang(fixture, "high", 1, 1, ",'priorityClassName':'high'");
	scheduler_fixture_turns(fixture, 5);
}

static void compete(struct scheduler_fixture *fixture, int allowed)
{
	occupy(fixture, allowed);
	demand(fixture);
}

/* The reason of the condition DisruptionTarget, or "". */
static const char *disrupted(struct scheduler_fixture *fixture, const char *pod)
{
	struct store *store = fixture->base.store;
	const struct store_object *object = store_peek(store, store_type_find(store, "", "pods"), "default", pod);
	const struct val *condition = object ? writes_find_condition(object->root, "DisruptionTarget") : NULL;
	return val_str(val_get(condition, "reason"), "");
}

static bool is_leaving(struct scheduler_fixture *fixture, const char *pod)
{
	return scheduler_fixture_at(fixture, "pods", "default", pod, "metadata.deletionTimestamp")[0] != '\0';
}

static void what_a_budget_allows_is_evicted_through_the_api(void **state)
{
	struct scheduler_fixture *fixture = *state;
	compete(fixture, 1);
	assert_true(event_says(fixture, "Evicted", "for default/high (preempt)"));
	assert_false(event_says(fixture, "Evicted", "violating"));
	assert_string_equal(scheduler_fixture_at(fixture, "poddisruptionbudgets.policy", "default", "guard",
	                                         "status.disruptionsAllowed"),
	                    "0");
	assert_string_equal(disrupted(fixture, "low-0"), "EvictionByEvictionAPI");
}

static void who_is_preempted_is_marked(void **state)
{
	struct scheduler_fixture *fixture = *state;
	compete(fixture, NO_BUDGET);
	assert_true(is_leaving(fixture, "low-0"));
	assert_string_equal(disrupted(fixture, "low-0"), "PreemptionByScheduler");
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "low-0", "status.conditions.2.message"),
	                    "platoon: evicted for default/high (preempt)");
}

static void who_is_released_is_marked(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	scheduler_fixture_gang(fixture, "pair", 2, 2, "");
	scheduler_fixture_turns(fixture, 5);
	scheduler_fixture_phase(fixture, "pair-0", "Running");
	scheduler_fixture_phase(fixture, "pair-1", "Failed");
	scheduler_fixture_turns(fixture, 700);
	assert_true(is_leaving(fixture, "pair-0"));
	assert_string_equal(disrupted(fixture, "pair-0"), "PreemptionByScheduler");
}

/* Its owner would take the deletion for a failure. */
static void nobody_leaves_unmarked(void **state)
{
	struct scheduler_fixture *fixture = *state;
	occupy(fixture, NO_BUDGET);
	fixture->troubles[0] = (struct trouble){.pod = "low-0", .code = 500, .always = true, .marks = true};
	demand(fixture);
	assert_false(is_leaving(fixture, "low-0"));
	fixture->troubles[0].pod = NULL;
	scheduler_fixture_turns(fixture, 50);
	assert_true(is_leaving(fixture, "low-0"));
	assert_string_equal(disrupted(fixture, "low-0"), "PreemptionByScheduler");
}

static void a_violation_is_told_and_marked(void **state)
{
	struct scheduler_fixture *fixture = *state;
	compete(fixture, 0);
	assert_true(event_says(fixture, "Evicted", "for default/high, violating PodDisruptionBudget default/guard"));
	assert_string_equal(disrupted(fixture, "low-0"), "PreemptionByScheduler");
}

/* The eviction API says no to such a pod whatever the budgets say, and would be asked for ever. */
static void a_pod_of_two_budgets_is_deleted_when_both_allow_it(void **state)
{
	struct scheduler_fixture *fixture = *state;
	occupy(fixture, 1);
	assert_code(&fixture->base,
	            fixture_create(&fixture->base, "poddisruptionbudgets.policy", "default",
	                           "{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'other'},"
	                           "'spec':{'minAvailable':0,'selector':{}}}"),
	            201);
	demand(fixture);
	assert_true(is_leaving(fixture, "low-0"));
	assert_false(event_says(fixture, "Evicted", "violating"));
	assert_string_equal(disrupted(fixture, "low-0"), "PreemptionByScheduler");
}

static void a_refused_eviction_waits_alone(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "low-0", .code = 429, .always = true, .evicts = true};
	compete(fixture, 1);
	scheduler_fixture_turns(fixture, 300);
	assert_true(event_says(fixture, "FailedEviction", "eviction from node n0 refused (429)"));
	assert_in_range(scheduler_fixture_metric(fixture, "platoon_evictions_refused_total"), 4, 12);
	/* Nobody else waits for that. */
	scheduler_fixture_node(fixture, "n9", "r");
	scheduler_fixture_gang(fixture, "other", 1, 1, "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "other", 1) + scheduler_fixture_placed(fixture, "high", 1),
	                 1);
	fixture->troubles[0].pod = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scheduler_fixture_begin, scheduler_fixture_end)
	const struct CMUnitTest tests[] = {
		TEST(what_a_budget_allows_is_evicted_through_the_api),
		TEST(who_is_preempted_is_marked),
		TEST(who_is_released_is_marked),
		TEST(nobody_leaves_unmarked),
		TEST(a_violation_is_told_and_marked),
		TEST(a_pod_of_two_budgets_is_deleted_when_both_allow_it),
		TEST(a_refused_eviction_waits_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
