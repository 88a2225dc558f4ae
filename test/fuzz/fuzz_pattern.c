/* Patterns from arbitrary bytes: the first line is the pattern, the rest the text. Whatever compiles ends. */
#include "fuzz.h"

#include "object/pattern.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t length = end ? (size_t)(end - data) : size;
	const char *text = end ? (const char *)end + 1 : "";
	size_t rest = end ? size - length - 1 : 0;
	struct error error = {0};
	const struct pattern *pattern = pattern_compile(arena, size ? (const char *)data : "", length, &error);
	fuzz_require(pattern || (*error.text && (error.code == ERROR_SYNTAX || error.code == ERROR_LIMIT)));
	if (pattern)
		fuzz_require(pattern_match(pattern, text, rest) == pattern_match(pattern, text, rest));
	arena_destroy(arena);
	return 0;
}
