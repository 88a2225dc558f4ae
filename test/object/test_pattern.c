/* Patterns in Go's syntax: what matches, what Go refuses too, what is not served, and that costly ones end. */
#include "object/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Y, N: matches or not. C: too costly. S: refused by Go as well. L: not served. */
struct row {
	const char *pattern, *text;
	char answer;
};

static char answer(const struct row *row)
{
	struct arena *arena = arena_create();
	struct error error = {0};
	const struct pattern *pattern = pattern_compile(arena, row->pattern, strlen(row->pattern), &error);
	char letter = error.code == ERROR_SYNTAX ? 'S' : 'L';
	if (pattern)
		letter = "NYC"[pattern_match(pattern, row->text, strlen(row->text))];
	arena_destroy(arena);
	return letter;
}

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (answer(&rows[i]) != rows[i].answer)
			fail_msg("%s on \"%s\": %c instead of %c", rows[i].pattern, rows[i].text, answer(&rows[i]),
			         rows[i].answer);
}

static void patterns_mean_what_they_mean_in_go(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"", "", 'Y'},
		{"b", "abc", 'Y'},
		{"^b", "abc", 'N'},
		{"a$", "a\n", 'N'}, /* the end is the end */
		{"(?m)a$", "a\nb", 'Y'},
		{"(?m)^$", "a\n", 'Y'},
		{"a.b", "a\nb", 'N'},
		{"(?s)a.b", "a\nb", 'Y'},
		{"\\s", "\v", 'N'}, /* not white in Go */
		{"[\\s]", "\v", 'N'},
		{"\\v", "\v", 'Y'},
		{"\\v", "\n", 'N'},
		{"^[\\S]$", " ", 'N'},
		{"^a{,2}$", "a{,2}", 'Y'},
		{"^a{2}$", "aa", 'Y'},
		{"^[]a]+$", "]a]", 'Y'},
		{"^[a\\-z]+$", "-", 'Y'},
		{"^[a\\-z]+$", "b", 'N'},
		{"^[[:alpha:]_]+$", "a_B", 'Y'},
		{"^(?i)gpu$", "GPU", 'Y'},
		{"^(?P<name>x)(?<other>y)$", "xy", 'Y'},
		{"^\\Qa.b\\E+$", "a.bb", 'Y'},
		{"^\\101\\x42\\x{43}$", "ABC", 'Y'},
		{"^\\pL\\p{Nd}\\P{L}$",
	         "\xc3\xa9"
	         "3-",
	         'Y'},
		{"^*a", "a", 'Y'},
		{"^z[\xc3\xbcu]+$", "z\xc3\xbc", 'Y'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void wrong_ones_are_refused(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"(", "", 'S'},        {")", "", 'S'},     {"[a", "", 'S'},
		{"*", "", 'S'},        {"a**", "", 'S'},   {"a{2,1}", "", 'S'},
		{"a{1001}", "", 'S'},  {"(?=a)", "", 'S'}, {"(?!a)", "", 'S'},
		{"\\1", "", 'S'},      {"a\\", "", 'S'},   {"[z-a]", "", 'S'},
		{"\\h", "", 'S'},      {"\\Z", "", 'S'},   {"a*+", "", 'S'},
		{"[[:no:]]", "", 'S'}, {"(?x)a", "", 'S'}, {"(?P<>a)", "", 'S'},
		{"\xff", "", 'S'},     {"(?>a)", "", 'S'}, {"((a{100}){11})", "", 'S'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void what_is_not_served_is_said(void **state)
{
	(void)state;
	static const struct row rows[] = {{"\\p{Greek}", "", 'L'}, {"\\C", "", 'L'}, {"a(?i)*", "", 'L'}};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
	static char deep[512], wide[PATTERN_MAX_LENGTH + 2];
	memset(deep, '(', 200);
	memset(wide, 'a', sizeof(wide) - 1);
	const struct row large[] = {{deep, "", 'L'}, {wide, "", 'L'}};
	check_rows(large, 2);
}

static void costly_ones_end(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 'C'},
		{"^(x+x+)+[yz]", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 'C'},
		{"^.{1,1000}$", "short", 'Y'},
	};
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_mean_what_they_mean_in_go),
		cmocka_unit_test(wrong_ones_are_refused),
		cmocka_unit_test(what_is_not_served_is_said),
		cmocka_unit_test(costly_ones_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
