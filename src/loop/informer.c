/* Owns following one type of objects through watches that may end at any time. */
#include "loop/informer.h"

#include "base/hash.h"
#include "base/vec.h"

#include <string.h>

#define EVENTS_PER_POLL 500 /* then others get their turn */

struct known {
	struct store_object *object; /* as last reported */
	uint64_t round;              /* of the list in which it was last seen */
	UT_hash_handle hh;
	char key[]; /* namespace, '/', name */
};

struct informer {
	struct informer_options options;
	char *group, *resource;
	struct store_watch *watch;
	struct known *known;
	uint64_t round; /* grows with each watch that is opened */
	uint64_t relists;
	bool listing;      /* the initial events of this watch have not all been seen */
	bool behind;       /* the last poll left some unread */
	struct buffer key; /* to look one up */
};

struct informer *informer_create(const struct informer_options *options)
{
	struct informer *informer = base_calloc(1, sizeof(*informer));
	informer->options = *options;
	informer->group = base_strdup(options->group);
	informer->resource = base_strdup(options->resource);
	return informer;
}

static void forget(struct informer *informer, struct known *known)
{
	HASH_DEL(informer->known, known);
	store_object_release(known->object);
	free(known);
}

void informer_destroy(struct informer *informer)
{
	if (!informer)
		return;
	struct known *known, *next;
	HASH_ITER(hh, informer->known, known, next)
		forget(informer, known);
	store_watch_close(informer->watch);
	buffer_free(&informer->key);
	free(informer->group);
	free(informer->resource);
	free(informer);
}

bool informer_behind(const struct informer *informer)
{
	return informer->behind;
}

bool informer_listing(const struct informer *informer)
{
	return informer->listing;
}

bool informer_synced(const struct informer *informer)
{
	return informer->watch && !informer->listing;
}

uint64_t informer_relists(const struct informer *informer)
{
	return informer->relists;
}

static bool open_watch(struct informer *informer)
{
	const struct store_type *type = store_type_find(informer->options.store, informer->group, informer->resource);
	if (!type || type->api_count == 0)
		return false;
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct store_watch_request request = {.api = type->apis,
	                                      .namespace_ = informer->options.namespace_,
	                                      .initial = true};
	informer->watch = store_watch_open(informer->options.store, &request, arena, &error);
	arena_destroy(arena);
	if (!informer->watch)
		return false;
	informer->relists += informer->round > 0;
	informer->round++;
	informer->listing = true;
	return true;
}

static struct known *find(struct informer *informer, const struct store_object *object, bool add)
{
	struct buffer *key = &informer->key;
	struct known *known;
	key->length = 0;
	buffer_puts(key, object->namespace_);
	buffer_puts(key, "/");
	buffer_puts(key, object->name);
	HASH_FIND(hh, informer->known, key->text, key->length, known);
	if (known || !add)
		return known;
	known = base_calloc(1, sizeof(*known) + key->length + 1);
	memcpy(known->key, key->text, key->length);
	HASH_ADD_KEYPTR(hh, informer->known, known->key, key->length, known);
	return known;
}

static void report(struct informer *informer, const struct store_object *object, const struct store_object *old,
                   bool deleted)
{
	informer->options.changed(informer->options.context, object, old, deleted);
}

static size_t on_change(struct informer *informer, struct store_object *object)
{
	struct known *known = find(informer, object, true);
	known->round = informer->round;
	struct store_object *old = known->object;
	if (old && old->version == object->version)
		return 0;
	known->object = store_object_retain(object);
	/* A name that was given away and taken again in between is another object. */
	bool replaced = old && strcmp(old->uid, object->uid) != 0;
	if (replaced)
		report(informer, old, old, true);
	report(informer, object, replaced ? NULL : old, false);
	store_object_release(old);
	return replaced ? 2 : 1;
}

static size_t on_delete(struct informer *informer, struct store_object *object)
{
	struct known *known = find(informer, object, false);
	if (!known)
		return 0;
	struct store_object *old = known->object;
	known->object = NULL;
	forget(informer, known);
	report(informer, object, old, true);
	store_object_release(old);
	return 1;
}

/* The list is complete: what was known and is not in it has gone. */
static size_t on_listed(struct informer *informer)
{
	VEC(struct store_object *) gone = {0};
	struct known *known, *next;
	HASH_ITER(hh, informer->known, known, next) {
		if (known->round == informer->round)
			continue;
		vec_push(&gone, known->object);
		known->object = NULL;
		forget(informer, known);
	}
	for (size_t i = 0; i < gone.count; i++) {
		report(informer, gone.items[i], gone.items[i], true);
		store_object_release(gone.items[i]);
	}
	size_t count = gone.count;
	vec_free(&gone);
	informer->listing = false;
	return count;
}

static size_t on_event(struct informer *informer, const struct store_event *event)
{
	if (event->type == STORE_BOOKMARK)
		return event->initial_end && informer->listing ? on_listed(informer) : 0;
	if (event->type != STORE_DELETED)
		return on_change(informer, event->object);
	return on_delete(informer, event->object);
}

size_t informer_poll(struct informer *informer)
{
	size_t reports = 0;
	struct arena *arena = arena_create();
	/* A watch that ends is opened again once per poll: one that ends at once must not keep us here. */
	bool opened = false;
	int read = 0;
	for (; read < EVENTS_PER_POLL; read++) {
		if (!informer->watch && (opened || !(opened = open_watch(informer))))
			break;
		struct store_event event;
		struct store_error error = {0};
		int more = store_watch_next(informer->watch, &event, arena, &error);
		if (more == 0)
			break;
		if (more > 0) {
			reports += on_event(informer, &event);
			continue;
		}
		store_watch_close(informer->watch);
		informer->watch = NULL;
	}
	informer->behind = read == EVENTS_PER_POLL;
	const struct store_type *type = store_type_find(informer->options.store, informer->group, informer->resource);
	if (!informer->watch && informer->known && (!type || type->api_count == 0)) {
		informer->round++; /* the definition is gone, and all its objects with it */
		reports += on_listed(informer);
	}
	arena_destroy(arena);
	return reports;
}
