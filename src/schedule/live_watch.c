/* Owns feeding the live state from a store: one informer per kind. */
#include "base/vec.h"
#include "loop/informer.h"
#include "schedule/live_internal.h"

#include <stdlib.h>

struct live_watch {
	struct live *live;
	struct store *store;
	VEC(struct informer *) informers; /* of the kinds a decision rests on */
	uint64_t version;
	bool behind;
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
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		if (!(row->flags & (ROW_DECIDES | ROW_NAMED)))
			continue;
		struct informer *informer = informer_create(&(struct informer_options){
			.store = store,
			.group = row->group,
			.resource = row->resource,
			.changed = on_change,
			.context = watch,
		});
		vec_push(&watch->informers, informer);
	}
	return watch;
}

void live_watch_close(struct live_watch *watch)
{
	if (!watch)
		return;
	for (size_t k = 0; k < watch->informers.count; k++)
		informer_destroy(watch->informers.items[k]);
	vec_free(&watch->informers);
	free(watch);
}

bool live_watch_read(struct live_watch *watch)
{
	bool complete = true;
	watch->behind = false;
	for (size_t k = 0; k < watch->informers.count; k++) {
		informer_poll(watch->informers.items[k]);
		complete &= !informer_listing(watch->informers.items[k]);
		watch->behind |= informer_behind(watch->informers.items[k]);
	}
	live_check_held(watch->live, store_committed(watch->store));
	return complete;
}

bool live_watch_behind(const struct live_watch *watch)
{
	return watch->behind;
}

uint64_t live_watch_version(const struct live_watch *watch)
{
	return watch->version;
}

uint64_t live_watch_relists(const struct live_watch *watch)
{
	uint64_t count = 0;
	for (size_t k = 0; k < watch->informers.count; k++)
		count += informer_relists(watch->informers.items[k]);
	return count;
}
