/* Owns feeding the live state from a store: one watch per kind, and listing again where a watch lost its place. */
#include "control/live_internal.h"

#include <stdlib.h>

static const struct {
	const char *group, *version, *resource;
	enum build_kind kind;
} kinds[] = {
	{"", "v1", "nodes", BUILD_NODE},
	{"", "v1", "pods", BUILD_POD},
	{"", "v1", "persistentvolumes", BUILD_VOLUME},
	{"", "v1", "persistentvolumeclaims", BUILD_CLAIM},
	{"scheduling.run.ai", "v2alpha2", "podgroups", BUILD_POD_GROUP},
	{"scheduling.run.ai", "v2", "queues", BUILD_QUEUE},
	{"kai.scheduler", "v1alpha1", "topologies", BUILD_TOPOLOGY},
	{"scheduling.k8s.io", "v1", "priorityclasses", BUILD_PRIORITY_CLASS},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct live_watch {
	struct live *live;
	struct store *store;
	struct arena *arena;
	struct store_watch *watches[KINDS];
	bool listed[KINDS];
	uint64_t listing; /* number of the present listing, for all kinds together */
	uint64_t version, relists;
};

struct live_watch *live_watch_create(struct live *live, struct store *store)
{
	struct live_watch *watch = base_calloc(1, sizeof(*watch));
	watch->live = live;
	watch->store = store;
	watch->arena = arena_create();
	return watch;
}

void live_watch_close(struct live_watch *watch)
{
	if (!watch)
		return;
	for (size_t k = 0; k < KINDS; k++)
		store_watch_close(watch->watches[k]);
	arena_destroy(watch->arena);
	free(watch);
}

/* Objects that the listing did not have are gone. */
static void remove_unlisted(struct live_watch *watch, size_t k, uint64_t listing)
{
	struct live_object *object, *next;
	HASH_ITER(hh, watch->live->objects[kinds[k].kind], object, next) {
		if (object->listing >= listing)
			continue;
		struct store_object *gone = store_object_retain(object->object);
		live_remove(watch->live, gone);
		store_object_release(gone);
	}
}

static void take(struct live_watch *watch, size_t k, const struct store_event *event)
{
	if (event->version > watch->version)
		watch->version = event->version;
	if (event->type == STORE_DELETED) {
		live_remove(watch->live, event->object);
	} else if (event->object) {
		live_set(watch->live, event->object);
		struct live_object *object =
			live_find(watch->live, kinds[k].kind, event->object->namespace_, event->object->name);
		if (object)
			object->listing = watch->listing;
	} else if (event->initial_end) {
		remove_unlisted(watch, k, watch->listing);
		watch->listed[k] = true;
	}
}

/* A kind that is not served has no objects; it may be served later. */
static bool open_watch(struct live_watch *watch, size_t k)
{
	struct store_watch_request request = {
		.api = store_api_find(watch->store, kinds[k].group, kinds[k].version, kinds[k].resource),
		.initial = true,
	};
	struct store_error error = {0};
	watch->listing++;
	if (!request.api) {
		remove_unlisted(watch, k, watch->listing);
		watch->listed[k] = true;
		return false;
	}
	watch->relists += watch->listed[k];
	watch->listed[k] = false;
	watch->watches[k] = store_watch_open(watch->store, &request, watch->arena, &error);
	return watch->watches[k] != NULL;
}

static void read_kind(struct live_watch *watch, size_t k)
{
	struct store_event event;
	struct store_error error = {0};
	if (!watch->watches[k] && !open_watch(watch, k))
		return;
	int rc;
	while ((rc = store_watch_next(watch->watches[k], &event, watch->arena, &error)) > 0)
		take(watch, k, &event);
	if (rc == 0)
		return;
	store_watch_close(watch->watches[k]);
	watch->watches[k] = NULL;
}

bool live_watch_read(struct live_watch *watch)
{
	bool complete = true;
	arena_reset(watch->arena);
	for (size_t k = 0; k < KINDS; k++) {
		read_kind(watch, k);
		if (!watch->watches[k]) /* lost its place just now */
			read_kind(watch, k);
		complete &= watch->listed[k];
	}
	return complete;
}

uint64_t live_watch_version(const struct live_watch *watch)
{
	return watch->version;
}

uint64_t live_watch_relists(const struct live_watch *watch)
{
	return watch->relists;
}
