/* Informer: follows all objects of one type in a store and calls back once per change, also over lost watches. After a
 * relist, objects that went away in between are reported as deleted with the last state that was seen. */
#ifndef LOOP_INFORMER_H
#define LOOP_INFORMER_H

#include "api/store.h"

#include <stdbool.h>

struct informer;

struct informer_options {
	struct store *store;
	const char *group, *resource;
	const char *namespace_; /* NULL: all */
	/* `object` is the newest state, the last one when `deleted`. `old` is what was reported before, NULL for the first
	 * time. Both are borrowed for the call. The callback may write to the store: it hears of that in a later poll. */
	void (*changed)(void *context, const struct store_object *object, const struct store_object *old, bool deleted);
	void *context;
};

/* A type that is not served yet (a definition may come later) is followed from the moment it is. */
struct informer *informer_create(const struct informer_options *options);
void informer_destroy(struct informer *informer); /* NULL is a no-op */
/* Reports what was committed since the last call, but a bounded number of events. Returns the number of reports. */
size_t informer_poll(struct informer *informer);
/* Whether the last poll ended before everything was read: others get their turn, then it goes on. */
bool informer_behind(const struct informer *informer);
/* Whether a list has begun and is not complete: what is known is then not all there is. */
bool informer_listing(const struct informer *informer);
/* Whether everything there is was reported, and changes follow. */
bool informer_synced(const struct informer *informer);
/* Times the whole list had to be read again because changes were lost. */
uint64_t informer_relists(const struct informer *informer);

#endif
