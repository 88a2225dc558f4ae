/* Owns feeding the live state from a store: one informer per kind. */
#include "loop/informer.h"
#include "schedule/live_internal.h"

#include <stdlib.h>

const struct live_kind live_kinds[LIVE_KINDS] = {
	{"", "nodes"},
	{"", "pods"},
	{"", "persistentvolumes"},
	{"", "persistentvolumeclaims"},
	{"scheduling.run.ai", "podgroups"},
	{"scheduling.run.ai", "queues"},
	{"kai.scheduler", "topologies"},
	{"scheduling.k8s.io", "priorityclasses"},
};

struct live_watch {
	struct live *live;
	struct store *store;
	struct informer *informers[LIVE_KINDS];
	uint64_t version;
};

static void on_change(void *context, const struct store_object *object, const struct store_object *old, bool deleted)
{
	struct live_watch *watch = context;
	(void)old;
	if (object->version > watch->version)
		watch->version = object->version;
	if (deleted)
		live_remove(watch->live, object);
	else
		live_set(watch->live, (struct store_object *)(uintptr_t)object); /* only to be retained */
}

struct live_watch *live_watch_create(struct live *live, struct store *store)
{
	struct live_watch *watch = base_calloc(1, sizeof(*watch));
	watch->live = live;
	watch->store = store;
	for (size_t k = 0; k < LIVE_KINDS; k++)
		watch->informers[k] = informer_create(&(struct informer_options){
			.store = store,
			.group = live_kinds[k].group,
			.resource = live_kinds[k].resource,
			.changed = on_change,
			.context = watch,
		});
	return watch;
}

void live_watch_close(struct live_watch *watch)
{
	if (!watch)
		return;
	for (size_t k = 0; k < LIVE_KINDS; k++)
		informer_destroy(watch->informers[k]);
	free(watch);
}

bool live_watch_read(struct live_watch *watch)
{
	bool complete = true;
	for (size_t k = 0; k < LIVE_KINDS; k++) {
		informer_poll(watch->informers[k]);
		complete &= !informer_listing(watch->informers[k]);
	}
	live_check_held(watch->live, store_committed(watch->store));
	return complete;
}

uint64_t live_watch_version(const struct live_watch *watch)
{
	return watch->version;
}

uint64_t live_watch_relists(const struct live_watch *watch)
{
	uint64_t count = 0;
	for (size_t k = 0; k < LIVE_KINDS; k++)
		count += informer_relists(watch->informers[k]);
	return count;
}
