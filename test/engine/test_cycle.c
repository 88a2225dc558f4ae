/* Whole cycles: who is served first, how gangs grow, what queues allow, when timers run out. */
#include "cluster_fixture.h"

#include <string.h>

#define ALL "allocate consolidate reclaim preempt stalegangeviction"

static void check_all(const struct fixture_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cluster_fixture_check(&cases[i]);
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

static void order_of_service(void **state)
{
	static const struct fixture_case cases[] = {
		{"the higher priority first", "n1:1", "allocate",
	         .groups = {{.name = "a", .tree = "1", .pods = "-"},
	                    {.name = "b", .tree = "1", .pods = "-", .after = "n1", .priority = 1}}},
		{"of equals the older", "n1:1", "allocate",
	         .groups = {{.name = "a", .tree = "1", .pods = "-", .after = "n1"},
	                    {.name = "b", .tree = "1", .pods = "-"}}},
		{"one that does not fit blocks nobody", "n1:2", "allocate",
	         .groups = {{.name = "a", .tree = "3", .pods = "- - -", .priority = 9},
	                    {.name = "b", .tree = "2", .pods = "- -", .after = "n1 n1"}}},
		{"minimums of all before the surplus of anybody", "n1:4", "allocate",
	         .groups = {{.name = "a", .tree = "1", .pods = "- - -", .after = "n1 n1 -"},
	                    {.name = "b", .tree = "2", .pods = "- -", .after = "n1 n1"}}},
		{"the first part does not pin itself where the others stand in the way", "n1:3/r1 n2:2/r2", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "0(0@rack 0@rack)",
	                     .pods = "- - - | - - -",
	                     .after = "n1 n1 n1 | n2 n2 -"}}},
		{"whatever fits of the surplus fits together, as evenly as that allows",
	         "n1:2/r1 n2:2/r1 n3:2/r2 n4:2/r2", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "0(0@rack 0@rack 0)",
	                     .pods = "- - - | - - - | - -",
	                     .devices = 2,
	                     .after = "n1 n2 - | n3 - - | n4 -"}}},
		{"the minimum goes where the most surplus can follow", "n1:3/r1 n2:1/r2 n3:4/r3", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "2(1@rack 2@rack)",
	                     .pods = "- - - - | - - - -",
	                     .after = "n3 n3 n3 n3 | n1 n1 n1 -"}}},
		{"surplus goes round: one pod each in turn", "n1:6", "allocate",
	         .groups = {{.name = "a", .tree = "1", .pods = "- - - - -", .after = "n1 n1 n1 - -"},
	                    {.name = "b", .tree = "1", .pods = "- - - - -", .after = "n1 n1 n1 - -"}}},
		{"but the higher priority grows first", "n1:6", "allocate",
	         .groups = {{.name = "a", .tree = "1", .pods = "- - - - -", .after = "n1 - - - -"},
	                    {.name = "b", .tree = "1", .pods = "- - - - -", .after = "n1 n1 n1 n1 n1", .priority = 1}}},
		{"queues in turn, by what they use of their share", "n1:4", "allocate",
	         .queues = {{"x", NULL, 2, -1, 1, 100}, {"y", NULL, 2, -1, 1, 100}},
	         .groups = {{.name = "a", .queue = "x", .tree = "1", .pods = "-", .after = "n1"},
	                    {.name = "b", .queue = "x", .tree = "1", .pods = "-", .after = "n1"},
	                    {.name = "c", .queue = "x", .tree = "1", .pods = "-"},
	                    {.name = "d", .queue = "y", .tree = "1", .pods = "-", .after = "n1"},
	                    {.name = "e", .queue = "y", .tree = "1", .pods = "-", .after = "n1"}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void whole_gangs(void **state)
{
	static const struct fixture_case cases[] = {
		{"all of the minimum or nothing", "n1:2", "allocate",
	         .groups = {{.name = "a", .tree = "3", .pods = "- - -"}}},
		{"too few pods exist: not tried", "n1:9", "allocate",
	         .groups = {{.name = "a", .tree = "3", .pods = "- - !"}}},
		{"the missing one only", "n1:2 n2:2", "allocate",
	         .groups = {{.name = "a", .tree = "2", .pods = "n2 -", .after = "n2 n2"}}},
		{"two of three children, those that fit", "n1:4", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "2(3 2 2)",
	                     .pods = "- - - | - - | - -",
	                     .after = "- - - | n1 n1 | n1 n1"}}},
		{"a third child only as a whole", "n1:5", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "2(2 2 2)",
	                     .pods = "- - | - - | - -",
	                     .after = "n1 n1 | n1 n1 | - -"}}},
		{"a gang that waits for somebody to leave is reserved as a whole, nothing of it starts", "n1:1 n2:1",
	         "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "x"},
	                    {.name = "b", .tree = "2", .pods = "- -", .after = "~n1 ~n2", .priority = 9}}},
		{"what is reserved is bound when its place is free", "n1:1", "allocate",
	         .groups = {{.name = "b", .tree = "1", .pods = "~n1", .after = "n1"}}},
		{"room that is taken from pods that have not started is there at once", "n1:1 n2:1", ALL,
	         .groups = {{.name = "a", .tree = "2", .pods = "~n1 ~n2", .after = "- -"},
	                    {.name = "b", .tree = "2", .pods = "- -", .after = "n1 n2", .priority = 9}}},
		{"but not when others leave for it as well", "n1:1 n2:1", ALL,
	         .groups = {{.name = "a", .tree = "1", .pods = "~n1", .after = "-"},
	                    {.name = "b", .tree = "1", .pods = "n2", .after = "x"},
	                    {.name = "c", .tree = "2", .pods = "- -", .after = "~n1 ~n2", .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void bounds_of_queues(void **state)
{
	static const struct fixture_case cases[] = {
		{"a limit holds on an empty cluster", "n1:9", ALL, .queues = {{"q", NULL, 0, 2, 1, 100}},
	         .groups = {{.name = "a", .tree = "1", .pods = "- - -", .after = "n1 n1 -"}}},
		{"a gang beyond the limit does not start at all", "n1:9", ALL, .queues = {{"q", NULL, 0, 2, 1, 100}},
	         .groups = {{.name = "a", .tree = "3", .pods = "- - -"}}},
		{"the limit of a parent counts for all below it", "n1:9", ALL,
	         .queues = {{"top", NULL, 0, 3, 1, 100}, {"x", "top", 0, -1, 1, 100}, {"y", "top", 0, -1, 1, 100}},
	         .groups = {{.name = "a", .queue = "x", .tree = "2", .pods = "- -", .after = "n1 n1"},
	                    {.name = "b", .queue = "y", .tree = "2", .pods = "- -"},
	                    {.name = "c", .queue = "y", .tree = "1", .pods = "-", .after = "n1"}}},
		{"non-preemptible pods only within the quota", "n1:9", ALL, .queues = {{"q", NULL, 2, -1, 1, 100}},
	         .groups =
	                 {{.name = "a", .tree = "2", .pods = "- -", .after = "n1 n1", .preempt = CYCLE_NON_PREEMPTIBLE},
	                  {.name = "b", .tree = "1", .pods = "-", .preempt = CYCLE_NON_PREEMPTIBLE},
	                  {.name = "c", .tree = "1", .pods = "-", .after = "n1"}}},
		{"preemptible use does not count against the quota of others", "n1:9", ALL,
	         .queues = {{"q", NULL, 2, -1, 1, 100}},
	         .groups = {{.name = "a", .tree = "3", .pods = "n1 n1 n1"},
	                    {.name = "b",
	                     .tree = "2",
	                     .pods = "- -",
	                     .after = "n1 n1",
	                     .preempt = CYCLE_NON_PREEMPTIBLE}}},
		{"of a semi-preemptible group only the minimum counts", "n1:9", ALL,
	         .queues = {{"q", NULL, 2, -1, 1, 100}},
	         .groups = {{.name = "a",
	                     .tree = "2",
	                     .pods = "- - - -",
	                     .after = "n1 n1 n1 n1",
	                     .preempt = CYCLE_SEMI_PREEMPTIBLE},
	                    {.name = "b", .tree = "1", .pods = "-", .preempt = CYCLE_SEMI_PREEMPTIBLE}}},
		{"a queue that does not exist", "n1:9", ALL,
	         .groups = {{.name = "a", .queue = "nowhere", .tree = "1", .pods = "-"}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void timers(void **state)
{
	static const struct fixture_case cases[] = {
		{"a gang below its minimum is tolerated for its grace", "n1:9", "stalegangeviction", .second = 0,
	         .groups = {{.name = "a", .tree = "2", .pods = "n1", .grace = 60, .stale = 59}}},
		{"then all of it goes", "n1:9", "stalegangeviction", .second = 1,
	         .groups = {{.name = "a", .tree = "3", .pods = "n1 n1 -", .after = "x x -", .grace = 60, .stale = 59}}},
		{"a gang at its minimum is not stale, whatever was noted", "n1:9", "stalegangeviction", .second = 100,
	         .groups = {{.name = "a", .tree = "1", .pods = "n1 -", .grace = 60, .stale = 59}}},
		{"a minimum that was raised ends nothing that met the former one", "n1:3", ALL, .second = 100,
	         .groups = {{.name = "a", .tree = "4", .pods = "n1 n1 n1 -", .met = 3, .grace = 60, .stale = 59}}},
		{"what is lost then counts as before", "n1:9", "stalegangeviction", .second = 100,
	         .groups = {{.name = "a",
	                     .tree = "4",
	                     .pods = "n1 n1 -",
	                     .after = "x x -",
	                     .met = 3,
	                     .grace = 60,
	                     .stale = 59}}},
		{"no grace, no end", "n1:9", "stalegangeviction", .second = 100000,
	         .groups = {{.name = "a", .tree = "2", .pods = "n1", .stale = 59}}},
		{"an optional child that is down makes nobody stale", "n1:9", "stalegangeviction", .second = 100,
	         .groups = {{.name = "a", .tree = "1(1 2)", .pods = "n1 | n1 -", .grace = 60, .stale = 59}}},
		{"a stale gang that can be completed is, before it goes", "n1:2", ALL, .second = 100,
	         .groups = {{.name = "a", .tree = "2", .pods = "n1 -", .after = "n1 n1", .grace = 60, .stale = 59}}},
		{"what it lost has no place beside the rest, and all of it has elsewhere: nobody waits for the grace",
	         "a1:2/a b1:3/b", "allocate stalegangeviction",
	         .groups = {{.name = "a",
	                     .tree = "3@rack",
	                     .pods = "a1 a1 -",
	                     .after = "x x -",
	                     .grace = 60,
	                     .resettles = true}}},
		{"where all of it has no place, it stays for its grace", "a1:2/a b1:2/b", "allocate stalegangeviction",
	         .groups = {{.name = "a", .tree = "3@rack", .pods = "a1 a1 -", .grace = 60, .resettles = true}}},
		{"where it can be completed, it is", "a1:3/a b1:3/b", "allocate stalegangeviction",
	         .groups = {{.name = "a",
	                     .tree = "3@rack",
	                     .pods = "a1 a1 -",
	                     .after = "a1 a1 a1",
	                     .grace = 60,
	                     .resettles = true}}},
		{"what is above its minimum stays", "a1:2/a b1:3/b", "allocate stalegangeviction",
	         .groups = {{.name = "a", .tree = "2@rack", .pods = "a1 a1 -", .grace = 60, .resettles = true}}},
		{"a grace of its own is kept", "a1:2/a b1:3/b", "allocate stalegangeviction",
	         .groups = {{.name = "a", .tree = "3@rack", .pods = "a1 a1 -", .grace = 60}}},
		{"a pod that is not there yet is waited for", "a1:2/a b1:3/b", "allocate stalegangeviction",
	         .groups = {{.name = "a", .tree = "3@rack", .pods = "a1 a1", .grace = 60, .resettles = true}}},
		{"before its delay a group evicts nobody ...", "n1:1", ALL, .second = 9,
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "-", .priority = 9, .delay = 10}}},
		{"... and moves nobody", "n1:2 n2:2", "consolidate", .second = 9,
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "n2"},
	                    {.name = "c", .tree = "1", .pods = "-", .devices = 2, .delay = 10}}},
		{"but takes what is free", "n1:2", ALL, .second = 9,
	         .groups = {{.name = "a", .tree = "1", .pods = "n1"},
	                    {.name = "b", .tree = "1", .pods = "-", .after = "n1", .priority = 9, .delay = 10}}},
		{"afterwards it does", "n1:1", ALL, .second = 10,
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "x"},
	                    {.name = "b", .tree = "1", .pods = "-", .after = "~n1", .priority = 9, .delay = 10}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

static void one_cycle(void **state)
{
	static const struct fixture_case cases[] = {
		{"moving comes before taking: consolidation saves the victim of reclaim", "n1:2 n2:2", ALL,
	         .queues = {{"x", NULL, 1, -1, 1, 100}, {"y", NULL, 3, -1, 1, 100}},
	         .groups = {{.name = "a", .queue = "x", .tree = "1", .pods = "n1"},
	                    {.name = "b", .queue = "x", .tree = "1", .pods = "n2", .after = "~n1"},
	                    {.name = "c", .queue = "y", .tree = "1", .pods = "-", .after = "~n2", .devices = 2}}},
		{"what is bound and given up in one cycle is never evicted: it waits again", "n1:3", "allocate preempt",
	         .groups = {{.name = "small", .tree = "1", .pods = "-"},
	                    {.name = "low", .tree = "1", .pods = "n1", .after = "x"},
	                    {.name = "wide", .tree = "1", .pods = "-", .after = "~n1", .devices = 3, .priority = 9}}},
		{"a group that was promised a place is no victim in the same cycle", "n1:1", "preempt",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "x"},
	                    {.name = "b", .tree = "1", .pods = "-", .priority = 5},
	                    {.name = "c", .tree = "1", .pods = "-", .after = "~n1", .priority = 9}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

/* States, what they are proof of, and that each has a reason. */
static void states(void **state)
{
	static const struct {
		const char *story, *tree, *pods;
		enum group_state state;
		enum group_proof proof;
		int limit;
		const char *others; /* pods of another group in its queue; NULL: none */
	} table[] = {
		{"all placed", "2", "- -", GROUP_PLACED, PROOF_NONE, -1, NULL},
		{"surplus waits", "1", "- - - - -", GROUP_PARTIAL, PROOF_NONE, -1, NULL},
		{"larger than the cluster", "5", "- - - - -", GROUP_NEVER, PROOF_EVER, -1, NULL},
		{"larger than the cluster, which is full", "5", "- - - - -", GROUP_NEVER, PROOF_EVER, -1,
	         "n1 n1 n1 n1"},
		{"others hold the room", "3", "- - -", GROUP_WAITING, PROOF_NOW, -1, "n1 n1"},
		{"others hold the room of the rest", "3", "n1 - -", GROUP_WAITING, PROOF_NOW, -1, "n1 n1"},
		{"with what runs larger than the cluster", "5", "n1 - - - -", GROUP_NEVER, PROOF_EVER, -1, "n1"},
		{"pods are missing", "3", "- -", GROUP_NOT_READY, PROOF_NONE, -1, NULL},
		{"the queue says no", "3", "- - -", GROUP_BLOCKED, PROOF_NONE, 2, NULL},
		{"the queue says no, and there is no room", "3", "- - -", GROUP_BLOCKED, PROOF_NONE, 4, "n1 n1"},
		{"the queue says no, and there will never be room", "5", "- - - - -", GROUP_BLOCKED, PROOF_NONE, 4,
	         NULL},
		{"the queue allows what is missing", "3", "n1 - -", GROUP_WAITING, PROOF_NOW, 5, "n1 n1"},
		{"the queue allows the cheaper part", "1(1 3)", "- | - - -", GROUP_WAITING, PROOF_NOW, 5,
	         "n1 n1 n1 n1"},
		{"a pod that is needed is blocked", "3", "- # -", GROUP_BLOCKED, PROOF_NONE, -1, NULL},
		{"pods are missing, and one is blocked", "3", "# -", GROUP_NOT_READY, PROOF_NONE, -1, NULL},
		{"a blocked pod is not needed", "2", "- # -", GROUP_PARTIAL, PROOF_NONE, -1, NULL},
		{"does not fit without the pod that is blocked, which proves nothing", "5", "- - - - - #",
	         GROUP_WAITING, PROOF_NONE, -1, NULL},
		{"a part of the tree is blocked, and not needed", "1(2 2)", "- # | - -", GROUP_PARTIAL, PROOF_NONE, -1,
	         NULL},
		{"a part of the tree is blocked", "2(2 2)", "- # | - -", GROUP_BLOCKED, PROOF_NONE, -1, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cluster_fixture fixture;
		struct fixture_queue queues[] = {{"q", NULL, 0, table[i].limit, 1, 100}, {0}};
		struct fixture_group groups[] = {{.name = "a", .tree = table[i].tree, .pods = table[i].pods},
		                                 {.name = "b", .tree = "1", .pods = table[i].others},
		                                 {0}};
		if (!table[i].others)
			groups[1] = (struct fixture_group){0};
		cluster_fixture_create(&fixture, "n1:4", queues, groups);
		cluster_fixture_run(&fixture, ALL, 0);
		const struct cycle_group *group = &fixture.cycle.groups[0];
		if (group->state != table[i].state || group->proof != table[i].proof)
			fail_msg("%s: %s, proof %d", table[i].story, group_state_name(group->state), (int)group->proof);
		if (group->state != GROUP_PLACED && !group->reasons.count)
			fail_msg("%s: no reason is given", table[i].story);
		if (table[i].limit >= 0 && group->state == GROUP_BLOCKED &&
		    group->reasons.items[0].code != REASON_QUEUE_LIMIT)
			fail_msg("%s: the queue is not told first", table[i].story);
		cluster_fixture_destroy(&fixture);
	}
}

/* What queues hold is told after the cycle, parents with what is below them. */
static void accounts(void **state)
{
	struct cluster_fixture fixture;
	struct fixture_queue queues[] = {{"top", NULL, 4, -1, 1, 100}, {"x", "top", 2, -1, 1, 100}, {0}};
	struct fixture_group groups[] = {{.name = "a", .queue = "x", .tree = "1", .pods = "n1 -"},
	                                 {.name = "b", .queue = "x", .tree = "1", .pods = "-", .devices = 2},
	                                 {0}};
	(void)state;
	cluster_fixture_create(&fixture, "n1:4", queues, groups);
	cluster_fixture_run(&fixture, "allocate", 0);
	assert_int_equal(fixture.cycle.queues[1].allocated[CYCLE_GPU], 4000);
	assert_int_equal(fixture.cycle.queues[0].allocated[CYCLE_GPU], 4000);
	assert_int_equal(fixture.cycle.queues[1].fair[CYCLE_GPU], 4000);
	cluster_fixture_destroy(&fixture);
}

static void names_of_actions(void **state)
{
	enum cycle_action action;
	(void)state;
	for (int i = 0; i < ACTION_COUNT; i++) {
		const char *name = cycle_action_name((enum cycle_action)i);
		assert_int_equal(cycle_action_parse(name, strlen(name), &action), 0);
		assert_int_equal(action, i);
		assert_int_equal(cycle_action_parse(name, strlen(name) - 1, &action), -1);
	}
	assert_int_equal(cycle_action_parse("", 0, &action), -1);
}

/* Without the second of these rules two queues take the same devices from each other for ever. */
static void preemption_swaps(void **state)
{
	static const struct fixture_case cases[] = {
		{"within the entitlement as it likes", "n1:3", "preempt", .queues = {{"a", NULL, 3, -1, 0, 100}},
	         .groups = {{.name = "low", .queue = "a", .tree = "0", .pods = "n1 n1 n1", .after = "x x x"},
	                    {.name = "high",
	                     .queue = "a",
	                     .tree = "3",
	                     .pods = "- - -",
	                     .after = "~n1 ~n1 ~n1",
	                     .priority = 1}}},
		{"what nobody else could take is not given up for more than the queue is entitled to", "n1:3",
	         "preempt", .queues = {{"a", NULL, 1, -1, 0, 100}},
	         .groups = {{.name = "low", .queue = "a", .tree = "0", .pods = "n1 n1 n1"},
	                    {.name = "high", .queue = "a", .tree = "3", .pods = "- - -", .priority = 1}}},
		{"what is lent may be swapped", "n1:3", "preempt", .queues = {{"a", NULL, 1, -1, 0, 100}},
	         .groups = {{.name = "low", .queue = "a", .tree = "0", .pods = "n1 n1 n1", .after = "n1 x x"},
	                    {.name = "high",
	                     .queue = "a",
	                     .tree = "2",
	                     .pods = "- -",
	                     .after = "~n1 ~n1",
	                     .priority = 1}}},
		{"a gang that others could take as a whole, too", "n1:3", "preempt",
	         .queues = {{"a", NULL, 1, -1, 0, 100}},
	         .groups = {{.name = "low", .queue = "a", .tree = "3", .pods = "n1 n1 n1", .after = "x x x"},
	                    {.name = "high",
	                     .queue = "a",
	                     .tree = "3",
	                     .pods = "- - -",
	                     .after = "~n1 ~n1 ~n1",
	                     .priority = 1}}},
		{"each queue above is asked, too", "n1:3", "preempt",
	         .queues = {{"top", NULL, 1, -1, 0, 100}, {"a", "top", -1, -1, 0, 100}},
	         .groups = {{.name = "low", .queue = "a", .tree = "0", .pods = "n1 n1 n1"},
	                    {.name = "high", .queue = "a", .tree = "3", .pods = "- - -", .priority = 1}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

/* Of several children those that the queue has room for, not the first that fit. */
static void choice_within_bounds(void **state)
{
	static const struct fixture_case cases[] = {
		{"the smaller child, where a limit forbids the larger one", "n1:9", "allocate",
	         .queues = {{"a", NULL, -1, 2, 0, 100}},
	         .groups = {{.name = "g",
	                     .queue = "a",
	                     .tree = "1(3 2)",
	                     .pods = "- - - | - -",
	                     .after = "- - - | n1 n1"}}},
		{"the quota for what cannot be evicted", "n1:9", "allocate", .queues = {{"a", NULL, 2, -1, 0, 100}},
	         .groups = {{.name = "g",
	                     .queue = "a",
	                     .tree = "1(3 2)",
	                     .pods = "- - - | - -",
	                     .after = "- - - | n1 n1",
	                     .preempt = CYCLE_NON_PREEMPTIBLE}}},
		{"two of three, with one running already", "n1:9", "allocate", .queues = {{"a", NULL, -1, 3, 0, 100}},
	         .groups = {{.name = "g",
	                     .queue = "a",
	                     .tree = "2(3 1 2)",
	                     .pods = "- - - | n1 | - -",
	                     .after = "- - - | n1 | n1 n1"}}},
		{"nothing when no choice is small enough", "n1:9", "allocate", .queues = {{"a", NULL, -1, 1, 0, 100}},
	         .groups = {{.name = "g", .queue = "a", .tree = "1(3 2)", .pods = "- - - | - -"}}},
		{"growth: a child that fits below the limit", "n1:9", "allocate",
	         .queues = {{"a", NULL, -1, 3, 0, 100}},
	         .groups = {{.name = "g",
	                     .queue = "a",
	                     .tree = "1(1 3 2)",
	                     .pods = "n1 | - - - | - -",
	                     .after = "n1 | - - - | n1 n1"}}},
		{"reclaim within the fair share", "n1:3", "reclaim",
	         .queues = {{"a", NULL, 2, -1, 0, 100}, {"b", NULL, 1, -1, 0, 100}},
	         .groups = {{.name = "g",
	                     .queue = "a",
	                     .tree = "1(3 2)",
	                     .pods = "- - - | - -",
	                     .after = "- - - | ~n1 ~n1"},
	                    {.name = "v", .queue = "b", .tree = "0", .pods = "n1 n1 n1", .after = "n1 x x"}}},
	};
	(void)state;
	CHECK_ALL(cases);
}

/* A gang of high priority that arrives while another one waits for pods to leave takes its reservation over. */
static void reservations_give_way(void **state)
{
	static const enum cycle_preempt modes[] = {CYCLE_PREEMPTIBLE, CYCLE_SEMI_PREEMPTIBLE, CYCLE_NON_PREEMPTIBLE};
	(void)state;
	for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++) {
		struct cluster_fixture fixture;
		struct fixture_group groups[] = {
			{.name = "victim", .tree = "1", .pods = "n1 n1"},
			{.name = "low", .tree = "2", .pods = "- -", .priority = 1, .preempt = modes[k]},
			{.name = "high", .tree = "2", .pods = "! !", .priority = 2},
			{0}};
		cluster_fixture_create(&fixture, "n1:2", NULL, groups);
		cluster_fixture_run(&fixture, "allocate preempt", 0);
		assert_string_equal(cluster_fixture_pods(&fixture, 0), "x x");
		assert_string_equal(cluster_fixture_pods(&fixture, 1), "~n1 ~n1");
		struct gang *high = &fixture.cycle.groups[2].gang;
		for (size_t p = 0; p < high->pod_count; p++)
			high->pods[p].state = MEMBER_WAITING;
		cluster_fixture_run(&fixture, "allocate", 1);
		assert_string_equal(cluster_fixture_pods(&fixture, 1),
		                    "~n1 ~n1"); /* it is not for allocation to take something away */
		cluster_fixture_run(&fixture, "preempt", 2);
		assert_string_equal(cluster_fixture_pods(&fixture, 1), "- -");
		assert_string_equal(cluster_fixture_pods(&fixture, 2), "~n1 ~n1");
		cluster_fixture_destroy(&fixture);
	}
}

/* schedulingBackoff 1: one refusal, and that was it. */
static void one_try(void **state)
{
	static const struct {
		const char *story, *tree, *pods;
		bool gives_up;
	} table[] = {
		{"it does not fit", "3", "- - -", true},
		{"its pods are not all there", "3", "- - !", false},
		{"a part runs", "3", "n1 - -", false},
		{"it fits", "2", "- -", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cluster_fixture fixture;
		struct fixture_group groups[] = {{.name = "g", .tree = table[i].tree, .pods = table[i].pods}, {0}};
		cluster_fixture_create(&fixture, "n1:2", NULL, groups);
		fixture.cycle.groups[0].give_up_after_failure = true;
		cluster_fixture_run(&fixture, "allocate", 0);
		cycle_finish(&fixture.cycle);
		if (fixture.cycle.groups[0].gave_up != table[i].gives_up)
			fail_msg("%s: gave up %d", table[i].story, fixture.cycle.groups[0].gave_up);
		cluster_fixture_destroy(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(order_of_service),
	                                   cmocka_unit_test(whole_gangs),
	                                   cmocka_unit_test(bounds_of_queues),
	                                   cmocka_unit_test(timers),
	                                   cmocka_unit_test(one_cycle),
	                                   cmocka_unit_test(states),
	                                   cmocka_unit_test(accounts),
	                                   cmocka_unit_test(names_of_actions),
	                                   cmocka_unit_test(preemption_swaps),
	                                   cmocka_unit_test(choice_within_bounds),
	                                   cmocka_unit_test(reservations_give_way),
	                                   cmocka_unit_test(one_try)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
