/* Owns reservations that outlive a cycle, and the guard for gangs that wait too long. */
#include "engine/cycle/reserve.h"

#include "engine/cycle/moved_places.h"
#include "engine/place/bias.h"

#include <string.h>

static bool fits_in_view(const struct cluster *cluster, const struct gang_pod *pod, int view)
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod->pod_class].shape];
	for (int i = 0; i < shape->request_count; i++)
		if (cluster_amount_in_view(cluster, shape->resource[i], pod->node, view) < 0)
			return false;
	return !shape->claims || device_stock_holds(cluster, pod->node, view);
}

static void set_reserved(struct cycle *cycle, struct gang *gang, bool reserved)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		struct gang_pod *pod = &gang->pods[p];
		if (reserved && pod->state == MEMBER_WAITING && pod->nominated >= 0) {
			pod->state = MEMBER_RESERVED;
			pod->node = pod->nominated;
			cluster_occupy(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
		} else if (!reserved && pod->state == MEMBER_RESERVED) {
			cluster_vacate(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
			pod->state = MEMBER_WAITING;
		}
	}
}

/* A restored reservation must still be a placement: rules, levels, resources once what leaves has left, the minimum. */
static bool still_stands(struct cycle *cycle, const struct gang *gang)
{
	if (!gang_root_satisfied(gang) || engine_verify(cycle->cluster, gang, cycle->arena))
		return false;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		const struct pod_class *pod_class = &cycle->cluster->pod_classes.items[pod->pod_class];
		if (pod->state == MEMBER_RESERVED &&
		    (!shape_allows_node(cycle->cluster, &cycle->cluster->shapes.items[pod_class->shape], pod->node) ||
		     !fits_in_view(cycle->cluster, pod, VIEW_RELEASING)))
			return false;
	}
	return true;
}

static bool restore(struct cycle *cycle, struct gang *gang)
{
	bool nominated = false;
	for (size_t p = 0; p < gang->pod_count; p++)
		nominated |= gang->pods[p].state == MEMBER_WAITING && gang->pods[p].nominated >= 0;
	if (!nominated)
		return false;
	set_reserved(cycle, gang, true);
	if (!still_stands(cycle, gang)) {
		set_reserved(cycle, gang, false);
		return false;
	}
	for (size_t p = 0; p < gang->pod_count; p++) /* the nomination has become a reservation */
		if (gang->pods[p].state == MEMBER_RESERVED)
			gang->pods[p].nominated = -1;
	return true;
}

/* First what was reserved: it was decided knowing the places that are kept, and may have been taken from the groups they are for. */
void reserve_restore(struct cycle *cycle)
{
	for (int nominated_by_places = 0; nominated_by_places < 2; nominated_by_places++)
		for (size_t i = 0; i < cycle_work_count(cycle); i++) {
			struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
			if (group->blocked || moved_places_nominated(group) != (nominated_by_places == 1))
				continue;
			/* Places kept for other pods of the group do no harm to what was reserved before. */
			if (!restore(cycle, &group->gang) && moved_places_withdraw(group))
				restore(cycle, &group->gang);
		}
}

/* Whether something is reserved, and all of it is free already. */
static bool is_free(const struct cycle *cycle, const struct gang *gang)
{
	bool reserved = false, ready = true;
	for (size_t p = 0; p < gang->pod_count && ready; p++) {
		if (gang->pods[p].state != MEMBER_RESERVED)
			continue;
		reserved = true;
		ready = fits_in_view(cycle->cluster, &gang->pods[p], VIEW_FREE);
	}
	return reserved && ready;
}

static void bind_reserved(struct cycle *cycle, struct gang *gang)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		struct gang_pod *pod = &gang->pods[p];
		if (pod->state != MEMBER_RESERVED)
			continue;
		cluster_vacate(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
		cluster_occupy(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
		pod->state = MEMBER_RUNNING;
	}
}

void reserve_bind(struct cycle *cycle)
{
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct gang *gang = &cycle->groups[cycle_work_at(cycle, i)].gang;
		if (is_free(cycle, gang))
			bind_reserved(cycle, gang);
	}
}

/* Whether the pod, bound in this cycle, would run while a part it belongs to still waits for reserved pods. */
static bool runs_alone(const struct gang *gang, const struct gang_pod *pod, const bool *satisfied)
{
	for (int at = pod->leaf; at >= 0; at = gang->tree[at].parent)
		if (!satisfied[at])
			return true;
	return false;
}

/* With nothing reserved to wait for, what is left of a part that lost pods in this very cycle waits again. */
static void reserve_again(struct cycle *cycle, struct cycle_group *group, bool reserved)
{
	struct gang *gang = &group->gang;
	int *members = arena_array(cycle->arena, int, gang->tree_count);
	bool *satisfied = arena_array(cycle->arena, bool, gang->tree_count);
	for (bool changed = true; changed;) {
		changed = false;
		memset(members, 0, gang->tree_count * sizeof(*members));
		for (size_t p = 0; p < gang->pod_count; p++)
			members[gang->pods[p].leaf] += gang->pods[p].state == MEMBER_RUNNING;
		for (size_t n = gang->tree_count; n-- > 0;) {
			satisfied[n] = members[n] >= gang->tree[n].minimum;
			if (n > 0)
				members[gang->tree[n].parent] += satisfied[n];
		}
		for (size_t p = 0; p < gang->pod_count; p++) {
			struct gang_pod *pod = &gang->pods[p];
			if (pod->state != MEMBER_RUNNING || group->was_running[p] || !runs_alone(gang, pod, satisfied))
				continue;
			cluster_vacate(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
			if (reserved)
				cluster_occupy(cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
			else
				pod->node = -1;
			pod->state = reserved ? MEMBER_RESERVED : MEMBER_WAITING;
			changed = true;
		}
	}
}

/* Whether pods leave in this cycle that the group had to wait for: others that make room for it, or its own that move. */
static bool waits_for_leavers(const struct cycle *cycle, int number)
{
	for (size_t i = 0; i < cycle->eviction_count; i++)
		if (cycle->evictions[i].by == number || cycle->evictions[i].group == number)
			return true;
	return false;
}

void reserve_whole_gangs(struct cycle *cycle)
{
	/* Only groups that were looked at have pods that were bound just now. */
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		int number = cycle_work_at(cycle, i);
		struct cycle_group *group = &cycle->groups[number];
		bool reserved = false, fresh = false;
		for (size_t p = 0; p < group->gang.pod_count; p++) {
			reserved |= group->gang.pods[p].state == MEMBER_RESERVED;
			fresh |= group->gang.pods[p].state == MEMBER_RUNNING && !group->was_running[p];
		}
		/* Whoever made room had not started yet, so there is nothing to wait for. */
		if (reserved && is_free(cycle, &group->gang) && !waits_for_leavers(cycle, number)) {
			bind_reserved(cycle, &group->gang);
			reserved = false;
			fresh = true;
		}
		if (fresh)
			reserve_again(cycle, group, reserved);
	}
}

/* ---- the guard ---- */

#define HOLD_STEPS 200000 /* of a search for where to hold */

static void hold_node(struct cycle *cycle, int pod_class, int node, struct reserve_hold *hold)
{
	struct cluster *cluster = cycle->cluster;
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++) {
		int64_t free = cluster->resources.items[shape->resource[i]].free[node];
		int64_t amount = free < shape->amount[i] ? free : shape->amount[i];
		if (amount <= 0)
			continue;
		cluster_add_free(cluster, shape->resource[i], node, -amount);
		hold->items[hold->count++] =
			(struct reserve_amount){.resource = shape->resource[i], .node = node, .amount = amount};
	}
	cluster_mark_node_changed(cluster, node);
}

void reserve_hold_for(struct cycle *cycle, int group, struct reserve_hold *hold)
{
	struct cluster *cluster = cycle->cluster;
	const struct gang *gang = &cycle->groups[group].gang;
	struct place_bias bias = {0};
	bias_build_from_free(cluster, gang, true, cycle->arena, &bias);
	/* Asked in every cycle: a search that takes longer is not worth it. */
	uint64_t budget = cycle->budget && cycle->budget < HOLD_STEPS ? cycle->budget : HOLD_STEPS;
	struct place_options options = {.budget = budget, .empty_cluster = true, .bias = &bias};
	struct placement placement;
	*hold = (struct reserve_hold){.group = -1};
	if (engine_place(cluster, gang, &options, cycle->arena, &placement) != PLACE_PLACED)
		return;
	hold->group = group;
	hold->items = arena_array(cycle->arena, struct reserve_amount,
	                          (placement.choice_count + placement.coming_count) *
	                                  (cluster->resources.count ? cluster->resources.count : 1));
	for (size_t i = 0; i < placement.choice_count; i++)
		hold_node(cycle, gang->pods[placement.choices[i].pod].pod_class, placement.choices[i].node, hold);
	for (size_t i = 0; i < placement.coming_count; i++)
		hold_node(cycle, placement.coming[i].pod_class, placement.coming[i].node, hold);
}

void reserve_release(struct cycle *cycle, struct reserve_hold *hold)
{
	for (size_t i = 0; hold->group >= 0 && i < hold->count; i++) {
		cluster_add_free(cycle->cluster, hold->items[i].resource, hold->items[i].node, hold->items[i].amount);
		cluster_mark_node_changed(cycle->cluster, hold->items[i].node);
	}
	hold->group = -1;
	hold->count = 0;
}
