/* Owns what is chosen in a turn for the claims of all pods that are about to be bound: volumes and devices. */
#include "schedule/scheduler_claims_internal.h"

#include <stdlib.h>
#include <string.h>

const struct pod_spec *claims_spec_of(const struct scheduler_turn *turn, const struct plan_binding *binding)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	size_t index = turn->plan->groups[binding->group].index;
	return snapshot->pods[snapshot->groups[index].members[binding->member]].spec;
}

static int compare_choices(const void *left, const void *right)
{
	const struct volume_choice *a = left, *b = right;
	int order = strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(a->claim, b->claim);
}

const struct volume_choice *claims_find_choice(const struct claim_choices *choices, const char *namespace_,
                                               const char *claim)
{
	const struct volume_choice wanted = {.namespace_ = namespace_, .claim = claim};
	if (!choices || choices->count == 0)
		return NULL;
	return bsearch(&wanted, choices->items, choices->count, sizeof(wanted), compare_choices);
}

/* The pods with claims that this turn is about to bind. */
static size_t list_pods(const struct scheduler_turn *turn, const char *const *problems, struct volume_pod *pods,
                        size_t *groups)
{
	const struct plan *plan = turn->plan;
	const struct cluster *cluster = plan->snapshot->cycle.cluster;
	size_t count = 0;
	for (size_t i = 0; i < plan->binding_count; i++) {
		const struct plan_binding *binding = &plan->bindings[i];
		const struct pod_spec *spec = claims_spec_of(turn, binding);
		if (spec->claim_count == 0 || problems[binding->group])
			continue;
		const struct cycle_group *group = &plan->snapshot->cycle.groups[plan->groups[binding->group].index];
		groups[count] = binding->group;
		pods[count++] = (struct volume_pod){
			.pod = spec,
			.node = binding->node,
			.labels = cluster_node_labels(cluster, group->gang.pods[binding->member].node),
		};
	}
	return count;
}

static bool has_claims(const struct scheduler_turn *turn)
{
	for (size_t i = 0; i < turn->plan->binding_count; i++) {
		const struct pod_spec *spec = claims_spec_of(turn, &turn->plan->bindings[i]);
		if (spec->claim_count + spec->device_claim_count > 0)
			return true;
	}
	return false;
}

static int compare_device_choices(const void *left, const void *right)
{
	const struct device_choice *a = left, *b = right;
	int order = strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(a->claim, b->claim);
}

const struct device_choice *claims_find_device_choice(const struct claim_choices *choices, const char *namespace_,
                                                      const char *claim)
{
	const struct device_choice wanted = {.namespace_ = namespace_, .claim = claim};
	if (!choices || choices->device_count == 0 || !claim)
		return NULL;
	return bsearch(&wanted, choices->devices, choices->device_count, sizeof(wanted), compare_device_choices);
}

static size_t list_device_pods(const struct scheduler_turn *turn, const char *const *problems, struct device_pod *pods,
                               size_t *groups)
{
	const struct plan *plan = turn->plan;
	size_t count = 0;
	for (size_t i = 0; i < plan->binding_count; i++) {
		const struct plan_binding *binding = &plan->bindings[i];
		const struct pod_spec *spec = claims_spec_of(turn, binding);
		if (spec->device_claim_count == 0 || problems[binding->group])
			continue;
		const struct cycle_group *group = &plan->snapshot->cycle.groups[plan->groups[binding->group].index];
		groups[count] = binding->group;
		pods[count++] = (struct device_pod){spec, group->gang.pods[binding->member].node};
	}
	return count;
}

static void choose_devices(const struct scheduler_turn *turn, struct claim_choices *choices)
{
	struct device_pod *pods = arena_array(turn->arena, struct device_pod, turn->plan->binding_count);
	size_t *groups = arena_array(turn->arena, size_t, turn->plan->binding_count);
	struct interner *given = claims_devices_given(turn->scheduler);
	for (;;) {
		size_t count = list_device_pods(turn, choices->problems, pods, groups);
		struct device_choices found = device_choices_find(live_device_columns(turn->scheduler->live), pods,
		                                                  count, claims_devices_is_given, given, turn->arena);
		choices->devices = found.items;
		choices->device_count = found.count;
		if (found.count > 1)
			qsort(found.items, found.count, sizeof(*found.items), compare_device_choices);
		if (!found.problem || count == 0)
			break;
		choices->problems[groups[found.problem_pod]] = found.problem;
	}
	interner_destroy(given);
}

void scheduler_claims_choose(struct scheduler_turn *turn)
{
	const struct plan *plan = turn->plan;
	if (!has_claims(turn))
		return;
	struct claim_choices *choices = arena_new(turn->arena, struct claim_choices);
	struct volume_pod *pods = arena_array(turn->arena, struct volume_pod, plan->binding_count);
	size_t *groups = arena_array(turn->arena, size_t, plan->binding_count);
	choices->problems = arena_array(turn->arena, const char *, plan->group_count);
	for (;;) {
		size_t count = list_pods(turn, choices->problems, pods, groups);
		struct volume_choices found =
			volume_choices_find(live_volume_book(turn->scheduler->live), pods, count, turn->arena);
		choices->items = found.items;
		choices->count = found.count;
		if (!found.problem || count == 0)
			break;
		/* The others may be served without that gang. */
		choices->problems[groups[found.problem_pod]] = found.problem;
	}
	choose_devices(turn, choices);
	if (choices->count > 1)
		qsort(choices->items, choices->count, sizeof(*choices->items), compare_choices);
	turn->choices = choices;
}
