/* Opening, closing, and the turn: commit, acknowledgements (submit.c), watches. */
#include "api/store.h"

#include "object/build.h"
#include "local/internal.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_HISTORY 8192
#define DEFAULT_HISTORY_BYTES ((size_t)64 << 20)
#define DEFAULT_EVENT_TTL 3600

/* ---- opening ---- */

static int create_namespace(struct store *store, const char *name, struct error *error)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, metadata, "name", name);
	build_put(build, root, "metadata", metadata);
	struct doc *doc = build_finish(build, root);
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	int (*admit)(void *, struct store_admission *, struct store_error *) = store->options.admit;
	store->options.admit = NULL; /* the layer above is not ready while it opens us */
	int status = store_write(store,
	                         &(struct store_request){
					 .verb = STORE_CREATE,
					 .api = store->namespaces->type.apis,
					 .body = doc_root(doc),
				 },
	                         &result);
	store->options.admit = admit;
	if (status < 0)
		error_set(error, ERROR_INTERNAL, "%s", result.error.message);
	store_result_clear(&result);
	arena_destroy(arena);
	doc_destroy(doc);
	build_destroy(build);
	return status;
}

static int create_namespaces(struct store *store, struct error *error)
{
	static const char *const names[] = {"default", "kube-node-lease", "kube-public", "kube-system"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!index_find(&store->namespaces->index, "", names[i]) &&
		    create_namespace(store, names[i], error) < 0)
			return -1;
	return store_commit(store, error);
}

/* What is derived from objects is not in the file. */
static void derive(struct store *store)
{
	for (struct index_node *node = store->definitions->index.head[0]; node; node = node->next[0])
		registry_follow(store, NULL, node->object);
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		bucket->history.visible = bucket->roused = history_end(&bucket->history);
		for (struct index_node *node = bucket->index.head[0]; node; node = node->next[0])
			owners_follow(store, NULL, node->object);
	}
	garbage_after_load(store);
	store->committed = store->version;
}

struct store *store_open(const struct store_options *options, struct error *error)
{
	struct store *store = base_calloc(1, sizeof(*store));
	store->options = *options;
	store->clock = options->clock ? options->clock : clock_system();
	store->strings = string_pool_create();
	if (!store->options.history)
		store->options.history = DEFAULT_HISTORY;
	if (!store->options.history_bytes)
		store->options.history_bytes = DEFAULT_HISTORY_BYTES;
	if (!store->options.event_ttl)
		store->options.event_ttl = DEFAULT_EVENT_TTL;
	registry_init(store);
	if (options->path) {
		store->path = base_strdup(options->path);
		store->disk = disk_open(store, error);
		if (!store->disk) {
			store_close(store);
			return NULL;
		}
	}
	derive(store);
	/* A store that is opened again with the same seed must not give uids out twice. */
	store->random = hash_mix(options->seed, store->version);
	if (!options->bare && !options->mirror && create_namespaces(store, error) < 0) {
		store_close(store);
		return NULL;
	}
	return store;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	disk_close(store->disk);
	submit_free(store);
	vec_free(&store->batch);
	vec_free(&store->old_rows);
	vec_free(&store->roused);
	garbage_free(store);
	owners_free(store);
	registry_free(store);
	string_pool_destroy(store->strings);
	free(store->path);
	free(store);
}

uint64_t store_version(const struct store *store)
{
	return store->version;
}

uint64_t store_committed(const struct store *store)
{
	return store->committed;
}

/* ---- the turn ---- */

bool store_pending(const struct store *store)
{
	return store->batch.count || store->submissions.count || store->broke_watches;
}

/* What watches had a whole turn to read may go, as far as the window is exceeded. */
static void forget_old(struct store *store)
{
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		struct history *history = &bucket->history;
		while (history->visible - history->first > store->options.history ||
		       (history->visible > history->first && history->bytes > store->options.history_bytes)) {
			const struct change *oldest = history_at(history, history->first);
			if (store->disk && oldest->old)
				vec_push(&store->old_rows, oldest->old->version);
			if (store->disk && !oldest->now)
				vec_push(&store->old_rows, oldest->version);
			history_evict(history);
			bucket->floor_moved = true;
		}
	}
}

static void undo_batch(struct store *store, const struct error *failure)
{
	change_undo(store);
	garbage_after_load(store); /* what was collected is to be collected again */
	submit_acknowledge(store, failure);
	watch_wake(store);
}

void store_lose(struct store *store)
{
	struct error failure = {0};
	error_set(&failure, ERROR_INTERNAL, "the process ended before the commit");
	undo_batch(store, &failure);
}

int store_commit(struct store *store, struct error *error)
{
	struct error failure = {0};
	if (store->batch.count && store->disk && disk_commit(store, &failure) < 0) {
		undo_batch(store, &failure);
		return error_set(error, failure.code, "%s", failure.text);
	}
	for (size_t i = 0; i < store->batch.count; i++)
		object_forget_derived(store->batch.items[i].old);
	store->batch.count = 0;
	store->committed = store->version;
	forget_old(store);
	watch_reveal(store);
	submit_acknowledge(store, NULL);
	watch_wake(store);
	return 0;
}
