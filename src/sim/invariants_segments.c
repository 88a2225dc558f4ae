/* Owns the rules for segments of RoleBasedGroups. They are worked out here from specs and pods, apart from the arithmetic of
 * the controller. Groups with several coordinations are left out: which of them holds another back is their affair. */
#include "sim/invariants_segments.h"

#include "admit/rbg.h"
#include "base/hash.h"
#include "rollout/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ORDINALS = 64 };

/* What was seen of a role of a group so far. */
struct seen_role {
	UT_hash_handle hh;
	bool is_known;   /* since an earlier turn: what there was at the first look is nobody's fault */
	int64_t highest; /* ordinals below it have existed */
	bool was_ready[MOST_ORDINALS];
	bool is_ready[MOST_ORDINALS]; /* now */
	char key[];                   /* uid of the group, '/', role */
};

struct segment_memory {
	struct seen_role *roles;
	bool has_looked; /* what was there before the first look, as after a restart, began when nobody looked */
};

struct segment_memory *segment_memory_create(void)
{
	return base_calloc(1, sizeof(struct segment_memory));
}

void segment_memory_destroy(struct segment_memory *memory)
{
	struct seen_role *role, *next;
	if (!memory)
		return;
	HASH_ITER(hh, memory->roles, role, next) {
		HASH_DEL(memory->roles, role);
		free(role);
	}
	free(memory);
}

static struct seen_role *role_of(struct segment_memory *memory, const char *uid, const char *name)
{
	size_t length = strlen(uid) + 1 + strlen(name);
	struct seen_role *made = base_calloc(1, sizeof(*made) + length + 1), *found;
	sprintf(made->key, "%s/%s", uid, name);
	HASH_FIND(hh, memory->roles, made->key, length, found);
	if (found) {
		free(made);
		return found;
	}
	HASH_ADD_KEYPTR(hh, memory->roles, made->key, length, made);
	return made;
}

/* One group whose segments have an order. */
struct ordered {
	const struct store_object *object;
	const struct rbg_coordination *rule;
	struct seen_role **roles; /* parallel to the sizes of the rule */
	int64_t *desired;
};

static const char *label_of(const struct view_pod *pod, enum naming_label label)
{
	return val_str(val_path(pod->object->root, "metadata", "labels", naming_key(NAMING_V1ALPHA2, label), NULL), "");
}

/* The place of the pod's role in the rule, -1 when it is not of this group; and its ordinal. */
static int find_pod(const struct ordered *group, const struct view_pod *pod, int64_t *ordinal)
{
	if (strcmp(pod->object->namespace_, group->object->namespace_) != 0 ||
	    strcmp(label_of(pod, NAMING_GROUP), group->object->name) != 0)
		return -1;
	*ordinal = strtoll(label_of(pod, NAMING_INDEX), NULL, 10);
	for (size_t i = 0; i < group->rule->size_count; i++)
		if (strcmp(group->rule->sizes[i].role, label_of(pod, NAMING_ROLE)) == 0)
			return *ordinal >= 0 && *ordinal < MOST_ORDINALS ? (int)i : -1;
	return -1;
}

static bool pod_is_ready(const struct view_pod *pod)
{
	const struct val *item, *conditions = val_path(pod->object->root, "status", "conditions", NULL);
	for (struct val_iter it = val_iter(conditions); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0)
			return strcmp(val_str(val_get(item, "status"), ""), "True") == 0;
	return false;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* A pod above everything its role has had so far begins a segment, or goes on with one. */
static void judge_pod(const struct ordered *group, size_t own, int64_t ordinal, const struct view_pod *pod,
                      struct scenario_result *result)
{
	const struct rbg_coordination *rule = group->rule;
	int64_t segment = ordinal / rule->sizes[own].size;
	for (size_t i = 0; i < rule->size_count; i++) {
		const struct seen_role *role = group->roles[i];
		int64_t end = least(least(segment * rule->sizes[i].size, group->desired[i]), MOST_ORDINALS);
		bool ready = true;
		for (int64_t o = 0; o < end; o++)
			ready &= role->was_ready[o];
		if (role->highest < end)
			scenario_fail(
				result,
				"pod %s/%s begins segment %lld of %s, but role %s has %lld of the %lld pods before it",
				pod->object->namespace_, pod->spec->name, (long long)segment + 1, group->object->name,
				rule->sizes[i].role, (long long)role->highest, (long long)end);
		else if (!ready && rule->progression == SEGMENT_ORDERED_READY)
			scenario_fail(result,
			              "pod %s/%s begins segment %lld of %s, but role %s was never ready up to it",
			              pod->object->namespace_, pod->spec->name, (long long)segment + 1,
			              group->object->name, rule->sizes[i].role);
	}
}

static void look(struct ordered *group, const struct view *now, struct scenario_result *result)
{
	int64_t ordinal, *highest = base_calloc(group->rule->size_count, sizeof(*highest));
	for (size_t i = 0; i < group->rule->size_count; i++) {
		struct seen_role *role = group->roles[i];
		highest[i] = role->highest = least(role->highest, group->desired[i]);
		memset(role->is_ready, 0, sizeof(role->is_ready));
	}
	for (size_t p = 0; p < now->pod_count; p++) {
		const struct view_pod *pod = &now->pods[p];
		int own = find_pod(group, pod, &ordinal);
		if (own < 0 || pod->spec->deleting)
			continue;
		/* Judged by what was before this turn: the roles of a segment begin together. */
		bool judged = result && group->roles[own]->is_known;
		if (judged && ordinal >= group->roles[own]->highest && ordinal < group->desired[own])
			judge_pod(group, (size_t)own, ordinal, pod, result);
		highest[own] = highest[own] > ordinal ? highest[own] : ordinal + 1;
		group->roles[own]->is_ready[ordinal] = pod_is_ready(pod);
	}
	for (size_t i = 0; i < group->rule->size_count; i++) {
		struct seen_role *role = group->roles[i];
		role->highest = least(highest[i], group->desired[i]);
		role->is_known = true;
		for (int o = 0; o < MOST_ORDINALS; o++)
			role->was_ready[o] |= role->is_ready[o];
	}
	free(highest);
}

/* Ready in full up to somewhere, and no more: it has come to a halt for no reason. */
static void judge_rest(struct ordered *group, struct scenario_result *result)
{
	bool complete = true, ready = true;
	for (size_t i = 0; i < group->rule->size_count; i++) {
		const struct seen_role *role = group->roles[i];
		complete &= role->highest >= group->desired[i];
		for (int64_t o = 0; o < least(role->highest, MOST_ORDINALS); o++)
			ready &= role->is_ready[o];
	}
	if (ready && !complete)
		scenario_fail(result, "RoleBasedGroup %s/%s: all it has is ready, but the next segment does not begin",
		              group->object->namespace_, group->object->name);
}

static bool has_order(const struct rbg_spec *spec)
{
	return !spec->deleting && spec->coordination_count == 1 && spec->coordinations[0].has_segments &&
	       !spec->coordinations[0].is_deploy && spec->coordinations[0].canary_segments == 0 &&
	       spec->coordinations[0].rollback_seconds == 0 && spec->coordinations[0].progression != SEGMENT_PARALLEL;
}

static void for_group(struct segment_memory *memory, const struct store_object *object, const struct view *now,
                      bool rest, struct scenario_result *result)
{
	struct arena *arena = arena_create();
	const struct decoded_rbg *decoded = store_object_derived(object, &rbg_derivation);
	const struct rbg_spec *spec = &decoded->spec;
	if (decoded->problems.errors == 0 && has_order(spec)) {
		struct ordered group = {.object = object, .rule = &spec->coordinations[0]};
		group.roles = arena_array(arena, struct seen_role *, group.rule->size_count);
		group.desired = arena_array(arena, int64_t, group.rule->size_count);
		for (size_t i = 0; i < group.rule->size_count; i++) {
			int role = rbg_role_find(spec, group.rule->sizes[i].role);
			group.desired[i] = role < 0 ? 0 : spec->roles[role].replicas;
			group.roles[i] = role_of(memory, object->uid, group.rule->sizes[i].role);
		}
		look(&group, now, rest ? NULL : result);
		if (rest)
			judge_rest(&group, result);
	}
	arena_destroy(arena);
}

static void for_all(struct segment_memory *memory, struct store *store, const struct view *now, bool rest,
                    struct scenario_result *result)
{
	const struct store_type *type = store_type_find(store, RBG_GROUP, "rolebasedgroups");
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = type ? type->apis : NULL};
	if (type && store_list(store, &request, &list, arena, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			for_group(memory, list.items[i], now, rest, result);
	store_list_clear(&list);
	arena_destroy(arena);
}

void segment_memory_check(struct segment_memory *memory, struct store *store, const struct view *now,
                          struct scenario_result *result)
{
	for_all(memory, store, now, false, memory->has_looked ? result : NULL);
	memory->has_looked = true;
}

void segment_memory_check_rest(struct segment_memory *memory, struct store *store, const struct view *now,
                               struct scenario_result *result)
{
	for_all(memory, store, now, true, result);
}
