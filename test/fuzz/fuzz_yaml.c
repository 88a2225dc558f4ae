/* YAML from arbitrary bytes: what is accepted can be written as YAML and JSON and reads back equal. */
#include "fuzz.h"

#include "object/yaml_read.h"

#include <string.h>

static void check_document(const struct val *root)
{
	struct buffer out = {0};
	val_write(root, DOC_YAML, &out);
	struct yaml_document *docs;
	size_t count;
	struct error error;
	if (yaml_read(out.text, out.length, &docs, &count, &error) < 0) {
		fprintf(stderr, "%s\n%s\n", error.text, out.text);
		fuzz_require(!"what we write can be read");
	}
	fuzz_require(count == 1 && val_equal(doc_root(docs[0].doc), root));
	doc_destroy(docs[0].doc);
	free(docs);
	out.length = 0;
	val_write(root, DOC_JSON_COMPACT, &out);
	struct doc *json = doc_parse_json(out.text, out.length, NULL);
	fuzz_require(json && val_equal(doc_root(json), root));
	doc_destroy(json);
	buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_document *docs;
	size_t count;
	struct error error = {0};
	if (yaml_read((const char *)data, size, &docs, &count, &error) < 0) {
		fuzz_require(error.code != ERROR_NONE && strstr(error.text, "line "));
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		fuzz_require(docs[i].line > 0);
		check_document(doc_root(docs[i].doc));
		doc_destroy(docs[i].doc);
	}
	free(docs);
	return 0;
}
