/* Lists and watches that arrive in pieces, cut wherever the network likes to. */
#include "fixtures/store_fixture.h"
#include "remote/stream.h"

#include <stdlib.h>

struct seen {
	struct buffer text; /* the pieces, with | behind each */
	size_t stop_after;
	size_t count;
};

static int receive(void *context, const char *text, size_t length)
{
	struct seen *seen = context;
	buffer_append(&seen->text, text, length);
	buffer_puts(&seen->text, "|");
	return ++seen->count == seen->stop_after ? -1 : 0;
}

/* In pieces of this size; the status, and everything in *seen. */
static int feed_items(const char *text, size_t size, struct remote_items *items, struct seen *seen, struct error *error)
{
	int status = 0;
	for (size_t at = 0, length = strlen(text); at < length && status == 0; at += size)
		status = remote_items_feed(items, text + at, at + size < length ? size : length - at, 1 << 20, receive,
		                           seen, error);
	return status;
}

static void lists_are_cut_into_items(void **state)
{
	static const struct {
		const char *text, *items;
		const char *envelope; /* NULL: not JSON */
	} cases[] = {
		{"{\"kind\":\"L\",\"items\":[{\"a\":1},{\"b\":[{}]}],\"z\":2}", "{\"a\":1}|{\"b\":[{}]}|",
	         "{\"kind\":\"L\",\"items\":[],\"z\":2}"},
		{"{ \"items\" : [ {\"s\":\"]}\\\"{\\\\\"} , [1] ] }", "{\"s\":\"]}\\\"{\\\\\"}|[1]|", "{\"items\":[]}"},
		{"{\"items\":[]}", "", "{\"items\":[]}"},
		{"{\"items\":null}", "", "{\"items\":null}"},
		/* Only the outermost ones, and only once. */
		{"{\"metadata\":{\"items\":[{}]},\"x\":\"items\",\"y\":[{}],\"items\":[{}]}", "{}|",
	         "{\"metadata\":{\"items\":[{}]},\"x\":\"items\",\"y\":[{}],\"items\":[]}"},
		{"[{\"items\":[1]}]", "", "[{\"items\":[1]}]"},
		/* What is not there yet. */
		{"{\"items\":[{\"a\":1},{\"b\"", "{\"a\":1}|", "{\"items\":[]}"},
		{"{\"items\":[{}]}]", "{}|", NULL},
		{"", "", NULL},
		{"]]]]", "", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t size = 1; size <= strlen(cases[i].text) + 1; size++) {
			struct remote_items items = {0};
			struct seen seen = {0};
			struct error error = {0};
			if (feed_items(cases[i].text, size, &items, &seen, &error) < 0)
				fail_msg("%s: %s", cases[i].text, error.text);
			assert_string_equal(seen.text.text ? seen.text.text : "", cases[i].items);
			struct doc *doc = remote_items_envelope(&items);
			struct buffer shown = {0};
			if (doc)
				val_write(doc_root(doc), DOC_JSON_COMPACT, &shown);
			if (!cases[i].envelope != !doc || (doc && strcmp(shown.text, cases[i].envelope) != 0))
				fail_msg("%s in pieces of %zu: %s", cases[i].text, size, doc ? shown.text : "not JSON");
			buffer_free(&shown);
			doc_destroy(doc);
			buffer_free(&seen.text);
			remote_items_free(&items);
		}
}

static void what_cannot_be_an_item_is_refused(void **state)
{
	struct buffer deep = {0};
	buffer_puts(&deep, "{\"items\":[");
	for (int i = 0; i < DOC_MAX_DEPTH + 1; i++)
		buffer_puts(&deep, "[");
	const char *const texts[] = {"{\"items\":[7]}", "{\"items\":[\"a\"]}", "{\"items\":[{},true]}", deep.text};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct remote_items items = {0};
		struct seen seen = {0};
		struct error error = {0};
		assert_int_equal(feed_items(texts[i], 3, &items, &seen, &error), -1);
		assert_string_not_equal(error.text, "");
		buffer_free(&seen.text);
		remote_items_free(&items);
	}
	buffer_free(&deep);
	/* One that is too large, in one piece and in many; and one that the receiver wants no more of. */
	static const char large[] = "{\"items\":[{\"a\":\"0123456789\"}]}";
	for (size_t size = 1; size < sizeof(large); size++) {
		struct remote_items items = {0};
		struct seen seen = {.stop_after = 1};
		struct error error = {0};
		int status = 0;
		for (size_t at = 0; at < sizeof(large) - 1 && status == 0; at += size)
			status = remote_items_feed(&items, large + at,
			                           at + size < sizeof(large) - 1 ? size : sizeof(large) - 1 - at, 15,
			                           receive, &seen, &error);
		assert_int_equal(status, -1);
		assert_string_not_equal(error.text, "");
		remote_items_free(&items);
		buffer_free(&seen.text);
		items = (struct remote_items){0};
		seen = (struct seen){.stop_after = 1};
		assert_int_equal(feed_items(large, size, &items, &seen, &error), -1);
		remote_items_free(&items);
		buffer_free(&seen.text);
	}
}

static void watches_are_cut_into_lines(void **state)
{
	static const char text[] = "one\ntwo\r\n\n\r\nthree\nrest";
	for (size_t size = 1; size <= sizeof(text); size++) {
		struct remote_lines lines = {0};
		struct seen seen = {0};
		struct error error = {0};
		for (size_t at = 0; at < sizeof(text) - 1; at += size)
			assert_int_equal(remote_lines_feed(&lines, text + at,
			                                   at + size < sizeof(text) - 1 ? size : sizeof(text) - 1 - at,
			                                   8, receive, &seen, &error),
			                 0);
		assert_string_equal(seen.text.text, "one|two|three|");
		assert_int_equal(remote_lines_feed(&lines, "too long", 8, 8, receive, &seen, &error), -1);
		assert_string_not_equal(error.text, "");
		buffer_free(&seen.text);
		remote_lines_free(&lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_cut_into_items),
		cmocka_unit_test(what_cannot_be_an_item_is_refused),
		cmocka_unit_test(watches_are_cut_into_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
