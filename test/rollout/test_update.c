/* Rolling update of a role, its order over segments, and restarts. */
#include "rollout/backoff.h"
#include "rollout/order.h"
#include "rollout/update.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { OLD, NEW, STALE };

#define UNSET                                                                                                          \
	{                                                                                                              \
		PERCENT_UNSET, 0                                                                                       \
	}
#define COUNT(n)                                                                                                       \
	{                                                                                                              \
		PERCENT_COUNT, n                                                                                       \
	}
#define SHARE(n)                                                                                                       \
	{                                                                                                              \
		PERCENT_SHARE, n                                                                                       \
	}

static void test_percentages(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		int64_t value; /* -1: refused */
	} rows[] = {{"0%", 0},   {"25%", 25},  {"150%", 150}, {"25", -1},  {"%", -1},           {"", -1},
	            {"-5%", -1}, {"5.5%", -1}, {" 5%", -1},   {"5%x", -1}, {"99999999999%", -1}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct percent percent = {0};
		struct error error = {0};
		assert_int_equal(percent_parse(rows[i].text, &percent, &error), rows[i].value < 0 ? -1 : 0);
		if (rows[i].value >= 0)
			assert_int_equal(percent.value, rows[i].value);
		else
			assert_true(strlen(error.text) > 0);
	}
	assert_int_equal(percent_of(percent_share(10), 15, PERCENT_UP), 2);
	assert_int_equal(percent_of(percent_share(10), 15, PERCENT_DOWN), 1);
	assert_int_equal(percent_of(percent_count(-4), 15, PERCENT_DOWN), 0);
	assert_int_equal(percent_of((struct percent){PERCENT_UNSET, 9}, 15, PERCENT_UP), 0);
}

static void test_limits(void **unused)
{
	(void)unused;
	static const struct {
		struct percent unavailable, surge, partition;
		int64_t replicas, max_unavailable, max_surge, from;
	} rows[] = {
		{UNSET, UNSET, UNSET, 25, 3, 0, 0},             /* 10%, rounded up without surge */
		{UNSET, COUNT(1), UNSET, 25, 2, 1, 0},          /* down beside one */
		{COUNT(0), COUNT(0), UNSET, 4, 1, 0, 0},        /* neither would never end */
		{COUNT(0), SHARE(10), UNSET, 4, 0, 1, 0},       /* surge rounds up */
		{SHARE(0), UNSET, SHARE(50), 3, 1, 0, 2},       /* partition rounds up */
		{COUNT(1), UNSET, SHARE(99), 10, 1, 0, 9},      /* but leaves one */
		{COUNT(1), UNSET, SHARE(100), 10, 1, 0, 10},    /* unless it says all */
		{COUNT(1), UNSET, SHARE(50), 1, 1, 0, 0},       /* one of one is left */
		{COUNT(1), UNSET, COUNT(15), 10, 1, 0, 10},     /* within the replicas */
		{COUNT(-7), COUNT(-7), COUNT(-7), -7, 1, 0, 0}, /* nonsense */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct update_strategy strategy = {rows[i].unavailable, rows[i].surge, rows[i].partition, false};
		struct update_limits limits;
		update_resolve(&strategy, rows[i].replicas, &limits);
		assert_int_equal(limits.max_unavailable, rows[i].max_unavailable);
		assert_int_equal(limits.max_surge, rows[i].max_surge);
		assert_int_equal(limits.partition, rows[i].from);
	}
}

/* Instances as a text: ordinal i is letter i. o = old, n = new, s = superseded; capital = not healthy, digit instead of
 * a capital: broken; x = terminating, '.' = missing. */
static size_t read_instances(const char *text, struct update_instance *items)
{
	size_t count = 0;
	for (size_t i = 0; text[i]; i++) {
		struct update_instance *item = &items[count];
		*item = (struct update_instance){.ordinal = (int64_t)i, .is_healthy = strchr("ons", text[i]) != NULL};
		item->revision = strchr("oO0x", text[i]) ? OLD : strchr("nN1", text[i]) ? NEW : STALE;
		item->is_broken = strchr("012", text[i]) != NULL;
		item->is_terminating = text[i] == 'x';
		count += text[i] != '.';
	}
	return count;
}

/* What happens, ordinal by ordinal: - kept, R replaced, D removed. */
static void test_passes(void **unused)
{
	(void)unused;
	static const struct {
		const char *what;
		int64_t replicas, unavailable, surge, partition;
		bool is_paused;
		const char *instances;
		int64_t active_surge;
		const char *actions;
	} rows[] = {
		{"highest first", 4, 1, 0, 0, false, "oooo", 0, "---R"},
		{"two at a time", 4, 2, 0, 0, false, "oooo", 0, "--RR"},
		{"the last one is not back yet", 4, 1, 0, 0, false, "oooN", 0, "----"},
		{"nor created", 4, 1, 0, 0, false, "ooo.", 0, "---"},
		{"it is back", 4, 1, 0, 0, false, "ooon", 0, "--R-"},
		{"a broken new one stops it", 4, 1, 0, 0, false, "oo1n", 0, "----"},
		{"a broken old one costs nothing", 4, 1, 0, 0, false, "0oon", 0, "R---"},
		{"a flapping one waits while others are down", 4, 1, 0, 0, false, "oOoN", 0, "----"},
		{"and is taken when it alone is down", 4, 1, 0, 0, false, "oOon", 0, "-R--"},
		{"below the partition nothing", 4, 2, 0, 3, false, "oooo", 0, "---R"},
		{"all done above it", 4, 2, 0, 3, false, "ooon", 0, "----"},
		{"surge first", 3, 0, 1, 0, false, "ooo", 1, "---"},
		{"surge stands in", 3, 0, 1, 0, false, "ooon", 1, "--R-"},
		{"surge not ready yet", 3, 0, 1, 0, false, "oooN", 1, "----"},
		{"surge stays until all is done", 3, 0, 1, 0, false, "onNn", 1, "----"},
		{"surge leaves", 3, 0, 1, 0, false, "nnnn", 0, "---D"},
		{"superseded surge is recycled", 3, 0, 1, 0, false, "ooos", 1, "---R"},
		{"superseded surge serves until the base does", 3, 1, 1, 0, false, "222s", 0, "RRR-"},
		{"and then goes", 3, 1, 1, 0, false, "nnns", 0, "---D"},
		{"no more surge than healthy old ones", 2, 0, 4, 0, false, "oo", 2, "--"},
		{"paused: nothing, surge kept", 3, 1, 1, 0, true, "ooon", 1, "----"},
		{"paused: superseded surge goes", 3, 1, 1, 0, true, "ooos", 0, "---D"},
		{"terminating is left to end", 3, 1, 0, 0, false, "oox", 0, "---"},
		{"scaled down", 2, 1, 0, 0, false, "nnnn", 0, "--DD"},
	};
	struct arena *arena = arena_create();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct update_instance items[16];
		enum update_action actions[16];
		struct update_limits limits = {rows[i].replicas, rows[i].unavailable, rows[i].surge, rows[i].partition,
		                               rows[i].is_paused};
		struct update_shape shape;
		char got[17] = "";
		size_t count = read_instances(rows[i].instances, items);
		update_shape(&limits, OLD, NEW, items, count, &shape);
		update_decide(&shape, items, count, actions, arena);
		for (size_t k = 0; k < count; k++)
			got[k] = actions[k] == UPDATE_KEEP ? '-' : actions[k] == UPDATE_REPLACE ? 'R' : 'D';
		print_message("%s\n", rows[i].what);
		assert_int_equal(shape.surge, rows[i].active_surge);
		assert_string_equal(got, rows[i].actions);
	}
	arena_destroy(arena);
}

static void test_revisions_of_new_instances(void **unused)
{
	(void)unused;
	struct update_limits limits = {.replicas = 4, .max_unavailable = 1, .partition = 1};
	struct update_instance items[4];
	struct update_shape shape;
	size_t count = read_instances("oon.", items);
	update_shape(&limits, OLD, NEW, items, count, &shape);
	assert_int_equal(update_revision(&shape, 0), OLD);
	assert_int_equal(update_revision(&shape, 3), NEW);
	assert_false(update_may_advance(&shape));
	/* While paused, what is lost comes back as it was: ordinal 3 had been passed, ordinal 1 had not. */
	limits.is_paused = true;
	update_shape(&limits, OLD, NEW, items, count, &shape);
	assert_int_equal(update_revision(&shape, 3), NEW);
	assert_int_equal(update_revision(&shape, 1), OLD);
	limits = (struct update_limits){.replicas = 4, .max_unavailable = 1};
	count = read_instances("nnnn", items);
	update_shape(&limits, OLD, NEW, items, count, &shape);
	assert_true(shape.is_done && update_may_advance(&shape));
}

static void test_merge(void **unused)
{
	(void)unused;
	struct update_strategy a = {COUNT(10), COUNT(2), COUNT(5), false}, b = {SHARE(5), UNSET, UNSET, true};
	struct update_strategy got = update_merge(&a, &b, 40);
	assert_int_equal(got.max_unavailable.form, PERCENT_SHARE); /* 5% of 40 is less than 10 */
	assert_int_equal(got.max_unavailable.value, 5);
	assert_int_equal(got.max_surge.value, 2);
	assert_int_equal(got.partition.value, 5);
	assert_true(got.is_paused);
	got = update_merge(&a, &b, 1000); /* and more of 1000 */
	assert_int_equal(got.max_unavailable.value, 10);
	assert_int_equal(got.max_unavailable.form, PERCENT_COUNT);
}

/* Two roles in segments of 2 and 1, updated from the last segment to the first. */
static void test_order_of_segments(void **unused)
{
	(void)unused;
	static const struct {
		const char *what;
		bool prefill[6], decode[3];
		int64_t user_partition; /* of prefill */
		int64_t partitions[2];
		bool is_waiting[2];
	} rows[] = {
		{"the last segment", {0}, {0}, 0, {4, 2}, {false, false}},
		{"decode of it is done, prefill is not", {0, 0, 0, 0, 0, 1}, {0, 0, 1}, 0, {4, 2}, {false, true}},
		{"the middle one", {0, 0, 0, 0, 1, 1}, {0, 0, 1}, 0, {2, 1}, {false, false}},
		{"an early one is updated already", {1, 0, 0, 0, 1, 1}, {0, 0, 1}, 0, {2, 1}, {false, false}},
		{"an updated one broke: back to it", {0, 0, 0, 0, 1, 0}, {0, 1, 1}, 0, {4, 2}, {false, true}},
		{"nobody waits below a partition", {0, 0, 0, 1, 1, 1}, {0, 0, 1}, 3, {3, 1}, {false, false}},
		{"all but the held back", {0, 0, 0, 1, 1, 1}, {1, 1, 1}, 3, {3, 0}, {false, false}},
		{"all", {1, 1, 1, 1, 1, 1}, {1, 1, 1}, 0, {0, 0}, {false, false}},
	};
	const struct segment_size sizes[] = {{0, 2}, {1, 1}, {9, 1}, {1, 0}};
	const struct segment_rule rule = {"pd", SEGMENT_ORDERED_READY, sizes, 4};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct order_role roles[] = {{6, rows[i].user_partition, rows[i].prefill}, {3, 0, rows[i].decode}};
		struct order_result results[2];
		order_partitions(roles, 2, &rule, 1, results);
		print_message("%s\n", rows[i].what);
		for (size_t r = 0; r < 2; r++) {
			assert_int_equal(results[r].partition, rows[i].partitions[r]);
			assert_int_equal(results[r].is_waiting, rows[i].is_waiting[r]);
		}
	}
}

static void test_restarts(void **unused)
{
	(void)unused;
	static const struct {
		int64_t base, maximum, restarts, delay;
	} rows[] = {{30, 600, 0, 0},   {30, 600, 1, 30},   {30, 600, 2, 60},
	            {30, 600, 6, 600}, {30, 600, 62, 600}, {10, 0, 60, INT32_MAX},
	            {0, 600, 5, 0},    {-30, -1, 2, 0},    {INT64_MAX, INT64_MAX, INT64_MAX, INT32_MAX}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(backoff_delay(rows[i].base, rows[i].maximum, rows[i].restarts), rows[i].delay);
	assert_int_equal(backoff_reset(600), 1200);
	assert_int_equal(backoff_reset(10), 600);
	assert_int_equal(backoff_count(0, 0, 0, 600), 1);
	assert_int_equal(backoff_count(5, 1000, 1000 + 900, 600), 6);
	assert_int_equal(backoff_count(5, 1000, 1000 + 1500, 600), 1);
	assert_int_equal(backoff_count(INT64_MAX, INT64_MIN, INT64_MAX, 600), INT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentages), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_passes),      cmocka_unit_test(test_revisions_of_new_instances),
		cmocka_unit_test(test_merge),       cmocka_unit_test(test_order_of_segments),
		cmocka_unit_test(test_restarts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
