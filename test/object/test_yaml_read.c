/* YAML as kubectl reads it: each row is a text and the JSON it means, or the error it gives. */
#include "object/yaml_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* All documents of the stream as compact JSON, a space between them; NULL with *error set on failure. */
static char *as_json(const char *text, size_t length, struct error *error)
{
	struct yaml_document *docs;
	size_t count;
	struct buffer out = {0};
	buffer_puts(&out, "");
	if (yaml_read(text, length, &docs, &count, error) < 0) {
		assert_null(docs);
		assert_int_equal(count, 0);
		buffer_free(&out);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		buffer_puts(&out, i ? " " : "");
		val_write(doc_root(docs[i].doc), DOC_JSON_COMPACT, &out);
		doc_destroy(docs[i].doc);
	}
	free(docs);
	return out.text;
}

static void expect(const char *text, const char *json)
{
	struct error error;
	char *got = as_json(text, strlen(text), &error);
	if (!got)
		fail_msg("%s\n%s", text, error.text);
	else if (strcmp(got, json) != 0)
		fail_msg("%s\nwanted %s\ngot    %s", text, json, got);
	free(got);
}

static void scalars(void **state)
{
	static const struct {
		const char *yaml, *json;
	} rows[] = {
		{"true", "true"},
		{"True", "true"},
		{"TRUE", "true"},
		{"tRue", "\"tRue\""},
		{"yes", "true"},
		{"Yes", "true"},
		{"YES", "true"},
		{"on", "true"},
		{"On", "true"},
		{"ON", "true"},
		{"no", "false"},
		{"off", "false"},
		{"Off", "false"},
		{"False", "false"},
		{"y", "true"},
		{"Y", "true"},
		{"n", "false"},
		{"N", "false"},
		{"\"yes\"", "\"yes\""},
		{"'no'", "\"no\""},
		{"yesterday", "\"yesterday\""},
		{"", "null"},
		{"~", "null"},
		{"null", "null"},
		{"Null", "null"},
		{"NULL", "null"},
		{"nul", "\"nul\""},
		{"''", "\"\""},
		{"\"~\"", "\"~\""},
		{"0", "0"},
		{"12", "12"},
		{"+12", "12"},
		{"-12", "-12"},
		{"1_000_000", "1000000"},
		{"-0", "0"},
		{"00", "0"},
		{"0777", "511"},
		{"0o777", "511"},
		{"-0o17", "-15"},
		{"0x1F", "31"},
		{"0XfF", "255"},
		{"-0x10", "-16"},
		{"0b101", "5"},
		{"08", "8"},
		{"0o8", "\"0o8\""},
		{"0x", "\"0x\""},
		{"0xg", "\"0xg\""},
		{"0b2", "\"0b2\""},
		{"9223372036854775807", "9223372036854775807"},
		{"18446744073709551615", "18446744073709551615"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"123456789012345678901234567890", "123456789012345678901234567890"},
		{"-99999999999999999999", "-99999999999999999999"},
		{"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
		{"0x1FFFFFFFFFFFFFFFF", "\"0x1FFFFFFFFFFFFFFFF\""},
		{"1.5", "1.5"},
		{".5", "0.5"},
		{"5.", "5"},
		{"1.0", "1"},
		{"-1.25", "-1.25"},
		{"1e3", "1000"},
		{"1E3", "1000"},
		{"1.5e-1", "0.15"},
		{"1e30", "1e30"},
		{"1e999", "\"1e999\""},
		{"1e", "\"1e\""},
		{"-_2", "-2"},
		{"._5", "\"._5\""},
		{"1_0.5_", "10.5"},
		{"-0.0", "0"},
		{"00.5", "0.5"},
		{"0.1", "0.1"},
		{".", "\".\""},
		{"+", "\"+\""},
		{"1.2.3", "\"1.2.3\""},
		{"10.0.0.1", "\"10.0.0.1\""},
		{"12E", "\"12E\""},
		{"1Gi", "\"1Gi\""},
		{"100m", "\"100m\""},
		{"1:30", "\"1:30\""},
		{"1-2", "\"1-2\""},
		{"2025-01-01", "\"2025-01-01\""},
		{"2025-01-01T00:00:00Z", "\"2025-01-01T00:00:00Z\""},
		{"!!str 12", "\"12\""},
		{"!!str", "\"\""},
		{"! 12", "\"12\""},
		{"!!int \"12\"", "12"},
		{"!!float 3", "3"},
		{"!!bool 'yes'", "true"},
		{"!!null ''", "null"},
		{"!!timestamp 2025-01-01", "\"2025-01-01\""},
		{"\"a\\tb\\u00e4\\x41\"", "\"a\\tb\xc3\xa4"
	                                  "A\""},
		{"\"\\0\"", "\"\\u0000\""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer yaml = {0}, json = {0};
		buffer_printf(&yaml, "k: %s\n", rows[i].yaml);
		buffer_printf(&json, "{\"k\":%s}", rows[i].json);
		expect(yaml.text, json.text);
		buffer_free(&yaml);
		buffer_free(&json);
	}
}

static void structures(void **state)
{
	static const struct {
		const char *yaml, *json;
	} rows[] = {
		{"", ""},
		{"# only a comment\n", ""},
		{"---\n---\n...\n", ""},
		{"null\n", ""},
		{"a: 1\n---\nb: 2\n", "{\"a\":1} {\"b\":2}"},
		{"---\na: 1\n...\n---\n# nothing\n---\n- x\n", "{\"a\":1} [\"x\"]"},
		{"plain words # comment\n", "\"plain words\""},
		{"{\"a\": [1, {\"b\": null}], c: d}", "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}"},
		{"a:\n- 1\n- - 2\n  - 3\n- b: 4\n  c:\n    d: 5\n", "{\"a\":[1,[2,3],{\"b\":4,\"c\":{\"d\":5}}]}"},
		{"a: |\n  x\n   y\n\nb: |-\n  z\nc: >\n  one\n  two\n\n  three\n",
	         "{\"a\":\"x\\n y\\n\",\"b\":\"z\",\"c\":\"one two\\nthree\\n\"}"},
		{"a: |+\n  x\n\nb: 1", "{\"a\":\"x\\n\\n\",\"b\":1}"},
		{"a: one\n  two\n", "{\"a\":\"one two\"}"},
		{"1: a\ntrue: b\non2: c\n1.50: d\n0x10: e\n",
	         "{\"1\":\"a\",\"true\":\"b\",\"on2\":\"c\",\"1.5\":\"d\",\"16\":\"e\"}"},
		{"on: push\n", "{\"true\":\"push\"}"},
		{"y: 1\nn: 2\n", "{\"true\":1,\"false\":2}"},
		{"99999999999999999999: a\n", "{\"99999999999999999999\":\"a\"}"},
		{"? a\n: b\n? c\n", "{\"a\":\"b\",\"c\":null}"},
		{"a: !!map {b: !!seq [c]}\n", "{\"a\":{\"b\":[\"c\"]}}"},
		{"\xef\xbb\xbf"
	         "a: 1\n",
	         "{\"a\":1}"},
		{"a: 1\r\nb:\r\n- x\r\n", "{\"a\":1,\"b\":[\"x\"]}"},
		{"%YAML 1.1\n---\na: 1\n", "{\"a\":1}"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(rows[i].yaml, rows[i].json);
}

static void anchors_and_merges(void **state)
{
	static const struct {
		const char *yaml, *json;
	} rows[] = {
		{"a: &x [1, {b: 2}]\nc: *x\n", "{\"a\":[1,{\"b\":2}],\"c\":[1,{\"b\":2}]}"},
		{"a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}"},
		{"&k key: &v value\n*v : *k\n", "{\"key\":\"value\",\"value\":\"key\"}"},
		{"- &n 12\n- {*n : x}\n", "[12,{\"12\":\"x\"}]"},
		{"base: &b {x: 1, w: 2}\nuse: {<<: *b, w: 3}\n",
	         "{\"base\":{\"x\":1,\"w\":2},\"use\":{\"w\":3,\"x\":1}}"},
		{"base: &b {x: 1, w: 2}\nuse: {w: 3, <<: *b}\n",
	         "{\"base\":{\"x\":1,\"w\":2},\"use\":{\"w\":3,\"x\":1}}"},
		{"- &a {x: 1}\n- &b {x: 2, w: 2}\n- <<: [*a, *b]\n  z: 3\n",
	         "[{\"x\":1},{\"x\":2,\"w\":2},{\"z\":3,\"x\":1,\"w\":2}]"},
		{"- &a {x: 1}\n- <<: *a\n  <<: {w: {z: 2}}\n", "[{\"x\":1},{\"x\":1,\"w\":{\"z\":2}}]"},
		{"- &a {x: 1}\n- &c {<<: *a, w: 2}\n- {<<: *c}\n", "[{\"x\":1},{\"w\":2,\"x\":1},{\"w\":2,\"x\":1}]"},
		{"- <<: &i {x: 1}\n- *i\n", "[{\"x\":1},{\"x\":1}]"},
		{"\"<<\": 1\n", "{\"<<\":1}"},
		{"a: <<\n", "{\"a\":\"<<\"}"},
		{"- <<: []\n- <<: {}\n", "[{},{}]"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(rows[i].yaml, rows[i].json);
}

static void errors_name_the_place(void **state)
{
	static const struct {
		const char *yaml, *place, *what;
	} rows[] = {
		{"a: 1\nb: 2\na: 3\n", "line 3, column 1:", "duplicate key \"a\""},
		{"x:\n  - {k: 1, 'k': 2}\n", "line 2, column 12:", "duplicate key \"k\""},
		{"1: a\n'1': b\n", "line 2, column 1:", "duplicate key \"1\""},
		{"a: .inf\n", "line 1, column 4:", "JSON"},
		{"- .NaN\n", "line 1, column 3:", "quote"},
		{"a:\n\tb: 1\n", "line 2, column 1:", "use spaces"},
		{"a: 1\n  b: 2\n", "line 2,", ""},
		{"a: [1, 2\n", "line 2,", "that starts in line 1"},
		{"a: *nobody\n", "line 1, column 4:", "&nobody"},
		{"a: &x [1, *x]\n", "line 1, column 11:", "contain itself"},
		{"a: 1\n---\nb: &x 1\n---\nc: *x\n", "line 5, column 4:", "&x"},
		{"a: !secret b\n", "line 1, column 4:", "!secret"},
		{"a: !!binary aGk=\n", "line 1, column 4:", "binary"},
		{"a: !!set {b}\n", "line 1, column 4:", "set"},
		{"a: !!int x\n", "line 1, column 4:", "\"x\""},
		{"a: !!bool 1\n", "line 1, column 4:", "bool"},
		{"? [a, b]\n: c\n", "line 1, column", "key"},
		{"~: c\n", "line 1, column 1:", "null"},
		{"<<: 3\n", "line 1, column 5:", "<<"},
		{"<<: [a]\n", "line 1, column", "<<"},
		{"a: \"x\n", "line 2,", ""},
		{"a: \x01\n", "line 1, column 4:", "control characters"},
		{"a: b\nc: \xff\n", "line 2, column 4:", ""},
		{"a: b: c\n", "line 1, column 5:", ""},
		{"%YAML 2.0\n---\na\n", "line 1", ""},
		{"@a\n", "line 1, column 1:", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error error = {0};
		char *json = as_json(rows[i].yaml, strlen(rows[i].yaml), &error);
		if (json)
			fail_msg("%s was read as %s", rows[i].yaml, json);
		assert_int_equal(error.code, ERROR_SYNTAX);
		if (!strstr(error.text, rows[i].place) || !strstr(error.text, rows[i].what))
			fail_msg("%s\nwanted %s %s\ngot    %s", rows[i].yaml, rows[i].place, rows[i].what, error.text);
	}
}

static void expect_limit(const struct buffer *text)
{
	struct error error = {0};
	char *json = as_json(text->text, text->length, &error);
	assert_null(json);
	assert_int_equal(error.code, ERROR_LIMIT);
	assert_non_null(strstr(error.text, "line "));
}

static void repeat(struct buffer *text, const char *piece, size_t times)
{
	size_t length = strlen(piece);
	for (size_t i = 0; i < times; i++)
		buffer_append(text, piece, length);
}

static void nesting_has_a_limit(void **state)
{
	static const char *const pieces[] = {"[", "{a: ", "- ", "? ", "[{", "[ \n", "{? ", "- - ? "};
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct buffer text = {0};
		repeat(&text, pieces[i], 2000000);
		expect_limit(&text);
		buffer_free(&text);
	}
	struct buffer block = {0};
	for (size_t depth = 0; depth < 2000; depth++) {
		for (size_t i = 0; i < depth; i++)
			buffer_puts(&block, " ");
		buffer_puts(&block, "a:\n");
	}
	expect_limit(&block);
	buffer_free(&block);
	struct buffer fits = {0};
	repeat(&fits, "[", DOC_MAX_DEPTH);
	repeat(&fits, "]", DOC_MAX_DEPTH);
	struct error error;
	char *json = as_json(fits.text, fits.length, &error);
	assert_string_equal(json, fits.text);
	free(json);
	buffer_free(&fits);
}

static void aliases_have_a_limit(void **state)
{
	struct buffer laughs = {0};
	buffer_puts(&laughs, "a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol,lol]\n");
	for (int i = 1; i < 12; i++) {
		buffer_printf(&laughs, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			buffer_printf(&laughs, "%s*a%d", j ? "," : "", i - 1);
		buffer_puts(&laughs, "]\n");
	}
	expect_limit(&laughs);
	buffer_free(&laughs);

	struct buffer merges = {0};
	buffer_puts(&merges, "- &m0 {a: 1, b: 2}\n");
	for (int i = 1; i < 40; i++)
		buffer_printf(&merges, "- &m%d {<<: *m%d, x%d: {<<: *m%d}, y%d: *m%d}\n", i, i - 1, i, i - 1, i, i - 1);
	expect_limit(&merges);
	buffer_free(&merges);

	struct buffer strings = {0}; /* few values, but long ones */
	buffer_puts(&strings, "- &s ");
	repeat(&strings, "x", 1000000);
	repeat(&strings, "\n- *s", 100);
	expect_limit(&strings);
	buffer_free(&strings);

	struct buffer deep = {0}; /* each line is shallow, what it means is not */
	buffer_puts(&deep, "- &d0 [x]\n");
	for (int i = 1; i < 600; i++)
		buffer_printf(&deep, "- &d%d [*d%d]\n", i, i - 1);
	expect_limit(&deep);
	buffer_free(&deep);

	struct buffer fine = {0}; /* honest use of aliases is far from the limit */
	buffer_puts(&fine, "- &t {image: x, command: [a, b, c], resources: {limits: {cpu: 1}}}\n");
	repeat(&fine, "- {<<: *t, name: y}\n", 10000);
	struct error error;
	char *json = as_json(fine.text, fine.length, &error);
	assert_non_null(json);
	free(json);
	buffer_free(&fine);
}

static void large_maps_are_not_quadratic(void **state)
{
	struct buffer text = {0};
	for (int i = 0; i < 50000; i++)
		buffer_printf(&text, "key-%d: &a%d v\nref-%d: *a%d\n", i, i, i, i);
	struct error error;
	char *json = as_json(text.text, text.length, &error);
	assert_non_null(json);
	free(json);
	buffer_free(&text);
}

static void documents_know_their_line(void **state)
{
	static const char text[] = "# heading\n\na: 1\n---\n\n# more\nb: 2\n--- {c: 3}\n";
	struct yaml_document *docs;
	size_t count;
	assert_int_equal(yaml_read(text, strlen(text), &docs, &count, NULL), 0);
	assert_int_equal(count, 3);
	assert_int_equal(docs[0].line, 3);
	assert_int_equal(docs[1].line, 7);
	assert_int_equal(docs[2].line, 8);
	for (size_t i = 0; i < count; i++)
		doc_destroy(docs[i].doc);
	free(docs);
	assert_int_equal(yaml_read("[", 1, &docs, &count, NULL), -1);
	struct error error;
	assert_int_equal(yaml_read("", DOC_MAX_BYTES + 1, &docs, &count, &error), -1);
	assert_int_equal(error.code, ERROR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars),
		cmocka_unit_test(structures),
		cmocka_unit_test(anchors_and_merges),
		cmocka_unit_test(errors_name_the_place),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(aliases_have_a_limit),
		cmocka_unit_test(large_maps_are_not_quadratic),
		cmocka_unit_test(documents_know_their_line),
	};
	return cmocka_run_group_tests_name("yaml_read", tests, NULL, NULL);
}
