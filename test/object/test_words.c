/* Words: documents share texts, and are the same as those that do not. */
#include "object/build.h"
#include "object/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *share(struct words *words, const char *text, bool is_key)
{
	return words_share(words, text, strlen(text), is_key);
}

static void keys_at_once_values_when_they_come_again(void **state)
{
	struct words *words = words_create();
	const char *key = share(words, "metadata", true);
	assert_string_equal(key, "metadata");
	assert_ptr_equal(share(words, "metadata", true), key);
	assert_ptr_equal(share(words, "metadata", false), key);
	assert_null(share(words, "Running", false));
	const char *value = share(words, "Running", false);
	assert_string_equal(value, "Running");
	assert_ptr_equal(share(words, "Running", false), value);
	assert_null(words_share(words, "Run", 3, false)); /* the beginning of a word is another one */
	words_destroy(words);
	words_destroy(NULL);
}

static void there_is_a_limit(void **state)
{
	struct words *words = words_create();
	char text[128];
	int kept = 0;
	const char *first = share(words, "first", true);
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "key-%d", i);
		kept += share(words, text, true) != NULL;
	}
	assert_true(kept > 1000 && kept < 50000);
	assert_ptr_equal(share(words, "first", true), first);
	memset(text, 'x', sizeof(text));
	assert_null(words_share(words, text, sizeof(text), true)); /* too long to come often */
	words_destroy(words);
}

static void documents_are_the_same(void **state)
{
	static const char json[] =
		"{\"kind\":\"Pod\",\"spec\":{\"x\":[1,-2,2.5,\"s\\u0000t\",null,true,{},[]],\"kind\":\"Pod\",\"again\":"
		"\"Pod\",\"big\":123456789012345678901234567890},\"none\":\"\"}";
	struct words *words = words_create();
	struct error error = {0};
	struct doc *read = doc_parse_json(json, strlen(json), &error);
	assert_non_null(read);
	for (int i = 0; i < 3; i++) {
		struct build *build = build_create();
		struct doc *doc = build_finish_sharing(build, build_copy(build, doc_root(read)), i ? words : NULL);
		struct buffer text = {0};
		build_destroy(build);
		val_write(doc_root(doc), DOC_JSON_COMPACT, &text);
		assert_string_equal(text.text, json);
		assert_true(val_equal(doc_root(doc), doc_root(read)));
		buffer_free(&text);
		doc_destroy(doc);
	}
	doc_destroy(read);
	words_destroy(words);
}

static void texts_are_kept_once(void **state)
{
	struct words *words = words_create();
	const char *seen[3];
	struct doc *docs[3];
	for (int i = 0; i < 3; i++) {
		struct build *build = build_create();
		struct node *root = build_map(build);
		build_put_string(build, root, "kind", "Pod");
		docs[i] = build_finish_sharing(build, root, words);
		seen[i] = val_str(val_get(doc_root(docs[i]), "kind"), "");
		build_destroy(build);
	}
	assert_ptr_not_equal(seen[0], seen[1]);
	assert_ptr_equal(seen[1], seen[2]);
	for (int i = 0; i < 3; i++)
		doc_destroy(docs[i]);
	words_destroy(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_at_once_values_when_they_come_again),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(documents_are_the_same),
		cmocka_unit_test(texts_are_kept_once),
	};
	return cmocka_run_group_tests_name("object words", tests, NULL, NULL);
}
