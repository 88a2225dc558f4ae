/* What a running group gives up, in which order. */
#include "engine/evict/victims.h"
#include "cluster_fixture.h"

#include <stdlib.h>
#include <string.h>

/* Units as text: "3, 2, child 2: 4 5, gang: 0 1". */
static const char *units_text(const struct victim_list *list, struct arena *arena)
{
	const char *text = "";
	for (size_t i = 0; i < list->count; i++) {
		const struct victim_unit *unit = &list->items[i];
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "",
		                    unit->extent == UNIT_GANG    ? "gang:"
		                    : unit->extent == UNIT_CHILD ? arena_printf(arena, "child %d:", unit->tree)
		                                                 : "");
		for (int p = 0; p < unit->pod_count; p++)
			text = arena_printf(arena, "%s%s%d", text, p || unit->extent != UNIT_POD ? " " : "",
			                    unit->pods[p]);
	}
	return text;
}

struct units_case {
	const char *story, *tree, *pods;
	const char *units; /* with the gang itself at the end */
};

static void units_of_a_group(void **state)
{
	static const struct units_case table[] = {
		{"a gang at its minimum goes as a whole", "2", "n n", "gang: 0 1"},
		{"surplus goes pod by pod, the youngest first", "2", "n n n n", "3, 2, gang: 0 1"},
		{"only what runs can be given up", "2", "n n - n !", "3, gang: 0 1"},
		{"without a minimum everything is surplus", "0", "n n", "1, 0"},
		{"a gang below its minimum has no surplus", "3", "n n -", "gang: 0 1"},
		{"nothing runs, nothing to give", "2", "- -", ""},
		{"surplus of two leaves goes in turn: the leaf furthest above its minimum first", "2(1 1)",
	         "n n n | n n", "2, 4, 1, gang: 0 3"},
		{"in proportion to the minimum: 4 of 2 and 3 of 1", "2(2 1)", "n n n n | n n n",
	         "6, 5, 3, 2, gang: 0 1 4"},
		{"optional leaves before others", "2(0 1)", "n n | n n", "1, 0, 3, gang: 2"},
		{"a child too many goes as a whole, the last one first", "1(1 1 1)", "n | n | n",
	         "child 3: 2, child 2: 1, gang: 0"},
		{"first the surplus in all children, then children", "1(1 1)", "n n | n n",
	         "3, 1, child 2: 2, gang: 0"},
		{"the pods of a child stay together", "1(2 2)", "n n | n n", "child 2: 2 3, gang: 0 1"},
		{"a child below its minimum helps nobody: its pods go first", "1(2 2)", "n n | n -", "2, gang: 0 1"},
		{"so do pods of a complete leaf below a broken parent", "1(2(2 2) 1)", "n n | - - | n",
	         "1, 0, gang: 4"},
		{"of two levels the deeper surplus goes first", "1(1(1 1) 1(1 1))", "n | n | n | n",
	         "child 6: 3, child 3: 1, child 4: 2, gang: 0"},
		{"an optional leaf below a broken parent is an orphan, and surplus of nobody", "0(2(0 1))", "n | -",
	         "0"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cluster_fixture fixture;
		struct fixture_group groups[] = {{.name = "g", .tree = table[i].tree, .pods = table[i].pods}, {0}};
		struct victim_list list = {0}, kept = {0};
		cluster_fixture_create(&fixture, "n:100", NULL, groups);
		victims_list_group(&fixture.cycle, 0, true, fixture.arena, &list);
		const char *got = units_text(&list, fixture.arena);
		if (strcmp(got, table[i].units) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", table[i].story, got, table[i].units);
		/* Without the right to the whole, the gang itself stays and everything else is the same. */
		victims_list_group(&fixture.cycle, 0, false, fixture.arena, &kept);
		bool whole = list.count && list.items[list.count - 1].extent == UNIT_GANG;
		assert_int_equal(kept.count, list.count - whole);
		cluster_fixture_destroy(&fixture);
	}
}

static void numbered_in_sequence(void **state)
{
	struct cluster_fixture fixture;
	struct fixture_group groups[] = {{.name = "g", .tree = "1(1 1)", .pods = "n n | n n"}, {0}};
	struct victim_list list = {0};
	(void)state;
	cluster_fixture_create(&fixture, "n:100", NULL, groups);
	victims_list_group(&fixture.cycle, 0, true, fixture.arena, &list);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.items[i].sequence, i);
	cluster_fixture_destroy(&fixture);
}

struct order_case {
	const char *story;
	struct fixture_group groups[4];
	const char *order; /* names of the groups, unit by unit */
};

static void order_of_all(void **state)
{
	static const struct order_case table[] = {
		{"surplus of everybody before the gang of anybody",
	         {{.name = "a", .tree = "1", .pods = "n"}, {.name = "b", .tree = "1", .pods = "n n", .priority = 9}},
	         "b a b"},
		{"children before gangs",
	         {{.name = "a", .tree = "1", .pods = "n"},
	          {.name = "b", .tree = "1(1 1)", .pods = "n | n", .priority = 9}},
	         "b a b"},
		{"the lower priority first",
	         {{.name = "a", .tree = "1", .pods = "n", .priority = 2},
	          {.name = "b", .tree = "1", .pods = "n", .priority = 1},
	          {.name = "c", .tree = "1", .pods = "n", .priority = 3}},
	         "b a c"},
		{"of equals the younger first",
	         {{.name = "a", .tree = "1", .pods = "n"},
	          {.name = "b", .tree = "1", .pods = "n"},
	          {.name = "c", .tree = "1", .pods = "n"}},
	         "c b a"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cluster_fixture fixture;
		struct victim_list list = {0};
		const char *got = "";
		cluster_fixture_create(&fixture, "n:100", NULL, table[i].groups);
		cycle_begin(&fixture.cycle);
		for (size_t g = 0; g < fixture.cycle.group_count; g++)
			victims_list_group(&fixture.cycle, (int)g, true, fixture.arena, &list);
		victims_sort(&list);
		for (size_t u = 0; u < list.count; u++)
			got = arena_printf(fixture.arena, "%s%s%s", got, u ? " " : "",
			                   fixture.cycle.groups[list.items[u].group].gang.name);
		if (strcmp(got, table[i].order) != 0)
			fail_msg("%s: %s, not %s", table[i].story, got, table[i].order);
		cluster_fixture_destroy(&fixture);
	}
}

/* Pods that were bound in this cycle cost nothing: they go first, but never before what their group gives up earlier. */
static void fresh_ones_first(void **state)
{
	struct fixture_group groups[] = {{.name = "a", .tree = "1", .pods = "n"},
	                                 {.name = "b", .tree = "1", .pods = "n", .priority = 9},
	                                 {.name = "c", .tree = "2", .pods = "n n n", .priority = 9},
	                                 {0}};
	struct cluster_fixture fixture;
	struct victim_list list = {0};
	const char *got = "";
	(void)state;
	cluster_fixture_create(&fixture, "n:100", NULL, groups);
	cycle_begin(&fixture.cycle);
	fixture.cycle.groups[1].was_running[0] = false;
	fixture.cycle.groups[2].was_running[0] = fixture.cycle.groups[2].was_running[1] = false;
	for (size_t g = 0; g < fixture.cycle.group_count; g++)
		victims_list_group(&fixture.cycle, (int)g, true, fixture.arena, &list);
	victims_sort(&list);
	for (size_t u = 0; u < list.count; u++)
		got = arena_printf(fixture.arena, "%s%s%s%d", got, u ? " " : "",
		                   fixture.cycle.groups[list.items[u].group].gang.name, list.items[u].pods[0]);
	assert_string_equal(got, "b0 c2 a0 c0"); /* c0 and c1 are fresh, but go after c2, which ran */
	cluster_fixture_destroy(&fixture);
}

struct core_case {
	const char *story, *tree, *pods;
	const char *core; /* + for members that are never given up, - for others */
};

static void core_of_a_group(void **state)
{
	static const struct core_case table[] = {
		{"the first members, whoever else waits", "2", "- n n n", "-++-"},
		{"nothing is surplus below the minimum", "3", "n n -", "++-"},
		{"the first children", "1(1 1)", "- | n", "-+"},
		{"and of them the first pods", "1(1 1)", "n n | n n", "+---"},
		{"no minimum, no core", "0", "n n", "--"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cluster_fixture fixture;
		struct fixture_group groups[] = {{.name = "g", .tree = table[i].tree, .pods = table[i].pods}, {0}};
		bool core[8] = {0};
		char text[9] = "";
		cluster_fixture_create(&fixture, "n:9", NULL, groups);
		const struct gang *gang = &fixture.cycle.groups[0].gang;
		victims_mark_core(gang, core);
		for (size_t p = 0; p < gang->pod_count; p++)
			text[p] = core[p] ? '+' : '-';
		if (strcmp(text, table[i].core) != 0)
			fail_msg("%s: %s, not %s", table[i].story, text, table[i].core);
		/* It stays the same when surplus goes, in whatever order. */
		for (size_t p = 0; p < gang->pod_count; p++) {
			bool after[8] = {0};
			if (core[p] || gang->pods[p].state != MEMBER_RUNNING)
				continue;
			gang->pods[p].state = MEMBER_GONE;
			victims_mark_core(gang, after);
			assert_memory_equal(core, after, sizeof(core));
		}
		cluster_fixture_destroy(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(units_of_a_group), cmocka_unit_test(numbered_in_sequence),
	                                   cmocka_unit_test(order_of_all), cmocka_unit_test(fresh_ones_first),
	                                   cmocka_unit_test(core_of_a_group)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
