/* Problems are collected in order and own their texts. */
#include "base/problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void all_problems_are_kept(void **state)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	char path[64];
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "spec.subGroups[%d]", i);
		problem_add(&problems, i % 2 ? SEVERITY_ERROR : SEVERITY_WARNING, path, i % 3 ? "a fix" : NULL,
		            "number %d", i);
	}
	assert_int_equal(problems.count, 1000);
	assert_int_equal(problems.errors, 500);
	assert_string_equal(problems.items[0].path, "spec.subGroups[0]"); /* not the caller's memory */
	assert_string_equal(problems.items[999].message, "number 999");
	assert_null(problems.items[0].fix);
	assert_string_equal(problems.items[1].fix, "a fix");
	problem_add(&problems, SEVERITY_ERROR, NULL, NULL, "whole object");
	assert_string_equal(problems.items[1000].path, "");
	assert_string_equal(problem_path(&problems, "spec.subGroups[%zu].name", (size_t)3), "spec.subGroups[3].name");
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_problems_are_kept)};
	return cmocka_run_group_tests_name("problems", tests, NULL, NULL);
}
