/* Placement strategies: where pods go when everything else leaves the choice. */
#include "cluster_fixture.h"

#include "engine/place/strategy.h"

static void nodes(void **state)
{
	static const struct fixture_case cases[] = {
		{"binpack fills one node, and keeps the other whole", "n1:4 n2:4", "allocate",
	         .groups = {{.name = "a", .tree = "2", .pods = "- -", .after = "n1 n1"}}},
		{"spread takes both", "n1:4 n2:4", "allocate", .placement = "spread",
	         .groups = {{.name = "a", .tree = "2", .pods = "- -", .after = "n1 n2"}}},
		{"the emptier node in proportion, not in numbers: 3 of 4 before 5 of 8", "n1:8 n2:4", "allocate",
	         .placement = "gpu=spread",
	         .groups = {{.name = "x", .tree = "1", .pods = "n1", .devices = 3},
	                    {.name = "y", .tree = "1", .pods = "n2"},
	                    {.name = "a", .tree = "1", .pods = "-", .after = "n2"}}},
		{"one pod after the other, so that all end alike", "n1:8 n2:4", "allocate", .placement = "spread",
	         .groups = {{.name = "a", .tree = "6", .pods = "- - - - - -", .after = "n1 n1 n1 n1 n2 n2"}}},
		{"what is placed in the same decision counts, too", "n1:4 n2:4", "allocate", .placement = "spread",
	         .groups = {{.name = "a", .tree = "2(2 2)", .pods = "- - | - -", .after = "n1 n2 | n1 n2"}}},
		{"pods of several sizes that stand in each other's way are packed after all", "n1:4 n2:4", "allocate",
	         .placement = "spread",
	         .groups = {{.name = "a", .tree = "2", .pods = "- -", .after = "n1 n2"},
	                    {.name = "b", .tree = "1", .pods = "-", .devices = 3, .after = "n1"}}},
		{"a required level comes first: spread inside the rack", "n1:2/r1 n2:2/r1 n3:2/r2 n4:2/r2", "allocate",
	         .placement = "spread", .groups = {{.name = "a", .tree = "2@rack", .pods = "- -", .after = "n1 n2"}}},
		{"pods without GPUs have a strategy of their own", "n1:4 n2:4", "allocate", .placement = "cpu=spread",
	         .groups = {{.name = "a", .tree = "2", .pods = "- -", .after = "n1 n1"}}},
		{"surplus spreads as the minimum does", "n1:4 n2:4", "allocate", .placement = "spread",
	         .groups = {{.name = "a", .tree = "1", .pods = "- - - -", .after = "n1 n1 n2 n2"}}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cluster_fixture_check(&cases[i]);
}

static void names(void **state)
{
	static const struct {
		const char *text, *name; /* NULL: malformed */
	} rows[] = {
		{"binpack", "binpack"},
		{"spread", "spread"},
		{"gpu=spread", "gpu=spread"},
		{"cpu=spread", "cpu=spread"},
		{"gpu=spread,cpu=spread", "spread"},
		{"cpu=binpack,gpu=spread", "gpu=spread"},
		{"gpu=binpack", "binpack"},
		{"", NULL},
		{"pack", NULL},
		{"gpu=", NULL},
		{"gpu", NULL},
		{"gpu=spread,", NULL},
		{"gpu=spread,gpu=binpack", NULL},
		{"memory=spread", NULL},
		{"spread,binpack", NULL},
		{"gpu=spreads", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strategy strategy = {0};
		int rc = strategy_parse(rows[i].text, &strategy);
		assert_int_equal(rc, rows[i].name ? 0 : -1);
		if (rows[i].name)
			assert_string_equal(strategy_name(strategy), rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nodes), cmocka_unit_test(names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
