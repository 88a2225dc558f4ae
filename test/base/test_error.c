/* The error table is complete and error_set copes with everything. */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_code_has_a_row(void **state)
{
	for (int code = ERROR_NONE; code <= ERROR_INTERNAL; code++)
		assert_true(strlen(error_advice((enum error_code)code)) > 0);
	assert_string_equal(error_advice((enum error_code)999), error_advice(ERROR_INTERNAL));
}

static void texts_are_cut_not_overrun(void **state)
{
	struct error error;
	assert_int_equal(error_set(&error, ERROR_IO, "%s: %d", "a.yaml", 7), -1);
	assert_int_equal(error.code, ERROR_IO);
	assert_string_equal(error.text, "a.yaml: 7");
	assert_int_equal(error_set(NULL, ERROR_IO, "nobody listens"), -1);
	error_set(&error, ERROR_LIMIT, "%2000d", 1);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_a_row),
		cmocka_unit_test(texts_are_cut_not_overrun),
	};
	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
