/* The table of actions: names that can be read back, and rows without holes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "engine/cycle/actions.h"

static void names_are_read_back(void **state)
{
	(void)state;
	enum cycle_action found;
	for (int a = 0; a < ACTION_COUNT; a++) {
		const char *name = cycle_action_name((enum cycle_action)a);
		assert_int_equal(cycle_action_parse(name, strlen(name), &found), 0);
		assert_int_equal(found, a);
		assert_int_equal(cycle_action_parse(name, strlen(name) - 1, &found), -1);
	}
	assert_int_equal(cycle_action_parse("", 0, &found), -1);
	assert_int_equal(cycle_action_parse("Allocate", 8, &found), -1);
	assert_int_equal(cycle_action_parse("reclaim,preempt", 7, &found), 0);
	assert_int_equal(found, ACTION_RECLAIM);
}

static void lists_are_in_the_order_of_a_cycle(void **state)
{
	(void)state;
	enum cycle_action list[ACTION_COUNT];
	struct arena *arena = arena_create();
	size_t all = cycle_action_list_all(list), at = 0;
	assert_in_range(all, 1, ACTION_COUNT - 1);
	for (int a = 0; a < ACTION_COUNT; a++)
		if (!cycle_action_row((enum cycle_action)a)->opt_in)
			assert_int_equal(list[at++], a);
	assert_int_equal(at, all);
	size_t count = cycle_action_list_serving(list);
	assert_in_range(count, 1, ACTION_COUNT - 1);
	for (size_t i = 0; i < count; i++)
		assert_true(cycle_action_row(list[i])->serves_waiting);
	assert_string_equal(cycle_action_join_names(arena, " "), &CYCLE_ACTION_NAMES[1]);
	arena_destroy(arena);
}

/* What takes from others counts what it takes and says by which right. */
static void rows_have_no_holes(void **state)
{
	(void)state;
	for (int a = 0; a < ACTION_COUNT; a++) {
		const struct action_row *row = cycle_action_row((enum cycle_action)a);
		assert_non_null(row->run);
		assert_int_equal(row->method != NULL, row->why != NULL);
		assert_true(!row->method || (row->evicts && (row->serves_waiting || row->opt_in)));
		assert_true(!row->evicts_protected || row->evicts);
		assert_true(strlen(cycle_action_description((enum cycle_action)a)) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_back),
		cmocka_unit_test(lists_are_in_the_order_of_a_cycle),
		cmocka_unit_test(rows_have_no_holes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
