/* Owns the groups of the live state: PodGroups, single pods, and who belongs to them. A group whose members or spec
 * changed is made anew, alone. */
#include "schedule/live_internal.h"

#include <stdlib.h>
#include <string.h>

/* What stands in a slot without a group: nothing runs, waits or can be evicted there. */
static void vacate_slot(struct live *live, int group)
{
	live->vacant = (struct gang_node){.name = "", .parent = -1, .required = {-1, -1}, .preferred = {-1, -1}};
	live->snapshot.groups[group] = (struct snapshot_group){.namespace_ = "", .name = ""};
	live->snapshot.cycle.groups[group] = (struct cycle_group){
		.gang = {.namespace_ = "", .name = "", .tree = &live->vacant, .tree_count = 1},
		.queue = -1,
		.blocked = true,
		.grace = -1,
		.state = GROUP_WAITING,
	};
}

static void reset(struct arena **arena)
{
	if (*arena)
		arena_reset(*arena);
	else
		*arena = arena_create_small();
}

static int new_group(struct live *live)
{
	struct snapshot *snapshot = &live->snapshot;
	struct cycle *cycle = &snapshot->cycle;
	int group = (int)cycle->group_count;
	if (live->free_groups.count) {
		group = live->free_groups.items[--live->free_groups.count];
	} else if (cycle->group_count++ == live->group_capacity) {
		size_t old = live->group_capacity, capacity = old ? old * 2 : 32;
		snapshot->groups = base_realloc_array(snapshot->groups, capacity, sizeof(*snapshot->groups));
		cycle->groups = base_realloc_array(cycle->groups, capacity, sizeof(*cycle->groups));
		live->slots = base_realloc_array(live->slots, capacity, sizeof(*live->slots));
		memset(live->slots + old, 0, (capacity - old) * sizeof(*live->slots));
		live->group_capacity = capacity;
	}
	vacate_slot(live, group);
	live->slots[group].used = true;
	live->slots[group].told = 0;
	live->slots[group].numbers_told = 0;
	live->slots[group].known = (struct live_known){0};
	return group;
}

void live_group_free(struct live *live, int group)
{
	cycle_unsettle(&live->snapshot.cycle, group);
	vacate_slot(live, group);
	live->slots[group].used = false;
	vec_push(&live->free_groups, group);
	live->changed = true;
}

void live_group_list(struct live *live, int group)
{
	if (live->slots[group].listed)
		return;
	live->slots[group].listed = true;
	vec_push(&live->todo, group);
}

void live_group_pod_read(struct live *live, const struct live_object *pod)
{
	if (pod->family && pod->family->group && pod->family->group->slot >= 0)
		live->slots[pod->family->group->slot].known = (struct live_known){0};
}

/* Before a group is read again: off the accounts, and nothing left of what it was. */
static struct arena *start_reading(struct live *live, int group)
{
	struct live_slot *slot = &live->slots[group];
	cycle_unsettle(&live->snapshot.cycle, group);
	vacate_slot(live, group);
	live->snapshot.cycle.groups[group].blocked = false;
	slot->known = (struct live_known){0};
	reset(&slot->spec);
	return slot->spec;
}

static void finish_reading(struct live *live, int group)
{
	live->slots[group].gave_up = live->snapshot.cycle.groups[group].gave_up;
	live->slots[group].reasons = live->snapshot.cycle.groups[group].reasons;
	live->slots[group].places = live->snapshot.cycle.groups[group].places;
	live->slots[group].place_count = live->snapshot.cycle.groups[group].place_count;
	live_group_list(live, group);
}

/* ---- single pods ---- */

void live_group_implicit(struct live *live, struct live_object *pod)
{
	if (pod->implicit < 0)
		pod->implicit = new_group(live);
	int group = pod->implicit;
	struct arena *arena = start_reading(live, group);
	struct snapshot_group *into = &live->snapshot.groups[group];
	struct group_terms terms;
	bool known = live->grouping.terms && live->grouping.terms(live->grouping.context, pod->object, arena, &terms);
	build_read_implicit(&live->build, &live->snapshot.pods[pod->slot], known ? &terms : NULL, (size_t)group, arena);
	live->snapshot.pods[pod->slot].group = group;
	live->snapshot.pods[pod->slot].leaf = 0;
	into->members = arena_array(arena, int, 1);
	into->members[0] = pod->slot;
	live->snapshot.cycle.groups[group].gang.pod_count = 1;
	build_gang(&live->build, (size_t)group, arena);
	finish_reading(live, group);
}

/* ---- PodGroups ---- */

/* Whether two versions of a PodGroup are the same to the engine; the status is ours but for one part. */
static bool same_group(const struct store_object *a, const struct store_object *b)
{
	return strcmp(a->uid, b->uid) == 0 && val_equal(val_get(a->root, "spec"), val_get(b->root, "spec")) &&
	       val_equal(val_path(a->root, "metadata", "annotations", NULL),
	                 val_path(b->root, "metadata", "annotations", NULL)) &&
	       val_equal(val_path(a->root, "metadata", "labels", NULL),
	                 val_path(b->root, "metadata", "labels", NULL)) &&
	       val_equal(val_path(a->root, "status", "schedulingConditions", NULL),
	                 val_path(b->root, "status", "schedulingConditions", NULL));
}

/* With how many pods the group meets its minimum, or met a former one; 0 when it does not. */
static int met_minimum(const struct cycle_group *group)
{
	int64_t running = 0, minimum = gang_minimum_pods(&group->gang, 0);
	if (!gang_root_satisfied(&group->gang))
		return group->met;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		running += group->gang.pods[p].state == MEMBER_RUNNING;
	return (int)(running < minimum ? running : minimum);
}

/* All minimums of a tree together: the sum is larger when one was raised, or a part was added. */
static int64_t asked_minimums(const struct podgroup *spec)
{
	int64_t sum = 0;
	for (size_t i = 0; i < spec->tree_count; i++)
		sum += spec->tree[i].minimum;
	return sum;
}

void live_group_update(struct live *live, struct live_object *object)
{
	if (object->slot >= 0 && same_group(object->read, object->object)) {
		live_group_list(live, object->slot); /* somebody may have changed the status */
		live->slots[object->slot].known = (struct live_known){0};
		return;
	}
	bool known = object->slot >= 0;
	if (!known)
		object->slot = new_group(live);
	struct store_object *old = object->read;
	object->read = store_object_retain(object->object);
	struct manifest manifest = live_manifest(object);
	uint32_t labels = interner_count(live->build.label_topologies);
	build_note_labels(live->build.label_topologies, object->object->root);
	/* The cluster has to know the labels that divide it. */
	live->stale |= interner_count(live->build.label_topologies) > labels;
	struct cycle_group *into = &live->snapshot.cycle.groups[object->slot];
	int met = known ? met_minimum(into) : 0;
	int64_t asked = known ? asked_minimums(&live->snapshot.groups[object->slot].spec) : INT64_MAX;
	struct arena *arena = start_reading(live, object->slot);
	build_read_group(&live->build, &manifest, 0, (size_t)object->slot, arena);
	/* A group that changed in another way owes the minimum that it had. */
	if (!into->met && asked_minimums(&live->snapshot.groups[object->slot].spec) > asked)
		into->met = met;
	finish_reading(live, object->slot);
	object->family = live_family_get(live, object->namespace_, object->name);
	object->family->group = object;
	live_family_mark(live, object->family);
	store_object_release(old);
}

void live_group_drop(struct live *live, struct live_object *object)
{
	if (object->slot < 0)
		return;
	live_group_free(live, object->slot);
	object->slot = -1;
	object->family->group = NULL;
	live_family_mark(live, object->family);
}

/* ---- members ---- */

static int compare_names(const void *left, const void *right)
{
	const struct live_object *const *a = left, *const *b = right;
	return strcmp((*a)->name, (*b)->name);
}

static void note_bad_pods(struct live *live, const struct live_family *family, int group, struct arena *arena)
{
	VEC(const struct live_object *) bad = {0};
	for (size_t i = 0; i < family->pods.count; i++)
		if (family->pods.items[i]->bad)
			vec_push(&bad, family->pods.items[i]);
	if (bad.count > 1)
		qsort(bad.items, bad.count, sizeof(*bad.items), compare_names);
	for (size_t i = 0; i < bad.count; i++)
		build_note_bad_pod(&live->snapshot.groups[group], bad.items[i]->name, arena);
	vec_free(&bad);
}

/* Which pods of the family belong to the group (-1: to none), and to which leaf. */
static void join_pods(struct live *live, const struct live_family *family, int number)
{
	struct snapshot *snapshot = &live->snapshot;
	struct snapshot_group *group = number < 0 ? NULL : &snapshot->groups[number];
	for (size_t i = 0; i < family->pods.count; i++) {
		int slot = family->pods.items[i]->slot;
		struct snapshot_pod *pod = &snapshot->pods[slot];
		pod->group = pod->leaf = pod->member = -1;
		if (!group || family->pods.items[i]->bad || !build_pod_is_ours(&live->build, pod->spec))
			continue;
		pod->group = number;
		pod->leaf = build_leaf(group, pod);
		if (pod->leaf >= 0)
			group->members[snapshot->cycle.groups[number].gang.pod_count++] = slot;
		else if (!pod->gone)
			group->strays[group->stray_count++] = slot;
	}
}

static void refresh(struct live *live, struct live_family *family)
{
	int number = family->group ? family->group->slot : -1;
	if (number < 0) {
		join_pods(live, family, -1);
		return;
	}
	struct snapshot_group *group = &live->snapshot.groups[number];
	struct cycle_group *into = &live->snapshot.cycle.groups[number];
	cycle_unsettle(&live->snapshot.cycle, number);
	live->slots[number].known = (struct live_known){0};
	reset(&live->slots[number].gang);
	struct arena *arena = live->slots[number].gang;
	group->members = arena_array(arena, int, family->pods.count);
	group->strays = arena_array(arena, int, family->pods.count);
	group->stray_count = into->gang.pod_count = 0;
	group->notes = (struct reasons){0};
	into->completing = into->stays = false;
	if (group->rejected && group->spec.tree_count == 0)
		into->gang.tree[0].minimum = 1;
	join_pods(live, family, number);
	build_gang(&live->build, (size_t)number, arena);
	if (gang_root_satisfied(&into->gang))
		into->met = 0;
	note_bad_pods(live, family, number, arena);
	live_group_list(live, number);
}

void live_groups_refresh(struct live *live)
{
	for (size_t i = 0; i < live->dirty.count; i++) {
		struct live_family *family = live->dirty.items[i];
		refresh(live, family);
		family->dirty = false;
		if (family->group || family->pods.count)
			continue;
		HASH_DEL(live->families, family);
		vec_free(&family->pods);
		free(family->key);
		free(family);
	}
	live->dirty.count = 0;
}
