/* Owns the volumes of the live state: which pods use a claim, and what the volumes of a pod say about its nodes. A claim
 * or volume that changes is looked at only through the pods that use it. */
#include "schedule/live_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Pods that name one claim, whether it exists or not. */
struct live_claim {
	UT_hash_handle hh;
	char *key; /* "namespace/name" */
	VEC(struct live_object *) pods;
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

void live_volumes_leave(struct live *live, struct live_object *pod)
{
	for (size_t i = 0; i < pod->claim_count; i++) {
		struct live_claim *claim = pod->claims[i];
		for (size_t p = claim->pods.count; p-- > 0;)
			if (claim->pods.items[p] == pod) {
				claim->pods.items[p] = claim->pods.items[--claim->pods.count];
				break;
			}
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
	}
}

void live_volumes_clear(struct live *live)
{
	struct live_object *pod, *next;
	HASH_ITER(hh, live->objects[BUILD_POD], pod, next)
		live_volumes_leave(live, pod);
}

/* ---- reading ---- */

const struct pod_rules *live_volume_rules(const struct live *live, const struct pod_spec *pod, struct arena *arena)
{
	if (pod->claim_count == 0)
		return pod->rules;
	struct problems ignored = {.arena = arena};
	struct claim_spec *claims = arena_array(arena, struct claim_spec, pod->claim_count);
	struct volume_spec *volumes = arena_array(arena, struct volume_spec, pod->claim_count);
	size_t claim_count = 0, volume_count = 0;
	for (size_t i = 0; i < pod->claim_count; i++) {
		const struct live_object *found = live_find(live, BUILD_CLAIM, pod->namespace_, pod->claims[i]);
		if (!found || claim_decode(found->object->root, arena, &claims[claim_count], &ignored) < 0)
			continue;
		const char *volume = claims[claim_count++].volume;
		found = volume ? live_find(live, BUILD_VOLUME, "", volume) : NULL;
		if (found && volume_decode(found->object->root, arena, &volumes[volume_count], &ignored) == 0)
			volume_count++;
	}
	/* An index of just those volumes the pod may have. */
	const struct volume_index *index = volume_index_create(arena, claims, claim_count, volumes, volume_count);
	struct pod_rules *rules = arena_new(arena, struct pod_rules);
	*rules = pod_rules_with_volumes(pod, index, arena, &ignored);
	return rules;
}

/* ---- changes ---- */

static void read_again(struct live *live, const char *namespace_, const char *name)
{
	const struct live_claim *claim = find(live, namespace_, name);
	VEC(struct live_object *) pods = {0};
	for (size_t i = 0; claim && i < claim->pods.count; i++)
		vec_push(&pods, claim->pods.items[i]);
	for (size_t i = 0; i < pods.count; i++) /* reading a pod moves it in the list */
		live_pod_update(live, pods.items[i]);
	vec_free(&pods);
}

void live_volume_changed(struct live *live, enum build_kind kind, const char *namespace_, const char *name)
{
	struct live_object *claim, *next;
	if (live->stale)
		return;
	if (kind == BUILD_CLAIM) {
		read_again(live, namespace_, name);
		return;
	}
	HASH_ITER(hh, live->objects[BUILD_CLAIM], claim, next)
		if (text_equal(val_str(val_path(claim->object->root, "spec", "volumeName", NULL), NULL), name))
			read_again(live, claim->namespace_, claim->name);
}
