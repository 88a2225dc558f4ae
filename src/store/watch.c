/* Watches: a place in the history of a type and a selection. Nothing is queued per watch; an idle one is a few hundred
 * bytes, moved along by the commits that do not concern it. */
#include "store/local.h"
#include "store/selector_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct store_watch {
	struct store *store;
	struct bucket *bucket;
	struct store_watch *next, **link;                 /* of the bucket */
	struct store_watch *next_waiting, **link_waiting; /* of the store, until the first look was taken */
	char *namespace_;                                 /* "" for all */
	struct store_selector selector;
	void *selector_memory;
	void (*wake)(void *context);
	void *context;
	uint64_t sequence;             /* of the next change to look at */
	uint64_t seen;                 /* version up to which everything was delivered */
	struct store_object **initial; /* first look: what is still to be delivered */
	size_t initial_count, initial_at;
	struct store_object *held; /* the object of the last event */
	bool wants_initial, wants_end;
	bool idle; /* said that there is nothing */
};

/* ---- opening ---- */

static void link_watch(struct store_watch *watch)
{
	watch->next = watch->bucket->watches;
	watch->link = &watch->bucket->watches;
	if (watch->next)
		watch->next->link = &watch->next;
	watch->bucket->watches = watch;
	if (!watch->wants_initial)
		return;
	watch->next_waiting = watch->store->waiting;
	watch->link_waiting = &watch->store->waiting;
	if (watch->next_waiting)
		watch->next_waiting->link_waiting = &watch->next_waiting;
	watch->store->waiting = watch;
}

static void stop_waiting(struct store_watch *watch)
{
	if (!watch->link_waiting)
		return;
	*watch->link_waiting = watch->next_waiting;
	if (watch->next_waiting)
		watch->next_waiting->link_waiting = watch->link_waiting;
	watch->link_waiting = NULL;
}

static int fail_expired(struct arena *arena, struct store_error *error, uint64_t version, uint64_t floor)
{
	return store_fail(arena, error, 410, "Expired", "too old resource version: %" PRIu64 " (%" PRIu64 ")", version,
	                  floor);
}

struct store_watch *store_watch_open(struct store *store, const struct store_watch_request *request,
                                     struct arena *arena, struct store_error *error)
{
	struct bucket *bucket = bucket_of(request->api->type);
	uint64_t version;
	if (read_version(store, request->version, &version, arena, error) < 0)
		return NULL;
	bool initial = request->initial || version == 0;
	if (!initial && version < bucket->history.floor) {
		fail_expired(arena, error, version, bucket->history.floor);
		return NULL;
	}
	struct store_watch *watch = base_calloc(1, sizeof(*watch));
	watch->store = store;
	watch->bucket = bucket;
	watch->namespace_ = base_strdup(request->namespace_ && bucket->type.namespaced ? request->namespace_ : "");
	watch->selector_memory = selector_copy(request->selector, &watch->selector);
	watch->wake = request->wake;
	watch->context = request->context;
	watch->wants_initial = initial;
	watch->wants_end = request->initial;
	watch->seen = version;
	watch->sequence = history_after(&bucket->history, version);
	link_watch(watch);
	return watch;
}

void store_watch_close(struct store_watch *watch)
{
	if (!watch)
		return;
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
	stop_waiting(watch);
	for (; watch->initial_at < watch->initial_count; watch->initial_at++)
		store_object_release(watch->initial[watch->initial_at]);
	free(watch->initial);
	store_object_release(watch->held);
	free(watch->namespace_);
	free(watch->selector_memory);
	free(watch);
}

/* ---- reading ---- */

static bool selects(const struct store_watch *watch, const struct store_object *object)
{
	return object && (!*watch->namespace_ || strcmp(watch->namespace_, object->namespace_) == 0) &&
	       store_selector_matches(&watch->selector, object);
}

/* What the change is for this selection; false: nothing. */
static bool translate(const struct store_watch *watch, struct change *change, struct store_event *event)
{
	bool before = selects(watch, change->old), after = selects(watch, change->now);
	if (!before && !after)
		return false;
	*event = (struct store_event){
		.type = !before ? STORE_ADDED
	                : after ? STORE_MODIFIED
	                        : STORE_DELETED,
		.version = change->version,
		.object = after ? change->now : change_left(change),
	};
	return true;
}

/* Current objects, taken when nothing uncommitted is among them. */
static void take_initial(struct store_watch *watch)
{
	VEC(struct store_object *) items = {0};
	struct index_node *node = index_seek(&watch->bucket->index, watch->namespace_, "", false);
	for (; node; node = node->next[0]) {
		if (*watch->namespace_ && strcmp(node->object->namespace_, watch->namespace_) != 0)
			break;
		if (store_selector_matches(&watch->selector, node->object))
			vec_push(&items, store_object_retain(node->object));
	}
	watch->initial = items.items;
	watch->initial_count = items.count;
	watch->wants_initial = false;
	watch->sequence = history_end(&watch->bucket->history);
	watch->seen = watch->store->version;
	stop_waiting(watch);
}

static int hold(struct store_watch *watch, const struct store_event *event)
{
	store_object_release(watch->held);
	watch->held = store_object_retain(event->object);
	return 1;
}

static bool next_initial(struct store_watch *watch, struct store_event *event)
{
	if (watch->initial && watch->initial_at < watch->initial_count) {
		struct store_object *object = watch->initial[watch->initial_at++];
		*event = (struct store_event){.type = STORE_ADDED, .version = object->version, .object = object};
		hold(watch, event);
		store_object_release(object); /* held now */
		return true;
	}
	free(watch->initial);
	watch->initial = NULL;
	watch->initial_count = watch->initial_at = 0;
	if (!watch->wants_end)
		return false;
	watch->wants_end = false;
	*event = (struct store_event){.type = STORE_BOOKMARK, .version = watch->seen, .initial_end = true};
	hold(watch, event);
	return true;
}

int store_watch_next(struct store_watch *watch, struct store_event *event, struct arena *arena,
                     struct store_error *error)
{
	const struct history *history = &watch->bucket->history;
	watch->idle = false;
	if (watch->bucket->type.api_count == 0)
		return fail_expired(arena, error, watch->seen, watch->store->version);
	if (watch->wants_initial && watch->store->batch.count) {
		watch->idle = true;
		return 0;
	}
	if (watch->wants_initial)
		take_initial(watch);
	if ((watch->initial || watch->wants_end) && next_initial(watch, event))
		return 1;
	if (watch->sequence < history->first)
		return fail_expired(arena, error, watch->seen, history->floor);
	while (watch->sequence < history->visible) {
		struct change *change = history_at(history, watch->sequence++);
		watch->seen = change->version;
		if (translate(watch, change, event))
			return hold(watch, event);
	}
	watch->idle = true;
	return 0;
}

bool store_watch_bookmark(struct store_watch *watch, struct store_event *event)
{
	if (!watch->idle || watch->wants_initial || watch->sequence < watch->bucket->history.visible)
		return false;
	/* Drained: everything that is committed was seen. */
	if (watch->store->committed > watch->seen)
		watch->seen = watch->store->committed;
	*event = (struct store_event){.type = STORE_BOOKMARK, .version = watch->seen};
	return true;
}

/* ---- after a commit ---- */

/* Moves an idle watch over what does not concern it; true when something does. */
static bool catch_up(struct store_watch *watch)
{
	const struct history *history = &watch->bucket->history;
	if (watch->bucket->type.api_count == 0 || watch->sequence < history->first)
		return true;
	for (; watch->sequence < history->visible; watch->sequence++) {
		const struct change *change = history_at(history, watch->sequence);
		if (selects(watch, change->old) || selects(watch, change->now))
			return true;
	}
	return false;
}

/* A woken watch may close itself: the next one is known before. */
static void wake(struct store_watch *watch)
{
	watch->idle = false;
	if (watch->wake)
		watch->wake(watch->context);
}

static void wake_bucket(struct bucket *bucket)
{
	for (struct store_watch *watch = bucket->watches, *next; watch; watch = next) {
		next = watch->next;
		if (watch->idle && !watch->wants_initial && catch_up(watch))
			wake(watch);
	}
}

void watch_reveal(struct store *store)
{
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		uint64_t end = history_end(&bucket->history);
		bucket->stirred |= bucket->history.visible != end;
		bucket->history.visible = end;
	}
}

void watch_wake(struct store *store)
{
	bool types_changed = store->definitions->stirred;
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		if (bucket->stirred || (types_changed && bucket->type.api_count == 0))
			wake_bucket(bucket);
		bucket->stirred = false;
	}
	for (struct store_watch *watch = store->waiting, *next; watch; watch = next) {
		next = watch->next_waiting;
		if (watch->idle)
			wake(watch);
	}
}

void watch_undo(struct bucket *bucket)
{
	uint64_t end = history_end(&bucket->history);
	for (struct store_watch *watch = bucket->watches; watch; watch = watch->next)
		if (watch->sequence > end)
			watch->sequence = end;
}

/* ---- writing ---- */

static void write_bookmark(const struct store_event *event, const struct store_api *api, struct buffer *out)
{
	buffer_printf(out,
	              "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{"
	              "\"resourceVersion\":\"%" PRIu64 "\",\"creationTimestamp\":null%s}}}\n",
	              api->type->kind, api->api_version, event->version,
	              event->initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
}

void store_event_write(const struct store_event *event, const struct store_api *api, struct buffer *out)
{
	static const char *const names[] = {"ADDED", "MODIFIED", "DELETED"};
	if (event->type == STORE_BOOKMARK) {
		write_bookmark(event, api, out);
		return;
	}
	size_t length;
	const char *json = store_object_json(event->object, api, &length);
	buffer_printf(out, "{\"type\":\"%s\",\"object\":", names[event->type]);
	buffer_append(out, json, length);
	buffer_puts(out, "}\n");
}
