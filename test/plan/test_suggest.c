/* Segment sizes from ratios and domains. */
#include "plan/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void ratios(void **state)
{
	(void)state;
	static const struct {
		int64_t desired[3], ratio[3], times;
	} rows[] = {
		{{100, 50, 0}, {2, 1, 0}, 50}, {{300, 100, 50}, {6, 2, 1}, 50}, {{7, 5, 3}, {7, 5, 3}, 1},
		{{0, 0, 0}, {0, 0, 0}, 0},     {{0, 8, 4}, {0, 2, 1}, 4},       {{1, 0, 0}, {1, 0, 0}, 1},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ratio[3];
		assert_int_equal(suggest_ratio(rows[i].desired, 3, ratio), rows[i].times);
		for (int r = 0; r < 3; r++)
			assert_int_equal(ratio[r], rows[i].ratio[r]);
	}
}

static void sizes(void **state)
{
	(void)state;
	const int64_t hosts[] = {2, 2, 2, 2, 2, 2}, racks[] = {8, 8, 8}, small[] = {0, 0, 0}, one[] = {1};
	static const struct {
		const char *story;
		int64_t times, multiple, segments;
		int levels; /* 0: none, 1: hosts, 2: small hosts and racks, 3: one place */
		size_t level;
	} rows[] = {
		{"all on hosts", 12, 2, 6, 1, 0},
		{"as large as all of them fit", 10, 2, 5, 1, 0},
		{"one at a time", 7, 1, 7, 1, 0},
		{"more than there is room for", 13, 1, 13, 1, SUGGEST_NO_LEVEL},
		{"too many for hosts, not for racks", 24, 8, 3, 2, 1},
		{"never a single segment", 8, 4, 2, 2, 1},
		{"a ratio that cannot be split", 1, 1, 1, 3, 0},
		{"no cluster", 50, 1, 50, 0, SUGGEST_NO_LEVEL},
		{"nobody wants anything", 0, 0, 0, 1, SUGGEST_NO_LEVEL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct suggest_level levels[][2] = {{{0}}, {{hosts, 6}}, {{small, 3}, {racks, 3}}, {{one, 1}}};
		size_t count = rows[i].levels == 2 ? 2 : rows[i].levels != 0;
		struct suggestion got = suggest_segments(rows[i].times, levels[rows[i].levels], count);
		if (got.multiple != rows[i].multiple || got.segments != rows[i].segments || got.level != rows[i].level)
			fail_msg("%s: %lld x %lld at %zu", rows[i].story, (long long)got.segments,
			         (long long)got.multiple, got.level);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ratios), cmocka_unit_test(sizes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
