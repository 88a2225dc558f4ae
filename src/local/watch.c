/* Watches: a place in the history of a type and a selection. Nothing is queued per watch; an idle one is a few hundred
 * bytes, moved along by the commits that do not concern it. */
#include "local/internal.h"
#include "api/selector_match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct store_watch {
	struct store *store;
	struct bucket *bucket;
	struct watch_key *key;                            /* NULL: looks at every change */
	struct store_watch *next, **link;                 /* of the bucket or the key */
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
	bool broken; /* ended by store_watch_break */
	bool idle;   /* said that there is nothing: `sequence` is not kept up until a change concerns it */
};

/* Thousands of watches may each ask for one object or for the pods of one node: a change finds them by its values
 * instead of asking each. */
struct watch_key {
	char *text; /* "spec.nodeName=n1" */
	size_t path;
	struct store_watch *watches;
	UT_hash_handle hh;
};

/* ---- keys ---- */

static size_t need_path(struct bucket *bucket, const char *path)
{
	size_t unused = SIZE_MAX;
	for (size_t i = 0; i < bucket->watch_paths.count; i++) {
		struct watch_path *at = &bucket->watch_paths.items[i];
		if (at->keys && strcmp(at->path, path) == 0) {
			at->keys++;
			return i;
		}
		if (!at->keys)
			unused = i;
	}
	if (unused == SIZE_MAX) {
		unused = bucket->watch_paths.count;
		vec_push(&bucket->watch_paths, (struct watch_path){0});
	}
	bucket->watch_paths.items[unused] = (struct watch_path){.path = base_strdup(path), .keys = 1};
	return unused;
}

static struct watch_key *need_key(struct bucket *bucket, const struct store_field_match *match)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s=%s", match->path, match->value);
	struct watch_key *key;
	HASH_FIND_STR(bucket->watch_keys, text.text, key);
	if (key) {
		buffer_free(&text);
		return key;
	}
	key = base_calloc(1, sizeof(*key));
	key->text = text.text;
	key->path = need_path(bucket, match->path);
	HASH_ADD_KEYPTR(hh, bucket->watch_keys, key->text, text.length, key);
	return key;
}

static void drop_key(struct bucket *bucket, struct watch_key *key)
{
	struct watch_path *path = &bucket->watch_paths.items[key->path];
	HASH_DEL(bucket->watch_keys, key);
	if (--path->keys == 0) {
		free(path->path);
		path->path = NULL;
	}
	free(key->text);
	free(key);
}

/* ---- opening ---- */

static void link_watch(struct store_watch *watch)
{
	struct store_watch **head = watch->key ? &watch->key->watches : &watch->bucket->watches;
	watch->next = *head;
	watch->link = head;
	if (watch->next)
		watch->next->link = &watch->next;
	*head = watch;
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
	const struct store_field_match *match = selector_key(&watch->selector);
	watch->key = match ? need_key(bucket, match) : NULL;
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
	if (watch->key && !watch->key->watches)
		drop_key(watch->bucket, watch->key);
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
	const struct store_field_match *key = selector_key(&watch->selector);
	const char *name = key && strcmp(key->path, "metadata.name") == 0 ? key->value : NULL;
	if (name && !*watch->namespace_ && watch->bucket->type.namespaced)
		name = NULL; /* it may be in any namespace */
	struct index_node *node =
		index_seek(by_value_index(watch->bucket, &watch->selector), watch->namespace_, name ? name : "", false);
	for (; node; node = node->next[0]) {
		if (*watch->namespace_ && strcmp(node->object->namespace_, watch->namespace_) != 0)
			break;
		if (name && strcmp(node->object->name, name) != 0)
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
	if (watch->idle && watch->sequence < watch->bucket->roused)
		watch->sequence = watch->bucket->roused; /* nothing before that concerned it */
	watch->idle = false;
	if (watch->broken || (watch->wants_initial && watch->bucket->type.api_count == 0))
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
	/* The type is gone, and how its last objects went was told. */
	if (watch->bucket->type.api_count == 0 && !watch->store->batch.count)
		return fail_expired(arena, error, watch->seen, watch->store->version);
	watch->idle = true;
	return 0;
}

bool store_watch_bookmark(struct store_watch *watch, struct store_event *event)
{
	if (!watch->idle || watch->wants_initial || watch->bucket->roused < watch->bucket->history.visible)
		return false;
	/* Idle: nothing that is committed concerns it. */
	if (watch->store->committed > watch->seen)
		watch->seen = watch->store->committed;
	*event = (struct store_event){.type = STORE_BOOKMARK, .version = watch->seen};
	return true;
}

/* ---- after a commit ---- */

static void rouse(struct store_watch *watch, uint64_t sequence)
{
	watch->sequence = sequence;
	watch->idle = false;
	vec_push(&watch->store->roused, watch);
}

/* Rouses those of a list that the change concerns. One that looked in the meantime is further already. */
static void rouse_list(struct store_watch *watch, const struct change *change, uint64_t sequence)
{
	for (; watch; watch = watch->next)
		if (watch->idle && !watch->wants_initial && sequence >= watch->sequence &&
		    (selects(watch, change->old) || selects(watch, change->now)))
			rouse(watch, sequence);
}

static void rouse_key(struct bucket *bucket, const char *path, const struct store_object *object,
                      const struct change *change, uint64_t sequence)
{
	if (!object)
		return;
	char scratch[64];
	const char *value = selector_value(object, path, scratch);
	struct buffer *text = &bucket->watch_text;
	text->length = 0;
	buffer_printf(text, "%s=%s", path, value ? value : "");
	struct watch_key *key;
	HASH_FIND(hh, bucket->watch_keys, text->text, text->length, key);
	if (key)
		rouse_list(key->watches, change, sequence);
}

static void rouse_bucket(struct bucket *bucket)
{
	for (; bucket->roused < bucket->history.visible; bucket->roused++) {
		const struct change *change = history_at(&bucket->history, bucket->roused);
		rouse_list(bucket->watches, change, bucket->roused);
		for (size_t i = 0; i < bucket->watch_paths.count; i++) {
			const struct watch_path *path = &bucket->watch_paths.items[i];
			if (!path->keys)
				continue;
			rouse_key(bucket, path->path, change->old, change, bucket->roused);
			rouse_key(bucket, path->path, change->now, change, bucket->roused);
		}
	}
}

static void rouse_over(struct store_watch *watch, bool gone)
{
	for (; watch; watch = watch->next)
		if (watch->idle && (gone || watch->broken))
			rouse(watch, watch->sequence);
}

/* Those that are over: broken ones, and all when the type is gone. */
static void rouse_all(struct bucket *bucket, bool gone)
{
	rouse_over(bucket->watches, gone);
	struct watch_key *key, *next;
	HASH_ITER(hh, bucket->watch_keys, key, next)
		rouse_over(key->watches, gone);
}

static size_t break_list(struct store_watch *watch)
{
	size_t count = 0;
	for (; watch; watch = watch->next) {
		count += !watch->broken;
		watch->broken = true;
	}
	return count;
}

size_t store_watch_break(struct store *store, const struct store_type *type)
{
	size_t count = 0;
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		if (type && type != &bucket->type)
			continue;
		count += break_list(bucket->watches);
		struct watch_key *key, *next;
		HASH_ITER(hh, bucket->watch_keys, key, next)
			count += break_list(key->watches);
	}
	store->broke_watches |= count > 0;
	return count;
}

void watch_reveal(struct store *store)
{
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		bucket->history.visible = history_end(&bucket->history);
	}
}

void watch_wake(struct store *store)
{
	bool types_changed = store->definitions->roused < store->definitions->history.visible;
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		rouse_bucket(bucket);
		bool gone = types_changed && bucket->type.api_count == 0;
		if (gone || store->broke_watches)
			rouse_all(bucket, gone);
	}
	store->broke_watches = false;
	/* Their first look is taken here and now: where every turn writes before they are asked, there would never be a
	 * better moment. */
	for (struct store_watch *watch = store->waiting, *next; watch; watch = next) {
		next = watch->next_waiting;
		if (!watch->idle)
			continue;
		if (!watch->broken && watch->bucket->type.api_count > 0 && !store->batch.count)
			take_initial(watch);
		rouse(watch, watch->sequence);
	}
	/* A watch may be read and closed when it is woken, so the lists are left alone from here. */
	for (size_t i = 0; i < store->roused.count; i++) {
		struct store_watch *watch = store->roused.items[i];
		if (watch->wake)
			watch->wake(watch->context);
	}
	store->roused.count = 0;
}

static void step_back(struct store_watch *watch, uint64_t end)
{
	for (; watch; watch = watch->next)
		if (watch->sequence > end)
			watch->sequence = end;
}

void watch_undo(struct bucket *bucket)
{
	uint64_t end = history_end(&bucket->history);
	step_back(bucket->watches, end);
	struct watch_key *key, *next;
	HASH_ITER(hh, bucket->watch_keys, key, next)
		step_back(key->watches, end);
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
