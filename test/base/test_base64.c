/* Base64 there and back, and what is none. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *bytes;
	size_t length;
	const char *text;
} pairs[] = {
	{"", 0, ""},
	{"f", 1, "Zg=="},
	{"fo", 2, "Zm8="},
	{"foo", 3, "Zm9v"},
	{"foob", 4, "Zm9vYg=="},
	{"\0\xff\0", 3, "AP8A"},
	{"\0", 1, "AA=="},
	{"\0\0\0\0", 4, "AAAAAA=="},
	{"\xfb\xff", 2, "+/8="},
};

static void there_and_back(void **state)
{
	(void)state;
	struct arena *arena = arena_create();
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct buffer back = {0};
		assert_string_equal(base64_encode(arena, pairs[i].bytes, pairs[i].length), pairs[i].text);
		assert_int_equal(base64_decode(pairs[i].text, &back), 0);
		assert_int_equal(back.length, pairs[i].length);
		if (back.length > 0)
			assert_memory_equal(back.text, pairs[i].bytes, back.length);
		buffer_free(&back);
	}
	arena_destroy(arena);
}

static void lines_do_not_count(void **state)
{
	(void)state;
	struct buffer back = {0};
	buffer_puts(&back, "is ");
	assert_int_equal(base64_decode(" Zm9v\r\n\tYg=\n=\n", &back), 0);
	assert_string_equal(back.text, "is foob");
	buffer_free(&back);
}

static void what_is_none_adds_nothing(void **state)
{
	static const char *const bad[] = {"*", "Zg", "Zg=", "Z===x", "Zm9v*m9v", "Zm9vY", "\xff\xff\xff\xff"};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buffer back = {0};
		assert_int_equal(base64_decode(bad[i], &back), -1);
		assert_int_equal(back.length, 0);
		buffer_free(&back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(lines_do_not_count),
		cmocka_unit_test(what_is_none_adds_nothing),
	};
	return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
