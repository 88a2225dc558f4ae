/* Minimum runtimes of queues: who is safe for a while, from whom, and what those hear who wait for it. */
#include "cluster_fixture.h"

#include <string.h>

static void check_all(const struct fixture_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cluster_fixture_check(&cases[i]);
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

#define HIGH .name = "high", .queue = "q", .tree = "1", .pods = "-", .priority = 9

static void within_a_queue(void **state)
{
	static const struct fixture_case cases[] = {
		{"who has run too short a time stays", "n1:1", "preempt", .second = 100 + 360,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "low", .tree = "1", .pods = "n1", .since = 100},
	                    {HIGH,
	                     .says = "would fit when default/low has run 10m (preemptMinRuntime of queue q), in 4m"}}},
		{"and goes when the time is over, to the second", "n1:1", "preempt", .second = 100 + 600,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "low", .tree = "1", .pods = "n1", .after = "x", .since = 100},
	                    {HIGH, .after = "~n1"}}},
		{"a time for reclaims says nothing about preemption", "n1:1", "preempt", .second = 101,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .reclaim_runtime = 600}},
	         .groups = {{.name = "low", .tree = "1", .pods = "n1", .after = "x", .since = 100},
	                    {HIGH, .after = "~n1"}}},
		{"a group of which nobody knows how long it runs is not safe", "n1:1", "preempt", .second = 101,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "low", .tree = "1", .pods = "n1", .after = "x"}, {HIGH, .after = "~n1"}}},
		{"surplus is lent: it goes at any time", "n1:3", "preempt", .second = 101,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "low", .tree = "2", .pods = "n1 n1 n1", .after = "n1 n1 x", .since = 100},
	                    {HIGH, .after = "~n1"}}},
		{"but not the minimum with it", "n1:3", "preempt", .second = 101,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "low", .tree = "2", .pods = "n1 n1 n1", .since = 100},
	                    {HIGH, .devices = 2, .says = "in 10m"}}},
		{"the cheapest victim is safe, the next one is not", "n1:2", "preempt", .second = 700,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "old", .tree = "1", .pods = "n1", .after = "x", .since = 50, .priority = 2},
	                    {.name = "young", .tree = "1", .pods = "n1", .since = 650},
	                    {HIGH, .after = "~n1"}}},
		{"the first moment is named, not the last", "n1:1 n2:1 n3:1", "preempt", .second = 100,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .since = 90},
	                    {.name = "b", .tree = "1", .pods = "n2", .since = 30},
	                    {.name = "c", .tree = "1", .pods = "n3", .since = 60},
	                    {HIGH,
	                     .says = "would fit when default/b has run 10m (preemptMinRuntime of queue q), in 9m"}}},
		{"two are needed: the later one decides", "n1:1 n2:1 n3:1", "preempt", .second = 100,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600}},
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .since = 90},
	                    {.name = "b", .tree = "1", .pods = "n2", .since = 30},
	                    {.name = "c", .tree = "1", .pods = "n3", .since = 60},
	                    {.name = "high",
	                     .queue = "q",
	                     .tree = "2",
	                     .pods = "- -",
	                     .priority = 9,
	                     .says = "would fit when default/c and 1 more has run 10m"}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

/* root has two departments, a and b; a has two teams. */
#define TREE(root_time, a_time, team_time)                                                                             \
	{                                                                                                              \
		{"root", NULL, -1, -1, 1, 100, .reclaim_runtime = (root_time)},                                        \
			{"a", "root", 0, -1, 0, 100, .reclaim_runtime = (a_time)},                                     \
			{"a1", "a", 0, -1, 0, 100, .reclaim_runtime = (team_time)}, {"a2", "a", 1, -1, 0, 100},        \
		{                                                                                                      \
			"b", "root", 1, -1, 0, 100                                                                     \
		}                                                                                                      \
	}
#define YOUNG .name = "young", .queue = "a1", .tree = "1", .pods = "n1", .since = 100
#define CLAIM(from) .name = "claim", .queue = (from), .tree = "1", .pods = "-"

static void between_queues(void **state)
{
	static const struct fixture_case cases[] = {
		{"another department asks the department, not the team", "n1:1", "reclaim", .second = 200,
	         .queues = TREE(0, 300, 900),
	         .groups = {{YOUNG}, {CLAIM("b"), .says = "run 5m (reclaimMinRuntime of queue a), in 4m"}}},
		{"so the long time of the team is none against it", "n1:1", "reclaim", .second = 400,
	         .queues = TREE(0, 300, 900), .groups = {{YOUNG, .after = "x"}, {CLAIM("b"), .after = "~n1"}}},
		{"what the department does not say, the one above it does", "n1:1", "reclaim", .second = 200,
	         .queues = TREE(120, 0, 900),
	         .groups = {{YOUNG}, {CLAIM("b"), .says = "reclaimMinRuntime of queue root), in 20s"}}},
		{"a time of nothing is an answer, too", "n1:1", "reclaim", .second = 200, .queues = TREE(120, -1, 900),
	         .groups = {{YOUNG, .after = "x"}, {CLAIM("b"), .after = "~n1"}}},
		{"without any of them nobody is safe", "n1:1", "reclaim", .second = 200, .queues = TREE(0, 0, 0),
	         .groups = {{YOUNG, .after = "x"}, {CLAIM("b"), .after = "~n1"}}},
		{"consolidation moves whom it likes: that ends no work", "n1:2 n2:2", "consolidate", .second = 101,
	         .queues = {{"q", NULL, -1, -1, 1, 100, .preempt_runtime = 600, .reclaim_runtime = 600}},
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .since = 100},
	                    {.name = "b", .tree = "1", .pods = "n2", .after = "~n1", .since = 100},
	                    {.name = "c", .tree = "1", .pods = "-", .devices = 2, .after = "~n2"}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void sibling_teams(void **state)
{
	struct cluster_fixture fixture;
	struct fixture_queue queues[] = TREE(0, 300, 900);
	struct fixture_group groups[] = {{YOUNG}, {CLAIM("a2")}, {0}};
	struct fixture_queue list[6] = {0};
	(void)state;
	memcpy(list, queues, sizeof(queues));
	/* Within a department the team itself is asked. */
	cluster_fixture_create(&fixture, "n1:1", list, groups);
	cluster_fixture_run(&fixture, "reclaim", 999);
	assert_string_equal(cluster_fixture_pods(&fixture, 0), "n1");
	assert_true(fixture.cycle.retry_at == INT64_C(1000) * 1000000000);
	cluster_fixture_run(&fixture, "reclaim", 1000);
	assert_string_equal(cluster_fixture_pods(&fixture, 0), "x");
	assert_true(fixture.cycle.retry_at == INT64_MAX);
	cluster_fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_a_queue),
		cmocka_unit_test(between_queues),
		cmocka_unit_test(sibling_teams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
