/* JSON written by hand: what has to be escaped is, and members get their commas. */
#include "object/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void strings_are_escaped(void **state)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{"", "\"\""},
		{"plain", "\"plain\""},
		{"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"line\nend\x01", "\"line\\u000aend\\u0001\""},
		{"\xc3\xa9", "\"\xc3\xa9\""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer out = {0};
		json_quote(&out, rows[i].text);
		assert_string_equal(out.text, rows[i].json);
		buffer_free(&out);
	}
}

static void members_get_their_commas(void **state)
{
	struct buffer out = {0};
	buffer_puts(&out, "{");
	json_put_string(&out, "name", "a\"");
	json_put_int(&out, "least", INT64_MIN);
	json_put_int(&out, "on", 1);
	json_put_key(&out, "inner");
	buffer_puts(&out, "{");
	json_put_int(&out, "off", 0);
	buffer_puts(&out, "}");
	json_put_string(&out, "k\"", "");
	buffer_puts(&out, "}");
	assert_string_equal(out.text, "{\"name\":\"a\\\"\",\"least\":-9223372036854775808,\"on\":1,"
	                              "\"inner\":{\"off\":0},\"k\\\"\":\"\"}");
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(members_get_their_commas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
