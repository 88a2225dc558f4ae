/* Queries from arbitrary bytes: the first line is the query, the rest the document (the query alone when there is none).
 * Whatever parses runs twice with the same number of results, within its limits. */
#include "fuzz.h"

#include "object/query.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t length = end ? (size_t)(end - data) : size;
	char *text = arena_strndup(arena, size ? (const char *)data : "", length);
	struct error error = {0};
	struct doc *doc = end ? doc_parse_json((const char *)end + 1, size - length - 1, &error) : NULL;
	const struct query *query = query_parse(text, arena, &error);
	fuzz_require(query || *error.text);
	struct query_values first = {0}, second = {0};
	if (query) {
		int rc = query_run(query, doc ? doc_root(doc) : NULL, arena, &first, &error);
		fuzz_require(rc == 0 || *error.text);
		fuzz_require(first.count <= QUERY_MAX_RESULTS);
		fuzz_require(query_run(query, doc ? doc_root(doc) : NULL, arena, &second, NULL) == rc);
		fuzz_require(first.count == second.count);
		for (size_t i = 0; i < first.count; i++)
			query_value_text(&first.items[i], arena);
	}
	doc_destroy(doc);
	arena_destroy(arena);
	return 0;
}
