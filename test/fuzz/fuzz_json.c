/* JSON from arbitrary bytes: what is accepted can be written as JSON and YAML and reads back equal. */
#include "fuzz.h"

#include "object/build.h"
#include "object/doc_internal.h"
#include "object/yaml_read.h"

#include <string.h>

/* Reals that no double can hold: JSON keeps them as text, YAML reads them as strings. */
static bool has_huge_real(const struct val *val)
{
	if (yyjson_is_raw(val_json(val)) && val_kind(val) == VAL_REAL)
		return true;
	const struct val *item;
	for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
		if (has_huge_real(item))
			return true;
	return false;
}

static void check_yaml(const struct val *root)
{
	struct buffer out = {0};
	val_write(root, DOC_YAML, &out);
	struct yaml_document *docs;
	size_t count;
	struct error error;
	if (yaml_read(out.text, out.length, &docs, &count, &error) < 0)
		fprintf(stderr, "%s\n%s\n", error.text, out.text);
	else {
		fuzz_require(count <= 1);
		fuzz_require(has_huge_real(root) || val_equal(count ? doc_root(docs[0].doc) : NULL, root));
		if (count)
			doc_destroy(docs[0].doc);
		free(docs);
		buffer_free(&out);
		return;
	}
	fuzz_require(!"what we write can be read");
}

static void check_json(const struct val *root, enum doc_style style)
{
	struct buffer out = {0};
	val_write(root, style, &out);
	struct doc *again = doc_parse_json(out.text, out.length, NULL);
	fuzz_require(again && val_equal(doc_root(again), root));
	doc_destroy(again);
	buffer_free(&out);
}

static void check_copy(const struct val *root)
{
	struct build *build = build_create();
	struct doc *copy = build_finish(build, build_copy(build, root));
	build_destroy(build);
	fuzz_require(val_equal(doc_root(copy), root));
	doc_destroy(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {0};
	struct doc *doc = doc_parse_json((const char *)data, size, &error);
	if (!doc) {
		fuzz_require(error.code != ERROR_NONE && strstr(error.text, "line "));
		return 0;
	}
	check_json(doc_root(doc), DOC_JSON_COMPACT);
	check_json(doc_root(doc), DOC_JSON_PRETTY);
	check_copy(doc_root(doc));
	check_yaml(doc_root(doc));
	doc_destroy(doc);
	return 0;
}
