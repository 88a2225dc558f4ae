/* Owns the queue that a cluster without queues gets, so that the first workload need not wait for an administrator. */
#include "cli/run_internal.h"
#include "kinds/names.h"

#include "loop/writes.h"
#include "object/build.h"

#include <string.h>

#define PAUSE_FIRST (1000 * CLOCK_MILLISECOND)
#define PAUSE_LONGEST (300 * 1000 * CLOCK_MILLISECOND)
#define PAUSE_DOUBLINGS 8

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
	build_put_string(build, root, "apiVersion", KINDS_API_QUEUE);
	build_put_string(build, root, "kind", "Queue");
	build_put_string(build, metadata, "name", name);
	build_put(build, root, "metadata", metadata);
	build_put(build, spec, "resources", shares);
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

/* At the first refusal; those after it are in the log as refused writes. */
static void tell_refused(struct run *run, const char *message)
{
	if (run->queue.told)
		return;
	run->queue.told = true;
	log_write(&run->args->logger, LOG_ERROR, 0,
	          "the default queue cannot be made; workloads wait until there is a queue. It is tried again with "
	          "growing "
	          "pauses. Let the user of platoon create queues.scheduling.run.ai (as `platoon install` does), see to "
	          "the "
	          "webhook that refuses it, create a queue yourself, or name none with `defaultQueue: \"\"`",
	          "queue", run->config->settings.group.default_queue, "error", message, NULL);
}

/* Somebody else's queue of that name is as good. */
static void on_answer(void *context, const struct store_result *result)
{
	if (result->error.code && result->error.code != 409)
		tell_refused(context, result->error.message);
}

static void send_queue(struct run *run, const struct store_api *api, const char *name)
{
	struct doc *doc = make_queue(name);
	struct store_request request = writes_create(api, "", doc_root(doc), WRITES_ACTOR);
	store_submit(remote_store(run->remote), &request, on_answer, run);
	doc_destroy(doc);
}

int run_ensure_queue(struct run *run)
{
	struct run_queue *queue = &run->queue;
	const char *name = run->config->settings.group.default_queue;
	const struct store_api *api = store_api_find(remote_store(run->remote), KINDS_SCHEDULING, "v2", "queues");
	int64_t now = clock_now(clock_system());
	if (queue->done || !name[0] || !api)
		return -1;
	if (has_queues(remote_store(run->remote), api)) {
		queue->done = !store_is_assumed(remote_store(run->remote), api->type, "", name);
		if (queue->done && queue->attempts > 0)
			log_write(&run->args->logger, LOG_INFO, 0, "queue made", "queue", name, NULL);
		return -1;
	}
	if (queue->attempts > 0 && queue->due == 0) { /* it was, and was taken back */
		unsigned doublings = queue->attempts - 1;
		queue->due = now + (doublings < PAUSE_DOUBLINGS ? PAUSE_FIRST << doublings : PAUSE_LONGEST);
	}
	if (now < queue->due)
		return (int)((queue->due - now) / CLOCK_MILLISECOND + 1);
	queue->due = 0;
	queue->attempts++;
	send_queue(run, api, name);
	return -1;
}
