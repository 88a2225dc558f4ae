/* The one place where the state in memory changes: index, history, owners, types and the batch for the next commit
 * move together, and back together when the commit fails. */
#include "local/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Everything that follows from an object going from `old` to `now`, besides the index and the history. */
static void follow(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now)
{
	owners_follow(store, old, now);
	if (registry_is_definition(store, bucket))
		registry_follow(store, old, now);
}

static void place(struct bucket *bucket, struct store_object *old, struct store_object *now)
{
	struct store_object *either = now ? now : old;
	by_value_follow(bucket, old, now);
	index_set(&bucket->index, either->namespace_, either->name, now);
}

static void record(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now,
                   size_t size)
{
	history_push(&bucket->history, store->version, old, now, size);
	vec_push(&store->batch, (struct pending){
					.bucket = bucket,
					.version = store->version,
					.prior = old ? old->version : 0,
					.old = old,
					.now = now,
				});
	place(bucket, old, now);
	follow(store, bucket, old, now);
	if (!store->options.mirror)
		garbage_follow(store, old, now);
}

struct store_object *change_make(struct store *store, struct bucket *bucket, struct tree *root, struct arena *arena,
                                 struct store_error *error)
{
	char version[24];
	snprintf(version, sizeof(version), "%" PRIu64, store->version + 1);
	if (!store->options.mirror)
		tree_put_string(arena, tree_need_map(arena, root, "metadata"), "resourceVersion", version);
	struct store_object *now = object_from_tree(&bucket->type, root, store->strings);
	if (now)
		now->version = store->version + 1;
	size_t length = 0;
	/* What a mirror shows is its server's to bound, and nobody needs the text. */
	if (now && !store->options.mirror)
		store_object_json(now, NULL, &length);
	if (!now || length > STORE_MAX_OBJECT) {
		store_object_release(now);
		store_fail(arena, error, 413, "RequestEntityTooLarge",
		           "the object would have %zu bytes or more than %d levels; at most %zu bytes and %d levels "
		           "are kept",
		           length, DOC_MAX_DEPTH, STORE_MAX_OBJECT, DOC_MAX_DEPTH);
		return NULL;
	}
	return now;
}

void change_put(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now)
{
	size_t length = 0;
	if (!store->options.mirror)
		store_object_json(now, NULL, &length);
	/* Of a turn that writes more than the history keeps, most is not asked for again. */
	if (store->batch.count > store->options.history)
		object_forget_json(now);
	store->version++;
	record(store, bucket, old, now, length);
	store_object_release(now); /* the index and the history hold it */
}

void change_mirror(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now)
{
	now->version = ++store->version;
	record(store, bucket, old, now, 0); /* the number of changes bounds the history well enough */
	store_object_release(now);          /* the index and the history hold it */
}

void change_remove(struct store *store, struct store_object *old)
{
	store->version++;
	record(store, bucket_of(old->type), old, NULL, 0);
}

void change_load(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now,
                 uint64_t version, bool in_history, size_t size)
{
	if (in_history)
		history_push(&bucket->history, version, old, now, size);
	place(bucket, old, now);
}

void change_undo(struct store *store)
{
	while (store->batch.count) {
		struct pending *last = &store->batch.items[--store->batch.count];
		place(last->bucket, last->now, last->old);
		follow(store, last->bucket, last->now, last->old);
		history_pop(&last->bucket->history);
		watch_undo(last->bucket);
	}
}

/* Weyl sequence with a finaliser. */
uint64_t store_random(struct store *store)
{
	uint64_t value = store->random += 0x9e3779b97f4a7c15ULL;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}
