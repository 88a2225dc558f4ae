/* YAML out: the shape people know from kubectl, and that every value reads back as what it was. */
#include "object/yaml_write.h"

#include "object/yaml_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct doc *parse(const char *json, size_t length)
{
	struct error error;
	struct doc *doc = doc_parse_json(json, length, &error);
	if (!doc)
		fail_msg("%s: %s", json, error.text);
	return doc;
}

/* Writes, reads back, compares; returns the YAML. */
static char *round_trip(const char *json, size_t length)
{
	struct doc *doc = parse(json, length);
	struct buffer out = {0};
	yaml_write(doc_root(doc), &out);
	struct yaml_document *docs;
	size_t count;
	struct error error;
	if (yaml_read(out.text, out.length, &docs, &count, &error) < 0)
		fail_msg("%s\nwritten as\n%s\ncannot be read: %s", json, out.text, error.text);
	const struct val *back = count ? doc_root(docs[0].doc) : NULL;
	if (count > 1 || !val_equal(doc_root(doc), back))
		fail_msg("%s\nwritten as\n%s\nreads differently", json, out.text);
	for (size_t i = 0; i < count; i++)
		doc_destroy(docs[i].doc);
	free(docs);
	doc_destroy(doc);
	return out.text;
}

static void shapes(void **state)
{
	static const struct {
		const char *json, *yaml;
	} rows[] = {
		{"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{}},\"spec\":{\"containers\":"
	         "[{\"name\":\"c\",\"args\":[\"-x\",\"--port=80\"],\"ports\":[]},{\"name\":\"d\"}]}}",
	         "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {}\nspec:\n  containers:\n  - name: c\n"
	         "    args:\n    - -x\n    - --port=80\n    ports: []\n  - name: d\n"},
		{"[[1,[2,3]],{\"a\":[4]},[]]", "- - 1\n  - - 2\n    - 3\n- a:\n  - 4\n- []\n"},
		{"{\"s\":\"a\\nb\\n\",\"t\":\"a\\n\\nb\",\"u\":\"a\\n\\n\"}",
	         "s: |\n  a\n  b\nt: |-\n  a\n\n  b\nu: |+\n  a\n\n"},
		{"[\"a\\nb\",{\"k\":[\"c\\nd\\n\"]}]", "- |-\n  a\n  b\n- k:\n  - |\n    c\n    d\n"},
		{"null", "null\n"},
		{"\"text\"", "text\n"},
		{"\"two\\nlines\"", "|-\n  two\n  lines\n"},
		{"{}", "{}\n"},
		{"1.5", "1.5\n"},
		{"{\"a\":null,\"b\":true,\"c\":-1,\"d\":99999999999999999999}",
	         "a: null\nb: true\nc: -1\nd: 99999999999999999999\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *yaml = round_trip(rows[i].json, strlen(rows[i].json));
		assert_string_equal(yaml, rows[i].yaml);
		free(yaml);
	}
}

static void strings_are_quoted_only_where_needed(void **state)
{
	static const struct {
		const char *json;
		bool quoted;
	} rows[] = {
		{"\"a\"", false}, {"\"a b\"", false}, {"\"nginx:1.25\"", false}, {"\"http://x/y?z\"", false},
		{"\"10.0.0.1\"", false}, {"\"1.2.3\"", false}, {"\"500m\"", false}, {"\"1.5Gi\"", false}, {"\"a#b\"", false},
		{"\"-x\"", false}, {"\"?x\"", false}, {"\":x\"", false}, {"\"a,b\"", false}, {"\"a[0]\"", false},
		{"\"\xc3\xa4\xe2\x82\xac\"", false}, {"\"it's\"", false}, {"\"a\\\\b\"", false}, {"\"$(VAR)\"", false},
		{"\"\"", true}, {"\" a\"", true}, {"\"a \"", true}, {"\"a: b\"", true}, {"\"a:\"", true}, {"\"a #b\"", true},
		{"\"- a\"", true}, {"\"-\"", true}, {"\"?\"", true}, {"\"? a\"", true}, {"\":\"", true}, {"\"---\"", true},
		{"\"...\"", true}, {"\"--- a\"", true},
		{"\"true\"", true}, {"\"yes\"", true}, {"\"Off\"", true}, {"\"y\"", true}, {"\"N\"", true}, {"\"null\"", true},
		{"\"~\"", true}, {"\"1\"", true}, {"\"-1.5\"", true}, {"\"1e3\"", true}, {"\"0x1f\"", true}, {"\"017\"", true},
		{"\"1_0\"", true}, {"\".inf\"", true}, {"\".5\"", true}, {"\"1:30\"", true}, {"\"2025-01-01\"", true},
		{"\"2025-01-01T00:00:00Z\"", true}, {"\"1e999\"", true}, {"\"<<\"", true}, {"\"=\"", true},
		{"\"#a\"", true}, {"\"&a\"", true}, {"\"*a\"", true}, {"\"!a\"", true}, {"\"|\"", true}, {"\">\"", true},
		{"\"%a\"", true}, {"\"@a\"", true}, {"\"`a\"", true}, {"\"{a\"", true}, {"\"[a\"", true}, {"\"'a\"", true},
		{"\"\\\"a\"", true}, {"\"a\\tb\"", true}, {"\"a\\rb\"", true}, {"\"\\u0000\"", true}, {"\"\\u007f\"", true},
		{"\"\\u0085\"", true}, {"\"\\u2028\"", true}, {"\"\\ufeff\"", true}, {"\"\\ufffe\"", true},
		{"\"\\n\"", true}, {"\"\\na\"", true}, {"\" a\\nb\"", true}, {"\"a \\nb\"", true}, {"\"a\\n \"", true},
		{"\"\\ta\\nb\"", true}, {"\"a\\r\\nb\"", true}, {"\"\\u0001\\n\"", true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *yaml = round_trip(rows[i].json, strlen(rows[i].json));
		if ((yaml[0] == '"') != rows[i].quoted)
			fail_msg("%s written as %s", rows[i].json, yaml);
		free(yaml);
		struct buffer places = {0}; /* the same text as key, value and item */
		buffer_printf(&places, "{\"v\":%s,%s:[%s,{%s:%s,\"z\":1}],\"zz\":{%s:[1]}}", rows[i].json, rows[i].json,
		              rows[i].json, rows[i].json, rows[i].json, rows[i].json);
		free(round_trip(places.text, places.length));
		buffer_free(&places);
	}
}

static void keys_of_any_length(void **state)
{
	for (size_t length = 900; length < 1200; length += 7) {
		struct buffer json = {0};
		buffer_puts(&json, "[{\"first\":1,\"");
		for (size_t i = 0; i < length; i++)
			buffer_puts(&json, length % 2 ? "k" : "\\n");
		buffer_puts(&json, "\":{\"inner\":[1,{\"");
		for (size_t i = 0; i < length; i++)
			buffer_puts(&json, "\xc3\xa4");
		buffer_puts(&json, "\":[2]}]},\"last\":3}]");
		free(round_trip(json.text, json.length));
		buffer_free(&json);
	}
}

/* Random small alphabets find the corners of plain, literal and quoted text. */
static void random_strings_read_back(void **state)
{
	static const char *const pieces[] = {" ", "\\n", ":", "#", "-", "a", "\\t", "\\\"", "'", "?", "|", "1", ".", "\\r",
	                                     "\xc3\xa4", "[", "&", "\\u0000", "\\u2028", "\\\\", "e", "~", "=", "<"};
	uint32_t seed = 1;
	for (int round = 0; round < 20000; round++) {
		struct buffer json = {0};
		buffer_puts(&json, round % 2 ? "{\"k\":\"" : "[[\"");
		size_t length = (size_t)(round % 9);
		for (size_t i = 0; i < length; i++) {
			seed = seed * 1664525u + 1013904223u;
			buffer_puts(&json, pieces[(seed >> 16) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		buffer_puts(&json, round % 2 ? "\",\"z\":1}" : "\"],2]");
		free(round_trip(json.text, json.length));
		buffer_free(&json);
	}
}

static void deep_values_can_be_written(void **state)
{
	struct buffer json = {0};
	for (int i = 0; i < DOC_MAX_DEPTH / 2; i++)
		buffer_puts(&json, "[{\"a\":");
	buffer_puts(&json, "1");
	for (int i = 0; i < DOC_MAX_DEPTH / 2; i++)
		buffer_puts(&json, "}]");
	free(round_trip(json.text, json.length));
	buffer_free(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),
		cmocka_unit_test(strings_are_quoted_only_where_needed),
		cmocka_unit_test(keys_of_any_length),
		cmocka_unit_test(random_strings_read_back),
		cmocka_unit_test(deep_values_can_be_written),
	};
	return cmocka_run_group_tests_name("yaml_write", tests, NULL, NULL);
}
