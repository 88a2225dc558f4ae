/* Segment sizes from ratios and domains. */
#include "rollout/suggest.h"

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

/* Numbers without a common divisor: the ratio is near, and the roles end within one segment of each other. */
static void near_ratios(void **state)
{
	(void)state;
	static const struct {
		int64_t desired[3], ratio[3], segments;
	} rows[] = {
		{{100, 33, 0}, {6, 2, 0}, 17}, {{7, 3, 0}, {5, 2, 0}, 2},
		{{5, 4, 0}, {3, 2, 0}, 2},     {{13, 8, 0}, {5, 3, 0}, 3},
		{{31, 17, 5}, {12, 7, 2}, 3},  {{1, 0, 0}, {1, 0, 0}, 1},
		{{0, 0, 0}, {0, 0, 0}, 0},     {{2147483647, 2, 0}, {1073741824, 1, 0}, 2},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ratio[3], segments = suggest_near(rows[i].desired, 3, ratio);
		for (int r = 0; r < 3; r++)
			if (ratio[r] != rows[i].ratio[r] || segments != rows[i].segments)
				fail_msg("row %zu: %lld segments of %lld %lld %lld", i, (long long)segments,
				         (long long)ratio[0], (long long)ratio[1], (long long)ratio[2]);
	}
	const int64_t racks[] = {8, 8, 8};
	struct suggestion got = suggest_segments(34, false, &(struct suggest_level){racks, 3}, 1);
	assert_int_equal(got.level, SUGGEST_NO_LEVEL); /* 24 of 34 fit */
	const int64_t more[] = {12, 12, 12};
	got = suggest_segments(34, false, &(struct suggest_level){more, 3}, 1);
	assert_int_equal(got.multiple, 12);
	assert_int_equal(got.segments, 3);
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
		struct suggestion got = suggest_segments(rows[i].times, true, levels[rows[i].levels], count);
		if (got.multiple != rows[i].multiple || got.segments != rows[i].segments || got.level != rows[i].level)
			fail_msg("%s: %lld x %lld at %zu", rows[i].story, (long long)got.segments,
			         (long long)got.multiple, got.level);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ratios), cmocka_unit_test(near_ratios),
	                                   cmocka_unit_test(sizes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
