/* Words: documents share texts, and are the same as those that do not. */
#include "object/build.h"
#include "object/string_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *share(struct string_pool *strings, const char *text, bool is_key)
{
	return string_pool_share(strings, text, strlen(text), is_key);
}

static void keys_at_once_values_when_they_come_again(void **state)
{
	struct string_pool *strings = string_pool_create();
	const char *key = share(strings, "metadata", true);
	assert_string_equal(key, "metadata");
	assert_ptr_equal(share(strings, "metadata", true), key);
	assert_ptr_equal(share(strings, "metadata", false), key);
	assert_null(share(strings, "Running", false));
	const char *value = share(strings, "Running", false);
	assert_string_equal(value, "Running");
	assert_ptr_equal(share(strings, "Running", false), value);
	assert_null(string_pool_share(strings, "Run", 3, false)); /* the beginning of a word is another one */
	string_pool_destroy(strings);
	string_pool_destroy(NULL);
}

static void there_is_a_limit(void **state)
{
	struct string_pool *strings = string_pool_create();
	char text[128];
	int kept = 0;
	const char *first = share(strings, "first", true);
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "key-%d", i);
		kept += share(strings, text, true) != NULL;
	}
	assert_true(kept > 1000 && kept < 50000);
	assert_ptr_equal(share(strings, "first", true), first);
	memset(text, 'x', sizeof(text));
	assert_null(string_pool_share(strings, text, sizeof(text), true)); /* too long to come often */
	string_pool_destroy(strings);
}

static void documents_are_the_same(void **state)
{
	static const char json[] =
		"{\"kind\":\"Pod\",\"spec\":{\"x\":[1,-2,2.5,\"s\\u0000t\",null,true,{},[]],\"kind\":\"Pod\",\"again\":"
		"\"Pod\",\"big\":123456789012345678901234567890},\"none\":\"\"}";
	struct string_pool *strings = string_pool_create();
	struct error error = {0};
	struct doc *read = doc_parse_json(json, strlen(json), &error);
	assert_non_null(read);
	for (int i = 0; i < 3; i++) {
		struct build *build = build_create();
		struct doc *doc = build_finish_sharing(build, build_copy(build, doc_root(read)), i ? strings : NULL);
		struct buffer text = {0};
		build_destroy(build);
		val_write(doc_root(doc), DOC_JSON_COMPACT, &text);
		assert_string_equal(text.text, json);
		assert_true(val_equal(doc_root(doc), doc_root(read)));
		buffer_free(&text);
		doc_destroy(doc);
	}
	doc_destroy(read);
	string_pool_destroy(strings);
}

static void texts_are_kept_once(void **state)
{
	struct string_pool *strings = string_pool_create();
	const char *seen[3];
	struct doc *docs[3];
	for (int i = 0; i < 3; i++) {
		struct build *build = build_create();
		struct node *root = build_map(build);
		build_put_string(build, root, "kind", "Pod");
		docs[i] = build_finish_sharing(build, root, strings);
		seen[i] = val_str(val_get(doc_root(docs[i]), "kind"), "");
		build_destroy(build);
	}
	assert_ptr_not_equal(seen[0], seen[1]);
	assert_ptr_equal(seen[1], seen[2]);
	for (int i = 0; i < 3; i++)
		doc_destroy(docs[i]);
	string_pool_destroy(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_at_once_values_when_they_come_again),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(documents_are_the_same),
		cmocka_unit_test(texts_are_kept_once),
	};
	return cmocka_run_group_tests_name("object strings", tests, NULL, NULL);
}
