/* Quantities: what is accepted, the exact value at both scales, and what is refused. */
#include "base/quantity.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX INT64_MAX

static void values_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t units, milli;
	} rows[] = {
		{"0", 0, 0},
		{"-0", 0, 0},
		{"1", 1, 1000},
		{"+1", 1, 1000},
		{"-1", -1, -1000},
		{"007", 7, 7000},
		{"1.", 1, 1000},
		{".5", 1, 500},
		{"0.1", 1, 100},
		{"0.0001", 1, 1},
		{"1.0001", 2, 1001},
		{"100m", 1, 100},
		{"1500m", 2, 1500},
		{"-1500m", -2, -1500}, /* away from zero on both sides */
		{"1u", 1, 1},
		{"999999999n", 1, 1000},
		{"1000000000n", 1, 1000},
		{"1000000001n", 2, 1001},
		{"2k", 2000, 2000000},
		{"3M", 3000000, 3000000000},
		{"1G", 1000000000, 1000000000000},
		{"1T", 1000000000000, 1000000000000000},
		{"1Ki", 1024, 1024000},
		{"1.5Gi", 1610612736, 1610612736000},
		{"0.5Ki", 512, 512000},
		{"0.1Ki", 103, 102400},
		{"0.0001Ki", 1, 103},
		{"1Mi", 1048576, 1048576000},
		{"1Ti", 1099511627776, 1099511627776000},
		{"1e3", 1000, 1000000},
		{"1E3", 1000, 1000000},
		{"1e+3", 1000, 1000000},
		{"1.25e2", 125, 125000},
		{"1e-3", 1, 1},
		{"1e-4", 1, 1},
		{"5e-3", 1, 5},
		{"1000000e-6", 1, 1000},
		{"1000000000000000000000000e-24", 1, 1000},
		{"0.000000000000000000000000000001e30", 1, 1000},
		{"1e-999999999999999999999999", 1, 1},
		{"0e999999999999999999999999", 0, 0},
		{"0E", 0, 0},
		{"m", 0, 0}, /* Kubernetes reads a suffix or a sign alone as nothing of it */
		{"Gi", 0, 0},
		{"-", 0, 0},
		{"+.", 0, 0},
		{"e3", 0, 0},
		{"0.00000000000000000000000000000000000000000000000000000000001", 1, 1},
		{"1.00000000000000000000000000000000000000000000000000000000000", 1, 1000},
		{"9223372036854775.807", 9223372036854776, MAX},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t value = -77;
		struct error error = {0};
		int status = quantity_parse(rows[i].text, strlen(rows[i].text), QUANTITY_UNITS, &value, &error);
		if (status != 0 || value != rows[i].units)
			fail_msg("%s in units: status %d value %" PRId64 " %s", rows[i].text, status, value,
			         error.text);
		status = quantity_parse(rows[i].text, strlen(rows[i].text), QUANTITY_MILLI, &value, &error);
		if (status != 0 || value != rows[i].milli)
			fail_msg("%s in milli: status %d value %" PRId64 " %s", rows[i].text, status, value,
			         error.text);
	}
}

static void large_values_end_at_int64(void **state)
{
	static const struct {
		const char *text;
		int64_t units; /* 0: too large */
	} rows[] = {
		{"9223372036854775807", MAX},
		{"-9223372036854775807", -MAX},
		{"9223372036854775807.0000", MAX},
		{"9223372036854775806.5", MAX},
		{"9223372036854775807.5", 0},
		{"9223372036854775808", 0},
		{"9E", 9000000000000000000},
		{"12E", 0}, /* exa, and too much of it */
		{"7Ei", 8070450532247928832},
		{"7.9999999999999999999999999999999999999Ei", 0}, /* rounds up to 8Ei */
		{"8Ei", 0},
		{"0.00000000000000000086736173798840354720596224069595336914Ei", 1},
		{"1e18", 1000000000000000000},
		{"1e19", 0},
		{"1e999999999999999999999", 0},
		{"99999999999999999999999999999999999999999999999999999", 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t value = 0;
		struct error error = {0};
		int status = quantity_parse(rows[i].text, strlen(rows[i].text), QUANTITY_UNITS, &value, &error);
		if (rows[i].units == 0) {
			if (status != -1 || error.code != ERROR_RANGE)
				fail_msg("%s must be too large, got %" PRId64 " (%s)", rows[i].text, value, error.text);
		} else if (status != 0 || value != rows[i].units) {
			fail_msg("%s: status %d value %" PRId64 " %s", rows[i].text, status, value, error.text);
		}
	}
}

static void other_text_is_refused(void **state)
{
	static const char *const rows[] = {
		"",    "abc",   "1 Gi", " 1",    "1 ",  "1KI", "1ki", "1K",   "--1",      "+-1",       "1e",    "1e+",
		"1E-", "1.2.3", "..",   "e",     "mm",  "e3m", "+ ",  "iG",   "1mm",      "1Gi1",      "1e3Gi", "1e1.5",
		"1x",  "0x10",  "1,5",  "1_000", "NaN", "inf", "1g",  "1KiB", "\xc2\xb5", "1\xc2\xb5", "1.e.3",
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t value = 42;
		struct error error = {0};
		if (quantity_parse(rows[i], strlen(rows[i]), QUANTITY_UNITS, &value, &error) != -1)
			fail_msg("\"%s\" was accepted as %" PRId64, rows[i], value);
		assert_int_equal(error.code, ERROR_SYNTAX);
		assert_int_equal(value, 42);
		assert_non_null(strstr(error.text, "1.5Gi")); /* the message shows what would be right */
	}
	int64_t value;
	assert_int_equal(quantity_parse("1\0m", 3, QUANTITY_UNITS, &value, NULL), -1);
	assert_int_equal(quantity_parse("12345", 2, QUANTITY_UNITS, &value, NULL), 0);
	assert_int_equal(value, 12);
}

static void printing_reads_back(void **state)
{
	static const struct {
		const char *resource;
		int64_t value;
		const char *text;
	} rows[] = {
		{"cpu", 1500, "1500m"},
		{"cpu", 2000, "2"},
		{"cpu", 0, "0"},
		{"cpu", -500, "-500m"},
		{"memory", 2147483648, "2Gi"},
		{"memory", 1536, "1536"},
		{"memory", 1572864, "1536Ki"},
		{"memory", 0, "0"},
		{"memory", 1000, "1000"},
		{"hugepages-2Mi", 4194304, "4Mi"},
		{"ephemeral-storage", 1024, "1Ki"},
		{"nvidia.com/gpu", 8, "8"},
		{"nvidia.com/gpu", 1024, "1024"},
		{"pods", 110, "110"},
		{"memory", INT64_MAX, "9223372036854775807"},
		{"memory", -1024, "-1Ki"},
	};
	struct arena *arena = arena_create();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = quantity_print(arena, rows[i].resource, rows[i].value);
		assert_string_equal(text, rows[i].text);
		int64_t back;
		assert_int_equal(quantity_parse(text, strlen(text), quantity_scale_of(rows[i].resource), &back, NULL),
		                 0);
		assert_int_equal(back, rows[i].value);
	}
	arena_destroy(arena);
}

/* A million digits take a moment, not minutes, and the answer is still exact. */
static void length_is_no_problem(void **state)
{
	size_t length = 1000000;
	char *text = malloc(length + 4);
	memset(text, '0', length);
	text[1] = '.';
	memcpy(text + length - 1, "1Ki", 4);
	int64_t value;
	assert_int_equal(quantity_parse(text, length + 2, QUANTITY_UNITS, &value, NULL), 0);
	assert_int_equal(value, 1);
	memset(text, '9', length);
	struct error error;
	assert_int_equal(quantity_parse(text, length, QUANTITY_UNITS, &value, &error), -1);
	assert_int_equal(error.code, ERROR_RANGE);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_exact),      cmocka_unit_test(large_values_end_at_int64),
		cmocka_unit_test(other_text_is_refused), cmocka_unit_test(printing_reads_back),
		cmocka_unit_test(length_is_no_problem),
	};
	return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
