/* Buffers, the interner and UTF-8. */
#include "base/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void buffers_grow(void **state)
{
	struct buffer buffer = {0};
	buffer_append(&buffer, "", 0);
	assert_string_equal(buffer.text, "");
	for (int i = 0; i < 1000; i++)
		buffer_printf(&buffer, "%d,", i);
	assert_int_equal(buffer.length, 3890);
	assert_int_equal(strlen(buffer.text), buffer.length);
	buffer_puts(&buffer, "end");
	assert_string_equal(buffer.text + buffer.length - 7, "999,end");
	buffer_append(&buffer, "a\0b", 3);
	assert_int_equal(buffer.length, 3896);
	assert_memory_equal(buffer.text + buffer.length - 3, "a\0b", 4);
	buffer_free(&buffer);
	assert_null(buffer.text);
	buffer_printf(&buffer, "%s", "");
	assert_string_equal(buffer.text, "");
	buffer_free(&buffer);
	buffer_free(&buffer);
}

static void equal_strings_get_equal_numbers(void **state)
{
	struct interner *interner = interner_create();
	assert_int_equal(interner_find(interner, "a"), UINT32_MAX);
	assert_int_equal(interner_id(interner, "a"), 0);
	assert_int_equal(interner_id(interner, ""), 1);
	assert_int_equal(interner_id(interner, "a"), 0);
	char name[16];
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "node-%u", i);
		assert_int_equal(interner_id(interner, name),
		                 i + 2); /* by content: `name` is the same memory each time */
	}
	assert_int_equal(interner_find(interner, "node-777"), 779);
	assert_string_equal(interner_text(interner, 779), "node-777");
	assert_string_equal(interner_text(interner, 1), "");
	assert_null(interner_text(interner, 30000));
	assert_int_equal(interner_count(interner), 20002);
	interner_destroy(interner);
	interner_destroy(NULL);
}

static void small_questions(void **state)
{
	assert_true(text_starts_with("hugepages-2Mi", "hugepages-"));
	assert_true(text_starts_with("x", ""));
	assert_false(text_starts_with("huge", "hugepages-"));
	assert_true(text_ends_with("PodList", "List"));
	assert_false(text_ends_with("st", "List"));
	assert_true(text_equal(NULL, NULL));
	assert_false(text_equal(NULL, ""));
	assert_false(text_equal("a", NULL));
	assert_true(text_equal("a", "a"));
}

static void nearest_names(void **state)
{
	static const char *const names[] = {"replicas", "queue", "minMember", "minSubGroup", "namespace"};
	static const struct {
		const char *word, *nearest;
	} rows[] = {
		{"replica", "replicas"},
		{"REPLICAS", "replicas"},
		{"minmember", "minMember"},
		{"quuee", "queue"},
		{"min", "minMember"}, /* of two that begin with it the nearer */
		{"n", NULL},          /* the beginning of many */
		{"scheduler", NULL},
		{"name", "namespace"},
		{"", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *found = text_nearest(rows[i].word, names, sizeof(names) / sizeof(names[0]));
		assert_string_equal(found ? found : "-", rows[i].nearest ? rows[i].nearest : "-");
	}
	struct nearest_name nearest = {.word = "queues"};
	assert_true(text_consider(&nearest, "queue"));
	assert_false(text_consider(&nearest, "queued")); /* as near, and later */
	assert_string_equal(nearest.name, "queue");
}

static void utf8(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		uint32_t codepoint;
	} rows[] = {
		{"a", 1, 'a'},
		{"\x7f", 1, 0x7f},
		{"\xc2\x80", 2, 0x80},
		{"\xe2\x82\xac", 3, 0x20ac},
		{"\xf0\x9f\x98\x80", 4, 0x1f600},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
		{"\xf4\x90\x80\x80", 0, 0}, /* above the last character */
		{"\xc1\xbf", 0, 0},         /* longer than needed */
		{"\xe0\x80\x80", 0, 0},
		{"\xed\xa0\x80", 0, 0}, /* half of a surrogate pair */
		{"\x80", 0, 0},
		{"\xe2\x82", 0, 0}, /* cut off */
		{"\xe2\x28\xa1", 0, 0},
		{"\xff", 0, 0},
		{"\xf8\x88\x80\x80\x80", 0, 0},
		{"", 0, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t codepoint = 0;
		assert_int_equal(text_utf8(rows[i].bytes, strlen(rows[i].bytes), &codepoint), rows[i].size);
		assert_int_equal(codepoint, rows[i].codepoint);
	}
	static const struct {
		const char *bytes;
		size_t length;
		bool good;
	} texts[] = {{"", 0, true},
	             {"abc", 3, true},
	             {"gr\xc3\xb6\xc3\x9f", 6, true},
	             {"a\0b", 3, false},
	             {"\xc3", 1, false},
	             {"ab\xffz", 4, false},
	             {"\xc0\x80", 2, false},
	             {"a\xf0\x9f\x98\x80", 5, true}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(text_is_utf8(texts[i].bytes, texts[i].length), texts[i].good);
	/* Several bytes are looked at in one go: one bad byte is found wherever it stands, a good character too. */
	for (size_t at = 0; at < 20; at++) {
		static const struct {
			const char *bytes;
			size_t length;
			bool good;
		} inside[] = {{"", 1, false},    {"\x80", 1, false}, {"\xff", 1, false},
		              {"\x7f", 1, true}, {"\x01", 1, true},  {"\xc3\xb6", 2, true}};
		for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
			char text[21] = "abcdefghijklmnopqrst";
			size_t length = inside[i].length < 20 - at ? inside[i].length : 20 - at;
			memcpy(text + at, inside[i].bytes, length);
			assert_int_equal(text_is_utf8(text, 20), inside[i].good && length == inside[i].length);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_grow),
		cmocka_unit_test(equal_strings_get_equal_numbers),
		cmocka_unit_test(small_questions),
		cmocka_unit_test(nearest_names),
		cmocka_unit_test(utf8),
	};
	return cmocka_run_group_tests_name("strings", tests, NULL, NULL);
}
