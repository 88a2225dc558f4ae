/* Manifests from arbitrary bytes: every object is a map with a kind, every refusal says where and what to do. */
#include "fuzz.h"

#include "object/manifest.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifests manifests;
	manifests_init(&manifests);
	struct problems problems = {.arena = arena_create()};
	int status = manifests_parse(&manifests, (const char *)data, size, "input", &problems);
	fuzz_require((status < 0) == (problems.errors > 0));
	for (size_t i = 0; i < manifests.count; i++) {
		const struct manifest *item = &manifests.items[i];
		fuzz_require(val_kind(item->object) == VAL_MAP);
		fuzz_require(*item->kind && item->api_version && item->name && item->namespace_);
		fuzz_require(strncmp(item->source, "input:", 6) == 0);
	}
	for (size_t i = 0; i < problems.count; i++)
		fuzz_require(strncmp(problems.items[i].path, "input", 5) == 0 && problems.items[i].fix);
	arena_destroy(problems.arena);
	manifests_free(&manifests);
	return 0;
}
