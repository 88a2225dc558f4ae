/* Owns running a cycle and collecting what it decided. Writing it down is in plan_write.c. */
#include "schedule/plan.h"

#include <stdlib.h>
#include <string.h>

static int compare_bindings(const void *left, const void *right)
{
	const struct plan_binding *a = left, *b = right;
	int order = strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(a->pod, b->pod);
}

static void collect_bindings(struct plan *plan, struct arena *arena)
{
	const struct cycle *cycle = &plan->snapshot->cycle;
	for (size_t w = 0; w < cycle_work_count(cycle); w++) {
		int g = cycle_work_at(cycle, w);
		const struct gang *gang = &cycle->groups[g].gang;
		const bool *ran = plan->snapshot->groups[g].ran;
		for (size_t i = 0; i < gang->pod_count; i++) {
			plan->binding_count += gang->pods[i].state == MEMBER_RUNNING && !ran[i];
			plan->reservation_count += gang->pods[i].state == MEMBER_RESERVED;
		}
	}
	plan->bindings = arena_array(arena, struct plan_binding, plan->binding_count);
	plan->reservations = arena_array(arena, struct plan_binding, plan->reservation_count);
	size_t bound = 0, reserved = 0;
	for (size_t w = 0; w < cycle_work_count(cycle); w++) {
		int g = cycle_work_at(cycle, w);
		const struct gang *gang = &cycle->groups[g].gang;
		const bool *ran = plan->snapshot->groups[g].ran;
		for (size_t i = 0; i < gang->pod_count; i++) {
			const struct gang_pod *pod = &gang->pods[i];
			struct plan_binding *into;
			if (pod->state == MEMBER_RUNNING && !ran[i])
				into = &plan->bindings[bound++];
			else if (pod->state == MEMBER_RESERVED)
				into = &plan->reservations[reserved++];
			else
				continue;
			*into = (struct plan_binding){
				.namespace_ = gang->namespace_,
				.pod = pod->name,
				.node = cluster_node_name(cycle->cluster, pod->node),
				.group = w,
				.member = i,
			};
		}
	}
	qsort(plan->bindings, bound, sizeof(*plan->bindings), compare_bindings);
	qsort(plan->reservations, reserved, sizeof(*plan->reservations), compare_bindings);
}

static int compare_members(const void *left, const void *right)
{
	const struct plan_binding *const *a = left, *const *b = right;
	return (*a)->member < (*b)->member ? -1 : (*a)->member > (*b)->member;
}

/* Each group gets its part of the list. */
static void share_bindings(struct plan *plan, struct arena *arena)
{
	const struct plan_binding **slots = arena_array(arena, const struct plan_binding *, plan->binding_count);
	for (size_t i = 0; i < plan->binding_count; i++)
		plan->groups[plan->bindings[i].group].binding_count++;
	for (size_t g = 0; g < plan->group_count; g++) {
		struct plan_group *group = &plan->groups[g];
		group->bindings = slots;
		slots += group->binding_count;
		group->binding_count = 0;
	}
	for (size_t i = 0; i < plan->binding_count; i++) {
		struct plan_group *group = &plan->groups[plan->bindings[i].group];
		group->bindings[group->binding_count++] = &plan->bindings[i];
	}
	for (size_t g = 0; g < plan->group_count; g++)
		if (plan->groups[g].binding_count > 1)
			qsort(plan->groups[g].bindings, plan->groups[g].binding_count,
			      sizeof(*plan->groups[g].bindings), compare_members);
}

/* Children stand after their parents, so one backward pass adds up what is placed below every node. */
static void count_nodes(const struct gang *gang, int64_t *placed, int64_t *minimum)
{
	gang_minimums(gang, minimum);
	for (size_t i = 0; i < gang->pod_count; i++)
		if (gang->pods[i].state == MEMBER_RUNNING || gang->pods[i].state == MEMBER_RESERVED)
			placed[gang->pods[i].leaf]++;
	for (size_t n = gang->tree_count; n-- > 0;) {
		const struct gang_node *node = &gang->tree[n];
		if (node->parent >= 0)
			placed[node->parent] += placed[n];
	}
}

static void describe_reasons(struct plan_group *out, const struct snapshot_group *group,
                             const struct cycle_group *decided, struct arena *arena)
{
	out->reasons = arena_array(arena, struct plan_reason,
	                           group->rejection_count + group->notes.count + decided->reasons.count);
	for (size_t i = 0; i < group->rejection_count; i++)
		out->reasons[out->reason_count++] =
			(struct plan_reason){.code = "Rejected", .message = group->rejections[i]};
	const struct reasons *sources[] = {&group->notes, &decided->reasons};
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sources[s]->count; i++) {
			const struct reason *reason = &sources[s]->items[i];
			out->reasons[out->reason_count++] = (struct plan_reason){
				.code = reason_code_name(reason->code),
				.message = reason->message ? reason->message : "",
				.change = reason->change,
				.level = reason->level,
				.domain = reason->domain,
				.have = reason->have,
				.need = reason->need,
			};
		}
	}
}

static void describe_group(struct plan *plan, size_t number, struct arena *arena)
{
	size_t index = (size_t)cycle_work_at(&plan->snapshot->cycle, number);
	const struct snapshot_group *group = &plan->snapshot->groups[index];
	const struct cycle_group *decided = &plan->snapshot->cycle.groups[index];
	const struct gang *gang = &decided->gang;
	struct plan_group *out = &plan->groups[number];
	int64_t *placed = arena_array(arena, int64_t, gang->tree_count);
	int64_t *minimum = arena_array(arena, int64_t, gang->tree_count);
	count_nodes(gang, placed, minimum);
	*out = (struct plan_group){
		.index = index,
		.namespace_ = group->namespace_,
		.name = group->name,
		.state = group_state_name(decided->state),
		.proved = decided->proof == PROOF_EVER  ? "ever"
	                  : decided->proof == PROOF_NOW ? "now"
	                                                : NULL,
		.placed = placed[0],
		.minimum = minimum[0],
		.node_placed = placed,
		.node_minimum = minimum,
		.waiting = (int64_t)group->stray_count,
		.sub_groups = arena_array(arena, struct plan_subgroup, gang->tree_count),
	};
	for (size_t i = 0; i < gang->pod_count; i++)
		out->waiting += gang->pods[i].state == MEMBER_WAITING || gang->pods[i].state == MEMBER_GATED ||
		                gang->pods[i].state == MEMBER_BLOCKED;
	for (size_t n = 1; n < gang->tree_count; n++) {
		if (!gang->tree[n].name[0])
			continue;
		out->sub_groups[out->sub_group_count++] = (struct plan_subgroup){
			.name = gang->tree[n].name,
			.tree = (int)n,
			.placed = placed[n],
			.minimum = minimum[n],
		};
	}
	describe_reasons(out, group, decided, arena);
}

const char *plan_group_message(const struct plan_group *group, struct arena *arena)
{
	struct buffer text = {0};
	for (size_t i = 0; i < group->reason_count; i++)
		buffer_printf(&text, "%s%s", i ? "; " : "", group->reasons[i].message);
	const char *message = arena_strdup(arena, text.text ? text.text : "");
	buffer_free(&text);
	return message;
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct plan_group *groups = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = strcmp(groups[a].namespace_, groups[b].namespace_);
	if (order == 0)
		order = strcmp(groups[a].name, groups[b].name);
	return order ? order : a < b ? -1 : a > b;
}

static void collect_evictions(struct plan *plan, struct arena *arena)
{
	const struct cycle *cycle = &plan->snapshot->cycle;
	plan->eviction_count = cycle->eviction_count;
	plan->evictions = arena_array(arena, struct plan_eviction, cycle->eviction_count);
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		const struct gang *gang = &cycle->groups[eviction->group].gang;
		const struct gang *by = eviction->by < 0 ? NULL : &cycle->groups[eviction->by].gang;
		plan->evictions[i] = (struct plan_eviction){
			.namespace_ = gang->namespace_,
			.pod = gang->pods[eviction->pod].name,
			.node = cluster_node_name(cycle->cluster, eviction->node),
			.by = by                ? arena_printf(arena, "%s/%s", by->namespace_, by->name)
		              : eviction->moved ? cycle_action_name(eviction->action)
		                                : "",
			.action = cycle_action_name(eviction->action),
			.moved = eviction->moved,
			.fewest = eviction->fewest,
			.guarded = eviction->guarded,
			.violates = eviction->violates ? arena_printf(arena, "%s/%s", eviction->violates->namespace_,
		                                                      eviction->violates->name)
		                                       : NULL,
		};
	}
}

const char *plan_group_title(const struct plan *plan, const struct plan_group *group, struct arena *arena)
{
	return gang_title(&plan->snapshot->cycle.groups[group->index].gang, arena);
}

struct plan *plan_run(struct snapshot *snapshot, const enum cycle_action *actions, size_t action_count)
{
	/* A later cycle explains itself anew; what blocks a group stays. */
	for (size_t i = 0; i < cycle_work_count(&snapshot->cycle); i++) {
		struct cycle_group *group = &snapshot->cycle.groups[cycle_work_at(&snapshot->cycle, i)];
		if (!group->blocked)
			group->reasons = (struct reasons){0};
	}
	cycle_begin(&snapshot->cycle);
	for (size_t i = 0; i < action_count; i++)
		cycle_run(&snapshot->cycle, actions[i]);
	cycle_finish(&snapshot->cycle);
	struct arena *arena = snapshot->cycle.arena;
	struct plan *plan = arena_new(arena, struct plan);
	plan->snapshot = snapshot;
	collect_bindings(plan, arena);
	collect_evictions(plan, arena);
	plan->group_count = cycle_work_count(&snapshot->cycle);
	plan->groups = arena_array(arena, struct plan_group, plan->group_count);
	plan->order = arena_array(arena, size_t, plan->group_count);
	for (size_t i = 0; i < plan->group_count; i++) {
		describe_group(plan, i, arena);
		plan->order[i] = i;
	}
	share_bindings(plan, arena);
	qsort_r(plan->order, plan->group_count, sizeof(*plan->order), compare_groups, plan->groups);
	return plan;
}
