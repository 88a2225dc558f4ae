/* Who names whom as owner: an index from the uid of an owner to its dependents, followed at each change. */
#include "base/vec.h"
#include "local/internal.h"

#include <stdlib.h>
#include <string.h>

struct dependent {
	struct bucket *bucket;
	struct store_object *object;   /* as it is in the index of the bucket, borrowed from there; NULL: it is gone */
	const char *namespace_, *name; /* behind the struct */
	UT_hash_handle hh;
	char key[]; /* the address of the bucket, the namespace and the name */
};

struct owner {
	char *uid;
	struct dependent *dependents;
	/* The first `sorted` are in order, behind them are those that came since, and some are gone: owners of many are asked for
	 * all of them again and again while few come and go. */
	VEC(struct dependent *) list;
	size_t sorted, gone;
	UT_hash_handle hh;
};

static struct dependent *make_dependent(struct store_object *object)
{
	struct bucket *bucket = bucket_of(object->type);
	size_t space = strlen(object->namespace_), name = strlen(object->name);
	struct dependent *dependent = base_calloc(1, sizeof(*dependent) + sizeof(bucket) + space + name + 2);
	dependent->bucket = bucket;
	memcpy(dependent->key, (void *)&bucket, sizeof(bucket));
	char *text = dependent->key + sizeof(bucket);
	memcpy(text, object->namespace_, space + 1);
	memcpy(text + space + 1, object->name, name + 1);
	dependent->namespace_ = text;
	dependent->name = text + space + 1;
	return dependent;
}

static size_t key_length(const struct dependent *dependent)
{
	return (size_t)(dependent->name - dependent->key) + strlen(dependent->name) + 1;
}

static void link_to(struct store *store, const char *uid, struct store_object *object)
{
	struct owner *owner;
	HASH_FIND_STR(store->owners, uid, owner);
	if (!owner) {
		owner = base_calloc(1, sizeof(*owner));
		owner->uid = base_strdup(uid);
		HASH_ADD_KEYPTR(hh, store->owners, owner->uid, strlen(owner->uid), owner);
	}
	struct dependent *dependent = make_dependent(object), *found;
	HASH_FIND(hh, owner->dependents, dependent->key, key_length(dependent), found);
	if (found) { /* it was linked before, or names the same owner twice */
		found->object = object;
		free(dependent);
		return;
	}
	dependent->object = object;
	HASH_ADD_KEYPTR(hh, owner->dependents, dependent->key, key_length(dependent), dependent);
	vec_push(&owner->list, dependent);
}

static void free_owner(struct store *store, struct owner *owner)
{
	for (size_t i = 0; i < owner->list.count; i++)
		free(owner->list.items[i]);
	HASH_DEL(store->owners, owner);
	vec_free(&owner->list);
	free(owner->uid);
	free(owner);
}

/* Frees those that are gone. */
static void close_gaps(struct owner *owner)
{
	size_t kept = 0, sorted = 0;
	for (size_t i = 0; i < owner->list.count; i++) {
		struct dependent *dependent = owner->list.items[i];
		if (!dependent->object) {
			free(dependent);
			continue;
		}
		sorted += i < owner->sorted;
		owner->list.items[kept++] = dependent;
	}
	owner->list.count = kept;
	owner->sorted = sorted;
	owner->gone = 0;
}

static void unlink_from(struct store *store, const char *uid, struct store_object *object)
{
	struct owner *owner;
	HASH_FIND_STR(store->owners, uid, owner);
	if (!owner)
		return;
	struct dependent *key = make_dependent(object), *found;
	HASH_FIND(hh, owner->dependents, key->key, key_length(key), found);
	free(key);
	if (found) {
		HASH_DEL(owner->dependents, found);
		found->object = NULL;
		if (++owner->gone > owner->list.count / 2) /* not everybody is ever asked for */
			close_gaps(owner);
	}
	if (!owner->dependents)
		free_owner(store, owner);
}

static const struct val *references(const struct store_object *object)
{
	return object ? val_path(object->root, "metadata", "ownerReferences", NULL) : NULL;
}

void owners_follow(struct store *store, struct store_object *old, struct store_object *now)
{
	const struct val *before = references(old), *after = references(now), *reference;
	bool same = before && after && val_equal(before, after);
	for (struct val_iter it = val_iter(before); !same && val_next(&it, NULL, &reference);)
		unlink_from(store, val_str(val_get(reference, "uid"), ""), old);
	for (struct val_iter it = val_iter(after); val_next(&it, NULL, &reference);)
		link_to(store, val_str(val_get(reference, "uid"), ""), now);
}

/* Not in the order of the hash table, which a restart changes. */
static int by_type_and_name(const void *left, const void *right)
{
	const struct dependent *a = *(struct dependent *const *)left, *b = *(struct dependent *const *)right;
	int order = 0;
	if (a->bucket != b->bucket) {
		order = strcmp(a->bucket->type.group, b->bucket->type.group);
		if (!order)
			order = strcmp(a->bucket->type.resource, b->bucket->type.resource);
	}
	return order ? order : index_compare(a->namespace_, a->name, b->namespace_, b->name);
}

/* How many of the first `count` stand before the one that came. */
static size_t place_of(struct dependent *const *items, size_t count, struct dependent *const *came)
{
	size_t from = 0;
	while (from < count) {
		size_t middle = from + (count - from) / 2;
		if (by_type_and_name((const void *)&items[middle], (const void *)came) < 0)
			from = middle + 1;
		else
			count = middle;
	}
	return from;
}

/* Those that came, in order among themselves, go to their places from the back; what is between two places moves as a whole. */
static void merge(struct owner *owner)
{
	struct dependent **items = owner->list.items;
	size_t old = owner->sorted, came = owner->list.count - old;
	struct dependent **fresh = base_calloc(came, sizeof(struct dependent *));
	memcpy((void *)fresh, (void *)(items + old), came * sizeof(*fresh));
	qsort((void *)fresh, came, sizeof(*fresh), by_type_and_name);
	for (; came > 0; came--) {
		size_t place = place_of(items, old, &fresh[came - 1]);
		memmove((void *)(items + place + came), (void *)(items + place), (old - place) * sizeof(*items));
		items[place + came - 1] = fresh[came - 1];
		old = place;
	}
	free((void *)fresh);
	owner->sorted = owner->list.count;
}

static void arrange(struct owner *owner)
{
	if (owner->gone)
		close_gaps(owner);
	if (owner->sorted < owner->list.count)
		merge(owner);
}

void store_dependents(struct store *store, const char *uid, const struct store_type *type, struct store_list *list)
{
	*list = (struct store_list){.version = store->version};
	struct owner *owner;
	HASH_FIND_STR(store->owners, uid, owner);
	if (!owner)
		return;
	arrange(owner);
	list->items = base_calloc(owner->list.count, sizeof(struct store_object *));
	for (size_t i = 0; i < owner->list.count; i++) {
		const struct dependent *dependent = owner->list.items[i];
		if (!type || &dependent->bucket->type == type)
			list->items[list->count++] = store_object_retain(dependent->object);
	}
}

bool owners_any(const struct store *store, const char *uid)
{
	struct owner *owner;
	HASH_FIND_STR(store->owners, uid, owner);
	return owner;
}

void owners_free(struct store *store)
{
	struct owner *owner, *next_owner;
	HASH_ITER(hh, store->owners, owner, next_owner) {
		struct dependent *dependent, *next;
		HASH_ITER(hh, owner->dependents, dependent, next)
			HASH_DEL(owner->dependents, dependent);
		free_owner(store, owner);
	}
}
