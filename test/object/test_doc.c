/* JSON documents: access, exact numbers, errors with their place, limits. */
#include "object/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct doc *parse(const char *text)
{
	struct error error;
	struct doc *doc = doc_parse_json(text, strlen(text), &error);
	if (!doc)
		fail_msg("%s: %s", text, error.text);
	return doc;
}

static void values_are_reached_by_path(void **state)
{
	struct doc *doc = parse("{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\",\"y\":\"2\"}},"
	                        "\"list\":[10,[20],{\"k\":30}],\"flag\":true,\"none\":null}");
	const struct val *root = doc_root(doc);
	assert_int_equal(val_kind(root), VAL_MAP);
	assert_string_equal(val_str(val_path(root, "metadata", "name", NULL), ""), "a");
	assert_string_equal(val_str(val_path(root, "metadata", "nothing", "deeper", NULL), "gone"), "gone");
	assert_string_equal(val_str(val_path(root, "flag", "deeper", NULL), "gone"), "gone");
	assert_ptr_equal(val_path(root, NULL), root);
	assert_null(val_path(NULL, "a", NULL));
	assert_true(val_bool(val_get(root, "flag"), false));
	assert_true(val_bool(val_get(root, "none"), true));
	assert_int_equal(val_kind(val_get(root, "none")), VAL_NULL);
	assert_int_equal(val_kind(val_get(root, "missing")), VAL_NULL);
	const struct val *list = val_get(root, "list");
	assert_int_equal(val_count(list), 3);
	int64_t number = 0;
	assert_int_equal(val_int(val_item(list, 0), &number), 0);
	assert_int_equal(number, 10);
	assert_int_equal(val_int(val_get(val_item(list, 2), "k"), &number), 0);
	assert_int_equal(number, 30);
	assert_null(val_item(list, 3));
	assert_null(val_item(root, 0));
	assert_null(val_get(list, "k"));
	assert_int_equal(val_count(val_get(root, "flag")), 0);
	assert_int_equal(val_count(NULL), 0);
	assert_string_equal(val_str(list, "fallback"), "fallback");
	doc_destroy(doc);
	doc_destroy(NULL);
	assert_null(doc_root(NULL));
	assert_string_equal(val_kind_name(VAL_MAP), "map");
	assert_string_equal(val_kind_name((enum val_kind)99), "unknown");
}

static void iteration_keeps_order(void **state)
{
	struct doc *doc = parse("{\"b\":[1,[2,3],4],\"a\":{\"z\":{},\"y\":[]},\"c\":\"s\"}");
	struct buffer seen = {0};
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(doc_root(doc)); val_next(&it, &key, &item);) {
		buffer_printf(&seen, "%s:", key);
		const char *inner_key;
		const struct val *inner;
		for (struct val_iter in = val_iter(item); val_next(&in, &inner_key, &inner);)
			buffer_printf(&seen, "%s/%s ", inner_key ? inner_key : "-", val_kind_name(val_kind(inner)));
	}
	assert_string_equal(seen.text, "b:-/integer -/list -/integer a:z/map y/list c:");
	buffer_free(&seen);
	struct val_iter nothing = val_iter(NULL);
	assert_false(val_next(&nothing, &key, &item));
	size_t count = 0;
	for (struct val_iter it = val_iter(doc_root(doc)); val_next(&it, NULL, NULL);)
		count++;
	assert_int_equal(count, 3);
	doc_destroy(doc);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		enum val_kind kind;
		bool whole;
		int64_t value;
		const char *scalar; /* NULL: the text itself */
	} rows[] = {
		{"0", VAL_INT, true, 0, NULL},
		{"-7", VAL_INT, true, -7, NULL},
		{"9223372036854775807", VAL_INT, true, INT64_MAX, NULL},
		{"-9223372036854775808", VAL_INT, true, INT64_MIN, NULL},
		{"9223372036854775808", VAL_INT, false, 0, NULL},
		{"18446744073709551616", VAL_INT, false, 0, NULL},
		{"123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890", VAL_INT,
	         false, 0, NULL},
		{"-9223372036854775809", VAL_INT, false, 0, NULL},
		{"1.5", VAL_REAL, false, 0, NULL},
		{"0.1", VAL_REAL, false, 0, NULL},
		{"2.0", VAL_REAL, true, 2, NULL},
		{"1e3", VAL_REAL, true, 1000, "1000.0"},
		{"1e30", VAL_REAL, false, 0, NULL},
		{"-0.0", VAL_REAL, true, 0, NULL},
		{"1e400", VAL_REAL, false, 0, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct doc *doc = parse(rows[i].text);
		const struct val *val = doc_root(doc);
		char scratch[64];
		int64_t value = 77;
		if (val_kind(val) != rows[i].kind)
			fail_msg("%s is a %s", rows[i].text, val_kind_name(val_kind(val)));
		assert_int_equal(val_int(val, &value), rows[i].whole ? 0 : -1);
		assert_int_equal(value, rows[i].whole ? rows[i].value : 77);
		assert_string_equal(val_scalar_text(val, scratch), rows[i].scalar ? rows[i].scalar : rows[i].text);
		struct buffer out = {0};
		val_write(val, DOC_JSON_COMPACT, &out);
		assert_string_equal(out.text,
		                    rows[i].scalar ? rows[i].scalar : rows[i].text); /* unknown fields survive */
		buffer_free(&out);
		doc_destroy(doc);
	}
	char scratch[64];
	struct doc *doc = parse("[\"500m\",true]");
	assert_string_equal(val_scalar_text(val_item(doc_root(doc), 0), scratch), "500m");
	assert_null(val_scalar_text(val_item(doc_root(doc), 1), scratch));
	assert_null(val_scalar_text(NULL, scratch));
	int64_t value;
	assert_int_equal(val_int(NULL, &value), -1);
	assert_int_equal(val_int(val_item(doc_root(doc), 0), &value), -1);
	doc_destroy(doc);
}

static void errors_name_the_place(void **state)
{
	static const struct {
		const char *text, *place, *what;
	} rows[] = {
		{"", "line 1, column 1:", "empty"},
		{"   \n ", "line 1, column 1:", "empty"},
		{"{\"a\": 1,\n \"b\": x}", "line 2, column 7:", ""},
		{"{\"a\": 1,\n \"a\": 2}", "line 2, column 2:", "duplicate key \"a\""},
		{"{\"\xc3\xa4\xc3\xa4\": {\"k\": 1, \"k\": 2}}", "line 1, column 17:", "duplicate key \"k\""},
		{"[{\"a\":1},\n{\"b\":{\"c\":[],\n\"c\":{}}}]", "line 3, column 1:", "duplicate key \"c\""},
		{"{\"a\\u0062\":1,\"ab\":2}", "line 1, column 14:", "duplicate key \"ab\""},
		{"{\"a\": 1,}", "line 1, column 8:", "comma"},
		{"{} {}", "line 1, column 4:", ""},
		{"[1,2", "line 1, column 5:", ""},
		{"{\"a\" 1}", "line 1, column 6:", ""},
		{"'a'", "line 1, column 1:", ""},
		{"{\"a\": 01}", "line 1, column 7:", ""},
		{"// no\n1", "line 1, column 1:", ""},
		{"NaN", "line 1, column 1:", ""},
		{"\"\xff\"", "line 1, column 2:", ""},
		{"\"open", "line 1, column", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error error = {0};
		struct doc *doc = doc_parse_json(rows[i].text, strlen(rows[i].text), &error);
		if (doc)
			fail_msg("%s was accepted", rows[i].text);
		assert_int_equal(error.code, ERROR_SYNTAX);
		if (!strstr(error.text, rows[i].place) || !strstr(error.text, rows[i].what))
			fail_msg("%s\nwanted %s %s\ngot    %s", rows[i].text, rows[i].place, rows[i].what, error.text);
	}
	assert_null(doc_parse_json("x", 1, NULL));
}

static void a_byte_order_mark_is_skipped(void **state)
{
	struct doc *doc = parse("\xef\xbb\xbf{\"a\":1}");
	assert_int_equal(val_count(doc_root(doc)), 1);
	doc_destroy(doc);
}

static void nesting_has_a_limit(void **state)
{
	size_t length = 64 << 20;
	char *text = malloc(length);
	memset(text, '[', length);
	struct error error;
	assert_null(doc_parse_json(text, length, &error));
	assert_int_equal(error.code, ERROR_LIMIT);
	assert_non_null(strstr(error.text, "line 1, column 513: nested deeper than 512"));
	for (size_t depth = DOC_MAX_DEPTH; depth <= DOC_MAX_DEPTH + 1; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		struct doc *doc = doc_parse_json(text, 2 * depth, &error);
		assert_int_equal(doc != NULL, depth == DOC_MAX_DEPTH);
		doc_destroy(doc);
	}
	free(text);
	/* Brackets in strings are text, whatever stands before their quotes. */
	struct buffer many = {0};
	buffer_puts(&many, "[");
	for (int i = 0; i < 1000; i++)
		buffer_puts(&many, "\"[[{\",\"\\\"[[\",\"\\\\\",\"\\\\\\\"{\",");
	buffer_puts(&many, "1]");
	struct doc *doc = doc_parse_json(many.text, many.length, &error);
	assert_non_null(doc);
	assert_int_equal(val_count(doc_root(doc)), 4001);
	doc_destroy(doc);
	buffer_free(&many);
}

static void size_has_a_limit(void **state)
{
	struct error error;
	assert_null(doc_parse_json("", DOC_MAX_BYTES + 1, &error)); /* refused before a byte is looked at */
	assert_int_equal(error.code, ERROR_LIMIT);
}

static void large_maps_are_not_quadratic(void **state)
{
	struct buffer forward = {0}, backward = {0};
	enum { KEYS = 200000 };
	for (int i = 0; i < KEYS; i++) {
		buffer_printf(&forward, "%s\"key-%d\":%d", i ? "," : "{", i, i);
		buffer_printf(&backward, "%s\"key-%d\":%d", i ? "," : "{", KEYS - 1 - i, KEYS - 1 - i);
	}
	buffer_puts(&forward, "}");
	buffer_puts(&backward, "}");
	struct doc *a = parse(forward.text), *b = parse(backward.text);
	assert_true(val_equal(doc_root(a), doc_root(b)));
	doc_destroy(a);
	doc_destroy(b);
	buffer_free(&forward);
	buffer_free(&backward);
}

static void equality(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{"1", "1", true},
		{"1", "1.0", true},
		{"1", "2", false},
		{"-1", "18446744073709551615", false},
		{"1", "\"1\"", false},
		{"null", "null", true},
		{"null", "0", false},
		{"true", "false", false},
		{"\"a\"", "\"a\\u0000\"", false},
		{"[1,2]", "[2,1]", false},
		{"[1,2]", "[1,2,3]", false},
		{"[]", "{}", false},
		{"{\"a\":1,\"b\":[true]}", "{\"b\":[true],\"a\":1}", true},
		{"{\"a\":1,\"b\":[true]}", "{\"b\":[null],\"a\":1}", false},
		{"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
		{"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
		{"99999999999999999999", "99999999999999999999", true},
		{"99999999999999999999", "99999999999999999998", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct doc *a = parse(rows[i].a), *b = parse(rows[i].b);
		if (val_equal(doc_root(a), doc_root(b)) != rows[i].equal ||
		    val_equal(doc_root(b), doc_root(a)) != rows[i].equal)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
		doc_destroy(a);
		doc_destroy(b);
	}
	struct doc *null = parse("null");
	assert_true(val_equal(doc_root(null), NULL)); /* missing is null */
	assert_true(val_equal(NULL, NULL));
	doc_destroy(null);
}

static void writing(void **state)
{
	struct doc *doc = parse("{\"a\":[1,{\"b\":\"x\\n\\u0000\xc3\xa4\"}],\"c\":{}}");
	struct buffer out = {0};
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	assert_string_equal(out.text, "{\"a\":[1,{\"b\":\"x\\n\\u0000\xc3\xa4\"}],\"c\":{}}");
	out.length = 0;
	val_write(val_get(doc_root(doc), "a"), DOC_JSON_PRETTY, &out);
	assert_string_equal(out.text, "[\n  1,\n  {\n    \"b\": \"x\\n\\u0000\xc3\xa4\"\n  }\n]");
	out.length = 0;
	val_write(NULL, DOC_JSON_COMPACT, &out);
	val_write(NULL, DOC_YAML, &out);
	assert_string_equal(out.text, "nullnull\n");
	buffer_free(&out);
	doc_destroy(doc);
}

static void a_nul_in_any_text_is_found(void **state)
{
	static const struct {
		const char *text, *path; /* NULL: there is none */
	} cases[] = {
		{"{\"a\":\"b\",\"c\":[1,null,{\"d\":\"\"}]}", NULL},
		{"{\"a\":\"\\\\u0000\"}", NULL},
		{"\"x\\u0000\"", ""},
		{"{\"a\":{\"b\":\"x\\u0000y\"}}", "a.b"},
		{"{\"a\":[\"x\",{\"b\":[\"\\u0000\"]}]}", "a[1].b[0]"},
		{"{\"a\":{\"k\\u0000k\":1}}", "a.k"},
		{"[{\"op\":\"add\",\"value\":\"\\u0000\"}]", "[0].value"},
		{"{\"a\":{\"b\":[1,2]},\"c\":\"\\u0000\"}", "c"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doc *doc = parse(cases[i].text);
		struct buffer path = {0};
		assert_int_equal(val_find_nul(doc_root(doc), &path), cases[i].path != NULL);
		if (cases[i].path)
			assert_string_equal(path.length ? path.text : "", cases[i].path);
		buffer_free(&path);
		doc_destroy(doc);
	}
	assert_false(val_find_nul(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_reached_by_path),
		cmocka_unit_test(a_nul_in_any_text_is_found),
		cmocka_unit_test(iteration_keeps_order),
		cmocka_unit_test(numbers),
		cmocka_unit_test(errors_name_the_place),
		cmocka_unit_test(a_byte_order_mark_is_skipped),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(size_has_a_limit),
		cmocka_unit_test(large_maps_are_not_quadratic),
		cmocka_unit_test(equality),
		cmocka_unit_test(writing),
	};
	return cmocka_run_group_tests_name("doc", tests, NULL, NULL);
}
