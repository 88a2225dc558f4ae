/* Semantic versions: what is one, strictly and leniently, and their order. */
#include "cel/cel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct cel_text text_of(const char *text)
{
	return (struct cel_text){text, strlen(text)};
}

static void versions_are_read_as_semver_says(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool strict, lenient;
	} rows[] = {
		{"1.2.3", true, true},
		{"0.0.0", true, true},
		{"1.2.3-rc.1+b.5", true, true},
		{"", false, false},
		{"1", false, true},
		{"1.2", false, true},
		{"v1.2.3", false, true},
		{"vv1.2.3", false, false},
		{"01.2.3", false, true},
		{"1.2.03", false, true},
		{"1.2.3.4", false, false},
		{"1.2.3-", false, false},
		{"1.2.3-a..b", false, false},
		{"1.2.3-01", false, false},
		{"1.2.3+01", true, true},
		{"1.2.3+", false, false},
		{"1.2-rc", false, false},
		{"1.2.-rc", false, true},
		{"1.2.-", false, false},
		{"1..3", false, false},
		{"-1.2.3", false, false},
		{"1.2.3 ", false, false},
		{"1.x.3", false, false},
		{"18446744073709551615.0.0", true, true},
		{"18446744073709551616.0.0", false, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cel_version version;
		if (cel_version_parse(text_of(rows[i].text), false, &version) != rows[i].strict)
			fail_msg("%s, strictly", rows[i].text);
		if (cel_version_parse(text_of(rows[i].text), true, &version) != rows[i].lenient)
			fail_msg("%s, leniently", rows[i].text);
	}
}

static void versions_have_the_order_of_semver(void **state)
{
	(void)state;
	static const char *const rising[] = {"0.9.9",
	                                     "1.0.0-1",
	                                     "1.0.0-2",
	                                     "1.0.0-11",
	                                     "1.0.0-alpha",
	                                     "1.0.0-alpha.1",
	                                     "1.0.0-alpha.beta",
	                                     "1.0.0-beta",
	                                     "1.0.0-beta.2",
	                                     "1.0.0-beta.11",
	                                     "1.0.0-rc.1",
	                                     "1.0.0",
	                                     "1.0.1",
	                                     "1.1.0",
	                                     "2.0.0"};
	const size_t count = sizeof(rising) / sizeof(rising[0]);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			struct cel_version a, b;
			assert_true(cel_version_parse(text_of(rising[i]), false, &a));
			assert_true(cel_version_parse(text_of(rising[j]), false, &b));
			int expected = (i > j) - (i < j);
			if (cel_version_compare(&a, &b) != expected)
				fail_msg("%s against %s", rising[i], rising[j]);
		}
	}
	struct cel_version a, b;
	cel_version_parse(text_of("1.0.0+a"), false, &a);
	cel_version_parse(text_of("1.0.0+b"), false, &b);
	assert_int_equal(cel_version_compare(&a, &b), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_read_as_semver_says),
		cmocka_unit_test(versions_have_the_order_of_semver),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
