/* Past use of queues: filling, ageing, windows and the text in which it is kept. */
#include "base/random.h"
#include "engine/share/share.h"
#include "schedule/usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WHOLE SHARE_PAST_WHOLE
#define DAY INT64_C(86400)
#define START (20000 * DAY)

static int64_t gpu(const struct usage *usage, int queue)
{
	int64_t used[CYCLE_RESOURCES];
	usage_get(usage, queue, used);
	return used[CYCLE_GPU];
}

static void hold(struct usage *usage, int queue, int64_t part)
{
	usage_hold(usage, queue, (int64_t[CYCLE_RESOURCES]){part, part / 2, 0});
}

static void assert_about(int64_t value, int64_t wanted, int64_t off)
{
	if (value < wanted - off || value > wanted + off)
		fail_msg("%lld is not about %lld", (long long)value, (long long)wanted);
}

static void a_sliding_window(void **state)
{
	struct usage *usage = usage_create(&(struct usage_params){.window = 128 * 60}, START);
	int a = usage_queue(usage, "a"), b = usage_queue(usage, "b");
	assert_int_equal(usage_queue(usage, "a"), a);
	assert_false(usage_is_new(usage, "b"));
	assert_true(usage_is_new(usage, "c"));
	hold(usage, a, WHOLE / 2);
	usage_advance(usage, START + 65 * 60 - 1);
	assert_about(gpu(usage, a), WHOLE / 4, WHOLE / 250); /* half of the cluster in half of a window */
	assert_int_equal(gpu(usage, b), 0);
	int64_t used[CYCLE_RESOURCES];
	usage_get(usage, a, used);
	assert_about(used[CYCLE_CPU], gpu(usage, a) / 2, 1);
	assert_int_equal(used[CYCLE_MEMORY], 0);
	hold(usage, a, 0);
	int64_t half = gpu(usage, a);
	usage_advance(usage, START + 128 * 60 - 1);
	assert_int_equal(gpu(usage, a), half);
	usage_advance(usage, START + (128 + 32) * 60);
	assert_about(gpu(usage, a), half / 2, WHOLE / 250);
	usage_advance(usage, START + 400 * 60);
	assert_int_equal(gpu(usage, a), 0);
	usage_destroy(usage);
}

static void a_half_life(void **state)
{
	struct usage *usage = usage_create(&(struct usage_params){.window = 7 * DAY, .half_life = 3600}, START);
	int a = usage_queue(usage, "a");
	hold(usage, a, WHOLE);
	usage_advance(usage, START + 7 * DAY);
	int64_t full = gpu(usage, a);
	assert_int_equal(full, WHOLE);
	hold(usage, a, 0);
	for (int hour = 1; hour <= 6; hour++) {
		usage_advance(usage, START + 7 * DAY + hour * 3600);
		assert_about(gpu(usage, a), full >> hour, WHOLE / 100);
	}
	usage_advance(usage, START + 9 * DAY);
	assert_int_equal(gpu(usage, a), 0);
	usage_destroy(usage);
}

/* At every moment, not only where a piece of the window begins or ends: otherwise shares would swing with the pieces. */
static void who_had_everything_used_everything(void **state)
{
	static const struct usage_params params[] = {
		{.window = 60, .half_life = 15},
		{.window = 3600, .half_life = 600},
		{.window = 3600},
		{.window = 7 * DAY, .half_life = DAY},
		{.window = 7 * DAY},
	};
	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
		int64_t window = params[i].window, step = window / 997 + 1;
		struct usage *usage = usage_create(&params[i], START + 13);
		int a = usage_queue(usage, "a"), b = usage_queue(usage, "b");
		hold(usage, a, WHOLE);
		for (int64_t now = 2 * window; now < 2 * window + window / 10; now += step) {
			usage_advance(usage, START + 13 + now);
			if (gpu(usage, a) != WHOLE || gpu(usage, b) != 0)
				fail_msg("window %lld, after %lld s: %lld", (long long)window, (long long)now,
				         (long long)gpu(usage, a));
		}
		usage_destroy(usage);
	}
}

static void a_tumbling_window(void **state)
{
	struct usage *usage = usage_create(&(struct usage_params){.window = DAY, .tumbling = true}, START + DAY / 2);
	int a = usage_queue(usage, "a");
	hold(usage, a, WHOLE);
	usage_advance(usage, START + DAY - 1);
	assert_about(gpu(usage, a), WHOLE / 2, WHOLE / 10000);
	usage_advance(usage, START + DAY);
	assert_int_equal(gpu(usage, a), 0);
	usage_advance(usage, START + DAY + DAY / 4);
	assert_int_equal(gpu(usage, a), WHOLE / 4);
	/* Not even if nobody looked when it ended. */
	usage_advance(usage, START + 3 * DAY + DAY / 4);
	assert_int_equal(gpu(usage, a), WHOLE / 4);
	usage_destroy(usage);
}

static void odd_windows(void **state)
{
	/* Shorter than there are buckets; a half-life of a second; one that is longer than the window. */
	static const struct usage_params odd[] = {
		{.window = USAGE_SHORTEST},
		{.window = 100, .tumbling = true},
		{.window = USAGE_LONGEST, .half_life = 1},
		{.window = 129, .half_life = USAGE_LONGEST},
	};
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct usage *usage = usage_create(&odd[i], START);
		int a = usage_queue(usage, "a");
		hold(usage, a, WHOLE);
		usage_advance(usage, START + 10 * USAGE_LONGEST);
		if (!odd[i].tumbling)
			assert_int_equal(gpu(usage, a), WHOLE);
		hold(usage, a, 0);
		usage_advance(usage, START + 12 * USAGE_LONGEST);
		assert_int_equal(gpu(usage, a), 0);
		usage_destroy(usage);
	}
}

static void a_clock_that_is_set_back(void **state)
{
	struct usage *usage = usage_create(&(struct usage_params){.window = DAY}, START);
	int a = usage_queue(usage, "a");
	hold(usage, a, WHOLE);
	usage_advance(usage, START + DAY / 2);
	int64_t before = gpu(usage, a);
	usage_advance(usage, START);
	assert_int_equal(gpu(usage, a), before);
	usage_advance(usage, START + DAY / 10);
	assert_about(gpu(usage, a), before + WHOLE / 10, WHOLE / 100);
	usage_destroy(usage);
}

static void the_part_of_a_cluster(void **state)
{
	assert_int_equal(usage_part(1, 4), WHOLE / 4);
	assert_int_equal(usage_part(5, 4), WHOLE); /* nodes went away */
	assert_int_equal(usage_part(5, 0), 0);
	assert_int_equal(usage_part(-5, 4), 0);
	assert_int_equal(usage_part(INT64_MAX / 4, INT64_MAX / 4), WHOLE);
}

/* Keeping is due where something is held, never at the moment that was just looked at. */
static void when_it_is_kept(void **state)
{
	struct usage *usage = usage_create(&(struct usage_params){.window = 7 * DAY}, START);
	int a = usage_queue(usage, "a");
	assert_true(usage_keep_due(usage) == INT64_MAX);
	usage_advance(usage, START + DAY);
	hold(usage, a, WHOLE);
	assert_int_equal(usage_keep_due(usage), START + DAY + 1);
	assert_false(usage_is_to_keep(usage, a));
	usage_advance(usage, START + DAY + 1);
	assert_true(usage_is_to_keep(usage, a));
	usage_kept(usage, a);
	assert_false(usage_is_to_keep(usage, a));
	assert_int_equal(usage_keep_due(usage), START + DAY + 301);
	usage_hold_nothing(usage);
	usage_advance(usage, START + 2 * DAY);
	assert_true(usage_keep_due(usage) == INT64_MAX);
	assert_about(gpu(usage, a), 0, 10000);
	usage_destroy(usage);
}

/* ---- text ---- */

static char *kept(const struct usage *usage, int queue)
{
	struct buffer text = {0};
	usage_write(usage, queue, &text);
	return text.text;
}

static void what_is_kept(void **state)
{
	static const struct usage_params params = {.window = 128 * 60};
	struct usage *usage = usage_create(&params, 1200), *next = usage_create(&params, 1200 + 90);
	int a = usage_queue(usage, "a"), b = usage_queue(next, "b");
	char *text = kept(usage, a);
	assert_string_equal(text, "{\"width\":60,\"buckets\":[]}");
	free(text);
	hold(usage, a, 1000);
	usage_advance(usage, 1200 + 90);
	text = kept(usage, a);
	assert_string_equal(text, "{\"width\":60,\"buckets\":[[20,60000,30000,0],[21,30000,15000,0]]}");
	assert_int_equal(usage_read(next, b, text), 0);
	char *again = kept(next, b);
	assert_string_equal(again, text);
	usage_destroy(next);
	/* Other settings: it is spread over other buckets, and what is too old is not taken. */
	next = usage_create(&(struct usage_params){.window = 128 * 30}, 1200 + 90);
	assert_int_equal(usage_read(next, usage_queue(next, "b"), text), 0);
	free(again);
	again = kept(next, 0);
	assert_string_equal(again, "{\"width\":30,\"buckets\":[[40,30000,15000,0],[41,30000,15000,0],"
	                           "[42,15000,7500,0],[43,15000,7500,0]]}");
	free(again);
	usage_destroy(next);
	next = usage_create(&params, 1200 + 10 * DAY);
	assert_int_equal(usage_read(next, usage_queue(next, "b"), text), 0);
	assert_int_equal(gpu(next, 0), 0);
	free(text);
	usage_destroy(next);
	usage_destroy(usage);
}

static void texts_that_are_not_ours(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{\"width\":60}",
		"{\"width\":0,\"buckets\":[]}",
		"{\"width\":99999999999,\"buckets\":[]}",
		"{\"width\":60,\"buckets\":[[1,2,3]]}",
		"{\"width\":60,\"buckets\":[[20,5,5,0],[21,-1,0,0]]}",
		"{\"width\":60,\"buckets\":[[20,60000000001,0,0]]}",
		"{\"width\":60,\"buckets\":[[9223372036854775807,1,0,0]]}",
		"{\"width\":60,\"buckets\":[7]}",
	};
	struct usage *usage = usage_create(&(struct usage_params){.window = DAY}, 1260);
	int a = usage_queue(usage, "a");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (usage_read(usage, a, bad[i]) == 0 || gpu(usage, a) != 0)
			fail_msg("taken: %s", bad[i]);
	usage_destroy(usage);
}

/* ---- at random ---- */

/* However time is cut, and with a restart in between, it comes out the same, and as a sum over all that was held says. */
static void any_steps(void **state)
{
	enum { STEPS = 60, RUNS = 200 };
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct random random = {seed};
		struct usage_params params = {.window = random_range(&random, USAGE_SHORTEST, 20000)};
		params.half_life = random_chance(&random, 50) ? random_range(&random, 1, 5000) : 0;
		params.tumbling = random_chance(&random, 30);
		struct usage *one = usage_create(&params, START), *many = usage_create(&params, START);
		int a = usage_queue(one, "a"), b = usage_queue(many, "a");
		int64_t now = START, all = 0;
		for (int step = 0; step < STEPS; step++) {
			int64_t part = random_chance(&random, 30) ? 0 : random_range(&random, 1, 1000000);
			int64_t next = now + random_range(&random, 0, random_chance(&random, 10) ? 30000 : 900);
			hold(one, a, part);
			hold(many, b, part);
			all += part * (next - now);
			usage_advance(one, next);
			while (now < next) {
				now += random_range(&random, 1, (int)(next - now));
				usage_advance(many, now);
				hold(many, b, part);
			}
			assert_int_equal(gpu(one, a), gpu(many, b));
			assert_true(gpu(one, a) >= 0 && gpu(one, a) <= 1000000);
			if (!random_chance(&random, 10))
				continue;
			char *text = kept(many, b);
			usage_destroy(many);
			many = usage_create(&params, now);
			assert_int_equal(usage_read(many, b = usage_queue(many, "a"), text), 0);
			assert_int_equal(gpu(one, a), gpu(many, b));
			free(text);
		}
		if (!params.half_life && !params.tumbling && params.window >= now - START + params.window / 64)
			assert_about(gpu(one, a), all / params.window, all / params.window / 32 + 2);
		usage_destroy(one);
		usage_destroy(many);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sliding_window),
		cmocka_unit_test(a_half_life),
		cmocka_unit_test(who_had_everything_used_everything),
		cmocka_unit_test(a_tumbling_window),
		cmocka_unit_test(odd_windows),
		cmocka_unit_test(a_clock_that_is_set_back),
		cmocka_unit_test(the_part_of_a_cluster),
		cmocka_unit_test(when_it_is_kept),
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(texts_that_are_not_ours),
		cmocka_unit_test(any_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
