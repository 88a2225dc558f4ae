/* Owns the volumes of the live state: which pods use a claim, and who is to be read again when a claim, a volume or a class
 * changes. Only pods that depend on it are; volumes that are free are amounts of the cluster, and no pod is read for them. */
#include "schedule/live_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Pods that name one claim, whether it exists or not. */
struct live_claim {
	UT_hash_handle hh;
	char *key; /* "namespace/name" */
	VEC(struct live_object *) pods;
	bool shared; /* what all of its pods were told last: several name it */
};

static struct live_claim *find(const struct live *live, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	struct live_claim *claim;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, live->claims, key.text, key.length, claim);
	buffer_free(&key);
	return claim;
}

static struct live_claim *need(struct live *live, const char *namespace_, const char *name)
{
	struct live_claim *claim = find(live, namespace_, name);
	if (claim)
		return claim;
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, name);
	claim = base_calloc(1, sizeof(*claim));
	claim->key = base_strdup(key.text);
	HASH_ADD_KEYPTR(hh, live->claims, claim->key, key.length, claim);
	buffer_free(&key);
	return claim;
}

static void drop(struct live *live, struct live_claim *claim)
{
	assert(live->claims); /* the claim is one of them */
	HASH_DEL(live->claims, claim);
	vec_free(&claim->pods);
	free(claim->key);
	free(claim);
}

static void note_sharing(struct live *live, const struct live_object *pod, const struct live_claim *claim);

void live_volumes_leave(struct live *live, struct live_object *pod)
{
	for (size_t i = 0; i < pod->claim_count; i++) {
		struct live_claim *claim = pod->claims[i];
		for (size_t p = claim->pods.count; p-- > 0;)
			if (claim->pods.items[p] == pod) {
				claim->pods.items[p] = claim->pods.items[--claim->pods.count];
				break;
			}
		note_sharing(live, pod, claim);
		if (claim->pods.count == 0)
			drop(live, claim);
	}
	free(pod->claims);
	pod->claims = NULL;
	pod->claim_count = 0;
}

void live_volumes_join(struct live *live, struct live_object *pod, const struct pod_spec *spec)
{
	if (spec->claim_count == 0)
		return;
	pod->claims = base_calloc(spec->claim_count, sizeof(struct live_claim *));
	for (size_t i = 0; i < spec->claim_count; i++) {
		struct live_claim *claim = need(live, pod->namespace_, spec->claims[i]);
		pod->claims[pod->claim_count++] = claim;
		vec_push(&claim->pods, pod);
		note_sharing(live, pod, claim);
	}
}

void live_volumes_clear(struct live *live)
{
	struct live_object *pod, *next;
	HASH_ITER(hh, live->objects[KIND_POD], pod, next)
		live_volumes_leave(live, pod);
}

/* ---- reading ---- */

static bool is_shared(const struct live *live, const struct live_claim *claim)
{
	size_t users = 0;
	for (size_t i = 0; i < claim->pods.count && users < 2; i++) {
		enum pod_phase phase = live->snapshot.pods[claim->pods.items[i]->slot].spec->phase;
		users += phase != POD_SUCCEEDED && phase != POD_FAILED;
	}
	return users > 1;
}

/* One more pod names the claim, or one less: whether it is shared is part of what its pods are, for ever: where one pod may use it at
 * a time, or it counts for what a node can attach. */
static void note_sharing(struct live *live, const struct live_object *pod, const struct live_claim *claim)
{
	const char *name = claim->key + strlen(pod->namespace_) + 1;
	if (volume_book_claim(live->book, pod->namespace_, name))
		vec_push(&live->claims_to_check, base_strdup(claim->key));
}

static size_t count_users(const void *context, const char *namespace_, const char *name)
{
	/* What is said here is said to one pod. Whether the others were told the same is looked at when all are read. */
	const struct live_claim *claim = find(context, namespace_, name);
	return claim && is_shared(context, claim) ? 2 : 1;
}

const struct volume_book *live_volume_book(const struct live *live)
{
	return live->book;
}

static bool is_on_node(const void *context, const char *volume, int node)
{
	const struct live *live = context;
	for (const struct book_entry *at = volume_book_next_user(live->book, volume, NULL); at;
	     at = volume_book_next_user(live->book, volume, at)) {
		const struct claim_spec *spec = volume_book_spec(at);
		const struct live_claim *claim = find(live, spec->namespace_, spec->name);
		for (size_t i = 0; claim && i < claim->pods.count; i++)
			if (live->snapshot.pods[claim->pods.items[i]->slot].node == node)
				return true;
	}
	return false;
}

void live_volumes_moved(struct live *live, const struct snapshot_pod *before, const struct snapshot_pod *after)
{
	if (before->node == after->node)
		return;
	if (before->node >= 0 && before->spec->claim_count)
		volume_columns_attached(live->build.columns, before->node);
	if (after->node >= 0 && after->spec->claim_count)
		volume_columns_attached(live->build.columns, after->node);
}

void live_volumes_build(struct live *live)
{
	static const struct volume_callbacks callbacks = {count_users, is_on_node};
	live->build.book = live->book;
	live->build.columns = volume_columns_create(live->book, live->snapshot.cycle.cluster, &callbacks, live);
}

struct volume_needs live_volume_needs(struct live *live, const struct pod_spec *pod, struct arena *arena)
{
	return volume_columns_ask(live->build.columns, pod, arena);
}

/* ---- changes ---- */

static void read_again(struct live *live, const char *namespace_, const char *name)
{
	const struct live_claim *claim = find(live, namespace_, name);
	VEC(struct live_object *) pods = {0};
	for (size_t i = 0; claim && i < claim->pods.count; i++)
		vec_push(&pods, claim->pods.items[i]);
	for (size_t i = 0; i < pods.count; i++) { /* reading a pod moves it in the list */
		live_pod_update(live, pods.items[i]);
		int node = live->snapshot.pods[pods.items[i]->slot].node;
		if (node >= 0)
			volume_columns_attached(live->build.columns, node);
	}
	vec_free(&pods);
}

/* The claim that a volume is meant for; a copy that outlives the volume. */
struct claim_name {
	char *namespace_, *name; /* NULL: none */
};

static struct claim_name claim_of(const struct volume_spec *volume)
{
	if (!volume || !volume->has_claim)
		return (struct claim_name){0};
	return (struct claim_name){base_strdup(volume->claim_namespace), base_strdup(volume->claim_name)};
}

static void read_named(struct live *live, struct claim_name *claim)
{
	if (claim->name && !live->stale)
		read_again(live, claim->namespace_, claim->name);
	free(claim->namespace_);
	free(claim->name);
}

/* Pods whose claims are bound to the volume, or name it. */
static void read_users(struct live *live, const char *volume)
{
	for (const struct book_entry *at = volume_book_next_user(live->book, volume, NULL); at;
	     at = volume_book_next_user(live->book, volume, at)) {
		const struct claim_spec *claim = volume_book_spec(at);
		read_again(live, claim->namespace_, claim->name);
	}
}

/* Pods with claims of a class that are not bound. */
static void read_waiting(struct live *live, const char *class_)
{
	for (const struct book_entry *at = volume_book_next(live->book, BOOK_CLAIM, class_, NULL); at;
	     at = volume_book_next(live->book, BOOK_CLAIM, class_, at)) {
		const struct claim_spec *claim = volume_book_spec(at);
		if (!claim->bound)
			read_again(live, claim->namespace_, claim->name);
	}
}

static void note_capacity(struct live *live, const struct live_object *object)
{
	const struct storage_capacity_spec *capacity =
		volume_book_find(live->book, BOOK_CAPACITY, object->namespace_, object->name);
	if (capacity)
		volume_columns_class(live->build.columns, capacity->class_);
}

static void note_attached(struct live *live, const char *name)
{
	int node = cluster_find_node(live->snapshot.cycle.cluster, name);
	if (node >= 0)
		volume_columns_attached(live->build.columns, node);
}

static void note_attachment(struct live *live, const struct live_object *object)
{
	const struct attachment_spec *attachment = volume_book_find(live->book, BOOK_ATTACHMENT, "", object->name);
	if (attachment)
		note_attached(live, attachment->node);
}

/* Where pods use another volume that is the same to its driver: that they share it is new to them. */
static void read_alike(struct live *live, const char *name)
{
	const struct volume_spec *volume = volume_book_volume(live->book, name), *other;
	for (const struct book_entry *at = volume ? volume_book_next_alike(live->book, volume, NULL) : NULL; at;
	     at = volume_book_next_alike(live->book, volume, at)) {
		other = volume_book_spec(at);
		if (other != volume)
			read_users(live, other->name);
	}
}

static void take_over(struct live *live, const struct live_object *object, struct claim_name *meant)
{
	struct volume_columns *columns = live->build.columns;
	switch ((enum book_kind)(object->kind - KIND_CLAIM)) {
	case BOOK_CLAIM:
		read_again(live, object->namespace_, object->name);
		break;
	case BOOK_VOLUME:
		*meant = claim_of(volume_book_volume(live->book, object->name));
		volume_columns_volume(columns, object->name);
		read_users(live, object->name);
		read_alike(live, object->name);
		break;
	case BOOK_CLASS:
		volume_columns_class(columns, object->name);
		read_waiting(live, object->name);
		break;
	case BOOK_DRIVER:
		volume_columns_class(columns, NULL);
		volume_columns_attached(columns, -1);
		break;
	case BOOK_CSI_NODE:
		note_attached(live, object->name);
		break;
	case BOOK_ATTACHMENT:
		note_attachment(live, object);
		break;
	case BOOK_CAPACITY:
		note_capacity(live, object);
		break;
	default:
		break;
	}
}

void live_storage_changed(struct live *live, struct live_object *object, bool gone)
{
	enum book_kind kind = (enum book_kind)(object->kind - KIND_CLAIM);
	struct claim_name before = {0}, after = {0};
	struct problems ignored = {.arena = live->scratch};
	const char *namespace_ = object->namespace_;
	arena_reset(live->scratch);
	if (kind == BOOK_VOLUME)
		before = claim_of(volume_book_volume(live->book, object->name));
	if (kind == BOOK_CAPACITY && !live->stale)
		note_capacity(live, object);
	if (kind == BOOK_ATTACHMENT && !live->stale)
		note_attachment(live, object);
	if (gone || volume_book_set(live->book, kind, object->object->root, &ignored) < 0)
		volume_book_remove(live->book, kind, namespace_, object->name);
	live->changed = true;
	if (!live->stale)
		take_over(live, object, &after);
	read_named(live, &before);
	read_named(live, &after);
}

/* Claims that are shared now and were not when their pods were read, or the other way round. */
static void check_sharing(struct live *live)
{
	for (size_t i = 0; i < live->claims_to_check.count; i++) {
		char *key = live->claims_to_check.items[i], *slash = strchr(key, '/');
		*slash = 0;
		struct live_claim *claim = find(live, key, slash + 1);
		if (claim && claim->shared != is_shared(live, claim)) {
			claim->shared = !claim->shared; /* also of claims that nobody asks about, because they block */
			read_again(live, key, slash + 1);
		}
		free(key);
	}
	live->claims_to_check.count = 0;
}

void live_volumes_settle(struct live *live)
{
	volume_columns_settle(live->build.columns);
	check_sharing(live); /* reading pods notes their claims once more, but then nothing has changed */
	struct live_object *pod, *next;
	/* What a pod takes depends on smaller sizes that others ask for. */
	if (volume_columns_grew(live->build.columns))
		HASH_ITER(hh, live->objects[KIND_POD], pod, next)
			if (pod->claim_count)
				live_pod_update(live, pod);
	volume_columns_settle(live->build.columns);
}
