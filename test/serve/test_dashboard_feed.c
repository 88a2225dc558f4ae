/* The feed of the dashboard: what readers see, however slowly they read, and what is kept of the past. */
#include "property/random.h"
#include "serve/dashboard/feed.h"

#include "object/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void put(struct feed *feed, const char *name, int value)
{
	char json[64];
	snprintf(json, sizeof(json), "{\"k\":\"p\",\"n\":\"%s\",\"v\":%d}", name, value);
	feed_put(feed, 'p', name, value < 0 ? NULL : json, 7);
}

/* What a reader gets next, as JSON; "" for nothing, "lost" when it fell behind. */
static const char *next(struct feed_reader *reader, size_t bytes)
{
	static char text[4096];
	struct buffer out = {0};
	int more = feed_read(reader, bytes, 9, &out);
	snprintf(text, sizeof(text), "%s", more < 0 ? "lost" : out.text ? out.text : "");
	buffer_free(&out);
	return text;
}

static void test_reader_sees_news_once(void **state)
{
	struct feed *feed = feed_create(&(struct feed_options){.epoch = "e"});
	put(feed, "a", 1);
	put(feed, "b", 1);
	struct feed_reader *reader = feed_open(feed, "e", 0);
	assert_string_equal(next(reader, 1000), "{\"seq\":2,\"now\":9,\"records\":[{\"k\":\"p\",\"n\":\"a\",\"v\":1},"
	                                        "{\"k\":\"p\",\"n\":\"b\",\"v\":1}]}");
	assert_string_equal(next(reader, 1000), "");
	put(feed, "a", 1); /* the same again is no news */
	assert_string_equal(next(reader, 1000), "");
	put(feed, "a", 2);
	put(feed, "a", 3); /* what was overtaken is skipped */
	assert_string_equal(next(reader, 1000),
	                    "{\"seq\":4,\"now\":9,\"records\":[{\"k\":\"p\",\"n\":\"a\",\"v\":3}]}");
	put(feed, "b", -1);
	put(feed, "nobody", -1);
	assert_string_equal(next(reader, 1000),
	                    "{\"seq\":5,\"now\":9,\"records\":[{\"k\":\"p\",\"n\":\"b\",\"gone\":true}]}");
	feed_close(reader);
	feed_destroy(feed);
}

static void test_small_portions(void **state)
{
	struct feed *feed = feed_create(&(struct feed_options){.epoch = "e"});
	put(feed, "a", 1);
	put(feed, "b", 1);
	put(feed, "c", 1);
	struct feed_reader *reader = feed_open(feed, "e", 0);
	assert_non_null(strstr(next(reader, 1), "\"a\""));
	put(feed, "b", 2); /* moves behind c */
	assert_non_null(strstr(next(reader, 1), "\"c\""));
	assert_non_null(strstr(next(reader, 1), "\"v\":2"));
	assert_string_equal(next(reader, 1), "");
	feed_close(reader);
	feed_destroy(feed);
}

static void test_where_a_reader_may_begin(void **state)
{
	static const struct {
		const char *epoch;
		uint64_t since;
		bool good;
	} cases[] = {{"e", 0, true},  {"e", 2, true},      {"e", 3, true},
	             {"e", 4, false}, {"other", 0, false}, {"", 0, false}};
	struct feed *feed = feed_create(&(struct feed_options){.epoch = "e"});
	put(feed, "a", 1);
	put(feed, "b", 1);
	put(feed, "c", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed_reader *reader = feed_open(feed, cases[i].epoch, cases[i].since);
		assert_int_equal(reader != NULL, cases[i].good);
		feed_close(reader);
	}
	struct feed_reader *reader = feed_open(feed, "e", 2);
	assert_non_null(strstr(next(reader, 1000), "[{\"k\":\"p\",\"n\":\"c\""));
	feed_close(reader);
	feed_destroy(feed);
}

static void test_forgotten_deletions(void **state)
{
	struct feed *feed = feed_create(&(struct feed_options){.epoch = "e", .gone = 2});
	char name[16];
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		put(feed, name, 1);
	}
	struct feed_reader *slow = feed_open(feed, "e", 0), *quick = feed_open(feed, "e", 0);
	next(quick, 1000);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		put(feed, name, -1);
		next(quick, 1000);
	}
	assert_string_equal(next(slow, 1000), "lost");
	assert_string_equal(next(quick, 1000), "");
	assert_null(feed_open(feed, "e", 4));
	put(feed, "p0", 5); /* one that was forgotten may come again */
	assert_non_null(strstr(next(quick, 1000), "\"v\":5"));
	feed_close(slow);
	feed_close(quick);
	feed_destroy(feed);
}

static void test_history(void **state)
{
	struct feed *feed = feed_create(&(struct feed_options){.epoch = "e", .version = "\"1\"", .history = 3});
	struct buffer out = {0};
	put(feed, "a", 1);
	feed_begin_history(feed);
	put(feed, "a", 2);
	put(feed, "a", -1);
	feed_snapshot(feed, 9, &out);
	assert_string_equal(out.text,
	                    "{\"epoch\":\"e\",\"seq\":3,\"now\":9,\"version\":\"\\\"1\\\"\",\"records\":[],"
	                    "\"forgotten\":0,\"history\":["
	                    "[7,{\"k\":\"p\",\"n\":\"a\",\"v\":1},{\"k\":\"p\",\"n\":\"a\",\"v\":2}],"
	                    "[7,{\"k\":\"p\",\"n\":\"a\",\"v\":2},{\"k\":\"p\",\"n\":\"a\",\"gone\":true}]]}");
	buffer_free(&out);
	put(feed, "b", 1);
	put(feed, "b", 2);
	assert_int_equal(feed_history_count(feed), 3);
	feed_snapshot(feed, 9, &out);
	assert_non_null(strstr(out.text, "\"forgotten\":1,"));
	buffer_free(&out);
	feed_destroy(feed);
	feed = feed_create(&(struct feed_options){.epoch = "e", .history_bytes = 100});
	feed_begin_history(feed);
	for (int i = 0; i < 50; i++)
		put(feed, "a", i);
	assert_in_range(feed_history_count(feed), 1, 3);
	feed_destroy(feed);
}

/* ---- any number of readers, any speed ---- */

#define NAMES 30
#define READERS 5

struct mirror {
	struct feed_reader *reader;
	int values[NAMES]; /* -1: not there */
};

static void take(struct mirror *mirror, const char *json)
{
	struct error error;
	struct doc *doc = doc_parse_json(json, strlen(json), &error);
	assert_non_null(doc);
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(doc_root(doc), "records")); val_next(&it, NULL, &item);) {
		int64_t value = -1;
		val_int(val_get(item, "v"), &value);
		mirror->values[strtol(val_str(val_get(item, "n"), "x0") + 1, NULL, 10)] = (int)value;
	}
	doc_destroy(doc);
}

static void begin_again(struct feed *feed, struct mirror *mirror)
{
	struct buffer out = {0};
	memset(mirror->values, -1, sizeof(mirror->values));
	feed_snapshot(feed, 0, &out);
	take(mirror, out.text);
	buffer_free(&out);
	feed_close(mirror->reader);
	mirror->reader = feed_open(feed, "e", feed_sequence(feed));
	assert_non_null(mirror->reader);
}

static void read_some(struct feed *feed, struct mirror *mirror, size_t bytes)
{
	struct buffer out = {0};
	int more = feed_read(mirror->reader, bytes, 0, &out);
	if (more < 0)
		begin_again(feed, mirror);
	else if (more > 0)
		take(mirror, out.text);
	buffer_free(&out);
}

static void test_every_reader_ends_with_the_truth(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random random = {seed};
		struct feed *feed = feed_create(&(struct feed_options){.epoch = "e", .gone = 4, .history = 20});
		struct mirror mirrors[READERS] = {{NULL}};
		int truth[NAMES];
		memset(truth, -1, sizeof(truth));
		feed_begin_history(feed);
		for (int r = 0; r < READERS; r++)
			begin_again(feed, &mirrors[r]);
		for (int i = 0; i < 300; i++) {
			char name[16];
			int which = random_range(&random, 0, NAMES - 1);
			truth[which] = random_chance(&random, 30) ? -1 : random_range(&random, 0, 3);
			snprintf(name, sizeof(name), "x%d", which);
			put(feed, name, truth[which]);
			for (int r = 0; r < READERS; r++)
				if (random_chance(&random, 5 + 15 * r))
					read_some(feed, &mirrors[r], (size_t)random_range(&random, 1, 200));
		}
		for (int r = 0; r < READERS; r++) {
			for (int i = 0; i < 400; i++)
				read_some(feed, &mirrors[r], 50);
			assert_memory_equal(mirrors[r].values, truth, sizeof(truth));
			feed_close(mirrors[r].reader);
		}
		feed_destroy(feed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_sees_news_once),
		cmocka_unit_test(test_small_portions),
		cmocka_unit_test(test_where_a_reader_may_begin),
		cmocka_unit_test(test_forgotten_deletions),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_every_reader_ends_with_the_truth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
