/* Owns the devices of the live state: which pods name a claim, and who is to be read again when a claim or a slice changes.
 * Devices that are free are amounts of the cluster, and no pod is read for them. */
#include "schedule/live_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST_READINGS 4 /* of all pods with device claims, before a cycle */

/* Pods that name one claim, whether it exists or not. */
struct live_device_claim {
	UT_hash_handle hh;
	char *key; /* "namespace/name" */
	VEC(struct live_object *) pods;
	size_t users; /* that its pods were told last */
	bool mixed;   /* some were told of another number since */
};

static struct live_device_claim *find(const struct live *live, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	struct live_device_claim *claim;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, live->device_claims, key.text, key.length, claim);
	buffer_free(&key);
	return claim;
}

static struct live_device_claim *need(struct live *live, const char *namespace_, const char *name)
{
	struct live_device_claim *claim = find(live, namespace_, name);
	if (claim)
		return claim;
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, name);
	claim = base_calloc(1, sizeof(*claim));
	claim->key = key.text;
	HASH_ADD_KEYPTR(hh, live->device_claims, claim->key, key.length, claim);
	return claim;
}

/* Who names a claim is part of what its devices, and the other pods, are. */
static void note_users(struct live *live, const struct live_device_claim *claim)
{
	vec_push(&live->device_claims_to_check, base_strdup(claim->key));
}

static void drop(struct live *live, struct live_device_claim *claim)
{
	assert(live->device_claims); /* the claim is one of them */
	HASH_DEL(live->device_claims, claim);
	vec_free(&claim->pods);
	free(claim->key);
	free(claim);
}

void live_devices_leave(struct live *live, struct live_object *pod)
{
	if (pod->slot >= 0 && (pod->device_claim_count || pod->device_asks.asks))
		device_columns_leave(live->build.device_columns, live->snapshot.pods[pod->slot].spec, pod->device_asks);
	pod->device_asks = (struct device_asked){0};
	for (size_t i = 0; i < pod->device_claim_count; i++) {
		struct live_device_claim *claim = pod->device_claims[i];
		for (size_t p = claim->pods.count; p-- > 0;)
			if (claim->pods.items[p] == pod) {
				claim->pods.items[p] = claim->pods.items[--claim->pods.count];
				break;
			}
		note_users(live, claim);
		if (claim->pods.count == 0)
			drop(live, claim);
	}
	free(pod->device_claims);
	pod->device_claims = NULL;
	pod->device_claim_count = 0;
}

static size_t users_of(const struct live *live, const struct live_device_claim *claim)
{
	size_t users = 0;
	for (size_t i = 0; i < claim->pods.count; i++) {
		enum pod_phase phase = live->snapshot.pods[claim->pods.items[i]->slot].spec->phase;
		users += phase != POD_SUCCEEDED && phase != POD_FAILED;
	}
	return users;
}

void live_devices_join(struct live *live, struct live_object *pod, const struct pod_spec *spec)
{
	if (spec->device_claim_count == 0)
		return;
	pod->device_claims = base_calloc(spec->device_claim_count, sizeof(struct live_device_claim *));
	for (size_t i = 0; i < spec->device_claim_count; i++) {
		if (!spec->device_claims[i].claim)
			continue;
		struct live_device_claim *claim = need(live, pod->namespace_, spec->device_claims[i].claim);
		if (claim->pods.count && claim->pods.items[claim->pods.count - 1] == pod)
			continue; /* two entries of the pod name it */
		pod->device_claims[pod->device_claim_count++] = claim;
		vec_push(&claim->pods, pod);
		note_users(live, claim);
		if (claim->pods.count > 1)
			continue;
		claim->users = users_of(live, claim); /* of the pod as it was read before: what is told now */
		device_columns_claim(live->build.device_columns, pod->namespace_, spec->device_claims[i].claim);
	}
}

static size_t count_users(const void *context, const char *namespace_, const char *name)
{
	struct live_device_claim *claim = find(context, namespace_, name);
	size_t users = claim ? users_of(context, claim) : 0;
	if (claim)
		claim->mixed |= users != claim->users;
	return users;
}

void live_devices_build(struct live *live)
{
	live->build.device_columns =
		device_columns_create(live->device_book, live->snapshot.cycle.cluster, count_users, live);
}

void live_devices_clear(struct live *live)
{
	struct live_object *pod, *next;
	HASH_ITER(hh, live->objects[KIND_POD], pod, next)
		live_devices_leave(live, pod);
	for (size_t i = 0; i < live->device_claims_to_check.count; i++)
		free(live->device_claims_to_check.items[i]);
	live->device_claims_to_check.count = 0;
	device_columns_destroy(live->build.device_columns);
	live->build.device_columns = NULL;
}

struct device_columns *live_device_columns(const struct live *live)
{
	return live->build.device_columns;
}

/* ---- changes ---- */

static void read_again(struct live *live, const struct live_device_claim *claim)
{
	VEC(struct live_object *) pods = {0};
	for (size_t i = 0; i < claim->pods.count; i++)
		vec_push(&pods, claim->pods.items[i]);
	for (size_t i = 0; i < pods.count; i++) /* reading a pod moves it in the list */
		live_pod_update(live, pods.items[i]);
	vec_free(&pods);
}

void live_device_changed(struct live *live, const struct live_object *object, bool gone)
{
	enum device_kind kind = (enum device_kind)(object->kind - KIND_DEVICE_CLASS);
	struct problems ignored = {.arena = live->scratch};
	arena_reset(live->scratch);
	if (gone || device_book_set(live->device_book, kind, object->object->root, &ignored) < 0)
		device_book_remove(live->device_book, kind, object->namespace_, object->name);
	live->changed = true;
	if (live->stale)
		return;
	if (kind == DEVICE_SLICE)
		device_columns_slice(live->build.device_columns, object->name);
	if (kind != DEVICE_CLAIM)
		return; /* classes and rules are part of the frame, too */
	device_columns_claim(live->build.device_columns, object->namespace_, object->name);
	const struct live_device_claim *claim = find(live, object->namespace_, object->name);
	if (claim)
		read_again(live, claim);
}

/* Claims that more or fewer pods name than when these were read. */
static void check_users(struct live *live)
{
	for (size_t i = 0; i < live->device_claims_to_check.count; i++) {
		char *key = live->device_claims_to_check.items[i], *slash = strchr(key, '/');
		*slash = 0;
		struct live_device_claim *claim = find(live, key, slash + 1);
		size_t users = claim ? users_of(live, claim) : 0;
		if (!claim || claim->users != users || claim->mixed) {
			device_columns_claim(live->build.device_columns, key, slash + 1);
			if (claim) {
				claim->users = users;
				claim->mixed = false;
				read_again(live, claim);
			}
		}
		free(key);
	}
	live->device_claims_to_check.count = 0;
}

void live_devices_settle(struct live *live)
{
	struct live_object *pod, *next;
	check_users(live); /* reading pods notes their claims once more, but then nothing has changed */
	device_columns_settle(live->build.device_columns);
	/* A new ask may make columns of its own, and then others take units of them, too; what kept a pod from asking for more
	 * may be over. */
	for (int i = 0; i < MOST_READINGS && device_columns_grew(live->build.device_columns); i++) {
		HASH_ITER(hh, live->objects[KIND_POD], pod, next)
			if (pod->device_claim_count)
				live_pod_update(live, pod);
		device_columns_settle(live->build.device_columns);
	}
}
