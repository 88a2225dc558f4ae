/* PodDisruptionBudgets: what is read of them, what is wrong with them, and how many pods they keep. */
#include "verdict.h"

#include "admit/budget.h"

#define HEAD "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: ns, generation: 3}\n"

static void reads(void **state)
{
	struct parsed parsed;
	struct budget_spec budget;
	struct label web[] = {{.key = "app", .value = "web"}}, db[] = {{.key = "app", .value = "db"}};
	parsed_open(&parsed, HEAD
	            "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}, unhealthyPodEvictionPolicy: "
	            "AlwaysAllow}\n"
	            "status: {disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 4, "
	            "observedGeneration: 3}\n---\n" HEAD "spec: {maxUnavailable: 25%, selector: {}}\n"
	            "status: {disruptionsAllowed: 1, observedGeneration: 2}\n---\n" HEAD "spec: {minAvailable: 1}\n");
	assert_int_equal(budget_decode(parsed_object(&parsed, 0), parsed.arena, &budget, &parsed.problems), 0);
	assert_string_equal(budget.namespace_, "ns");
	assert_true(budget.evicts_unhealthy && budget.has_status && budget.status.current);
	assert_int_equal(budget.status.allowed, 1);
	assert_int_equal(budget.status.desired, 2);
	assert_true(budget_selects(&budget, &(struct labels){web, 1}));
	assert_false(budget_selects(&budget, &(struct labels){db, 1}));
	/* An empty selector selects all, and the status is of an earlier spec. */
	assert_int_equal(budget_decode(parsed_object(&parsed, 1), parsed.arena, &budget, &parsed.problems), 0);
	assert_false(budget.evicts_unhealthy || budget.status.current);
	assert_true(budget_selects(&budget, &(struct labels){db, 1}) && budget_selects(&budget, &(struct labels){0}));
	/* None selects nothing. */
	assert_int_equal(budget_decode(parsed_object(&parsed, 2), parsed.arena, &budget, &parsed.problems), 0);
	assert_false(budget.has_selector || budget.has_status || budget_selects(&budget, &(struct labels){web, 1}));
	assert_int_equal(parsed.problems.count, 0);
	parsed_close(&parsed);
	(void)state;
}

static void keeps(void **state)
{
	static const struct {
		struct percent min, max;
		int64_t expected, desired;
	} rows[] = {
		{{PERCENT_COUNT, 2}, {0}, 5, 2},   {{PERCENT_COUNT, 7}, {0}, 5, 7}, {{PERCENT_SHARE, 50}, {0}, 5, 3},
		{{PERCENT_SHARE, 100}, {0}, 5, 5}, {{0}, {PERCENT_COUNT, 2}, 5, 3}, {{0}, {PERCENT_COUNT, 9}, 5, 0},
		{{0}, {PERCENT_SHARE, 50}, 5, 2},  {{0}, {PERCENT_SHARE, 1}, 5, 4}, {{0}, {0}, 5, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct budget_spec budget = {.min_available = rows[i].min, .max_unavailable = rows[i].max};
		int64_t desired = budget_desired_healthy(&budget, rows[i].expected);
		if (desired != rows[i].desired)
			fail_msg("row %zu: %d of %d", i, (int)desired, (int)rows[i].expected);
	}
	(void)state;
}

static void objects_to(void **state)
{
	static const struct row rows[] = {
		{"both numbers",
	         "{minAvailable: 1, maxUnavailable: 1, selector: {}}",
	         {{'E', "spec", "cannot both be set"}}},
		{"a negative number", "{minAvailable: -1, selector: {}}", {{'E', "spec.minAvailable", NULL}}},
		{"a share without its sign",
	         "{maxUnavailable: \"3\", selector: {}}",
	         {{'E', "spec.maxUnavailable", NULL}}},
		{"an unknown policy",
	         "{minAvailable: 1, selector: {}, unhealthyPodEvictionPolicy: Never}",
	         {{'E', "spec.unhealthyPodEvictionPolicy", NULL}}},
		{"a bad selector",
	         "{minAvailable: 1, selector: {matchExpressions: [{key: a, operator: In}]}}",
	         {{'E', "spec.selector.matchExpressions[0].values", NULL}}},
	};
	verdict_check_all(HEAD "spec: ", rows, COUNT_OF(rows));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(keeps),
		cmocka_unit_test(objects_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
