/* The query language: what each form gives, what is refused and where, and that hostile queries end. */
#include "object/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INPUT                                                                                                          \
	"{\"n\":3,\"t\":\"Text\",\"yes\":true,\"no\":false,\"nil\":null,\"list\":[1,2,3],\"half\":0.5,"                \
	"\"map\":{\"b\":2,\"a\":1},\"names\":[\"x\",\"y\"],\"a b\":\"quoted\",\"neg\":\"-12\","                        \
	"\"groups\":[{\"name\":\"p\",\"size\":2},{\"name\":\"d\"}],\"labels\":{\"k.io/x\":\"v\"}}"

static void put_value(const struct query_value *value, struct buffer *out)
{
	switch (value->kind) {
	case QUERY_NULL:
		buffer_puts(out, "null");
		break;
	case QUERY_BOOL:
		buffer_puts(out, value->truth ? "true" : "false");
		break;
	case QUERY_INT:
		buffer_printf(out, "%lld", (long long)value->number);
		break;
	case QUERY_TEXT:
		buffer_printf(out, "\"%s\"", value->text);
		break;
	case QUERY_MAP:
		val_write(value->node, DOC_JSON_COMPACT, out);
		break;
	case QUERY_ENTRY:
		buffer_printf(out, "{\"key\":\"%s\",\"value\":", value->text);
		put_value(value->items, out);
		buffer_puts(out, "}");
		break;
	case QUERY_LIST:
		if (value->node) {
			val_write(value->node, DOC_JSON_COMPACT, out);
			break;
		}
		buffer_puts(out, "[");
		for (size_t i = 0; i < value->count; i++) {
			buffer_puts(out, i ? "," : "");
			put_value(&value->items[i], out);
		}
		buffer_puts(out, "]");
		break;
	}
}

/* The results with a space between; "! ..." for an error. */
static void check(const char *text, const char *expect)
{
	struct error error = {0};
	struct doc *doc = doc_parse_json(INPUT, strlen(INPUT), &error);
	struct arena *arena = arena_create();
	struct buffer out = {0};
	struct query_values values;
	const struct query *query = query_parse(text, arena, &error);
	buffer_puts(&out, "");
	if (!query || query_run(query, doc_root(doc), arena, &values, &error) < 0) {
		buffer_printf(&out, "! %s", error.text);
	} else {
		for (size_t i = 0; i < values.count; i++) {
			buffer_puts(&out, i ? " " : "");
			put_value(&values.items[i], &out);
		}
	}
	if (strcmp(out.text, expect) != 0)
		fail_msg("%s\n  gives    %s\n  expected %s", text, out.text, expect);
	buffer_free(&out);
	arena_destroy(arena);
	doc_destroy(doc);
}

struct row {
	const char *query, *expect;
};

static void check_all(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(rows[i].query, rows[i].expect);
}
#define ALL(rows) check_all(rows, sizeof(rows) / sizeof(*(rows)))

static void paths(void **state)
{
	static const struct row rows[] = {
		{".n", "3"},
		{" . | .n ", "3"},
		{".\"a b\"", "\"quoted\""},
		{".[\"a b\"]", "\"quoted\""},
		{".labels[\"k.io/x\"]", "\"v\""},
		{".labels.[\"k.io/x\"]", "\"v\""},
		{".missing.deeper", "null"},
		{".missing[3]", "null"},
		{".list[0], .list[-1], .list[9]", "1 3 null"},
		{".list[]", "1 2 3"},
		{".map[]", "2 1"},
		{".map | .[]", "2 1"},
		{".groups[].name", "\"p\" \"d\""},
		{".groups[] | .size", "2 null"},
		{".groups[0].name", "\"p\""},
		{".missing[]?", ""},
		{".n.x?", ""},
		{".groups | .[1] | .name", "\"d\""},
		{".[.t | ascii_downcase]", "null"},
		{".map | to_entries[] | .key", "\"b\" \"a\""},
		{".map | to_entries | .[0]", "{\"key\":\"b\",\"value\":2}"},
		{".map | to_entries[] | .value", "2 1"},
	};
	ALL(rows);
}

static void operators(void **state)
{
	static const struct row rows[] = {
		{"1", "1"},
		{"-1 + 3", "2"},
		{"2 + 3 * 4", "14"},
		{"(2 + 3) * 4", "20"},
		{"7 - 2 - 1", "4"},
		{"12 / 4, 7 % 4", "3 3"},
		{"\"a\" + \"b\"", "\"ab\""},
		{".nil + 1, 1 + .nil", "1 1"},
		{"[1] + [2]", "[1,2]"},
		{".nil // 5", "5"},
		{".no // .nil // 6", "6"},
		{".groups[].size // 1", "2"},
		{".groups[] | (.size // 1) * 2", "4 2"},
		{".missing[] // 7", "7"},
		{"(1, null, 2) // 9", "1 2"},
		{"empty // 9", "9"},
		{"1, 2 | . * 10", "10 20"},
		{"(1, 2) + (10, 20)", "11 12 21 22"},
		{".n > 2 and .t == \"Text\"", "true"},
		{".n < 2 or .yes", "true"},
		{".n == 3.0 | not", "! a number that is not whole at character 8, before \".0\""},
		{"1 != 2, 1 <= 1, 2 >= 3, \"a\" < \"b\"", "true true false true"},
		{"null < false, false < true, true < 0, 0 < \"\", \"\" < []", "true true true true true"},
		{"[1, [2]] == [1, [2]], .list == [1, 2, 3], .map == .labels", "true true false"},
		{"(true, false) and (true, false)", "true false false"},
		{".n as $x | .list[] | . + $x", "4 5 6"},
		{".n as $x | (.n + 1) as $y | $x * $y", "12"},
		{"if .yes then 1 else 2 end", "1"},
		{"if .no then 1 elif .nil then 2 else 3 end", "3"},
		{"if .no then 1 end | .n", "3"},
		{"[.list[] | select(. > 1)]", "[2,3]"},
		{"[]", "[]"},
	};
	ALL(rows);
}

static void functions(void **state)
{
	static const struct row rows[] = {
		{".list | length, add, first, last", "3 6 1 3"},
		{".t, .nil, .map, \"\" | length", "4 0 2 0"},
		{"[] | add", "null"},
		{".names | add", "\"xy\""},
		{".list | map(. * 2)", "[2,4,6]"},
		{".list | any(. > 2), all(. > 2)", "true false"},
		{"[true, false] | any, all", "true false"},
		{"[] | any, all", "false true"},
		{".names | index(\"y\"), index(\"z\")", "1 null"},
		{".t | index(\"x\")", "2"},
		{".nil | index(\"x\")", "null"},
		{".map | has(\"a\"), has(\"z\")", "true false"},
		{".list | has(0), has(3)", "true false"},
		{".t | ascii_downcase, ascii_upcase", "\"text\" \"TEXT\""},
		{".t | startswith(\"Te\"), endswith(\"xt\"), startswith(\"x\")", "true true false"},
		{".neg | tonumber", "-12"},
		{".n, .yes, .nil, .t | tostring", "\"3\" \"true\" \"null\" \"Text\""},
		{".[\"n\", \"t\", \"yes\", \"nil\", \"list\", \"map\"] | type",
	         "\"number\" \"string\" \"boolean\" \"null\" \"array\" \"object\""},
		{".yes | not", "false"},
		{".map | keys_unsorted", "[\"b\",\"a\"]"},
		{".groups[] | select(.name as $n | [\"d\"] | index($n) | not) | .name", "\"p\""},
	};
	ALL(rows);
}

static void mistakes(void **state)
{
	static const struct row rows[] = {
		{"", "! an end that comes too early at character 1, before \"\""},
		{".a |", "! an end that comes too early at character 5, before \"\""},
		{".a)", "! something that does not belong at character 3, before \")\""},
		{"(.a", "! a missing ) at character 4, before \"\""},
		{".a[1", "! a missing ] at character 5, before \"\""},
		{".list[1:2]", "! a slice, which is not known here at character 9, before \"2]\""},
		{"..", "! recursive descent (..), which is not known here at character 2, before \".\""},
		{"\"open", "! a text without its closing quote at character 6, before \"\""},
		{"\"\\(1)\"",
	         "! a backslash that is not before a quote, a slash or a backslash at character 3, before \"(1)\"\""},
		{".\"open", "! a text without its closing quote at character 7, before \"\""},
		{"range(3)", "! a function that is not known here at character 1, before \"range(3)\""},
		{"select", "! a function that is not known here at character 1, before \"select\""},
		{"def f: f; f", "! a function that is not known here at character 1, before \"def\""},
		{".a = 1", "! something that does not belong at character 4, before \"=\""},
		{"{a: 1}", "! something that is not known here at character 1, before \"{a:\""},
		{"1 < 2 < 3", "! too many signs in a row at character 8, before \"\""},
		{"if .a then 1", "! an if without end at character 13, before \"\""},
		{". as x | x", "! an `as` without $name at character 6, before \"x\""},
		{"$", "! a $ without a name at character 2, before \"\""},
		{"99999999999999999999", "! a number that is too large at character 19, before \"99\""},
		{"$x", "! $x is not set"},
		{".n[]", "! cannot iterate over number"},
		{".nil[]", "! cannot iterate over null"},
		{".n.x", "! number has no named fields"},
		{".map[0]", "! object cannot be indexed like that"},
		{".half", "! a number it reads is not a whole number"},
		{"7 / 2", "! the result of a division is not a whole number"},
		{"7 / 0", "! division by 0"},
		{"7 % 0", "! remainder of a division by 0"},
		{"-9223372036854775807 - 1 | . / -1", "! a number too large"},
		{"-9223372036854775807 - 1 | . % -1", "0"},
		{"9223372036854775807 + 1", "! a number too large"},
		{".t * 2", "! cannot calculate with string and number"},
		{".t | tonumber", "! \"Text\" is not a whole number"},
		{"\"-\" | tonumber", "! \"-\" is not a whole number"},
		{".list < .list", "! array values have no order here"},
		{".map < .map", "! object values have no order here"},
		{".yes | length", "! boolean has no length"},
		{".list | to_entries", "! array has no entries"},
	};
	ALL(rows);
}

/* Each would take very long, very much memory or a very deep stack if nothing stopped it. */
static void hostile(void **state)
{
	struct buffer text = {0};
	buffer_puts(&text, "[.list[]]");
	for (int i = 0; i < 40; i++)
		buffer_puts(&text, " | [.[], .[]]");
	check(text.text, "! it gives or visits too many values");
	text.length = 0;
	buffer_puts(&text, "\"aaaaaaaa\"");
	for (int i = 0; i < 60; i++)
		buffer_puts(&text, " | . + .");
	check(text.text, "! a text too long");
	static const char *const repeated[] = {"(", "[", "-", "if ", ".a//", "1 as $x|", ".|", "select(", ".["};
	for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
		text.length = 0;
		while (text.length + strlen(repeated[i]) < QUERY_MAX_TEXT)
			buffer_puts(&text, repeated[i]);
		struct arena *arena = arena_create();
		struct error error = {0};
		assert_null(query_parse(text.text, arena, &error));
		assert_int_equal(error.code, ERROR_SYNTAX);
		arena_destroy(arena);
	}
	text.length = 0;
	while (text.length <= QUERY_MAX_TEXT)
		buffer_puts(&text, " ");
	check(text.text, "! longer than 4096 characters");
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),    cmocka_unit_test(operators), cmocka_unit_test(functions),
		cmocka_unit_test(mistakes), cmocka_unit_test(hostile),
	};
	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
