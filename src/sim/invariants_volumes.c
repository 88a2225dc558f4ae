/* Owns the rules about claims and volumes, computed from the objects alone. */
#include "sim/invariants_volumes.h"

#include "admit/volume.h"
#include "kinds/names.h"

#include <string.h>

struct volumes {
	struct arena *arena;
	struct store_list claim_list, volume_list;
	struct claim_spec *claims;
	struct volume_spec *volumes;
	size_t claim_count, volume_count;
};

/* ---- reading ---- */

static void list_kind(struct store *store, const char *resource, struct arena *arena, struct store_list *list)
{
	struct store_list_request request = {.api = store_api_find(store, "", "v1", resource)};
	if (!request.api || store_list(store, &request, list, arena, NULL) < 0)
		*list = (struct store_list){0};
}

static void read_volumes(struct volumes *all, struct store *store)
{
	*all = (struct volumes){.arena = arena_create()};
	struct problems ignored = {.arena = all->arena};
	list_kind(store, "persistentvolumeclaims", all->arena, &all->claim_list);
	list_kind(store, "persistentvolumes", all->arena, &all->volume_list);
	all->claims = arena_array(all->arena, struct claim_spec, all->claim_list.count);
	all->volumes = arena_array(all->arena, struct volume_spec, all->volume_list.count);
	for (size_t i = 0; i < all->claim_list.count; i++)
		all->claim_count += claim_decode(all->claim_list.items[i]->root, all->arena,
		                                 &all->claims[all->claim_count], &ignored) == 0;
	for (size_t i = 0; i < all->volume_list.count; i++)
		all->volume_count += volume_decode(all->volume_list.items[i]->root, all->arena,
		                                   &all->volumes[all->volume_count], &ignored) == 0;
}

static void forget_volumes(struct volumes *all)
{
	store_list_clear(&all->claim_list);
	store_list_clear(&all->volume_list);
	arena_destroy(all->arena);
}

static const struct claim_spec *find_claim(const struct volumes *all, const char *namespace_, const char *name)
{
	for (size_t i = 0; i < all->claim_count; i++)
		if (strcmp(all->claims[i].name, name) == 0 && strcmp(all->claims[i].namespace_, namespace_) == 0)
			return &all->claims[i];
	return NULL;
}

static const struct volume_spec *find_volume(const struct volumes *all, const char *name)
{
	for (size_t i = 0; i < all->volume_count; i++)
		if (strcmp(all->volumes[i].name, name) == 0)
			return &all->volumes[i];
	return NULL;
}

/* ---- pods ---- */

static bool names_claim(const struct view_pod *pod, const struct claim_spec *claim)
{
	for (size_t i = 0; i < pod->spec->claim_count; i++)
		if (strcmp(pod->spec->claims[i], claim->name) == 0 &&
		    strcmp(pod->object->namespace_, claim->namespace_) == 0)
			return true;
	return false;
}

static bool is_reachable(const struct volume_spec *volume, const struct node_spec *node)
{
	for (size_t i = 0; i < volume->term_count; i++)
		if (selector_matches(&volume->terms[i].selector, &node->labels, node->name))
			return true;
	return !volume->has_terms;
}

static void check_single_use(const struct view *now, const struct view_pod *pod, const struct claim_spec *claim,
                             struct scenario_result *result)
{
	for (size_t i = 0; i < now->pod_count && claim->modes == ACCESS_READ_WRITE_ONCE_POD; i++) {
		const struct view_pod *other = &now->pods[i];
		if (other != pod && other->alive && other->bound && names_claim(other, claim))
			scenario_fail(result, "pods %s and %s both use claim %s/%s, which is for one pod",
			              pod->spec->name, other->spec->name, claim->namespace_, claim->name);
	}
}

/* A claim that was deleted by others meanwhile, or its volume, is not the scheduler's business. */
static void check_pod(const struct volumes *all, const struct view *now, const struct view_pod *pod,
                      struct scenario_result *result)
{
	for (size_t i = 0; i < pod->spec->claim_count; i++) {
		const struct claim_spec *claim = find_claim(all, pod->object->namespace_, pod->spec->claims[i]);
		if (!claim)
			continue;
		const struct volume_spec *volume = claim->bound ? find_volume(all, claim->volume) : NULL;
		if (!claim->bound)
			scenario_fail(result, "pod %s/%s was bound to node %s before its claim %s was",
			              pod->object->namespace_, pod->spec->name, pod->spec->node, claim->name);
		else if (volume && pod->node >= 0 && !is_reachable(volume, &now->nodes[pod->node]))
			scenario_fail(result, "pod %s/%s was bound to node %s, which does not reach its volume %s",
			              pod->object->namespace_, pod->spec->name, pod->spec->node, volume->name);
		check_single_use(now, pod, claim, result);
	}
}

static bool was_bound(const struct view *before, const struct view_pod *pod)
{
	int index = view_find_pod(before, pod->uid);
	return index >= 0 && before->pods[index].bound;
}

/* ---- volumes ---- */

/* Claims that are bound to the same volume; what a deleted claim has left is no claim. */
static void check_owners(const struct volumes *all, struct scenario_result *result)
{
	for (size_t i = 0; i < all->claim_count; i++) {
		const struct claim_spec *one = &all->claims[i];
		for (size_t j = i + 1; one->bound && j < all->claim_count; j++) {
			const struct claim_spec *other = &all->claims[j];
			if (other->bound && strcmp(one->volume, other->volume) == 0)
				scenario_fail(result, "volume %s is bound to two claims, %s/%s and %s/%s", one->volume,
				              one->namespace_, one->name, other->namespace_, other->name);
		}
	}
}

void volumes_check_turn(struct store *store, const struct view *before, const struct view *now,
                        struct scenario_result *result)
{
	struct volumes all;
	read_volumes(&all, store);
	for (size_t i = 0; i < now->pod_count; i++) {
		const struct view_pod *pod = &now->pods[i];
		if (pod->ours && pod->bound && pod->alive && !was_bound(before, pod))
			check_pod(&all, now, pod, result);
	}
	check_owners(&all, result);
	forget_volumes(&all);
}

/* A volume that was chosen for a claim that has another one by now is nobody's for ever. */
void volumes_check_rest(struct store *store, struct scenario_result *result)
{
	struct volumes all;
	read_volumes(&all, store);
	for (size_t i = 0; i < all.volume_count; i++) {
		const struct volume_spec *volume = &all.volumes[i];
		const struct claim_spec *claim =
			volume->has_claim ? find_claim(&all, volume->claim_namespace, volume->claim_name) : NULL;
		if (claim && claim->bound && strcmp(claim->uid, volume->claim_uid) == 0 &&
		    strcmp(claim->volume, volume->name) != 0)
			scenario_fail(result, "volume %s is kept at rest for claim %s/%s, which has volume %s",
			              volume->name, claim->namespace_, claim->name, claim->volume);
	}
	forget_volumes(&all);
}
