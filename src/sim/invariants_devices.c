/* Owns the rules about claims for devices, computed from the objects alone. */
#include "sim/invariants_devices.h"

#include "admit/device_book.h"
#include "kinds/names.h"

#include <string.h>

struct devices {
	struct arena *arena;
	struct store_list claim_list, slice_list;
	struct device_claim_spec *claims;
	size_t claim_count;
	struct device_slice *slices;
	size_t slice_count;
};

/* ---- reading ---- */

static void list_kind(struct store *store, const char *resource, struct arena *arena, struct store_list *list)
{
	struct store_list_request request = {.api = store_api_find(store, KINDS_RESOURCE, "v1", resource)};
	if (!request.api || store_list(store, &request, list, arena, NULL) < 0)
		*list = (struct store_list){0};
}

static void read_devices(struct devices *all, struct store *store)
{
	*all = (struct devices){.arena = arena_create()};
	struct problems ignored = {.arena = all->arena};
	list_kind(store, "resourceclaims", all->arena, &all->claim_list);
	list_kind(store, "resourceslices", all->arena, &all->slice_list);
	all->claims = arena_array(all->arena, struct device_claim_spec, all->claim_list.count);
	all->slices = arena_array(all->arena, struct device_slice, all->slice_list.count);
	for (size_t i = 0; i < all->claim_list.count; i++)
		all->claim_count += device_claim_decode(all->claim_list.items[i]->root, all->arena,
		                                        &all->claims[all->claim_count], &ignored) == 0;
	for (size_t i = 0; i < all->slice_list.count; i++)
		all->slice_count += device_slice_decode(all->slice_list.items[i]->root, all->arena,
		                                        &all->slices[all->slice_count], &ignored) == 0;
}

static void forget_devices(struct devices *all)
{
	store_list_clear(&all->claim_list);
	store_list_clear(&all->slice_list);
	arena_destroy(all->arena);
}

static const struct device_claim_spec *find_claim(const struct devices *all, const char *namespace_, const char *name)
{
	for (size_t i = 0; i < all->claim_count; i++)
		if (strcmp(all->claims[i].name, name) == 0 && strcmp(all->claims[i].namespace_, namespace_) == 0)
			return &all->claims[i];
	return NULL;
}

/* The node of a device; NULL when no slice has it, or several do. */
static const char *node_of(const struct devices *all, const struct device_result *result)
{
	const char *node = NULL;
	for (size_t s = 0; s < all->slice_count; s++) {
		const struct device_slice *slice = &all->slices[s];
		if (strcmp(slice->driver, result->driver) != 0 || strcmp(slice->pool, result->pool) != 0)
			continue;
		for (size_t d = 0; d < slice->device_count; d++)
			if (strcmp(slice->devices[d].name, result->device) == 0)
				node = node ? NULL : slice->devices[d].node;
	}
	return node;
}

/* ---- pods ---- */

static bool is_reserved(const struct device_claim_spec *claim, const char *uid)
{
	for (size_t i = 0; i < claim->user_count; i++)
		if (strcmp(claim->users[i], uid) == 0)
			return true;
	return false;
}

/* A claim that was deleted by others meanwhile is not the scheduler's business. */
static void check_pod(const struct devices *all, const struct view_pod *pod, struct scenario_result *result)
{
	const struct pod_spec *spec = pod->spec;
	for (size_t i = 0; i < spec->device_claim_count; i++) {
		const char *name = spec->device_claims[i].claim;
		const struct device_claim_spec *claim = name ? find_claim(all, pod->object->namespace_, name) : NULL;
		if (!claim)
			continue;
		if (!claim->allocated || !is_reserved(claim, pod->uid))
			scenario_fail(result, "pod %s was bound to node %s before its claim %s was %s", spec->name,
			              spec->node, name, claim->allocated ? "reserved for it" : "allocated");
		for (size_t r = 0; r < claim->result_count; r++) {
			const char *node = node_of(all, &claim->results[r]);
			if (node && strcmp(node, spec->node) != 0)
				scenario_fail(result,
				              "pod %s was bound to node %s, and device %s of its claim %s is on %s",
				              spec->name, spec->node, claim->results[r].device, name, node);
		}
	}
}

static bool was_bound(const struct view *before, const struct view_pod *pod)
{
	int index = view_find_pod(before, pod->uid);
	return index >= 0 && before->pods[index].bound;
}

/* ---- devices ---- */

static void check_owners(const struct devices *all, struct scenario_result *result)
{
	struct interner *seen = interner_create();
	for (size_t i = 0; i < all->claim_count; i++)
		for (size_t r = 0; r < all->claims[i].result_count; r++) {
			const struct device_result *device = &all->claims[i].results[r];
			uint32_t known = interner_count(seen);
			const char *key =
				arena_printf(all->arena, "%s/%s/%s", device->driver, device->pool, device->device);
			if (!device->admin && interner_id(seen, key) != known)
				scenario_fail(result, "device %s is allocated twice, again to claim %s/%s", key,
				              all->claims[i].namespace_, all->claims[i].name);
		}
	interner_destroy(seen);
}

void devices_check_turn(struct store *store, const struct view *before, const struct view *now,
                        struct scenario_result *result)
{
	struct devices all;
	read_devices(&all, store);
	for (size_t i = 0; i < now->pod_count; i++) {
		const struct view_pod *pod = &now->pods[i];
		if (pod->ours && pod->bound && pod->alive && !was_bound(before, pod))
			check_pod(&all, pod, result);
	}
	check_owners(&all, result);
	forget_devices(&all);
}

/* Devices of nobody, and claims reserved for pods that are not there, are lost for ever. */
void devices_check_rest(struct store *store, const struct view *now, struct scenario_result *result)
{
	struct devices all;
	read_devices(&all, store);
	for (size_t i = 0; i < all.claim_count; i++) {
		const struct device_claim_spec *claim = &all.claims[i];
		if (claim->allocated && claim->user_count == 0)
			scenario_fail(result, "claim %s/%s is allocated at rest, for nobody", claim->namespace_,
			              claim->name);
		for (size_t u = 0; u < claim->user_count; u++)
			if (view_find_pod(now, claim->users[u]) < 0)
				scenario_fail(result, "claim %s/%s is reserved at rest for a pod that is gone",
				              claim->namespace_, claim->name);
	}
	forget_devices(&all);
}
