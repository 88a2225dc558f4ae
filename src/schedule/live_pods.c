/* Owns the pods of the live state: what each one occupies, and which PodGroup it names. */
#include "schedule/live_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- families ---- */

struct live_family *live_family_get(struct live *live, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	struct live_family *family;
	buffer_printf(&key, "%s/%s", build_namespace(namespace_), name);
	HASH_FIND(hh, live->families, key.text, key.length, family);
	if (!family) {
		family = base_calloc(1, sizeof(*family));
		family->key = base_strdup(key.text);
		HASH_ADD_KEYPTR(hh, live->families, family->key, key.length, family);
	}
	buffer_free(&key);
	return family;
}

void live_family_mark(struct live *live, struct live_family *family)
{
	live->changed = true;
	if (family->dirty)
		return;
	family->dirty = true;
	vec_push(&live->dirty, family);
}

static void family_join(struct live *live, struct live_family *family, struct live_object *pod)
{
	pod->family = family;
	pod->place = family->pods.count;
	vec_push(&family->pods, pod);
	live_family_mark(live, family);
}

static void family_leave(struct live *live, struct live_object *pod)
{
	struct live_family *family = pod->family;
	if (!family)
		return;
	struct live_object *last = family->pods.items[--family->pods.count];
	family->pods.items[pod->place] = last;
	last->place = pod->place;
	pod->family = NULL;
	live_family_mark(live, family);
}

void live_families_clear(struct live *live)
{
	struct live_family *family, *next;
	HASH_ITER(hh, live->families, family, next) {
		HASH_DEL(live->families, family);
		vec_free(&family->pods);
		free(family->key);
		free(family);
	}
	live->dirty.count = 0;
}

/* ---- one pod ---- */

static const struct pod_spec no_spec = {.namespace_ = "", .name = ""};
static const struct snapshot_pod no_pod = {
	.spec = &no_spec, .namespace_ = "", .name = "", .node = -1, .group = -1, .leaf = -1, .member = -1};

static int pod_slot(struct live *live, struct live_object *object)
{
	struct snapshot *snapshot = &live->snapshot;
	if (live->free_pods.count) {
		int slot = live->free_pods.items[--live->free_pods.count];
		live->pods.items[slot] = object;
		return slot; /* it was left empty */
	}
	if (snapshot->pod_count == live->pod_capacity) {
		live->pod_capacity = live->pod_capacity ? live->pod_capacity * 2 : 64;
		snapshot->pods = base_realloc_array(snapshot->pods, live->pod_capacity, sizeof(*snapshot->pods));
	}
	vec_push(&live->pods, object);
	snapshot->pods[snapshot->pod_count] = no_pod;
	return (int)snapshot->pod_count++;
}

/* Whether two readings of a pod are the same to the engine. Labels and requests are in the pod class. */
static bool same_pod(const struct snapshot_pod *a, const struct snapshot_pod *b)
{
	const struct pod_spec *x = a->spec, *y = b->spec;
	return a->pod_class == b->pod_class && a->node == b->node && a->releasing == b->releasing &&
	       a->gone == b->gone && a->deleting == b->deleting && a->creation == b->creation &&
	       x->started_seconds == y->started_seconds && x->phase == y->phase && x->gated == y->gated &&
	       x->task_priority == y->task_priority && x->index == y->index && x->has_priority == y->has_priority &&
	       x->priority == y->priority && x->never_preempts == y->never_preempts && text_equal(x->group, y->group) &&
	       text_equal(x->subgroup, y->subgroup) && text_equal(x->scheduler, y->scheduler) &&
	       text_equal(a->nominated, b->nominated) && text_equal(x->priority_class, y->priority_class) &&
	       pod_block_equal(a->block, b->block);
}

static void apply_guesses(const struct live_object *object, struct snapshot_pod *pod)
{
	const struct guess *guess = object->guess;
	if (guess[LIVE_BOUND].node)
		pod->bound_to = guess[LIVE_BOUND].node;
	if (guess[LIVE_LEAVING].node)
		pod->deleting = true;
	if (guess[LIVE_NOMINATED].node)
		pod->nominated = guess[LIVE_NOMINATED].node[0] ? guess[LIVE_NOMINATED].node : NULL;
}

/* When only an assumption has changed, the class is that of the same spec before. Volumes and Services change on their own. */
static int class_of(struct live *live, struct live_object *object, const struct snapshot_pod *before,
                    const struct snapshot_pod *pod, const struct pod_block **block)
{
	*block = pod->spec->block;
	if (before->spec == pod->spec && pod->spec->claim_count == 0 && pod->spec->device_claim_count == 0 &&
	    !object->bare)
		return before->pod_class;
	arena_reset(live->scratch);
	struct volume_needs needs = live_volume_needs(live, pod->spec, live->scratch);
	object->device_asks = device_columns_ask(live->build.device_columns, pod->spec,
	                                         build_node_of(&live->build, pod), live->scratch, &needs);
	*block = needs.block;
	build_spread(&live->build, pod->spec, live->scratch, &needs);
	return build_pod_class(&live->build, pod, &needs);
}

/* Why it must not be placed: what it asks for itself, and what other objects lack for it. Texts of the latter are in the
 * scratch memory, so they are copied. */
static const struct pod_block *keep_block(struct live_object *object, const struct pod_spec *spec,
                                          const struct pod_block *found)
{
	if (found == spec->block)
		return found;
	object->block = pod_block_copy(found);
	return object->block;
}

/* The pod as it is in the version that was read, and what it occupies. */
static struct snapshot_pod read_pod(struct live *live, struct live_object *object, const struct snapshot_pod *before,
                                    const struct pod_spec *spec)
{
	struct snapshot_pod pod = build_pod(spec, 0);
	/* Gangs point to these, also when the document was replaced by one that says the same. */
	pod.namespace_ = object->namespace_;
	pod.name = object->name;
	/* Whoever reads objects beside the pod adds to this, with pod_block_add in the scratch memory. */
	const struct pod_block *block;
	live_volumes_join(live, object, spec);
	live_devices_join(live, object, spec);
	live_services_join(live, object, spec);
	apply_guesses(object, &pod);
	pod.pod_class = class_of(live, object, before, &pod, &block);
	build_devices_block(&live->build, spec, live->scratch, &block);
	live_config_maps_join(live, object, spec);
	build_config_maps_block(&live->build, spec, live_has_config_map, live, live->scratch, &block);
	pod.block = keep_block(object, spec, block);
	build_occupy(&live->build, &pod);
	return pod;
}

static void own_group(struct live *live, struct live_object *object, const struct snapshot_pod *pod)
{
	if (!object->bad && build_needs_implicit(&live->build, pod)) {
		live_group_implicit(live, object);
	} else if (object->implicit >= 0) {
		live_group_free(live, object->implicit);
		object->implicit = -1;
	}
}

/* The family is named by the old and by the new reading; a pod that changed has to be counted again in it. */
static void find_family(struct live *live, struct live_object *object, const char *group, bool same)
{
	struct live_family *family = group ? live_family_get(live, object->namespace_, group) : NULL;
	if (family == object->family) {
		if (family && !same)
			live_family_mark(live, family);
		return;
	}
	family_leave(live, object);
	if (family)
		family_join(live, family, object);
}

/* Readiness concerns nothing but budgets: the gang is not built anew for it. One that will be reads it then. */
static void tell_health(struct live *live, const struct live_object *object, const struct snapshot_pod *pod)
{
	if (!object->family || !object->family->group || object->family->dirty || pod->member < 0)
		return;
	struct gang *gang = &live->snapshot.cycle.groups[pod->group].gang;
	gang->pods[pod->member].health = build_health(pod->spec);
}

void live_pod_update(struct live *live, struct live_object *object)
{
	if (object->slot < 0)
		object->slot = pod_slot(live, object);
	struct snapshot_pod *pod = &live->snapshot.pods[object->slot], before = *pod, leaving = before;
	struct store_object *old = object->read;
	struct pod_block *old_block = object->block;
	object->block = NULL;
	object->read = store_object_retain(object->object);
	const struct decoded_pod *decoded = store_object_derived_hold(object->read, &pod_derivation);
	live_volumes_leave(live, object);
	live_devices_leave(live, object);
	live_config_maps_leave(live, object);
	live_services_leave(live, object);
	build_vacate(&live->build, &leaving);
	if (before.spec != &no_spec)
		live_budgets_count(live, &before, -1);
	*pod = decoded->usable ? read_pod(live, object, &before, &decoded->spec) : no_pod;
	object->bad = !decoded->usable;
	if (decoded->usable)
		live_budgets_count(live, pod, 1);
	live_volumes_moved(live, &before, pod);
	bool same = decoded->usable && before.spec != &no_spec && same_pod(&before, pod);
	if (same) {
		pod->group = before.group;
		pod->leaf = before.leaf;
		pod->member = before.member;
		tell_health(live, object, pod);
	} else {
		live->changed = true;
	}
	find_family(live, object, decoded->usable ? decoded->spec.group : build_group_of_bad_pod(object->read->root),
	            same);
	live_group_pod_read(live, object);
	own_group(live, object, pod);
	free(old_block);
	store_object_derived_drop(old);
	store_object_release(old);
}

void live_pod_drop(struct live *live, struct live_object *object)
{
	if (object->slot < 0)
		return;
	struct snapshot_pod before = live->snapshot.pods[object->slot];
	live_volumes_leave(live, object);
	live_devices_leave(live, object);
	live_config_maps_leave(live, object);
	live_services_leave(live, object);
	build_vacate(&live->build, &live->snapshot.pods[object->slot]);
	if (live->snapshot.pods[object->slot].spec != &no_spec)
		live_budgets_count(live, &live->snapshot.pods[object->slot], -1);
	live_volumes_moved(live, &before, &no_pod);
	live->snapshot.pods[object->slot] = no_pod;
	live->pods.items[object->slot] = NULL;
	vec_push(&live->free_pods, object->slot);
	object->slot = -1;
	family_leave(live, object);
	if (object->implicit >= 0)
		live_group_free(live, object->implicit);
	object->implicit = -1;
}
