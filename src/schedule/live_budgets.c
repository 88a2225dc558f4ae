/* Owns the disruption budgets of the live state: the list of them, and the healthy pods of each, counted change by change. A
 * new status is taken over in place; a budget that comes, goes or selects other pods has all pods counted anew. */
#include "schedule/live_internal.h"

#include <stdlib.h>
#include <string.h>

void live_budget_update(struct live *live, struct live_object *object)
{
	struct budget_spec *spec = object->slot >= 0 ? &live->snapshot.budgets[object->slot].spec : NULL;
	live->changed = true;
	if (!live->budgets_stale && spec &&
	    val_equal(val_get(object->read->root, "spec"), val_get(object->object->root, "spec")))
		spec->has_status = budget_read_status(object->object->root, &spec->status);
	else
		live->budgets_stale = true;
}

void live_budget_drop(struct live *live)
{
	live->budgets_stale = true;
}

static int compare_objects(const void *left, const void *right)
{
	const struct live_object *const *a = left, *const *b = right;
	return strcmp((*a)->key, (*b)->key);
}

static void list_budgets(struct live *live)
{
	struct snapshot *snapshot = &live->snapshot;
	struct live_object *object, *next;
	VEC(struct live_object *) objects = {0};
	HASH_ITER(hh, live->objects[KIND_BUDGET], object, next)
		vec_push(&objects, object);
	if (objects.count > 1)
		qsort(objects.items, objects.count, sizeof(*objects.items), compare_objects);
	arena_reset(live->budgets);
	snapshot->cycle.budget_count = 0;
	snapshot->budgets = arena_array(live->budgets, struct snapshot_budget, objects.count);
	snapshot->cycle.budgets = arena_array(live->budgets, struct cycle_budget, objects.count);
	for (size_t i = 0; i < objects.count; i++) {
		struct problems ignored = {.arena = live->budgets};
		struct budget_spec spec;
		object = objects.items[i];
		store_object_release(object->read);
		object->read = store_object_retain(object->object);
		object->slot = -1;
		if (budget_decode(object->read->root, live->budgets, &spec, &ignored) < 0 || !spec.has_selector)
			continue;
		object->slot = (int)snapshot->cycle.budget_count;
		build_budget(snapshot, &spec);
	}
	vec_free(&objects);
}

void live_budgets_count(struct live *live, const struct snapshot_pod *pod, int sign)
{
	if (live->snapshot.cycle.budget_count && !live->budgets_stale)
		build_count_in_budgets(&live->snapshot, pod, sign);
}

void live_budgets_refresh(struct live *live)
{
	struct snapshot *snapshot = &live->snapshot;
	if (live->budgets_stale) {
		list_budgets(live);
		live->budgets_stale = false;
		for (size_t i = 0; i < live->pods.count && snapshot->cycle.budget_count; i++)
			if (live->pods.items[i])
				live_budgets_count(live, &snapshot->pods[i], 1);
	}
	build_judge_budgets(snapshot);
}
