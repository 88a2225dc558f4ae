/* Segments of one coordination: the rule with tables that tell a deployment from its first to its last segment. */
#include "rollout/segments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PREFILL 0
#define DECODE 1

static const struct segment_size ten_to_five[] = {{PREFILL, 10}, {DECODE, 5}};

struct row {
	const char *what;
	enum segment_progression progression;
	int64_t desired[2], current[2], ready[2];
	int64_t target[2];
	int64_t created, total, segments_ready;
	bool is_open;
};

static void check_row(const struct row *row)
{
	struct segment_role roles[2];
	struct segment_rule rule = {"pd", row->progression, ten_to_five, 2};
	struct segment_state state;
	for (size_t r = 0; r < 2; r++)
		roles[r] = (struct segment_role){.name = r == PREFILL ? "prefill" : "decode",
		                                 .desired = row->desired[r],
		                                 .current = row->current[r],
		                                 .ready = row->ready[r]};
	segment_judge(roles, 2, &rule, &state);
	print_message("%s\n", row->what);
	assert_int_equal(state.created, row->created);
	assert_int_equal(state.total, row->total);
	assert_int_equal(state.ready, row->segments_ready);
	assert_int_equal(state.is_open, row->is_open);
	for (size_t r = 0; r < 2; r++)
		assert_int_equal(segment_target(&roles[r], ten_to_five[r].size, &state), row->target[r]);
}

static void test_a_deployment(void **unused)
{
	(void)unused;
	static const struct row rows[] = {
		{"nothing yet", SEGMENT_ORDERED_READY, {100, 50}, {0, 0}, {0, 0}, {10, 5}, 0, 10, 0, true},
		{"part of the first", SEGMENT_ORDERED_READY, {100, 50}, {7, 3}, {0, 0}, {10, 5}, 0, 10, 0, true},
		{"the first starts", SEGMENT_ORDERED_READY, {100, 50}, {10, 5}, {7, 5}, {10, 5}, 1, 10, 0, false},
		{"Ordered does not wait", SEGMENT_ORDERED, {100, 50}, {10, 5}, {7, 5}, {20, 10}, 1, 10, 0, true},
		{"Parallel never does", SEGMENT_PARALLEL, {100, 50}, {10, 5}, {0, 0}, {100, 50}, 1, 10, 0, true},
		{"the first is ready", SEGMENT_ORDERED_READY, {100, 50}, {10, 5}, {10, 5}, {20, 10}, 1, 10, 1, true},
		{"one role was quicker", SEGMENT_ORDERED_READY, {100, 50}, {20, 7}, {20, 7}, {20, 10}, 1, 10, 1, true},
		{"far ahead: not shrunk",
	         SEGMENT_ORDERED_READY,
	         {100, 50},
	         {40, 10},
	         {40, 10},
	         {40, 15},
	         2,
	         10,
	         2,
	         true},
		{"the last is a rest", SEGMENT_ORDERED_READY, {25, 12}, {20, 10}, {20, 10}, {25, 12}, 2, 3, 2, true},
		{"complete", SEGMENT_ORDERED_READY, {25, 12}, {25, 12}, {25, 12}, {25, 12}, 3, 3, 3, true},
		{"a pod of the rest is lost",
	         SEGMENT_ORDERED_READY,
	         {25, 12},
	         {25, 12},
	         {24, 12},
	         {25, 12},
	         3,
	         3,
	         2,
	         false},
		{"decode ends early", SEGMENT_ORDERED_READY, {50, 8}, {20, 8}, {20, 8}, {30, 8}, 2, 5, 2, true},
		{"fewer wanted, not ready",
	         SEGMENT_ORDERED_READY,
	         {50, 20},
	         {100, 50},
	         {100, 49},
	         {50, 20},
	         5,
	         5,
	         5,
	         true},
		{"none wanted", SEGMENT_ORDERED_READY, {0, 0}, {10, 5}, {10, 5}, {0, 0}, 0, 0, 0, true},
		{"a role that wants none", SEGMENT_ORDERED_READY, {30, 0}, {10, 0}, {10, 0}, {20, 0}, 1, 3, 1, true},
		{"nonsense",
	         SEGMENT_ORDERED_READY,
	         {-3, INT64_MAX},
	         {-1, INT64_MAX},
	         {-1, 0},
	         {0, INT32_MAX},
	         429496730,
	         429496730,
	         0,
	         false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

/* Counting ready replicas would hide that an early one is missing; looking at ordinals does not. */
static void test_readiness_by_ordinal(void **unused)
{
	(void)unused;
	bool prefill[20], decode[10];
	for (size_t i = 0; i < 20; i++)
		prefill[i] = i != 3;
	for (size_t i = 0; i < 10; i++)
		decode[i] = true;
	struct segment_role roles[] = {
		{.name = "prefill", .desired = 100, .current = 20, .ready = 19, .is_ready = prefill},
		{.name = "decode", .desired = 50, .current = 10, .ready = 10, .is_ready = decode},
	};
	struct segment_rule rule = {"pd", SEGMENT_ORDERED_READY, ten_to_five, 2};
	struct segment_state state;
	segment_judge(roles, 2, &rule, &state);
	assert_false(state.is_open);
	assert_int_equal(state.waits_for, PREFILL);
	assert_int_equal(state.waits_in, 1);
	assert_int_equal(state.ready, 1); /* the second one serves */
	assert_int_equal(segment_ready_prefix(&roles[PREFILL]), 3);
	assert_int_equal(segment_target(&roles[PREFILL], 10, &state), 20);

	prefill[3] = true;
	segment_judge(roles, 2, &rule, &state);
	assert_true(state.is_open);
	assert_int_equal(state.ready, 2);
	assert_int_equal(segment_target(&roles[PREFILL], 10, &state), 30);
}

/* What was asked for is not taken back when an instance is lost while the gate is closed. */
static void test_a_lost_instance_is_made_again(void **unused)
{
	(void)unused;
	const struct segment_size sizes[] = {{0, 5}};
	struct segment_rule rule = {"solo", SEGMENT_ORDERED_READY, sizes, 1};
	bool ready[] = {true, false, true, true, true, true, true, true, true};
	struct segment_role role = {.desired = 20, .current = 9, .asked = 10, .ready = 8, .is_ready = ready};
	struct segment_state state;
	segment_judge(&role, 1, &rule, &state);
	assert_false(state.is_open);
	assert_int_equal(segment_target(&role, 5, &state), 10);
	role.asked = 0;
	assert_int_equal(segment_target(&role, 5, &state), 9);
	role.asked = 1000;
	assert_int_equal(segment_target(&role, 5, &state), 20);
}

static void test_bad_entries_have_no_say(void **unused)
{
	(void)unused;
	const struct segment_size sizes[] = {{0, 5}, {1, 0}, {7, 3}, {1, -2}, {SEGMENT_NO_ROLE, 1}};
	struct segment_rule rule = {"odd", SEGMENT_ORDERED_READY, sizes, 5};
	struct segment_role roles[] = {{.desired = 20, .current = 5, .ready = 5}, {.desired = 9}};
	struct segment_state state;
	segment_judge(roles, 2, &rule, &state);
	assert_int_equal(state.total, 4);
	assert_int_equal(state.next, 2);
	rule.count = 0;
	segment_judge(roles, 2, &rule, &state);
	assert_int_equal(state.total, 0);
	assert_true(state.is_finished);
}

static void test_numbers(void **unused)
{
	(void)unused;
	assert_int_equal(segment_end(0, 10, 25), 0);
	assert_int_equal(segment_end(2, 10, 25), 20);
	assert_int_equal(segment_end(3, 10, 25), 25);
	assert_int_equal(segment_end(INT64_MAX, INT64_MAX, INT64_MAX), INT32_MAX);
	assert_int_equal(segment_count(10, 25), 3);
	assert_int_equal(segment_count(10, 0), 0);
	assert_int_equal(segment_count(0, 25), 0);
	assert_int_equal(segment_of(7, 4), 1);
	assert_int_equal(segment_of(7, 0), 0);
}

static void test_progressions_by_name(void **unused)
{
	(void)unused;
	enum segment_progression progression;
	for (int i = SEGMENT_ORDERED_READY; i <= SEGMENT_PARALLEL; i++) {
		const char *name = segment_progression_name((enum segment_progression)i);
		assert_true(segment_progression_parse(name, &progression));
		assert_int_equal(progression, i);
	}
	assert_true(segment_progression_parse(NULL, &progression));
	assert_int_equal(progression, SEGMENT_ORDERED_READY);
	assert_true(segment_progression_parse("", &progression));
	assert_false(segment_progression_parse("ordered", &progression));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_deployment),
		cmocka_unit_test(test_readiness_by_ordinal),
		cmocka_unit_test(test_a_lost_instance_is_made_again),
		cmocka_unit_test(test_bad_entries_have_no_say),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_progressions_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
