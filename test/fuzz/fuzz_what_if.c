/* A pasted manifest of any kind against a small cluster: it is answered with one JSON document, and the cluster stays as it
 * is. */
#include "fuzz.h"

#include "cli/what_if.h"
#include "object/doc.h"
#include "object/manifest.h"

#define MOST_BYTES 4096 /* a workload of many pods is slow, not wrong */

static const char nodes[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"labels\":{\"rack\":\"r\"}},"
	"\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"nvidia.com/gpu\":\"4\"}}}";

static struct store *open_store(void)
{
	struct store *store = store_open(&(struct store_options){.seed = 1}, NULL);
	struct arena *arena = arena_create();
	struct doc *doc = doc_parse_json(nodes, sizeof(nodes) - 1, NULL);
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_CREATE,
	                                .api = store_type_find(store, "", "nodes")->apis,
	                                .body = doc_root(doc)};
	fuzz_require(store_write(store, &request, &result) == 0 && store_commit(store, NULL) == 0);
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
	return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store *store;
	if (!store)
		store = open_store();
	if (size > MOST_BYTES)
		return 0;
	struct settings settings = settings_usual;
	settings.budget = 1000;
	struct buffer out = {0};
	uint64_t before = store_version(store);
	what_if(store, &settings, (const char *)data, size, &out);
	struct doc *doc = doc_parse_json(out.text, out.length, NULL);
	fuzz_require(doc && val_kind(val_get(doc_root(doc), "problems")) == VAL_LIST);
	fuzz_require(store_version(store) == before);
	doc_destroy(doc);
	buffer_free(&out);
	return 0;
}
