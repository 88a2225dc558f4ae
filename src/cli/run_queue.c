/* Owns the queue that a cluster without queues gets, so that the first workload need not wait for an administrator. */
#include "cli/run_internal.h"

#include "object/build.h"

#include <string.h>

static bool has_queues(struct store *store, const struct store_api *api)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct store_list list = {0};
	struct store_list_request request = {.api = api, .limit = 1};
	bool has = store_list(store, &request, &list, arena, &error) < 0 || list.count > 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return has;
}

static struct doc *make_queue(const char *name)
{
	static const char *const resources[] = {"cpu", "gpu", "memory"};
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *spec = build_map(build),
		    *shares = build_map(build);
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		struct node *share = build_map(build);
		build_put_int(build, share, "quota", -1);
		build_put_int(build, share, "limit", -1);
		build_put_int(build, share, "overQuotaWeight", 1);
		build_put(build, shares, resources[i], share);
	}
	build_put_string(build, root, "apiVersion", "scheduling.run.ai/v2");
	build_put_string(build, root, "kind", "Queue");
	build_put_string(build, metadata, "name", name);
	build_put(build, root, "metadata", metadata);
	build_put(build, spec, "resources", shares);
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

void run_ensure_queue(struct run *run)
{
	struct store *store = remote_store(run->remote);
	const struct store_api *api = store_api_find(store, "scheduling.run.ai", "v2", "queues");
	const char *name = run->config->default_queue;
	if (!name[0] || !api || has_queues(store, api))
		return;
	struct arena *arena = arena_create();
	struct doc *doc = make_queue(name);
	struct store_result result = {.arena = arena};
	struct store_request request = {
		.verb = STORE_CREATE, .api = api, .body = doc_root(doc), .manager = "platoon", .actor = "platoon"};
	bool made = store_write(store, &request, &result) == 0;
	if (made)
		log_write(&run->args->logger, LOG_INFO, 0, "queue made", "queue", name, NULL);
	else
		log_write(&run->args->logger, LOG_WARN, 0, "queue refused", "queue", name, "error",
		          result.error.message, NULL);
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
}
