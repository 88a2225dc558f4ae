/* Building: new documents, changed copies, and that what nobody touched survives. */
#include "object/build.h"
#include "object/difference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(struct build *build, struct node *root, const char *json)
{
	struct buffer out = {0};
	build_write(build, root, DOC_JSON_COMPACT, &out);
	assert_string_equal(out.text, json);
	buffer_free(&out);
}

static void a_document_from_nothing(void **state)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *list = build_list(build);
	build_put_string(build, root, "name", "a");
	build_put_int(build, root, "min", -3);
	build_put_bool(build, root, "on", true);
	build_put(build, root, "list", list);
	build_append(build, list, build_int(build, INT64_MAX));
	build_append(build, list, build_string(build, NULL));
	build_append(build, list, NULL);
	build_put_string(build, root, "none", NULL);
	expect(build, root,
	       "{\"name\":\"a\",\"min\":-3,\"on\":true,\"list\":[9223372036854775807,null,null],\"none\":null}");
	build_put_string(build, root, "name", "b");  /* a put replaces in place */
	build_append(build, list, build_map(build)); /* and a finished build can go on */
	expect(build, root,
	       "{\"name\":\"b\",\"min\":-3,\"on\":true,\"list\":[9223372036854775807,null,null,{}],\"none\":null}");
	build_put(build, list, "not a map", build_null(build));
	build_append(build, root, build_null(build));
	expect(build, NULL, "null");
	build_destroy(build);
	build_destroy(NULL);
}

static void strings_are_copied_and_made_valid(void **state)
{
	struct build *build = build_create();
	struct node *root = build_map(build);
	char key[] = "key", text[] = "text";
	build_put_string(build, root, key, text);
	memset(key, 'x', 3);
	memset(text, 'x', 4);
	build_put_string(build, root, "bad\xff", "a\xc3(\xe2\x82");
	expect(build, root, "{\"key\":\"text\",\"bad\xef\xbf\xbd\":\"a\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\"}");
	build_destroy(build);
}

static void unknown_fields_survive(void **state)
{
	static const char json[] = "{\"kind\":\"PodGroup\",\"spec\":{\"future\":{\"x\":[1,2.5,\"s\\u0000t\",null]},"
				   "\"big\":123456789012345678901234567890,\"minMember\":1}}";
	struct doc *doc = doc_parse_json(json, strlen(json), NULL);
	struct build *build = build_create();
	struct node *copy = build_copy(build, doc_root(doc));
	struct node *status = build_map(build);
	build_put(build, copy, "status", status);
	build_put(build, status, "spec", build_copy(build, val_get(doc_root(doc), "spec")));
	build_put(build, status, "missing", build_copy(build, val_get(doc_root(doc), "missing")));
	doc_destroy(doc); /* the copy owns what it holds */
	struct doc *finished = build_finish(build, copy);
	build_destroy(build); /* and so does a finished doc */
	struct buffer out = {0};
	val_write(doc_root(finished), DOC_JSON_COMPACT, &out);
	assert_string_equal(out.text,
	                    "{\"kind\":\"PodGroup\",\"spec\":{\"future\":{\"x\":[1,2.5,\"s\\u0000t\",null]},"
	                    "\"big\":123456789012345678901234567890,\"minMember\":1},\"status\":{\"spec\":{\"future\":"
	                    "{\"x\":[1,2.5,\"s\\u0000t\",null]},\"big\":123456789012345678901234567890,"
	                    "\"minMember\":1},\"missing\":null}}");
	int64_t number;
	assert_int_equal(val_int(val_path(doc_root(finished), "status", "spec", "minMember", NULL), &number), 0);
	buffer_free(&out);
	doc_destroy(finished);
}

static void large_maps_are_not_quadratic(void **state)
{
	enum { KEYS = 100000 };
	struct build *build = build_create();
	struct node *root = build_map(build);
	char key[32];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < (round ? 50 : KEYS); i++) {
			snprintf(key, sizeof(key), "key-%d", i);
			build_put_int(build, root, key, i + round);
		}
	}
	struct doc *doc = build_finish(build, root);
	assert_int_equal(val_count(doc_root(doc)), KEYS);
	int64_t number;
	assert_int_equal(val_int(val_get(doc_root(doc), "key-49"), &number), 0);
	assert_int_equal(number, 50);
	assert_int_equal(val_int(val_get(doc_root(doc), "key-50"), &number), 0);
	assert_int_equal(number, 50);
	doc_destroy(doc);
	build_destroy(build);
}

static void what_differs_as_a_patch(void **state)
{
	static const struct {
		const char *have, *want, *patch; /* NULL: none */
	} cases[] = {
		{"{'a':1,'b':{'c':[1,2]}}", "{'b':{'c':[1,2]},'a':1}", NULL},
		{"{'a':1}", "{'a':2}", "{'a':2}"},
		{"{'a':1,'b':2}", "{'b':2}", "{'a':null}"},
		{"{}", "{'a':{'b':1}}", "{'a':{'b':1}}"},
		{"{'m':{'x':1,'y':{'z':1,'w':2}},'s':3}", "{'m':{'y':{'z':1,'w':3},'v':4},'s':3}",
	         "{'m':{'v':4,'x':null,'y':{'w':3}}}"},
		{"{'l':[1,2,3]}", "{'l':[1,3]}", "{'l':[1,3]}"},
		{"{'a':{'b':1}}", "{'a':[]}", "{'a':[]}"},
		{"{'a':'x'}", "{'a':{'b':1}}", "{'a':{'b':1}}"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer texts[2] = {{0}}, out = {0};
		const char *given[2] = {cases[i].have, cases[i].want};
		struct doc *docs[2];
		for (int j = 0; j < 2; j++) {
			buffer_puts(&texts[j], given[j]);
			for (char *at = texts[j].text; *at; at++)
				*at = *at == '\'' ? '"' : *at;
			docs[j] = doc_parse_json(texts[j].text, texts[j].length, NULL);
		}
		struct build *build = build_create();
		struct node *patch = difference_merge(build, doc_root(docs[0]), doc_root(docs[1]));
		if (patch)
			build_write(build, patch, DOC_JSON_COMPACT, &out);
		for (char *at = out.text; at && *at; at++)
			*at = *at == '"' ? '\'' : *at;
		assert_string_equal(out.text ? out.text : "none", cases[i].patch ? cases[i].patch : "none");
		build_destroy(build);
		for (int j = 0; j < 2; j++) {
			doc_destroy(docs[j]);
			buffer_free(&texts[j]);
		}
		buffer_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_from_nothing), cmocka_unit_test(strings_are_copied_and_made_valid),
		cmocka_unit_test(unknown_fields_survive),  cmocka_unit_test(large_maps_are_not_quadratic),
		cmocka_unit_test(what_differs_as_a_patch),
	};
	return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
