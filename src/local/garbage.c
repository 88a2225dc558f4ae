/* What follows from deletions: dependents, contents of namespaces and of definitions, finalizers of our own; and events
 * that have grown old. A queue holds names to look at; an object that must wait for others is dropped from it and comes
 * back when one of those changes. Everything durable is in the objects themselves, so a restart finds it again. */
#include "local/draft.h"

#include <stdlib.h>
#include <string.h>

#define SWEEP_SECONDS 60
#define EVENTS_PER_CALL 1000 /* that are looked at */

enum owner_state { OWNER_THERE, OWNER_ABSENT, OWNER_UNKNOWN };

static bool in_deletion(const struct store_object *object)
{
	return val_path(object->root, "metadata", "deletionTimestamp", NULL);
}

static void enqueue(struct store *store, const struct store_object *object)
{
	struct bucket *bucket = bucket_of(object->type);
	if (store->garbage.count) {
		const struct garbage *last = &store->garbage.items[store->garbage.count - 1];
		if (last->bucket == bucket && strcmp(last->name, object->name) == 0 &&
		    strcmp(last->namespace_, object->namespace_) == 0)
			return;
	}
	vec_push(&store->garbage, (struct garbage){
					  .bucket = bucket,
					  .namespace_ = base_strdup(object->namespace_),
					  .name = base_strdup(object->name),
				  });
}

/* The owner that a reference of `object` names; NULL unless it is there with that uid. */
static struct store_object *owner_of(const struct store *store, const struct store_object *object,
                                     const struct val *reference, enum owner_state *state)
{
	const struct store_api *api = store_api_of_kind(store, val_str(val_get(reference, "apiVersion"), ""),
	                                                val_str(val_get(reference, "kind"), ""));
	*state = OWNER_UNKNOWN;
	if (!api)
		return NULL;
	struct store_object *owner =
		index_find(&bucket_of(api->type)->index, api->type->namespaced ? object->namespace_ : "",
	                   val_str(val_get(reference, "name"), ""));
	bool same = owner && strcmp(owner->uid, val_str(val_get(reference, "uid"), "")) == 0;
	*state = same ? OWNER_THERE : OWNER_ABSENT;
	return same ? owner : NULL;
}

static const struct val *owners(const struct store_object *object)
{
	return val_path(object->root, "metadata", "ownerReferences", NULL);
}

/* It has owners and all of them are known to be gone. */
static bool is_orphan(const struct store *store, const struct store_object *object)
{
	const struct val *list = owners(object), *reference;
	enum owner_state state;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &reference);) {
		owner_of(store, object, reference, &state);
		if (state != OWNER_ABSENT)
			return false;
	}
	return val_count(list) > 0;
}

/* ---- noticing ---- */

/* Somebody may be waiting for this object to go. */
static void notice_removal(struct store *store, struct store_object *old)
{
	const struct val *reference;
	enum owner_state state;
	if (owners_any(store, old->uid))
		vec_push(&store->gone, base_strdup(old->uid));
	for (struct val_iter it = val_iter(owners(old)); val_next(&it, NULL, &reference);) {
		struct store_object *owner = owner_of(store, old, reference, &state);
		if (owner && in_deletion(owner))
			enqueue(store, owner);
	}
	struct store_object *space =
		*old->namespace_ ? index_find(&store->namespaces->index, "", old->namespace_) : NULL;
	if (space && in_deletion(space))
		enqueue(store, space);
	struct store_object *definition = bucket_of(old->type)->definition;
	if (definition) /* the bucket may know an older state of it */
		definition = index_find(&store->definitions->index, "", definition->name);
	if (definition && in_deletion(definition))
		enqueue(store, definition);
}

static bool waits_for_collection(const struct store *store, const struct store_object *object)
{
	const struct bucket *bucket = bucket_of(object->type);
	return in_deletion(object) &&
	       (bucket == store->namespaces || bucket == store->definitions ||
	        object_has_finalizer(object, FOREGROUND) || object_has_finalizer(object, ORPHAN));
}

void garbage_follow(struct store *store, struct store_object *old, struct store_object *now)
{
	if (!now) {
		notice_removal(store, old);
		return;
	}
	bool new_owners = owners(now) && (!old || !val_equal(owners(old), owners(now)));
	if (waits_for_collection(store, now) || (new_owners && is_orphan(store, now)))
		enqueue(store, now);
}

void garbage_after_load(struct store *store)
{
	for (size_t i = 0; i < store->buckets.count; i++)
		for (struct index_node *node = store->buckets.items[i]->index.head[0]; node; node = node->next[0])
			if (waits_for_collection(store, node->object) || is_orphan(store, node->object))
				enqueue(store, node->object);
}

static void sweep_on_from(struct store *store, const struct store_object *event)
{
	free(store->sweep.namespace_);
	free(store->sweep.name);
	store->sweep.namespace_ = event ? base_strdup(event->namespace_) : NULL;
	store->sweep.name = event ? base_strdup(event->name) : NULL;
}

void garbage_free(struct store *store)
{
	for (size_t i = 0; i < store->garbage.count; i++) {
		free(store->garbage.items[i].namespace_);
		free(store->garbage.items[i].name);
	}
	vec_free(&store->garbage);
	for (size_t i = 0; i < store->gone.count; i++)
		free(store->gone.items[i]);
	vec_free(&store->gone);
	sweep_on_from(store, NULL);
}

/* ---- doing ---- */

/* One call of store_collect_garbage. */
struct work {
	struct store *store;
	struct arena *arena;
	size_t budget; /* objects that may still be touched */
};

static bool spend(struct work *work)
{
	if (work->budget == 0)
		return false;
	work->budget--;
	return true;
}

/* False when the budget is used up. */
static bool delete_one(struct work *work, struct store_object *object, enum store_propagation propagation)
{
	if (in_deletion(object))
		return true;
	if (!spend(work))
		return false;
	struct store_delete options = {.propagation = propagation};
	struct store_object *left = NULL;
	remove_object(work->store, object, &options, false, &left, work->arena, NULL);
	store_object_release(left);
	return true;
}

/* Takes an entry out of a list of strings in metadata or spec. */
static void drop_finalizer(struct work *work, struct store_object *object, const char *section, const char *name)
{
	struct tree *root = tree_of(work->arena, object->root), *kept = tree_list(work->arena), *item;
	struct tree *parent = tree_get(work->arena, root, section);
	struct tree *list = tree_get(work->arena, parent, "finalizers");
	size_t at = 0;
	while ((item = tree_walk(work->arena, list, &at, NULL)))
		if (strcmp(tree_str(item, ""), name) != 0)
			tree_append(work->arena, kept, item);
	if (tree_count(kept))
		tree_put(work->arena, parent, "finalizers", kept);
	else
		tree_remove(work->arena, parent, "finalizers");
	write_internal(work->store, work->arena, object, root, NULL);
}

static void drop_owner(struct work *work, struct store_object *object, const char *uid)
{
	struct tree *root = tree_of(work->arena, object->root), *kept = tree_list(work->arena), *item;
	struct tree *metadata = tree_get(work->arena, root, "metadata");
	size_t at = 0;
	while ((item = tree_walk(work->arena, tree_get(work->arena, metadata, "ownerReferences"), &at, NULL)))
		if (strcmp(tree_str(tree_get(work->arena, item, "uid"), ""), uid) != 0)
			tree_append(work->arena, kept, item);
	if (tree_count(kept))
		tree_put(work->arena, metadata, "ownerReferences", kept);
	else
		tree_remove(work->arena, metadata, "ownerReferences");
	write_internal(work->store, work->arena, object, root, NULL);
}

/* Deletes what is in a bucket (and a namespace). True when nothing is left or in the way of going on to others. */
static bool delete_contents(struct work *work, struct bucket *bucket, const char *namespace_, bool *empty)
{
	struct index_node *node = index_seek(&bucket->index, namespace_, "", false);
	while (node && (!*namespace_ || strcmp(node->object->namespace_, namespace_) == 0)) {
		struct store_object *object = store_object_retain(node->object);
		bool room = delete_one(work, object, STORE_BACKGROUND);
		node = index_seek(&bucket->index, object->namespace_, object->name, false);
		if (node && node->object->uid && strcmp(node->object->uid, object->uid) == 0) {
			*empty = false;
			node = node->next[0];
		}
		store_object_release(object);
		if (!room)
			return false;
	}
	return true;
}

static bool empty_namespace(struct work *work, struct store_object *space)
{
	bool empty = true;
	for (size_t i = 0; i < work->store->buckets.count; i++) {
		struct bucket *bucket = work->store->buckets.items[i];
		if (bucket->type.namespaced && !delete_contents(work, bucket, space->name, &empty))
			return false;
	}
	if (empty)
		drop_finalizer(work, space, "spec", "kubernetes");
	return true;
}

static bool empty_definition(struct work *work, struct store_object *definition)
{
	struct bucket *bucket = registry_defined_by(work->store, definition);
	bool empty = true;
	/* A built-in type keeps its objects when somebody takes a definition of it away. */
	if (!bucket->builtin && !delete_contents(work, bucket, "", &empty))
		return false;
	if (empty)
		drop_finalizer(work, definition, "metadata", CLEANUP);
	return true;
}

static bool blocks(const struct store_object *dependent, const char *uid)
{
	const struct val *reference;
	for (struct val_iter it = val_iter(owners(dependent)); val_next(&it, NULL, &reference);)
		if (strcmp(val_str(val_get(reference, "uid"), ""), uid) == 0)
			return val_bool(val_get(reference, "blockOwnerDeletion"), false);
	return false;
}

/* Foreground: dependents go first. Orphan: they are let go. */
static bool settle_dependents(struct work *work, struct store_object *owner, bool orphan)
{
	struct store_list list;
	store_dependents(work->store, owner->uid, NULL, &list);
	bool room = true, blocked = false;
	for (size_t i = 0; i < list.count; i++) {
		struct store_object *dependent = list.items[i];
		bool blocking = blocks(dependent, owner->uid);
		if (room && orphan) {
			room = spend(work);
			if (room)
				drop_owner(work, dependent, owner->uid);
		} else if (room) {
			room = delete_one(work, dependent, blocking ? STORE_FOREGROUND : STORE_BACKGROUND);
		}
		struct store_object *now =
			index_find(&bucket_of(dependent->type)->index, dependent->namespace_, dependent->name);
		blocked |= blocking && now && strcmp(now->uid, dependent->uid) == 0;
	}
	store_list_clear(&list);
	if (!room)
		return false;
	if (orphan || !blocked)
		drop_finalizer(work, owner, "metadata", orphan ? ORPHAN : FOREGROUND);
	return true;
}

/* False: out of budget, look at it again. */
static bool attend(struct work *work, struct store_object *object)
{
	struct bucket *bucket = bucket_of(object->type);
	if (!in_deletion(object))
		return !is_orphan(work->store, object) || delete_one(work, object, STORE_BACKGROUND);
	if (object_has_finalizer(object, ORPHAN))
		return settle_dependents(work, object, true);
	if (object_has_finalizer(object, FOREGROUND))
		return settle_dependents(work, object, false);
	if (bucket == work->store->namespaces)
		return empty_namespace(work, object);
	return bucket != work->store->definitions || empty_definition(work, object);
}

/* The dependents of an owner that is gone: those with another owner stay. */
static bool follow_owner(struct work *work, const char *uid)
{
	struct store_list list;
	store_dependents(work->store, uid, NULL, &list);
	bool room = true;
	for (size_t i = 0; i < list.count && room; i++) {
		struct store_object *dependent = list.items[i];
		const struct val *reference;
		enum owner_state state = OWNER_ABSENT;
		bool returned = false;
		for (struct val_iter it = val_iter(owners(dependent)); val_next(&it, NULL, &reference);)
			if (strcmp(val_str(val_get(reference, "uid"), ""), uid) == 0)
				returned |= owner_of(work->store, dependent, reference, &state) != NULL;
		if (returned)
			continue;
		if (is_orphan(work->store, dependent)) {
			room = delete_one(work, dependent, STORE_BACKGROUND);
		} else {
			room = spend(work);
			if (room)
				drop_owner(work, dependent, uid);
		}
	}
	store_list_clear(&list);
	return room;
}

/* ---- events ---- */

static int64_t last_seen(const struct val *event)
{
	static const char *const fields[] = {"lastTimestamp", "eventTime", "firstTimestamp"};
	int64_t newest = 0, seconds;
	if (clock_parse_rfc3339(val_str(val_path(event, "metadata", "creationTimestamp", NULL), ""), &newest) < 0)
		newest = 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (clock_parse_rfc3339(val_str(val_get(event, fields[i]), ""), &seconds) == 0 && seconds > newest)
			newest = seconds;
	const char *series = val_str(val_path(event, "series", "lastObservedTime", NULL), "");
	return clock_parse_rfc3339(series, &seconds) == 0 && seconds > newest ? seconds : newest;
}

/* A bounded number of them; the next call goes on behind. */
static bool sweep_events(struct work *work)
{
	struct store *store = work->store;
	const struct index *events = &store->events->index;
	int64_t now = clock_seconds(store->clock);
	int64_t ttl = store->options.event_ttl;
	if (ttl < 0 || (!store->sweep.name && now - store->events_swept < SWEEP_SECONDS))
		return true;
	struct index_node *node = store->sweep.name
	                                  ? index_seek(events, store->sweep.namespace_, store->sweep.name, false)
	                                  : events->head[0];
	for (int looks = 0; node; looks++) {
		if (looks == EVENTS_PER_CALL) {
			sweep_on_from(store, node->object);
			return false;
		}
		if (last_seen(node->object->root) + ttl > now) {
			node = node->next[0];
			continue;
		}
		struct store_object *event = store_object_retain(node->object);
		bool room = delete_one(work, event, STORE_BACKGROUND);
		if (!room)
			sweep_on_from(store, event);
		else
			node = index_seek(events, event->namespace_, event->name, true);
		store_object_release(event);
		if (!room)
			return false;
	}
	sweep_on_from(store, NULL);
	store->events_swept = now;
	return true;
}

/* Both queues forget what was done at their front; the rest moves up. */
#define forget(queue, done)                                                                                            \
	do {                                                                                                           \
		(queue)->count -= (done);                                                                              \
		if ((queue)->count && (done))                                                                          \
			memmove((queue)->items, (queue)->items + (done), (queue)->count * sizeof(*(queue)->items));    \
	} while (0)

static bool follow_owners(struct work *work)
{
	struct store *store = work->store;
	size_t done = 0;
	bool room = true;
	while (done < store->gone.count && (room = follow_owner(work, store->gone.items[done]))) {
		free(store->gone.items[done++]);
		arena_reset(work->arena);
	}
	forget(&store->gone, done);
	return room;
}

static bool attend_all(struct work *work)
{
	struct store *store = work->store;
	size_t done = 0;
	bool room = true;
	while (done < store->garbage.count && room) {
		struct garbage item = store->garbage.items[done];
		struct store_object *object =
			store_object_retain(index_find(&item.bucket->index, item.namespace_, item.name));
		room = !object || attend(work, object);
		store_object_release(object);
		arena_reset(work->arena);
		if (room) {
			free(item.namespace_);
			free(item.name);
			done++;
		}
	}
	forget(&store->garbage, done);
	return room;
}

bool store_collect_garbage(struct store *store, size_t budget)
{
	struct work work = {.store = store, .arena = arena_create(), .budget = budget};
	bool room = follow_owners(&work) && attend_all(&work) && sweep_events(&work);
	arena_destroy(work.arena);
	return !room || store->gone.count || store->garbage.count;
}
