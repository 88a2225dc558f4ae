/* Owns the rules that hold after every turn of the world. Those that hold at rest are in invariants_rest.c. */
#include "sim/invariants_world.h"

#include "schedule/scheduler.h"
#include "sim/invariants_budgets.h"
#include "sim/invariants_rest.h"
#include "sim/invariants_segments.h"
#include "sim/invariants_view.h"
#include "sim/invariants_devices.h"
#include "sim/invariants_volumes.h"

#include <stdlib.h>
#include <string.h>

struct world_invariants {
	struct store *store;
	struct settings_source *settings;
	struct view *before;
	struct interner *evicted; /* uids of pods that the scheduler deleted */
	struct segment_memory *segments;
	struct budget_memory *budgets;
};

static struct view *view_now(const struct world_invariants *invariants)
{
	return view_create(invariants->store, settings_now(invariants->settings));
}

struct world_invariants *world_invariants_create(struct store *store, struct settings_source *settings)
{
	struct world_invariants *invariants = base_calloc(1, sizeof(*invariants));
	invariants->store = store;
	invariants->settings = settings;
	invariants->before = view_now(invariants);
	invariants->evicted = interner_create();
	invariants->segments = segment_memory_create();
	invariants->budgets = budget_memory_create();
	segment_memory_check(invariants->segments, store, invariants->before, NULL);
	return invariants;
}

void world_invariants_destroy(struct world_invariants *invariants)
{
	if (!invariants)
		return;
	view_destroy(invariants->before);
	interner_destroy(invariants->evicted);
	segment_memory_destroy(invariants->segments);
	budget_memory_destroy(invariants->budgets);
	free(invariants);
}

void world_invariants_use(struct world_invariants *invariants, struct store *store)
{
	view_destroy(invariants->before);
	invariants->store = store;
	invariants->before = store ? view_now(invariants) : NULL;
}

static void keep(struct world_invariants *invariants, struct view *now)
{
	view_destroy(invariants->before);
	invariants->before = now;
}

void world_invariants_look_again(struct world_invariants *invariants)
{
	keep(invariants, view_now(invariants));
	segment_memory_check(invariants->segments, invariants->store, invariants->before, NULL);
}

void world_invariants_accept(struct world_invariants *invariants)
{
	if (store_version(invariants->store) != invariants->before->version)
		world_invariants_look_again(invariants);
}

/* ---- 1: nodes ---- */

static int64_t usage(const struct view *view, const char *node, const char *resource)
{
	int64_t sum = 0;
	for (size_t p = 0; p < view->pod_count; p++) {
		const struct pod_spec *pod = view->pods[p].spec;
		bool uses = pod->node && strcmp(pod->node, node) == 0 && pod->phase != POD_SUCCEEDED &&
		            pod->phase != POD_FAILED;
		for (size_t i = 0; uses && i < pod->request_count; i++)
			if (strcmp(pod->requests[i].name, resource) == 0 &&
			    __builtin_add_overflow(sum, pod->requests[i].amount, &sum))
				return INT64_MAX;
	}
	return sum;
}

static void check_node(const struct view *before, const struct view *now, size_t index, const char *resource,
                       struct scenario_result *result)
{
	const struct node_spec *node = &now->nodes[index];
	int64_t limit = 0;
	bool listed = false;
	for (size_t i = 0; i < node->allocatable_count; i++) {
		if (strcmp(node->allocatable[i].name, resource) != 0)
			continue;
		limit = node->allocatable[i].amount;
		listed = true;
	}
	int64_t used = usage(now, node->name, resource);
	if (used > limit && (listed || strcmp(resource, "pods") != 0) && used > usage(before, node->name, resource))
		scenario_fail(result, "node %s is over-committed: %lld of %lld %s", node->name, (long long)used,
		              (long long)limit, resource);
}

/* Only nodes that got a pod can be worse than before. */
static void check_capacity(const struct view *before, const struct view *now, const struct view_pod *pod,
                           struct scenario_result *result)
{
	size_t failures = result->failure_count;
	for (size_t i = 0; i < pod->spec->request_count && result->failure_count == failures; i++)
		check_node(before, now, (size_t)pod->node, pod->spec->requests[i].name, result);
}

/* ---- 2: bindings ---- */

/* Why the pod may not be on its node as the view shows it, NULL when it may. */
static const char *objection(const struct view *view, const struct view_pod *pod)
{
	uint32_t index = interner_find(view->node_names, pod->spec->node);
	const struct node_spec *node = index != UINT32_MAX ? &view->nodes[index] : NULL;
	if (!node)
		return "does not exist";
	if (node->deleting)
		return "is being deleted";
	if (!node->ready)
		return "is not ready";
	if (node->unschedulable)
		return "is cordoned";
	for (size_t i = 0; i < node->taint_count; i++)
		if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
		    !taint_tolerated(&node->taints[i], pod->spec->rules->tolerations,
		                     pod->spec->rules->toleration_count))
			return "has a taint that it does not tolerate";
	if (!selector_matches(&pod->spec->rules->node_selector, &node->labels, node->name))
		return "does not match its node selector";
	return NULL;
}

/* A node that changed in this very turn may have been right when the pod was bound. */
static void check_target(const struct view *before, const struct view *now, const struct view_pod *pod,
                         struct scenario_result *result)
{
	const char *problem = objection(now, pod);
	if (problem && objection(before, pod))
		scenario_fail(result, "pod %s/%s was bound to node %s, which %s", pod->object->namespace_,
		              pod->spec->name, pod->spec->node, problem);
}

static void check_binding(const struct view *before, const struct view *now, const struct view_pod *pod,
                          struct scenario_result *result)
{
	int index = view_find_pod(before, pod->uid);
	const struct view_pod *old = index >= 0 ? &before->pods[index] : NULL;
	if (old && old->bound && (!pod->bound || strcmp(old->spec->node, pod->spec->node) != 0)) {
		scenario_fail(result, "pod %s/%s was bound to node %s and is now %s%s", pod->object->namespace_,
		              pod->spec->name, old->spec->node, pod->bound ? "bound to " : "not bound",
		              pod->bound ? pod->spec->node : "");
		return;
	}
	if (!pod->bound || (old && old->bound))
		return;
	/* Somebody else's scheduler may have its own rules, but no node has room for more than it has. */
	if (pod->ours)
		check_target(before, now, pod, result);
	if (pod->node >= 0)
		check_capacity(before, now, pod, result);
}

/* ---- 3 and 4: gangs ---- */

static const struct view_group *same_group(const struct view *before, const struct view_group *group)
{
	int index = view_find_group(before, group->object->namespace_, group->object->name);
	const struct view_group *old = index >= 0 ? &before->groups[index] : NULL;
	/* A changed spec has another tree: what was placed before tells nothing about its parts. */
	return old && old->spec.tree_count == group->spec.tree_count ? old : NULL;
}

/* Whether a pod of the group ended in this very turn: nobody could know that when others were bound. */
static bool lost_a_pod(const struct view *before, const struct view *now, size_t group)
{
	for (size_t i = 0; i < now->pod_count; i++) {
		const struct view_pod *pod = &now->pods[i];
		uint32_t old = pod->group == (int)group && !pod->alive ? interner_find(before->pod_uids, pod->uid)
		                                                       : UINT32_MAX;
		if (old != UINT32_MAX && before->pods[old].alive)
			return true;
	}
	return false;
}

static void check_gang(const struct view *before, const struct view *now, size_t index, bool excused,
                       struct scenario_result *result)
{
	const struct view_group *group = &now->groups[index], *old = same_group(before, group);
	for (size_t n = 0; n < group->spec.tree_count; n++) {
		size_t was = old ? old->placed[n] : 0;
		const char *name = group->spec.tree[n].name;
		if (group->placed[n] > was && !group->satisfied[n] && !excused && !lost_a_pod(before, now, index))
			scenario_fail(result, "%s/%s%s%s is below its minimum, and %zu of its pods were bound",
			              group->object->namespace_, group->object->name, name[0] ? " subgroup " : "", name,
			              group->placed[n] - was);
		if (group->violated[n] && (group->placed[n] > was || !(old && old->violated[n])))
			scenario_fail(result, "%s/%s%s%s: its required level does not hold", group->object->namespace_,
			              group->object->name, name[0] ? " subgroup " : "", name);
	}
}

/* ---- 5: evictions ---- */

void world_invariants_saw(struct world_invariants *invariants, const struct store_request *request)
{
	bool deletes = request->verb == STORE_DELETE || request->subresource == STORE_EVICTION;
	if (!deletes || strcmp(request->api->type->kind, "Pod") != 0 || !request->actor ||
	    strcmp(request->actor, SCHEDULER_ACTOR) != 0)
		return;
	const struct store_object *pod =
		store_peek(invariants->store, request->api->type, request->namespace_, request->name);
	if (!pod)
		return;
	interner_id(invariants->evicted, pod->uid);
	if (request->verb == STORE_DELETE)
		budget_memory_saw(invariants->budgets, invariants->before, settings_now(invariants->settings), pod);
}

/* What must not happen to this pod, NULL when it may be evicted. */
static const char *protection(const struct view *before, const struct view *now, const struct view_pod *pod)
{
	if (pod->group < 0) {
		int64_t priority = pod->spec->has_priority ? pod->spec->priority
		                                           : view_priority(before, pod->spec->priority_class);
		return priority < 100 ? NULL : "non-preemptible";
	}
	const struct view_group *group = &before->groups[pod->group];
	bool stale = group->spec.tree_count > 0 && !group->satisfied[0];
	/* Cut off while it started, and not to be completed: what is bound of it never ran and makes way again. */
	if (stale && !group->started)
		return NULL;
	if (group->preempt == NON_PREEMPTIBLE)
		return stale && group->spec.has_staleness_grace ? NULL : "non-preemptible";
	if (group->preempt != SEMI_PREEMPTIBLE || stale)
		return NULL;
	int index = view_find_group(now, group->object->namespace_, group->object->name);
	bool kept = index < 0 || (now->groups[index].readable && now->groups[index].satisfied[0]);
	return kept ? NULL : "part of a semi-preemptible minimum";
}

static void check_eviction(const struct world_invariants *invariants, const struct view *now,
                           const struct view_pod *pod, struct scenario_result *result)
{
	int index = view_find_pod(now, pod->uid);
	if (!pod->alive || !pod->bound || (index >= 0 && !now->pods[index].spec->deleting))
		return;
	const char *protected = protection(invariants->before, now, pod);
	if (protected && interner_find(invariants->evicted, pod->uid) != UINT32_MAX)
		scenario_fail(result, "pod %s/%s is %s and was evicted", pod->object->namespace_, pod->spec->name,
		              protected);
}

void world_invariants_check(struct world_invariants *invariants, bool excused, struct scenario_result *result)
{
	if (store_version(invariants->store) == invariants->before->version)
		return;
	struct view *now = view_now(invariants);
	for (size_t i = 0; i < now->pod_count; i++)
		check_binding(invariants->before, now, &now->pods[i], result);
	for (size_t i = 0; i < now->group_count; i++)
		check_gang(invariants->before, now, i, excused, result);
	for (size_t i = 0; i < invariants->before->pod_count; i++)
		check_eviction(invariants, now, &invariants->before->pods[i], result);
	budget_memory_check(invariants->budgets, invariants->store, invariants->before, now, invariants->evicted,
	                    result);
	volumes_check_turn(invariants->store, invariants->before, now, result);
	devices_check_turn(invariants->store, invariants->before, now, result);
	segment_memory_check(invariants->segments, invariants->store, now, result);
	keep(invariants, now);
}

void world_invariants_check_rest(struct world_invariants *invariants, int64_t now_seconds,
                                 const struct settings *settings, struct scenario_result *result)
{
	world_invariants_accept(invariants);
	rest_check_groups(invariants->before, result);
	segment_memory_check_rest(invariants->segments, invariants->store, invariants->before, result);
	volumes_check_rest(invariants->store, result);
	devices_check_rest(invariants->store, invariants->before, result);
	rest_check_plan(invariants->store, now_seconds, settings, result);
}
