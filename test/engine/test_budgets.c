/* Disruption budgets in the choice of victims: whom they guard, from which actions, and what is said. */
#include "cluster_fixture.h"

static void check_all(const struct fixture_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cluster_fixture_check(&cases[i]);
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

#define HIGH .name = "high", .tree = "1", .pods = "-", .priority = 9

static void preemption(void **state)
{
	static const struct fixture_case cases[] = {
		{"who is guarded stays where another can go", "n1:2", "preempt", .budgets = {{"web", 0}},
	         .groups = {{.name = "old", .tree = "1", .pods = "n1", .after = "x", .priority = 5},
	                    {.name = "web", .tree = "1", .pods = "n1", .app = "web"},
	                    {HIGH, .after = "~n1"}}},
		{"a budget that allows one gives one", "n1:3", "preempt", .budgets = {{"web", 1}},
	         .groups = {{.name = "old", .tree = "1", .pods = "n1", .after = "x", .priority = 5},
	                    {.name = "a", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "b", .tree = "1", .pods = "n1", .app = "web", .after = "x"},
	                    {.name = "high", .tree = "2", .pods = "- -", .priority = 9, .after = "~n1 ~n1"}}},
		{"the one it gives is the one that helps", "n1:1 n2:2", "preempt", .budgets = {{"web", 1}},
	         .groups = {{.name = "wide", .tree = "1", .pods = "n2", .app = "web", .devices = 2, .after = "x"},
	                    {.name = "young", .tree = "1", .pods = "n1", .app = "web"},
	                    {HIGH, .devices = 2, .after = "~n2"}}},
		{"violated where nobody else can go", "n1:1", "preempt", .budgets = {{"web", 0}}, .violations = 1,
	         .groups = {{.name = "web", .tree = "1", .pods = "n1", .app = "web", .after = "x"},
	                    {HIGH, .after = "~n1"}}},
		{"not beyond what is needed: of two gangs the one with fewer guarded pods", "n1:2 n2:2", "preempt",
	         .budgets = {{"web", 1}},
	         .groups = {{.name = "mixed", .tree = "2", .pods = "n1 n1", .app = "web"},
	                    {.name = "other", .tree = "1", .pods = "n2", .devices = 2, .after = "x", .priority = 5},
	                    {.name = "high", .tree = "1", .pods = "-", .devices = 2, .priority = 9, .after = "~n2"}}},
		{"not where that is forbidden, and it is told", "n1:1", "preempt", .budgets = {{"web", 0}},
	         .never_violate = true,
	         .groups = {{.name = "web", .tree = "1", .pods = "n1", .app = "web"},
	                    {HIGH,
	                     .says = "would fit if PodDisruptionBudget default/web allowed more than 0 evictions"}}},
		{"a pod that is moved leaves, too", "n1:2 n2:2", "preempt", .budgets = {{"web", 0}},
	         .groups = {{.name = "web", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "big", .tree = "1", .pods = "n2", .devices = 2, .after = "x", .priority = 5},
	                    {.name = "high", .tree = "1", .pods = "-", .devices = 2, .priority = 9, .after = "~n2"}}},
		{"two budgets over one pod: the tighter one counts", "n1:2", "preempt",
	         .budgets = {{"web", 1}, {"*", 0}}, .violations = 1,
	         .groups = {{.name = "web", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "young", .tree = "1", .pods = "n1", .after = "x"},
	                    {HIGH, .after = "~n1"}}},
		{"what was taken before in the cycle counts", "n1:1 n2:1", "preempt", .budgets = {{"web", 1}},
	         .never_violate = true,
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "b", .tree = "1", .pods = "n2", .app = "web", .after = "x"},
	                    {HIGH, .after = "~n2"},
	                    {.name = "next", .tree = "1", .pods = "-", .priority = 8}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void health(void **state)
{
	static const struct fixture_case cases[] = {
		{"a pod that has not started is no loss", "n1:1", "preempt", .budgets = {{"web", 0}},
	         .groups = {{.name = "web",
	                     .tree = "1",
	                     .pods = "n1",
	                     .app = "web",
	                     .after = "x",
	                     .health = HEALTH_STARTING},
	                    {HIGH, .after = "~n1"}}},
		{"nor one that is not ready, while enough others are", "n1:1", "preempt", .budgets = {{"web", 0}},
	         .groups = {{.name = "web",
	                     .tree = "1",
	                     .pods = "n1",
	                     .app = "web",
	                     .after = "x",
	                     .health = HEALTH_UNREADY},
	                    {HIGH, .after = "~n1"}}},
		{"otherwise it is", "n1:1", "preempt", .budgets = {{"web", 0, .guards_unready = true}},
	         .never_violate = true,
	         .groups = {{.name = "web", .tree = "1", .pods = "n1", .app = "web", .health = HEALTH_UNREADY},
	                    {HIGH}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

#define LENT                                                                                                           \
	{                                                                                                              \
		{"lent", NULL, 0, -1, 0, 100},                                                                         \
		{                                                                                                      \
			"owner", NULL, 2, -1, 0, 100                                                                   \
		}                                                                                                      \
	}

static void other_actions(void **state)
{
	static const struct fixture_case cases[] = {
		{"reclaim never violates a budget", "n1:1", "reclaim", .queues = LENT, .budgets = {{"web", 0}},
	         .groups = {{.name = "a", .queue = "lent", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "b",
	                     .queue = "owner",
	                     .tree = "1",
	                     .pods = "-",
	                     .priority = 9,
	                     .says = "would fit if PodDisruptionBudget default/web allowed more than 0 evictions"}}},
		{"it takes somebody else", "n1:2", "reclaim", .queues = LENT, .budgets = {{"web", 0}},
	         .groups = {{.name = "a", .queue = "lent", .tree = "1", .pods = "n1", .after = "x", .priority = 5},
	                    {.name = "b", .queue = "lent", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "c", .queue = "owner", .tree = "1", .pods = "-", .after = "~n1"}}},
		{"and as many as the budget allows", "n1:3", "reclaim", .queues = LENT, .budgets = {{"web", 1}},
	         .groups = {{.name = "a",
	                     .queue = "lent",
	                     .tree = "0",
	                     .pods = "n1 n1 n1",
	                     .app = "web",
	                     .after = "n1 n1 x"},
	                    {.name = "b", .queue = "owner", .tree = "1", .pods = "-", .after = "~n1"},
	                    {.name = "c", .queue = "owner", .tree = "1", .pods = "-"}}},
		{"consolidation moves nobody who is guarded", "n1:2 n2:2", "consolidate", .budgets = {{"web", 0}},
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "b", .tree = "1", .pods = "n2", .app = "web"},
	                    {.name = "c", .tree = "1", .pods = "-", .devices = 2}}},
		{"but the others", "n1:2 n2:2", "consolidate", .budgets = {{"web", 0}},
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "b", .tree = "1", .pods = "n2", .after = "~n1"},
	                    {.name = "c", .tree = "1", .pods = "-", .devices = 2, .after = "~n2"}}},
		{"a stale gang is not released from what guards it", "n1:2", "stalegangeviction",
	         .budgets = {{"web", 0}}, .second = 100,
	         .groups = {{.name = "a",
	                     .tree = "2",
	                     .pods = "n1 -",
	                     .app = "web",
	                     .grace = 10,
	                     .stale = 100,
	                     .says = "PodDisruptionBudget default/web does not allow it"},
	                    {.name = "b", .tree = "2", .pods = "n1 -", .after = "x -", .grace = 10, .stale = 100}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(preemption),
		cmocka_unit_test(health),
		cmocka_unit_test(other_actions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
