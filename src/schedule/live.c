/* Owns the objects of the live state: which there are, and to whom a change is handed. */
#include "schedule/live_internal.h"

#include "engine/cycle/refusal_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pods that wait for their group leave that state by a change of their own, save for what happens to their owners. So few
 * are looked at in every turn: when thousands are created at once, looking at all of them each time would be most of
 * the work. */
#define HELD_AT_ONCE 32

struct live *live_create(const struct snapshot_options *options)
{
	static const struct snapshot_options no_options;
	struct live *live = base_calloc(1, sizeof(*live));
	live->options = options ? *options : no_options;
	if (!live->options.settings)
		live->options.settings = &settings_usual;
	live->placing = live->options.settings->placing;
	live->scratch = arena_create();
	live->turn = arena_create();
	live->budgets = arena_create();
	live->stale = live->changed = true;
	live->book = volume_book_create();
	live->device_book = device_book_create();
	live->services = service_book_create();
	if (!live->options.always_search)
		live->snapshot.cycle.refusal_cache =
			refusal_cache_create(live->options.remember_all ? 0 : REFUSAL_CACHE_STEPS);
	return live;
}

static void drop_guess(struct guess *guess)
{
	free(guess->node);
	*guess = (struct guess){0};
}

static void object_free(struct live *live, struct live_object *object)
{
	HASH_DEL(live->objects[object->kind], object);
	for (int g = 0; g < LIVE_GUESSES; g++)
		drop_guess(&object->guess[g]);
	store_object_release(object->object);
	if (object->kind == KIND_POD)
		store_object_derived_drop(object->read);
	store_object_release(object->read);
	free(object->block);
	free(object->key);
	free(object);
}

void live_destroy(struct live *live)
{
	if (!live)
		return;
	live_unbuild(live);
	for (int kind = 0; kind < KIND_IDS; kind++) {
		struct live_object *object, *next;
		HASH_ITER(hh, live->objects[kind], object, next)
			object_free(live, object);
	}
	for (size_t g = 0; g < live->group_capacity; g++) {
		arena_destroy(live->slots[g].spec);
		arena_destroy(live->slots[g].gang);
	}
	volume_book_destroy(live->book);
	device_book_destroy(live->device_book);
	service_book_destroy(live->services);
	vec_free(&live->device_claims_to_check);
	for (size_t i = 0; i < live->claims_to_check.count; i++)
		free(live->claims_to_check.items[i]);
	vec_free(&live->claims_to_check);
	free(live->slots);
	free(live->snapshot.groups);
	free(live->snapshot.cycle.groups);
	free(live->snapshot.cycle.work);
	refusal_cache_destroy(live->snapshot.cycle.refusal_cache);
	free(live->snapshot.pods);
	vec_free(&live->pods);
	vec_free(&live->free_pods);
	vec_free(&live->free_groups);
	vec_free(&live->todo);
	vec_free(&live->dirty);
	vec_free(&live->retired);
	vec_free(&live->moving_nodes);
	vec_free(&live->held);
	usage_destroy(live->usage);
	arena_destroy(live->scratch);
	arena_destroy(live->turn);
	arena_destroy(live->budgets);
	free(live);
}

bool live_changed(const struct live *live)
{
	return live->changed || live->stale;
}

size_t live_rebuilds(const struct live *live)
{
	return live->rebuilds;
}

const struct snapshot *live_snapshot(const struct live *live)
{
	return &live->snapshot;
}

struct manifest live_manifest(const struct live_object *object)
{
	const struct val *root = object->read->root;
	return (struct manifest){
		.object = root,
		.source = object->read->type->resource,
		.api_version = val_str(val_get(root, "apiVersion"), ""),
		.kind = object->read->type->kind,
		.name = object->name,
		.namespace_ = object->namespace_,
	};
}

struct live_object *live_find(const struct live *live, enum kind_id kind, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	struct live_object *found;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, live->objects[kind], key.text, key.length, found);
	buffer_free(&key);
	return found;
}

static struct store_object *newest(const struct live *live, enum kind_id kind, const char *namespace_, const char *name)
{
	const struct live_object *found = live_find(live, kind, namespace_, name);
	return found ? found->object : NULL;
}

struct store_object *live_pod(const struct live *live, const char *namespace_, const char *name)
{
	return newest(live, KIND_POD, namespace_, name);
}

struct store_object *live_node(const struct live *live, const char *name)
{
	return newest(live, KIND_NODE, "", name);
}

int live_pod_number(const struct live *live, const char *namespace_, const char *name)
{
	const struct live_object *found = live_find(live, KIND_POD, namespace_, name);
	return found ? found->slot : -1;
}

struct store_object *live_queue(const struct live *live, const char *name)
{
	return newest(live, KIND_QUEUE, "", name);
}

/* ---- changes ---- */

/* KIND_OTHER for kinds that no decision rests on. */
static enum kind_id kind_of(const struct store_object *object)
{
	const struct kind_row *row = kinds_resource(object->type->group, object->type->resource);
	return row && row->flags & (ROW_DECIDES | ROW_NAMED) ? row->id : KIND_OTHER;
}

static struct live_object *object_new(struct live *live, enum kind_id kind, const struct store_object *from)
{
	struct live_object *object = base_calloc(1, sizeof(*object));
	size_t namespace_length = strlen(from->namespace_), name_length = strlen(from->name);
	/* The key, and behind it the namespace on its own. */
	object->key = base_malloc(namespace_length + 1 + name_length + 1 + namespace_length + 1);
	sprintf(object->key, "%s/%s", from->namespace_, from->name);
	object->name = object->key + namespace_length + 1;
	object->namespace_ =
		memcpy(object->key + namespace_length + name_length + 2, from->namespace_, namespace_length + 1);
	object->kind = kind;
	object->slot = object->implicit = -1;
	HASH_ADD_KEYPTR(hh, live->objects[kind], object->key, namespace_length + 1 + name_length, object);
	return object;
}

/* An assumption ends when the store shows a version that contains it, or another object of that name. */
static void check_guesses(struct live_object *object, const struct store_object *now)
{
	bool replaced = object->object && strcmp(object->object->uid, now->uid) != 0;
	for (int g = 0; g < LIVE_GUESSES; g++)
		if (replaced || (object->guess[g].node && now->version >= object->guess[g].until))
			drop_guess(&object->guess[g]);
}

void live_use_grouping(struct live *live, const struct pod_grouping *grouping)
{
	live->grouping = *grouping;
}

static void let_go(struct live *live, struct live_object *pod)
{
	if (!pod->held)
		return;
	struct live_object *last = live->held.items[--live->held.count];
	live->held.items[pod->place] = last;
	last->place = pod->place;
	pod->held = false;
}

/* True when the pod is left out for now. */
static bool hold(struct live *live, struct live_object *pod)
{
	bool held = live->grouping.holds && live->grouping.holds(live->grouping.context, pod->object);
	if (held && !pod->held) {
		live->changed |= pod->slot >= 0; /* one that was never looked at changes nothing */
		live_pod_drop(live, pod);
		pod->held = true;
		pod->place = live->held.count;
		vec_push(&live->held, pod);
	} else if (!held) {
		let_go(live, pod);
	}
	return held;
}

void live_use_settings(struct live *live, const struct settings *settings)
{
	struct live_object *pod, *next;
	live->options.settings = live->build.settings = settings;
	if (live->placing == settings->placing)
		return;
	live->placing = settings->placing;
	live->stale = true;
	/* Other pods are ours now, of which some have no group yet. */
	HASH_ITER(hh, live->objects[KIND_POD], pod, next)
		hold(live, pod);
}

void live_check_held(struct live *live, uint64_t version)
{
	const char *namespace_, *name;
	while (live->grouping.changed && live->grouping.changed(live->grouping.context, &namespace_, &name)) {
		struct live_object *changed = live_find(live, KIND_POD, namespace_, name);
		if (!changed || changed->implicit < 0)
			continue;
		live->changed = true;
		if (!live->stale)
			live_pod_update(live, changed);
	}
	if (live->held_version != version) {
		live->held_version = version;
		live->held_left = live->held.count;
	}
	for (int i = 0; i < HELD_AT_ONCE && live->held_left > 0 && live->held.count > 0; i++, live->held_left--) {
		if (live->held_next == 0 || live->held_next > live->held.count)
			live->held_next = live->held.count;
		struct live_object *pod = live->held.items[--live->held_next];
		if (!hold(live, pod) && !live->stale)
			live_pod_update(live, pod);
	}
	if (live->held.count == 0)
		live->held_left = 0;
}

bool live_is_checking(const struct live *live)
{
	return live->held_left > 0;
}

static void update(struct live *live, struct live_object *object)
{
	if (object->kind == KIND_POD)
		live_pod_update(live, object);
	else if (object->kind == KIND_POD_GROUP)
		live_group_update(live, object);
	else if (object->kind == KIND_BUDGET)
		live_budget_update(live, object);
	else
		live_frame_update(live, object);
}

void live_set(struct live *live, struct store_object *now)
{
	enum kind_id kind = kind_of(now);
	if (kind == KIND_OTHER)
		return;
	struct live_object *object = live_find(live, kind, now->namespace_, now->name);
	bool is_new = !object;
	if (is_new)
		object = object_new(live, kind, now);
	if (object->object && object->object->version >= now->version && strcmp(object->object->uid, now->uid) == 0)
		return;
	check_guesses(object, now);
	store_object_retain(now);
	store_object_release(object->object);
	object->object = now;
	if (build_is_storage(kind)) {
		live_storage_changed(live, object, false);
		return;
	}
	if (kind >= KIND_DEVICE_CLASS && kind <= KIND_DEVICE_TAINT_RULE)
		live_device_changed(live, object, false);
	if (build_is_device(kind))
		return;
	if (kind == KIND_CONFIG_MAP) {
		if (is_new)
			live_config_map_changed(live, object->namespace_, object->name);
		return;
	}
	if (kind == KIND_SERVICE) {
		live_service_changed(live, object->namespace_, object->name, now->root);
		return;
	}
	if ((kind != KIND_POD || !hold(live, object)) && !live->stale)
		update(live, object);
}

void live_remove(struct live *live, const struct store_object *gone)
{
	enum kind_id kind = kind_of(gone);
	struct live_object *object = kind == KIND_OTHER ? NULL : live_find(live, kind, gone->namespace_, gone->name);
	if (!object)
		return;
	if (kind == KIND_CONFIG_MAP) {
		object_free(live, object);
		live_config_map_changed(live, gone->namespace_, gone->name);
		return;
	}
	if (kind == KIND_SERVICE) {
		object_free(live, object);
		live_service_changed(live, gone->namespace_, gone->name, NULL);
		return;
	}
	let_go(live, object);
	if (kind == KIND_POD)
		live_pod_drop(live, object);
	else if (kind == KIND_POD_GROUP)
		live_group_drop(live, object);
	else if (kind == KIND_NODE)
		live_node_note(live, object->name);
	else if (kind == KIND_BUDGET)
		live_budget_drop(live);
	else if (!build_is_storage(kind) && !build_is_device(kind))
		live->stale = true;
	live->changed = true;
	if (build_is_storage(kind)) {
		live_storage_changed(live, object, true);
		object_free(live, object);
		return;
	}
	if (kind >= KIND_DEVICE_CLASS && kind <= KIND_DEVICE_TAINT_RULE)
		live_device_changed(live, object, true);
	if (build_is_device(kind)) {
		object_free(live, object);
		return;
	}
	/* The frame borrows from its objects until it is built anew. */
	if (kind == KIND_POD || kind == KIND_POD_GROUP || kind == KIND_BUDGET || !object->read) {
		object_free(live, object);
		return;
	}
	vec_push(&live->retired, object->read);
	object->read = NULL;
	object_free(live, object);
}

/* ---- assumptions ---- */

static void guess_changed(struct live *live, struct live_object *object)
{
	if (!live->stale && !object->held)
		live_pod_update(live, object);
}

void live_assume(struct live *live, const char *namespace_, const char *pod, enum live_guess guess, const char *node)
{
	struct live_object *object = live_find(live, KIND_POD, namespace_, pod);
	if (!object)
		return;
	drop_guess(&object->guess[guess]);
	object->guess[guess] = (struct guess){.node = base_strdup(node), .until = UINT64_MAX};
	guess_changed(live, object);
}

void live_confirm(struct live *live, const char *namespace_, const char *pod, enum live_guess guess, uint64_t version)
{
	struct live_object *object = live_find(live, KIND_POD, namespace_, pod);
	if (!object || !object->guess[guess].node)
		return;
	object->guess[guess].until = version;
	if (object->object->version < version)
		return;
	drop_guess(&object->guess[guess]);
	guess_changed(live, object);
}

void live_forget(struct live *live, const char *namespace_, const char *pod, enum live_guess guess)
{
	struct live_object *object = live_find(live, KIND_POD, namespace_, pod);
	if (!object || !object->guess[guess].node)
		return;
	drop_guess(&object->guess[guess]);
	guess_changed(live, object);
}

bool live_is_assumed(const struct live *live, int pod)
{
	const struct guess *guess = &live->pods.items[pod]->guess[LIVE_BOUND];
	return guess->node && guess->until == UINT64_MAX;
}
