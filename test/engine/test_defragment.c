/* Defragmentation: who moves where, who stays, and what it says. */
#include "base/clock.h"
#include "cluster_fixture.h"

#define RACKS "n1:4/r1 n2:4/r1 n3:4/r2 n4:4/r2 n5:4/r3 n6:4/r3"

static void who_moves(void **state)
{
	static const struct fixture_case table[] = {
		{"the rack with the fewest pods is freed, and they go where work runs already", RACKS, "defragment",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .after = "~n3"},
	                    {.name = "b", .tree = "1", .pods = "n3"},
	                    {.name = "c", .tree = "1", .pods = "n4", .devices = 4},
	                    {.name = "d", .tree = "1", .pods = "n5", .devices = 4},
	                    {.name = "e", .tree = "1", .pods = "n6", .devices = 4}}},
		{"a non-preemptible pod holds its rack", RACKS, "defragment",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .preempt = CYCLE_NON_PREEMPTIBLE},
	                    {.name = "b", .tree = "1", .pods = "n3", .after = "~n2"},
	                    {.name = "c", .tree = "1", .pods = "n2", .devices = 3},
	                    {.name = "d", .tree = "1", .pods = "n5", .devices = 4}}},
		{"a gang moves in part, and stays within its rack as a whole", RACKS, "defragment",
	         .groups = {{.name = "a", .tree = "2", .pods = "n1 n3", .after = "~n3 n3"},
	                    {.name = "b", .tree = "2@rack", .pods = "n5 n6", .devices = 4},
	                    {.name = "c", .tree = "1", .pods = "n4", .devices = 4}}},
		{"no disruption budget is violated", RACKS, "defragment",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .app = "web"},
	                    {.name = "b", .tree = "1", .pods = "n3", .app = "web"}},
	         .budgets = {{.app = "web", .allowed = 0}}},
		{"one that allows a pod has one moved", RACKS, "defragment",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .app = "web", .after = "~n3"},
	                    {.name = "b", .tree = "1", .pods = "n3", .app = "web"},
	                    {.name = "c", .tree = "1", .pods = "n4", .devices = 4}},
	         .budgets = {{.app = "web", .allowed = 1}}},
		{"who has not run as long as its queue grants stays", RACKS, "defragment",
	         .queues = {{.name = "q", .quota = -1, .limit = -1, .weight = 1, .reclaim_runtime = 600}},
	         .groups = {{.name = "young", .queue = "q", .tree = "1", .pods = "n1", .since = 900},
	                    {.name = "old", .queue = "q", .tree = "1", .pods = "n3", .since = 100, .after = "~n2"},
	                    {.name = "c", .queue = "q", .tree = "1", .pods = "n2", .since = 900, .devices = 3}},
	         .second = 1000},
		{"what cannot be packed closer stays", RACKS, "defragment",
	         .groups = {{.name = "a", .tree = "1", .pods = "n1", .devices = 3},
	                    {.name = "b", .tree = "1", .pods = "n2", .devices = 3},
	                    {.name = "c", .tree = "1", .pods = "n3", .devices = 3},
	                    {.name = "d", .tree = "1", .pods = "n4", .devices = 3}}},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		cluster_fixture_check(&table[i]);
}

static struct cycle_defragment run(const char *nodes, const struct fixture_group *groups, const char *level, int moves)
{
	struct cluster_fixture fixture;
	cluster_fixture_create(&fixture, nodes, NULL, groups);
	fixture.cycle.defragment = (struct cycle_defragment){.wanted_level = level, .most_moves = moves};
	cluster_fixture_run(&fixture, "defragment", 1000);
	struct cycle_defragment report = fixture.cycle.defragment;
	report.level = report.level ? (report.level[0] == 'r' ? "rack" : "host") : NULL; /* the cluster goes */
	cluster_fixture_destroy(&fixture);
	return report;
}

static void what_it_says(void **state)
{
	static const struct fixture_group two[] = {{.name = "a", .tree = "1", .pods = "n1"},
	                                           {.name = "b", .tree = "2", .pods = "n3 n4"},
	                                           {.name = "c", .tree = "1", .pods = "n5"},
	                                           {0}};
	struct cycle_defragment report = run(RACKS, two, NULL, 16);
	assert_true(report.ran && report.proved);
	assert_string_equal(report.level, "rack");
	assert_int_equal(report.pods, 2);
	assert_int_equal(report.devices, 4);
	assert_int_equal(report.before, 0);
	assert_int_equal(report.gained, 2);
	assert_int_equal(report.moves, 2);
	/* The budget of moves is kept, and is part of the proof. */
	report = run(RACKS, two, NULL, 1);
	assert_int_equal(report.gained, 1);
	assert_int_equal(report.moves, 1);
	assert_true(report.proved);
	report = run(RACKS, two, NULL, 0);
	assert_int_equal(report.gained, 0);
	assert_true(report.proved);
	/* A level that is asked for. */
	report = run(RACKS, two, "kubernetes.io/hostname", 16);
	assert_string_equal(report.level, "host");
	assert_int_equal(report.pods, 1);
	assert_int_equal(report.before, 2);
	assert_int_equal(report.gained,
	                 2); /* three in two cycles: of a gang that moves no other pod does at the same time */
	assert_false(report.proved);
	/* Nothing that it could be about. */
	report = run(RACKS, two, "example.com/row", 16);
	assert_true(report.ran);
	assert_null(report.level);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(who_moves), cmocka_unit_test(what_it_says)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
