/* Accounts of queues: what pods count for, what runs, what limits and quotas allow. */
#include "base/clamp.h"
#include "base/quantity.h"
#include "engine/cycle_internal.h"
#include "engine/internal.h"
#include "engine/victims.h"

#include <stdlib.h>
#include <string.h>

/* CYCLE_GPU, CYCLE_CPU, CYCLE_MEMORY, or -1 for resources queues do not count. */
static int resource_of(const char *name)
{
	size_t length = strlen(name);
	if (strcmp(name, "cpu") == 0)
		return CYCLE_CPU;
	if (strcmp(name, "memory") == 0)
		return CYCLE_MEMORY;
	return length > 4 && strcmp(name + length - 4, "/gpu") == 0 ? CYCLE_GPU : -1;
}

bool cycle_is_member(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

int64_t (*cycle_kind_amounts(const struct cluster *cluster, struct arena *arena))[CYCLE_RESOURCES]
{
	int64_t(*amounts)[CYCLE_RESOURCES] = arena_array_bytes(arena, cluster->kinds.count, sizeof(*amounts));
	int *which = arena_array(arena, int, cluster->resources.count);
	for (size_t r = 0; r < cluster->resources.count; r++)
		which[r] = resource_of(cluster->resources.items[r].name);
	for (size_t k = 0; k < cluster->kinds.count; k++) {
		const struct shape *shape = &cluster->shapes.items[cluster->kinds.items[k].shape];
		for (int i = 0; i < shape->request_count; i++) {
			int to = which[shape->resource[i]];
			if (to >= 0)
				amounts[k][to] = clamp_add(amounts[k][to], clamp_multiply(shape->amount[i],
				                                                          to == CYCLE_GPU ? 1000 : 1));
		}
	}
	return amounts;
}

void cycle_add_pod(const struct cycle_run *run, int kind, int64_t amounts[CYCLE_RESOURCES])
{
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		amounts[r] = clamp_add(amounts[r], run->amounts[kind][r]);
}

void cycle_totals(const struct cluster *cluster, int64_t total[CYCLE_RESOURCES])
{
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		int which = resource_of(cluster_resource_name(cluster, r));
		for (int n = 0; which >= 0 && n < cluster_node_count(cluster); n++)
			total[which] = clamp_add(total[which], clamp_multiply(cluster_allocatable(cluster, r, n),
			                                                      which == CYCLE_GPU ? 1000 : 1));
	}
}

/* ---- costs ---- */

static void add_core(const struct cycle_run *run, const struct cycle_group *group, int64_t *core)
{
	if (group->preempt != CYCLE_SEMI_PREEMPTIBLE)
		return;
	bool *is_core = base_calloc(group->gang.pod_count, sizeof(*is_core));
	victims_core(&group->gang, is_core);
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (is_core[p])
			cycle_add_pod(run, group->gang.pods[p].kind, core);
	free(is_core);
}

void cycle_cost_of_group(const struct cycle_run *run, const struct cycle_group *group, struct cycle_cost *cost)
{
	*cost = (struct cycle_cost){0};
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (cycle_is_member(&group->gang.pods[p]))
			cycle_add_pod(run, group->gang.pods[p].kind, cost->amounts);
	if (group->preempt == CYCLE_NON_PREEMPTIBLE)
		memcpy(cost->core, cost->amounts, sizeof(cost->core));
	add_core(run, group, cost->core);
}

void cycle_cost_of_placement(const struct cycle_run *run, struct cycle_group *group, const struct placement *placement,
                             struct cycle_cost *cost)
{
	struct gang_pod *pods = group->gang.pods;
	int64_t before[CYCLE_RESOURCES] = {0};
	*cost = (struct cycle_cost){0};
	for (size_t i = 0; i < placement->choice_count; i++)
		cycle_add_pod(run, pods[placement->choices[i].pod].kind, cost->amounts);
	if (group->preempt == CYCLE_NON_PREEMPTIBLE)
		memcpy(cost->core, cost->amounts, sizeof(cost->core));
	if (group->preempt != CYCLE_SEMI_PREEMPTIBLE)
		return;
	add_core(run, group, before);
	for (size_t i = 0; i < placement->choice_count; i++)
		pods[placement->choices[i].pod].state = MEMBER_RESERVED;
	add_core(run, group, cost->core);
	for (size_t i = 0; i < placement->choice_count; i++)
		pods[placement->choices[i].pod].state = MEMBER_WAITING;
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		cost->core[r] -= before[r];
}

/* ---- accounts ---- */

void cycle_charge(struct cycle_run *run, int queue, const struct cycle_cost *cost, int sign)
{
	for (; queue >= 0; queue = run->shares[queue].parent)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			struct share_queue *share = &run->shares[queue];
			share->allocated[r] = clamp_add(share->allocated[r], sign * cost->amounts[r]);
			share->allocated_protected[r] = clamp_add(share->allocated_protected[r], sign * cost->core[r]);
		}
}

static const char *amount_text(struct arena *arena, int resource, int64_t amount)
{
	if (resource == CYCLE_GPU)
		return amount % 1000 ? arena_printf(arena, "%lldm GPUs", (long long)amount)
		                     : arena_printf(arena, "%lld GPU%s", (long long)(amount / 1000),
		                                    amount == 1000 ? "" : "s");
	return arena_printf(arena, "%s %s", quantity_print(arena, resource == CYCLE_CPU ? "cpu" : "memory", amount),
	                    resource == CYCLE_CPU ? "CPU" : "memory");
}

static void refuse(struct cycle_run *run, struct cycle_group *group, int queue, int resource, bool over_limit,
                   int64_t asked)
{
	struct arena *arena = run->cycle->arena;
	const struct share_queue *share = &run->shares[queue];
	int64_t used = over_limit ? share->allocated[resource] : share->allocated_protected[resource];
	int64_t bound = over_limit ? share->limit[resource] : share->quota[resource];
	reason_add(&group->reasons, arena,
	           (struct reason){.code = over_limit ? REASON_QUEUE_LIMIT : REASON_QUEUE_QUOTA,
	                           .message = arena_printf(
					   arena, "queue %s: %s in use and %s asked for would exceed its %s of %s",
					   run->cycle->queues[queue].name, amount_text(arena, resource, used),
					   amount_text(arena, resource, asked),
					   over_limit ? "limit" : "quota for non-preemptible pods",
					   amount_text(arena, resource, bound)),
	                           .have = bound - used,
	                           .need = asked});
}

/* The first queue from the group's own upwards that does not allow the cost, -1 when all do. */
static int first_refusal(const struct cycle_run *run, int queue, const struct cycle_cost *cost, int *resource,
                         bool *over_limit)
{
	for (int q = queue; q >= 0; q = run->shares[q].parent) {
		const struct share_queue *share = &run->shares[q];
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			*over_limit = share->limit[r] >= 0 && cost->amounts[r] > 0 &&
			              share->allocated[r] + cost->amounts[r] > share->limit[r];
			bool over_quota = share->quota[r] >= 0 && cost->core[r] > 0 &&
			                  share->allocated_protected[r] + cost->core[r] > share->quota[r];
			*resource = r;
			if (*over_limit || over_quota)
				return q;
		}
	}
	return -1;
}

bool cycle_queue_has_room(const struct cycle_run *run, int queue, const struct cycle_cost *cost)
{
	int resource;
	bool over_limit;
	return first_refusal(run, queue, cost, &resource, &over_limit) < 0;
}

bool cycle_queue_allows(struct cycle_run *run, struct cycle_group *group, const struct cycle_cost *cost)
{
	int resource;
	bool over_limit;
	int queue = first_refusal(run, group->queue, cost, &resource, &over_limit);
	if (queue >= 0)
		refuse(run, group, queue, resource, over_limit,
		       over_limit ? cost->amounts[resource] : cost->core[resource]);
	return queue < 0;
}

/* Whether the same minimum can be reached by different amounts: some of several children, or of different pods. */
static bool has_choice(const struct gang *gang)
{
	int kind = -1;
	for (size_t i = 0; i < gang->tree_count; i++)
		if (gang->tree[i].child_count > gang->tree[i].minimum)
			return true;
	for (size_t p = 0; p < gang->pod_count; p++) {
		if (gang->pods[p].state != MEMBER_WAITING)
			continue;
		if (kind >= 0 && gang->pods[p].kind != kind)
			return true;
		kind = gang->pods[p].kind;
	}
	return false;
}

bool cycle_find_allowance(const struct cycle_run *run, const struct cycle_group *group, bool is_protected,
                          struct place_allowance *allowance)
{
	if (!has_choice(&group->gang))
		return false;
	allowance->counts = (const int64_t(*)[PLACE_ALLOWANCES])run->amounts;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t left = INT64_MAX;
		for (int q = group->queue; q >= 0; q = run->shares[q].parent) {
			const struct share_queue *share = &run->shares[q];
			if (share->limit[r] >= 0 && share->limit[r] - share->allocated[r] < left)
				left = share->limit[r] - share->allocated[r];
			if (is_protected && share->quota[r] >= 0 &&
			    share->quota[r] - share->allocated_protected[r] < left)
				left = share->quota[r] - share->allocated_protected[r];
		}
		allowance->left[r] = left < 0 ? 0 : left;
	}
	return true;
}
