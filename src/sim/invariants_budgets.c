/* Owns the rules about disruption budgets: a pod that is ready and covered leaves through the eviction API, which counts, or
 * by a preemption for higher priority that names the budget it violates. */
#include "sim/invariants_budgets.h"

#include "admit/budget.h"
#include "base/vec.h"
#include "kinds/names.h"
#include "loop/writes.h"

#include <stdlib.h>
#include <string.h>

/* What the scheduler reads comes turns late when watches are held back or lost: only what is older is judged. */
#define KNOWN_AFTER 12

struct sighting {
	int since; /* turn; INT_MAX: not now */
};

struct direct { /* a pod that was deleted without the API, and says that this violates a budget */
	const char *uid;
	const char *complaint; /* NULL: it may */
};

struct budget_memory {
	struct arena *arena;
	struct interner *uids; /* of budgets that are there, and of pods that are ready */
	VEC(struct sighting) sightings;
	VEC(struct direct) directs;
	int turn;
};

struct budget_memory *budget_memory_create(void)
{
	struct budget_memory *memory = base_calloc(1, sizeof(*memory));
	memory->arena = arena_create();
	memory->uids = interner_create();
	return memory;
}

void budget_memory_destroy(struct budget_memory *memory)
{
	if (!memory)
		return;
	arena_destroy(memory->arena);
	interner_destroy(memory->uids);
	vec_free(&memory->sightings);
	vec_free(&memory->directs);
	free(memory);
}

/* ---- what the scheduler knows ---- */

static void sight(struct budget_memory *memory, const char *uid, bool there)
{
	uint32_t index = interner_id(memory->uids, uid);
	while (memory->sightings.count <= index)
		vec_push(&memory->sightings, (struct sighting){.since = INT32_MAX});
	struct sighting *sighting = &memory->sightings.items[index];
	if (!there)
		sighting->since = INT32_MAX;
	else if (sighting->since > memory->turn)
		sighting->since = memory->turn;
}

static bool is_known(const struct budget_memory *memory, const char *uid)
{
	uint32_t index = interner_find(memory->uids, uid);
	return index != UINT32_MAX && index < memory->sightings.count &&
	       (int64_t)memory->turn - memory->sightings.items[index].since >= KNOWN_AFTER;
}

static bool is_ready(const struct store_object *pod)
{
	const struct val *condition = writes_find_condition(pod->root, "Ready");
	return strcmp(val_str(val_path(pod->root, "status", "phase", NULL), ""), "Running") == 0 &&
	       strcmp(val_str(val_get(condition, "status"), ""), "True") == 0;
}

static struct store_list list_budgets(struct store *store, struct arena *arena)
{
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(store, KINDS_POLICY, "v1", "poddisruptionbudgets")};
	if (!request.api || store_list(store, &request, &list, arena, NULL) < 0)
		list = (struct store_list){0};
	return list;
}

static bool covers(const struct store_object *budget, const struct store_object *pod, struct arena *arena,
                   struct budget_spec *spec)
{
	struct problems ignored = {.arena = arena};
	return strcmp(budget->namespace_, pod->namespace_) == 0 &&
	       budget_decode(budget->root, arena, spec, &ignored) == 0 && budget_selects(spec, &pod->labels);
}

/* ---- deleted past the API ---- */

/* Of the group that a pod gave way to, "namespace/name"; a pod without a PodGroup is its own. */
static int64_t priority_of(const struct view *view, const char *namespace_, const char *name)
{
	int index = view_find_group(view, namespace_, name);
	if (index >= 0)
		return view_priority(view, view->groups[index].spec.priority_class);
	for (size_t i = 0; i < view->pod_count; i++)
		if (strcmp(view->pods[i].object->name, name) == 0 &&
		    strcmp(view->pods[i].object->namespace_, namespace_) == 0)
			return view_priority(view, view->pods[i].spec->priority_class);
	return INT64_MAX; /* gone meanwhile */
}

static bool is_for_higher_priority(const struct view *view, const char *said, const struct store_object *pod,
                                   struct arena *arena)
{
	int index = view_find_pod(view, pod->uid);
	const struct view_pod *victim = index >= 0 ? &view->pods[index] : NULL;
	const char *by = strstr(said, "for "), *slash = by ? strchr(by, '/') : NULL;
	if (!victim || !slash)
		return victim == NULL;
	const char *namespace_ = arena_printf(arena, "%.*s", (int)(slash - by - 4), by + 4);
	const char *name = arena_printf(arena, "%.*s", (int)strcspn(slash + 1, ", ("), slash + 1);
	const char *own = victim->group >= 0 ? view->groups[victim->group].object->name : pod->name;
	return priority_of(view, namespace_, name) > priority_of(view, pod->namespace_, own);
}

/* The condition of the pod names who it gave way to, and the budget that this violates, as people read it. */
void budget_memory_saw(struct budget_memory *memory, const struct view *before, const struct settings *settings,
                       const struct store_object *pod)
{
	const struct val *condition = writes_find_condition(pod->root, "DisruptionTarget");
	const char *said = val_str(val_get(condition, "message"), "");
	struct direct direct = {.uid = arena_strdup(memory->arena, pod->uid)};
	if (!strstr(said, "violating PodDisruptionBudget "))
		return;
	if (settings->never_violate_budgets)
		direct.complaint = "though the settings forbid that";
	else if (!strstr(said, "(preempt)"))
		direct.complaint = "without a preemption";
	else if (!is_for_higher_priority(before, said, pod, memory->arena))
		direct.complaint = "without a higher priority";
	if (direct.complaint)
		direct.complaint = arena_printf(memory->arena, "%s: %s", direct.complaint, said);
	vec_push(&memory->directs, direct);
}

static const struct direct *find_direct(const struct budget_memory *memory, const char *uid)
{
	for (size_t i = 0; i < memory->directs.count; i++)
		if (strcmp(memory->directs.items[i].uid, uid) == 0)
			return &memory->directs.items[i];
	return NULL;
}

/* ---- after a turn ---- */

static bool was_taken(const struct view_pod *pod, const struct view *now, const struct interner *evicted)
{
	int index = view_find_pod(now, pod->uid);
	bool left = pod->alive && pod->bound && (index < 0 || now->pods[index].spec->deleting);
	return left && interner_find(evicted, pod->uid) != UINT32_MAX;
}

/* What one turn takes without a word was allowed before it. */
static void check_budget(const struct budget_memory *memory, const struct store_object *budget,
                         const struct view *before, const struct view *now, const struct interner *evicted,
                         struct scenario_result *result, struct arena *arena)
{
	int64_t healthy = 0, taken = 0;
	struct budget_spec spec;
	for (size_t i = 0; i < before->pod_count; i++) {
		const struct view_pod *pod = &before->pods[i];
		if (!pod->alive || !is_ready(pod->object) || !covers(budget, pod->object, arena, &spec))
			continue;
		healthy++;
		taken += is_known(memory, pod->uid) && !find_direct(memory, pod->uid) && was_taken(pod, now, evicted);
	}
	if (taken == 0 || !spec.has_status || !spec.status.current)
		return;
	int64_t allowed = spec.status.expected > 0 ? healthy - spec.status.desired : 0;
	if (taken > (allowed > 0 ? allowed : 0))
		scenario_fail(
			result,
			"PodDisruptionBudget %s/%s wants %lld pods, %lld were ready, and %lld were evicted in one turn",
			budget->namespace_, budget->name, (long long)spec.status.desired, (long long)healthy,
			(long long)taken);
}

static void look_again(struct budget_memory *memory, const struct view *now, const struct store_list *budgets)
{
	memory->turn++;
	for (size_t i = 0; i < budgets->count; i++)
		sight(memory, budgets->items[i]->uid, true);
	for (size_t i = 0; i < now->pod_count && budgets->count > 0; i++)
		sight(memory, now->pods[i].uid, is_ready(now->pods[i].object));
}

void budget_memory_check(struct budget_memory *memory, struct store *store, const struct view *before,
                         const struct view *now, const struct interner *evicted, struct scenario_result *result)
{
	struct arena *arena = arena_create();
	struct store_list list = list_budgets(store, arena);
	for (size_t i = 0; result && i < before->pod_count && memory->directs.count > 0; i++) {
		const struct view_pod *pod = &before->pods[i];
		const struct direct *direct = find_direct(memory, pod->uid);
		if (direct && direct->complaint && was_taken(pod, now, evicted))
			scenario_fail(result, "pod %s/%s was evicted against a budget %s", pod->object->namespace_,
			              pod->object->name, direct->complaint);
	}
	for (size_t i = 0; result && i < list.count; i++)
		if (is_known(memory, list.items[i]->uid))
			check_budget(memory, list.items[i], before, now, evicted, result, arena);
	look_again(memory, now, &list);
	store_list_clear(&list);
	arena_destroy(arena);
}
