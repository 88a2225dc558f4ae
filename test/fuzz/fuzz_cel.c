/* Expressions from arbitrary bytes, for a device that has one of everything: whatever compiles gives the same answer
 * twice, within its limits, and whatever fails says so. */
#include "fuzz.h"

#include "cel/cel.h"

#include <string.h>

#define TEXT(literal)                                                                                                  \
	{                                                                                                              \
		literal, sizeof(literal) - 1                                                                           \
	}

static const struct cel_attribute attributes[] = {
	{.domain = TEXT("d"), .id = TEXT("s"), .type = CEL_ATTRIBUTE_STRING, .text = TEXT("a-b")},
	{.domain = TEXT("d"), .id = TEXT("i"), .type = CEL_ATTRIBUTE_INT, .number = 7},
	{.domain = TEXT("d"), .id = TEXT("b"), .type = CEL_ATTRIBUTE_BOOL, .truth = true},
	{.domain = TEXT("d"), .id = TEXT("v"), .type = CEL_ATTRIBUTE_VERSION, .version = {1, 2, 3, TEXT("rc.1")}},
};
static const struct cel_capacity capacities[] = {{TEXT("d"), TEXT("m"), {40, 5}}};
static const struct cel_device device = {TEXT("d"), false, attributes, 4, capacities, 1};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	const char *text = arena_strndup(arena, size ? (const char *)data : "", size);
	struct error error = {0};
	const struct cel_program *program = cel_compile(arena, text, size, &error);
	fuzz_require(program || (*error.text && (error.code == ERROR_SYNTAX || error.code == ERROR_LIMIT)));
	if (program) {
		struct error first = {0}, second = {0};
		enum cel_result result = cel_evaluate(program, &device, arena, &first);
		fuzz_require(result != CEL_FAILED || *first.text);
		fuzz_require(cel_evaluate(program, &device, arena, &second) == result);
		fuzz_require(result != CEL_FAILED || strcmp(first.text, second.text) == 0);
	}
	arena_destroy(arena);
	return 0;
}
