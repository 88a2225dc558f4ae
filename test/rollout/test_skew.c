/* Roles that advance together. */
#include "rollout/skew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 5 };

static const size_t everybody[MOST] = {0, 1, 2, 3, 4};

static void test_scaling(void **unused)
{
	(void)unused;
	static const struct {
		const char *what;
		struct percent skew;
		enum skew_progression progression;
		size_t count;
		struct skew_scale_role roles[MOST];
		int64_t targets[MOST];
	} rows[] = {
		{"first step", {PERCENT_SHARE, 5}, SKEW_SCHEDULED, 2, {{300, 0, 0, 0}, {100, 0, 0, 0}}, {15, 5}},
		{"one ahead waits",
	         {PERCENT_SHARE, 5},
	         SKEW_SCHEDULED,
	         2,
	         {{300, 15, 15, 15}, {100, 0, 0, 0}},
	         {15, 5}},
		{"five at different places",
	         {PERCENT_SHARE, 8},
	         SKEW_SCHEDULED,
	         5,
	         {{500, 50, 50, 50}, {200, 20, 20, 20}, {20, 1, 1, 1}, {100, 8, 8, 8}, {10, 1, 1, 1}},
	         {65, 26, 3, 13, 2}},
		{"exact, not by a rounding error",
	         {PERCENT_SHARE, 5},
	         SKEW_SCHEDULED,
	         2,
	         {{0, 0, 0, 0}, {100, 50, 50, 50}},
	         {0, 55}},
		{"who leaves holds nobody",
	         {PERCENT_SHARE, 10},
	         SKEW_SCHEDULED,
	         2,
	         {{0, 5, 5, 5}, {100, 10, 10, 10}},
	         {0, 20}},
		{"not scheduled yet",
	         {PERCENT_SHARE, 5},
	         SKEW_SCHEDULED,
	         2,
	         {{300, 15, 10, 10}, {100, 5, 5, 5}},
	         {15, 5}},
		{"not ready is enough",
	         {PERCENT_SHARE, 5},
	         SKEW_SCHEDULED,
	         2,
	         {{300, 15, 15, 10}, {100, 5, 5, 5}},
	         {30, 10}},
		{"or is not", {PERCENT_SHARE, 5}, SKEW_READY, 2, {{300, 15, 15, 10}, {100, 5, 5, 5}}, {15, 5}},
		{"or does not matter", {PERCENT_SHARE, 5}, SKEW_FREE, 2, {{300, 15, 0, 0}, {100, 5, 0, 0}}, {30, 10}},
		{"down at once though others wait",
	         {PERCENT_SHARE, 5},
	         SKEW_READY,
	         2,
	         {{300, 15, 15, 10}, {4, 9, 9, 9}},
	         {15, 4}},
		{"no skew at all still moves",
	         {PERCENT_SHARE, 0},
	         SKEW_SCHEDULED,
	         2,
	         {{3, 0, 0, 0}, {3, 0, 0, 0}},
	         {1, 1}},
		{"as a count", {PERCENT_COUNT, 2}, SKEW_SCHEDULED, 2, {{300, 30, 30, 30}, {10, 1, 1, 1}}, {32, 3}},
		{"without a limit", {PERCENT_UNSET, 0}, SKEW_SCHEDULED, 2, {{300, 0, 0, 0}, {10, 0, 0, 0}}, {300, 10}},
		{"nonsense", {PERCENT_SHARE, -4}, SKEW_SCHEDULED, 2, {{-1, -1, -1, -1}, {INT64_MAX, -5, 0, 0}}, {0, 1}},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct skew_rule rule = {rows[i].skew, rows[i].progression, everybody, rows[i].count};
		int64_t targets[MOST];
		skew_scale(rows[i].roles, rows[i].count, &rule, 1, targets);
		print_message("%s\n", rows[i].what);
		for (size_t r = 0; r < rows[i].count; r++)
			assert_int_equal(targets[r], rows[i].targets[r]);
	}
}

static void test_scaling_with_several_rules(void **unused)
{
	(void)unused;
	const struct skew_scale_role roles[] = {
		{200, 0, 0, 0}, {100, 0, 0, 0}, {50, 0, 0, 0}, {100, 0, 0, 0}, {7, 0, 0, 0}};
	const size_t names[][2] = {{0, 1}, {1, 2}, {2, 3}};
	struct skew_rule rules[] = {{percent_share(5), SKEW_SCHEDULED, names[0], 2},
	                            {percent_share(8), SKEW_SCHEDULED, names[1], 2},
	                            {percent_share(10), SKEW_SCHEDULED, names[2], 2}};
	const int64_t wanted[] = {10, 5, 4, 10, 7};
	int64_t targets[5];
	skew_scale(roles, 5, rules, 3, targets);
	for (size_t r = 0; r < 5; r++)
		assert_int_equal(targets[r], wanted[r]);
	const size_t odd[] = {99, 0, 0, SIZE_MAX};
	struct skew_rule rule = {percent_share(5), SKEW_SCHEDULED, odd, 4};
	skew_scale(roles, 5, &rule, 1, targets);
	assert_int_equal(targets[0], 10);
}

static void test_updating(void **unused)
{
	(void)unused;
	static const struct {
		const char *what;
		struct percent skew;
		size_t count;
		struct skew_update_role roles[3];
		int64_t targets[3];
	} rows[] = {
		{"both start together",
	         {PERCENT_SHARE, 10},
	         2,
	         {{"a", 100, 0, 0, false}, {"b", 50, 0, 0, false}},
	         {10, 5}},
		{"one of one each", {PERCENT_SHARE, 10}, 2, {{"a", 1, 0, 0, false}, {"b", 1, 0, 0, false}}, {1, 1}},
		{"catches up in one step",
	         {PERCENT_SHARE, 1},
	         2,
	         {{"a", 200, 20, 20, false}, {"b", 100, 0, 0, false}},
	         {20, 10}},
		{"what is not ready is not built on",
	         {PERCENT_SHARE, 10},
	         2,
	         {{"a", 100, 10, 10, false}, {"b", 100, 10, 3, false}},
	         {13, 13}},
		{"the slowest waits for its own",
	         {PERCENT_SHARE, 0},
	         2,
	         {{"a", 4, 1, 1, false}, {"b", 4, 1, 0, false}},
	         {1, 1}},
		{"not its turn: holds nobody",
	         {PERCENT_SHARE, 1},
	         2,
	         {{"a", 100, 50, 50, false}, {"b", 10, 0, 0, true}},
	         {51, 5}},
		{"wants none: left out",
	         {PERCENT_SHARE, 10},
	         2,
	         {{"a", 100, 50, 50, false}, {"b", 0, 0, 0, false}},
	         {60, 0}},
		{"done", {PERCENT_SHARE, 10}, 2, {{"a", 100, 100, 100, false}, {"b", 7, 7, 7, false}}, {100, 7}},
		{"as a count", {PERCENT_COUNT, 1}, 2, {{"a", 100, 50, 50, false}, {"b", 10, 5, 5, false}}, {51, 6}},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct skew_rule rule = {rows[i].skew, SKEW_SCHEDULED, everybody, rows[i].count};
		int64_t targets[3];
		skew_update(rows[i].roles, rows[i].count, &rule, 1, targets);
		print_message("%s\n", rows[i].what);
		for (size_t r = 0; r < rows[i].count; r++)
			assert_int_equal(targets[r], rows[i].targets[r]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_scaling_with_several_rules),
		cmocka_unit_test(test_updating),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
