/* Making room: who has to go, who may stay, who moves. */
#include "cluster_fixture.h"

static void check_all(const struct fixture_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cluster_fixture_check(&cases[i]);
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

static void no_more_than_needed(void **state)
{
	static const struct fixture_case cases[] = {
		{"nobody goes when there is room already, that is for allocate", "n1:2", "preempt",
	         .groups = {{.name = "low", .tree = "1", .pods = "n1"},
	                    {.name = "high", .tree = "1", .pods = "-", .priority = 9}}},
		{"nobody goes when it would not help", "n1:2 n2:2", "preempt",
	         .groups = {{.name = "low", .tree = "1", .pods = "n1"},
	                    {.name = "high", .tree = "1", .pods = "-", .priority = 9, .devices = 3}}},
		{"one of three is enough: the youngest", "n1:3", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "n1"},
	                    {.name = "c", .tree = "1", .pods = "n1", .after = "x"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
		{"the lowest priority, old as it is", "n1:3", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "x"},
	                    {.name = "b", .tree = "1", .pods = "n1", .priority = 1},
	                    {.name = "c", .tree = "1", .pods = "n1", .priority = 1},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
		{"surplus before anybody's gang", "n1:3", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1 n1", .after = "n1 x", .priority = 5},
	                    {.name = "b", .tree = "1", .pods = "n1"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
		{"a gang goes as a whole, on every node it runs on", "n1:1 n2:1", "preempt",
	         .groups = {{.name = "low", .tree = "2", .pods = "n1 n2", .after = "x x"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
		{"what the search took off in vain returns: the cheap single does not help the wide pod", "n1:1 n2:4",
	         "preempt",
	         .groups = {{.name = "wide", .tree = "1", .pods = "n2", .after = "x", .devices = 4},
	                    {.name = "single", .tree = "1", .pods = "n1"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n2", .priority = 9, .devices = 4}}},
		{"a minimum of three for a gang of three, and its surplus on its own later", "n1:4", "preempt",
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1 n1 n1", .after = "n1 x x x"},
	                    {.name = "high", .tree = "3", .pods = "- - - -", .after = "~n1 ~n1 ~n1 -", .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void who_may_be_taken(void **state)
{
	static const struct fixture_case cases[] = {
		{"equal priority is not lower", "n1:1", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .priority = 9},
	                    {.name = "b", .tree = "1", .pods = "-", .priority = 9}}},
		{"non-preemptible pods stay whatever happens", "n1:1", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .preempt = CYCLE_NON_PREEMPTIBLE},
	                    {.name = "b", .tree = "1", .pods = "-", .priority = 9}}},
		{"of a semi-preemptible group the surplus goes, the minimum stays", "n1:3", "preempt",
	         .groups = {{.name = "a",
	                     .tree = "2",
	                     .pods = "n1 n1 n1",
	                     .after = "n1 n1 x",
	                     .preempt = CYCLE_SEMI_PREEMPTIBLE},
	                    {.name = "b", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
		{"and nothing when that is not enough", "n1:3", "preempt",
	         .groups = {{.name = "a", .tree = "2", .pods = "n1 n1 n1", .preempt = CYCLE_SEMI_PREEMPTIBLE},
	                    {.name = "b", .tree = "2", .pods = "- -", .priority = 9}}},
		{"preemption stays in its queue", "n1:1", "preempt",
	         .queues = {{"x", NULL, -1, -1, 1, 100}, {"y", NULL, -1, -1, 1, 100}},
	         .groups = {{.name = "a", .queue = "x", .tree = "1", .pods = "n1"},
	                    {.name = "b", .queue = "y", .tree = "1", .pods = "-", .priority = 9}}},
		{"reclaim looks at queues, not at priorities", "n1:2", "reclaim",
	         .queues = {{"lent", NULL, 0, -1, 0, 100}, {"owner", NULL, 2, -1, 0, 100}},
	         .groups = {{.name = "a", .queue = "lent", .tree = "1", .pods = "n1", .after = "x", .priority = 9},
	                    {.name = "b", .queue = "lent", .tree = "1", .pods = "n1", .after = "x", .priority = 9},
	                    {.name = "c", .queue = "owner", .tree = "2", .pods = "- -", .after = "~n1 ~n1"}}},
		{"reclaim takes what is above the quota, and no more", "n1:4", "reclaim",
	         .queues = {{"lent", NULL, 2, -1, 0, 100}, {"owner", NULL, 2, -1, 0, 100}},
	         .groups = {{.name = "a", .queue = "lent", .tree = "0", .pods = "n1 n1 n1 n1", .after = "n1 n1 x x"},
	                    {.name = "c", .queue = "owner", .tree = "2", .pods = "- -", .after = "~n1 ~n1"},
	                    {.name = "d", .queue = "owner", .tree = "1", .pods = "-"}}},
		{"what may not be taken may still be moved", "n1:2 n2:2", "reclaim",
	         .queues = {{"x", NULL, 1, -1, 0, 100}, {"owner", NULL, 3, -1, 0, 100}},
	         .groups =
	                 {{.name = "a", .queue = "x", .tree = "1", .pods = "n1", .after = "~n2"},
	                  {.name = "o", .queue = "owner", .tree = "1", .pods = "n2", .preempt = CYCLE_NON_PREEMPTIBLE},
	                  {.name = "c",
	                   .queue = "owner",
	                   .tree = "1",
	                   .pods = "-",
	                   .after = "~n1",
	                   .devices = 2,
	                   .preempt = CYCLE_NON_PREEMPTIBLE}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void domains(void **state)
{
	static const struct fixture_case cases[] = {
		{"the rack with the fewest victims", "n1:1/r1 n2:1/r1 n3:1/r2 n4:1/r2", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "n2"},
	                    {.name = "c", .tree = "1", .pods = "n3", .after = "x"},
	                    {.name = "high", .tree = "2@rack", .pods = "- -", .after = "~n3 ~n4", .priority = 9}}},
		{"a rack in which a protected pod stands is no use, cheap as the rest of it is",
	         "n1:1/r1 n2:1/r1 n3:1/r2 n4:1/r2", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .preempt = CYCLE_NON_PREEMPTIBLE},
	                    {.name = "c", .tree = "1", .pods = "n3", .after = "x"},
	                    {.name = "d", .tree = "1", .pods = "n4", .after = "~n2"},
	                    {.name = "high", .tree = "2@rack", .pods = "- -", .after = "~n3 ~n4", .priority = 9}}},
		{"no rack is large enough: nobody goes", "n1:1/r1 n2:1/r2", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "n2"},
	                    {.name = "high", .tree = "2@rack", .pods = "- -", .priority = 9}}},
		{"running members fix the rack in which room is made", "n1:1/r1 n2:1/r1 n3:1/r2", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n2", .after = "x"},
	                    {.name = "b", .tree = "1", .pods = "n3"},
	                    {.name = "high", .tree = "2@rack", .pods = "n1 -", .after = "n1 ~n2", .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void moves(void **state)
{
	static const struct fixture_case cases[] = {
		{"consolidation: two singles make room for a wide pod by moving together", "n1:2 n2:2", "consolidate",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "n2", .after = "~n1"},
	                    {.name = "wide", .tree = "1", .pods = "-", .after = "~n2", .devices = 2}}},
		{"nobody loses its place: without a place for the second nobody moves", "n1:2 n2:2 n3:1", "consolidate",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "n2"},
	                    {.name = "c", .tree = "1", .pods = "n3"},
	                    {.name = "wide", .tree = "2", .pods = "- -", .devices = 2}}},
		{"what could not be kept for their successors keeps pods where they are", "n1:2 n2:2", "consolidate",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .stays = true},
	                    {.name = "b", .tree = "1", .pods = "n2", .stays = true},
	                    {.name = "c", .tree = "1", .pods = "-", .devices = 2}}},
		{"a non-preemptible group is neither moved ...", "n1:2 n2:2", "consolidate",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .preempt = CYCLE_NON_PREEMPTIBLE},
	                    {.name = "b", .tree = "1", .pods = "n2", .preempt = CYCLE_NON_PREEMPTIBLE},
	                    {.name = "wide", .tree = "1", .pods = "-", .devices = 2}}},
		{"... nor does it make others move", "n1:2 n2:2", "consolidate",
	         .groups =
	                 {{.name = "a", .tree = "1", .pods = "n1"},
	                  {.name = "b", .tree = "1", .pods = "n2"},
	                  {.name = "wide", .tree = "1", .pods = "-", .devices = 2, .preempt = CYCLE_NON_PREEMPTIBLE}}},
		{"a gang moves within its rack", "n1:2/r1 n2:1/r1 n3:1/r1 n4:2/r2", "consolidate",
	         .groups = {{.name = "a", .tree = "2@rack", .pods = "n1 n2", .after = "~n3 n2"},
	                    {.name = "b", .tree = "1", .pods = "n4", .devices = 2},
	                    {.name = "wide", .tree = "1@rack", .pods = "-", .after = "~n1", .devices = 2}}},
		{"the small pod moves, not the first in line", "n1:4 n2:4", "consolidate",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .devices = 3},
	                    {.name = "b", .tree = "1", .pods = "n2", .after = "~n1"},
	                    {.name = "c", .tree = "1", .pods = "n2", .devices = 2},
	                    {.name = "wide", .tree = "1", .pods = "-", .after = "~n2", .devices = 2}}},
		{"a chain: one takes the place that the other leaves", "n1:4 n2:3 n3:2", "consolidate",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "~n2", .devices = 3},
	                    {.name = "b", .tree = "1", .pods = "n2", .after = "~n3", .devices = 2},
	                    {.name = "wide", .tree = "1", .pods = "-", .after = "~n1", .devices = 4}}},
		{"of a gang below its minimum nobody moves, for nobody would be started again", "n1:2 n2:2",
	         "consolidate",
	         .groups = {{.name = "a", .tree = "2", .pods = "n1 !"},
	                    {.name = "b", .tree = "2(0 1 1)", .pods = "n2 | ! | !"},
	                    {.name = "wide", .tree = "1", .pods = "-", .devices = 2}}},
		{"a pod of a gang moves where the others stay", "n1:2 n2:2 n3:2", "consolidate",
	         .groups = {{.name = "a", .tree = "2", .pods = "n1 n2", .after = "n1 ~n1"},
	                    {.name = "b", .tree = "1", .pods = "n3", .devices = 2},
	                    {.name = "wide", .tree = "1", .pods = "-", .after = "~n2", .devices = 2}}},
		{"three gangs fit together once the two that run have changed places",
	         "a1:1/r1 a2:1/r1 a3:1/r1 a4:1/r1 b1:1/r2 b2:1/r2 b3:1/r2 b4:1/r2 b5:1/r2 b6:1/r2", "consolidate",
	         .groups = {{.name = "a", .tree = "3@rack", .pods = "a1 a2 a3", .after = "~b1 ~b2 ~b3"},
	                    {.name = "b", .tree = "4@rack", .pods = "b1 b2 b3 b4", .after = "~a1 ~a2 ~a3 ~a4"},
	                    {.name = "c", .tree = "3@rack", .pods = "- - -", .after = "~b4 ~b5 ~b6"}}},
		{"they do so at once when none of them runs yet",
	         "a1:1/r1 a2:1/r1 a3:1/r1 a4:1/r1 b1:1/r2 b2:1/r2 b3:1/r2 b4:1/r2 b5:1/r2 b6:1/r2",
	         "allocate consolidate",
	         .groups = {{.name = "a", .tree = "3@rack", .pods = "- - -", .after = "b1 b2 b3"},
	                    {.name = "b", .tree = "4@rack", .pods = "- - - -", .after = "a1 a2 a3 a4"},
	                    {.name = "c", .tree = "3@rack", .pods = "- - -", .after = "b4 b5 b6"}}},
		{"a victim of preemption that finds another place is moved instead", "n1:2 n2:1", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "~n2"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n1", .devices = 2, .priority = 9}}},
		{"of a gang that moves, the pod that is not in the way stays", "n1:1 n2:2 n3:1", "preempt",
	         .groups = {{.name = "a", .tree = "2", .pods = "n1 n2", .after = "n1 ~n3"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n2", .devices = 2, .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void growing(void **state)
{
	static const struct fixture_case cases[] = {
		{"surplus may evict, one unit at a time", "n1:3", "preempt",
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1", .after = "n1 x"},
	                    {.name = "high", .tree = "1", .pods = "n1 - -", .after = "n1 ~n1 -", .priority = 9}}},
		{"a whole child as one unit, or none", "n1:3", "preempt",
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1", .after = "x x"},
	                    {.name = "high",
	                     .tree = "1(1 2)",
	                     .pods = "n1 | - -",
	                     .after = "n1 | ~n1 ~n1",
	                     .priority = 9}}},
		{"gated pods do not count", "n1:2", "preempt",
	         .groups = {{.name = "low", .tree = "0", .pods = "n1"},
	                    {.name = "high", .tree = "1", .pods = "n1 !", .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void limits(void **state)
{
	static const struct fixture_case cases[] = {
		{"room on the nodes, but not below the limit: the lower priority gives way", "n1:9", "preempt",
	         .queues = {{"q", NULL, -1, 2, 1, 100}},
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1", .after = "n1 x"},
	                    {.name = "high", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
		{"more than the limit is never possible: nobody goes", "n1:9", "preempt",
	         .queues = {{"q", NULL, -1, 2, 1, 100}},
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1"},
	                    {.name = "high", .tree = "3", .pods = "- - -", .priority = 9}}},
		{"a non-preemptible group beyond the quota of its queue evicts nobody", "n1:2", "preempt",
	         .queues = {{"q", NULL, 1, -1, 1, 100}},
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1"},
	                    {.name = "high",
	                     .tree = "2",
	                     .pods = "- -",
	                     .priority = 9,
	                     .preempt = CYCLE_NON_PREEMPTIBLE}}},
		{"within the quota it does", "n1:2", "preempt", .queues = {{"q", NULL, 2, -1, 1, 100}},
	         .groups = {{.name = "low", .tree = "0", .pods = "n1 n1", .after = "x x"},
	                    {.name = "high",
	                     .tree = "2",
	                     .pods = "- -",
	                     .after = "~n1 ~n1",
	                     .priority = 9,
	                     .preempt = CYCLE_NON_PREEMPTIBLE}}},
		{"a child gives its surplus first, and what is left of it is within the entitlement", "n1:3", "preempt",
	         .queues = {{"q", NULL, 0, -1, 1, 100}, {"owner", NULL, -1, -1, 1, 100}},
	         .groups = {{.name = "low", .tree = "0(1)", .pods = "n1 n1"},
	                    {.name = "o", .queue = "owner", .tree = "1", .pods = "n1 -"},
	                    {.name = "high", .tree = "2", .pods = "- -", .priority = 9}}},
		{"a child without surplus may go as a whole", "n1:3", "preempt",
	         .queues = {{"q", NULL, 0, -1, 1, 100}, {"owner", NULL, -1, -1, 1, 100}},
	         .groups = {{.name = "low", .tree = "0(2)", .pods = "n1 n1", .after = "x x"},
	                    {.name = "o", .queue = "owner", .tree = "1", .pods = "n1 -"},
	                    {.name = "high", .tree = "2", .pods = "- -", .after = "~n1 ~n1", .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_more_than_needed),
	                                   cmocka_unit_test(who_may_be_taken),
	                                   cmocka_unit_test(domains),
	                                   cmocka_unit_test(moves),
	                                   cmocka_unit_test(growing),
	                                   cmocka_unit_test(limits)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
