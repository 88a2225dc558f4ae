/* Expressions that select devices: every form people write, what is refused and where, and that hostile ones end. */
#include "cel/cel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TEXT(literal)                                                                                                  \
	{                                                                                                              \
		literal, sizeof(literal) - 1                                                                           \
	}
#define DRIVER TEXT("gpu.example.com")
#define D "device.attributes['gpu.example.com']"
#define C "device.capacity['gpu.example.com']"

static const struct cel_attribute attributes[] = {
	{.domain = DRIVER, .id = TEXT("type"), .type = CEL_ATTRIBUTE_STRING, .text = TEXT("gpu")},
	{.domain = DRIVER,
         .id = TEXT("productName"),
         .type = CEL_ATTRIBUTE_STRING,
         .text = TEXT("NVIDIA A100-PCIE-40GB")},
	{.domain = DRIVER, .id = TEXT("index"), .type = CEL_ATTRIBUTE_INT, .number = 2},
	{.domain = DRIVER, .id = TEXT("flag"), .type = CEL_ATTRIBUTE_BOOL, .truth = true},
	{.domain = DRIVER,
         .id = TEXT("driverVersion"),
         .type = CEL_ATTRIBUTE_VERSION,
         .version = {.major = 580, .minor = 126, .patch = 20}},
};
static const struct cel_capacity capacities[] = {
	{.domain = DRIVER, .id = TEXT("memory"), .value = {.whole = 42949672960}},
	{.domain = DRIVER, .id = TEXT("cores"), .value = {.whole = 1, .nano = 500000000}},
};
static const struct cel_device device = {DRIVER, true, attributes, 5, capacities, 2};

/* T, F, E: what it gives. I, U: refused as invalid, as unsupported. */
struct row {
	const char *expression;
	char answer;
};

static char answer(const char *expression, struct error *error)
{
	struct arena *arena = arena_create();
	const struct cel_program *program = cel_compile(arena, expression, strlen(expression), error);
	char letter = error->code == ERROR_SYNTAX ? 'I' : 'U';
	if (program)
		letter = "FTE"[cel_evaluate(program, &device, arena, error)];
	arena_destroy(arena);
	return letter;
}

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error error = {0};
		char letter = answer(rows[i].expression, &error);
		if (letter != rows[i].answer)
			fail_msg("%s: %c instead of %c (%s)", rows[i].expression, letter, rows[i].answer, error.text);
	}
}

static void forms_that_people_write(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"device.driver == 'gpu.example.com'", 'T'},
		{"device.driver == 'a' || device.driver == \"gpu.example.com\"", 'T'},
		{D ".type == 'gpu'", 'T'},
		{D ".index == 0 || " D ".index == 2", 'T'},
		{D ".flag", 'T'},
		{"!" D ".flag", 'F'},
		{D ".productName.lowerAscii().matches('^.*a100.*$')", 'T'},
		{D ".driverVersion.compareTo(semver(\"580.0.0\")) >= 0", 'T'},
		{D ".driverVersion.isGreaterThan(semver(\"v600.0.1\", true))", 'F'},
		{D ".driverVersion.major() >= 1", 'T'},
		{C ".memory.compareTo(quantity('10Gi')) >= 0", 'T'},
		{C ".memory.isLessThan(quantity(\"40Gi\"))", 'F'},
		{C ".memory == quantity('40Gi')", 'T'},
		{C ".cores == quantity('1500m')", 'T'},
		{"device.allowMultipleAllocations == true", 'T'},
		{"\"memory\" in " C " && " C ".memory.isGreaterThan(quantity('1'))", 'T'},
		{"!(\"none\" in " C ") || " C ".none == quantity('1')", 'T'},
		{"'gpu.example.com' in device.attributes", 'T'},
		{"'other.example.com' in device.attributes", 'F'},
		{D "[\"type\"] == 'gpu'", 'T'},
		{"has(" D ".type) && !has(" D ".nothing)", 'T'},
		{D ".?nothing.orValue('none') == 'none'", 'T'},
		{D ".?type.orValue('none') == 'none'", 'F'},
		{"cel.bind(v, " D ", v.flag && v.index == 2)", 'T'},
		{D ".exists_one(k, k == \"type\")", 'T'},
		{D ".productName.split(\"-\")[0] == 'NVIDIA A100'", 'T'},
		{D ".type.size() == 3", 'T'},
		{D ".index >= 2 ? " D ".type == 'gpu' : false", 'T'},
		{D ".index in [1, 2, 3]", 'T'},
		{"int('12') - 2 == 10 && string(" D ".index) + 'x' == '2x'", 'T'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void failures_are_told_apart_from_no(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{D ".nothing == 1", 'E'},
		{"device.attributes['other'].type == 'gpu'", 'E'},
		/* Of a type that is only known when it is read, as since Kubernetes 1.37; then it is no truth. */
		{"-device.attributes['gpu.example.com'].index", 'E'},
		{D ".nothing || true", 'T'},
		{"false && " D ".nothing", 'F'},
		{D ".nothing && false", 'F'},
		{D ".nothing || false", 'E'},
		{D ".type == 1", 'F'},
		{D ".driverVersion == 'x'", 'E'},
		{"'x' == " D ".driverVersion", 'F'},
		{D ".driverVersion != 'x'", 'T'},
		{D ".nothing in []", 'F'},
		{"cel.bind(unread, " D ".nothing, true)", 'T'},
		{D ".type < 1", 'E'},
		{D ".type", 'E'},
		{C ".memory.isGreaterThan(quantity('200K'))", 'E'},
		{D ".productName.split('-')[9] == ''", 'E'},
		{D ".index + 9223372036854775807 > 0", 'E'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
	struct error error = {0};
	answer(D ".nothing == 1", &error);
	assert_string_equal(error.text, "there is no key nothing at character 38");
}

static void wrong_ones_are_refused(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"", 'I'},
		{"device.driver", 'I'},
		{"device.driver == 1", 'I'},
		{"device.nothing == 1", 'I'},
		{"nothing", 'I'},
		{"true &&", 'I'},
		{"(true", 'I'},
		{"true)", 'I'},
		{"'abc", 'I'},
		{"device.driver.matches('(')", 'I'},
		{"1 + 'a' == 2", 'I'},
		{"[1, 'a'] == []", 'I'},
		{"quantity(1) == quantity('1')", 'I'},
		{"9223372036854775808 > 0", 'I'},
		{"has(device)", 'I'},
		{"int('x') == 1", 'I'},
		{"for", 'I'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void what_is_not_supported_is_said(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{D ".index * 2 == 4", 'U'},
		{"1.5 > 1.0", 'U'},
		{"null == null", 'U'},
		{D ".type.replace('g', 'x') == 'xpu'", 'U'},
		{"[1, 2].map(x, x + 1) == [2, 3]", 'U'},
		{"{'a': 1}.size() == 1", 'U'},
		{"device.driver.matches('\\\\p{Greek}')", 'U'},
		{D ".type == 'x' || type(1) == int", 'U'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
	struct error error = {0};
	answer("true && " D ".type.replace('g', 'x') == 'xpu'", &error);
	assert_string_equal(error.text, "the function replace at character 51");
}

/* Deep, long and exploding ones end with an answer. */
static void hostile_ones_end(void **state)
{
	(void)state;
	static char text[CEL_MAX_LENGTH + 2];
	struct error error = {0};
	static const char *const parts[] = {"(",  "!", "-",    "[",      "1+",         "true?",
	                                    "a.", "{", "has(", "true||", "cel.bind(x,"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i]), at = 0;
		for (; at + length < CEL_MAX_LENGTH; at += length)
			memcpy(text + at, parts[i], length);
		text[at] = '\0';
		char letter = answer(text, &error);
		assert_true(letter == 'I' || letter == 'U');
	}
	/* Each name is twice as long as the one before. */
	size_t at = (size_t)snprintf(text, sizeof(text), "cel.bind(v0, 'abc', ");
	for (int i = 0; i < 30; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "cel.bind(v%d, v%d + v%d, ", i + 1, i, i);
	at += (size_t)snprintf(text + at, sizeof(text) - at, "v30 == ''");
	memset(text + at, ')', 31);
	text[at + 31] = '\0';
	assert_int_equal(answer(text, &error), 'E');
	assert_int_equal(answer("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')", &error), 'E');
	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(answer(text, &error), 'I');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_that_people_write), cmocka_unit_test(failures_are_told_apart_from_no),
		cmocka_unit_test(wrong_ones_are_refused),  cmocka_unit_test(what_is_not_supported_is_said),
		cmocka_unit_test(hostile_ones_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
