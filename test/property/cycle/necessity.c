/* Necessity: no unit that was given up could return to its old nodes beside everything that stays.
 *
 * A unit is a pod, a child or a gang that was given up: what is left of the gang must be of use without it. Where a gang moves it
 * is the engine's own notion (engine/victims.h), applied to the state before the decision. */
#include "inspect.h"

#include "engine/evict/victims.h"

#include <string.h>

static const struct cycle_eviction *find_eviction(const struct decision *decision, int group, int pod)
{
	for (size_t i = 0; i < decision->count; i++)
		if (decision->evictions[i].group == group && decision->evictions[i].pod == pod)
			return &decision->evictions[i];
	return NULL;
}

/* All pods of the unit went; 0 of them did when none. Partly is a failure of its own. */
static int count_gone(const struct decision *decision, const struct victim_unit *unit)
{
	int gone = 0;
	for (int i = 0; i < unit->pod_count; i++)
		gone += find_eviction(decision, unit->group, unit->pods[i]) != NULL;
	return gone;
}

static bool is_moved(const struct decision *decision, int group)
{
	for (size_t i = 0; i < decision->count; i++)
		if (decision->evictions[i].group == group)
			return decision->evictions[i].moved;
	return false;
}

static bool is_inside(const struct gang *gang, int leaf, int node)
{
	while (leaf > node)
		leaf = gang->tree[leaf].parent;
	return leaf == node;
}

/* Whether a later unit took away what this one belongs to. */
static bool lost_its_home(const struct cycle_fixture *fixture, const struct decision *decision,
                          const struct victim_list *units, size_t number)
{
	const struct victim_unit *unit = &units->items[number];
	const struct gang *gang = &fixture->cycle.groups[unit->group].gang;
	for (size_t i = number + 1; i < units->count; i++) {
		const struct victim_unit *later = &units->items[i];
		if (count_gone(decision, later) == 0)
			continue;
		if (later->extent == UNIT_GANG)
			return true;
		for (int k = 0; later->extent == UNIT_CHILD && k < unit->pod_count; k++)
			if (is_inside(gang, gang->pods[unit->pods[k]].leaf, later->tree))
				return true;
	}
	return false;
}

/* The state in which the unit is back. */
static void put_back(const struct victim_unit *unit, const struct picture *before, struct picture *now)
{
	for (int i = 0; i < unit->pod_count; i++)
		now->pods[unit->group][unit->pods[i]] = before->pods[unit->group][unit->pods[i]];
}

static bool node_holds(const struct cycle_fixture *fixture, const struct picture *now, int node)
{
	const struct cycle_case *world = fixture->world;
	const struct instance *base = &world->base;
	int use[INSTANCE_RESOURCES] = {0}, pods = 0;
	for (int i = 0; i < base->other_count; i++) {
		if (base->others[i].node != node || base->others[i].occupancy == W_RELEASING)
			continue;
		pods++;
		for (int r = 0; r < base->resource_count; r++)
			use[r] += base->pod_classes[base->others[i].pod_class].request[r];
	}
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++) {
			const struct spot *spot = &now->pods[g][p];
			if (!picture_is_member(spot) || fixture->built.from_engine[spot->node] != node)
				continue;
			pods++;
			for (int r = 0; r < base->resource_count; r++)
				use[r] += base->pod_classes[world->groups[g].pods[p].pod_class].request[r];
		}
	for (int r = 0; r < base->resource_count; r++)
		if (use[r] > base->nodes[node].capacity[r])
			return false;
	return pods <= base->nodes[node].pods;
}

static bool pod_is_tolerated(const struct cycle_fixture *fixture, const struct picture *now, int group, int pod)
{
	const struct cycle_case *world = fixture->world;
	int pod_class = world->groups[group].pods[pod].pod_class;
	int node = fixture->built.from_engine[now->pods[group][pod].node];
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++) {
			const struct spot *spot = &now->pods[g][p];
			if ((g == group && p == pod) || !picture_is_member(spot))
				continue;
			if (!case_tolerate(&world->base, pod_class, node, world->groups[g].pods[p].pod_class,
			                   fixture->built.from_engine[spot->node]))
				return false;
		}
	return true;
}

static bool levels_hold(const struct cycle_fixture *fixture, const struct picture *now, int group)
{
	struct instance instance;
	case_instance(fixture->world, group, &instance);
	for (int p = 0; p < instance.pod_count; p++) {
		const struct spot *spot = &now->pods[group][p];
		instance.pods[p].state = picture_is_member(spot) ? W_MEMBER_RUNNING : W_WAITING;
		instance.pods[p].node = picture_is_member(spot) ? fixture->built.from_engine[spot->node] : -1;
	}
	return !instance_breaks_levels(&instance);
}

static bool limits_hold(const struct cycle_fixture *fixture, const struct picture *now)
{
	for (int q = 0; q < fixture->world->queue_count; q++) {
		int64_t is[CYCLE_RESOURCES], ignored[CYCLE_RESOURCES];
		picture_charge(fixture, now, q, is, ignored);
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			if (fixture->cycle.queues[q].limit[r] >= 0 && is[r] > fixture->cycle.queues[q].limit[r])
				return false;
	}
	return true;
}

static bool could_stay(const struct cycle_fixture *fixture, const struct victim_unit *unit, const struct picture *now)
{
	for (int i = 0; i < unit->pod_count; i++) {
		int node = fixture->built.from_engine[now->pods[unit->group][unit->pods[i]].node];
		if (!node_holds(fixture, now, node) || !pod_is_tolerated(fixture, now, unit->group, unit->pods[i]))
			return false;
	}
	return levels_hold(fixture, now, unit->group) && limits_hold(fixture, now);
}

static void list_units(struct scene *scene, const struct picture *before, int group, struct victim_list *units)
{
	struct cycle_fixture *fixture = scene->fixture;
	struct gang_pod pods[INSTANCE_PODS];
	struct cycle_group groups[CASE_GROUPS];
	picture_recall(fixture, before, group, &groups[group], pods);
	if (scene->action != ACTION_CONSOLIDATE) {
		struct cycle then = {.groups = groups, .group_count = fixture->cycle.group_count};
		victims_list_group(&then, group, groups[group].preempt == CYCLE_PREEMPTIBLE, fixture->arena, units);
		return;
	}
	units->items = arena_array(fixture->arena, struct victim_unit, INSTANCE_PODS); /* pods move one by one */
	for (size_t p = 0; p < groups[group].gang.pod_count; p++) {
		struct victim_unit *unit = &units->items[units->count++];
		*unit = (struct victim_unit){.group = group,
		                             .tree = -1,
		                             .pods = arena_array(fixture->arena, int, 1),
		                             .pod_count = 1};
		unit->pods[0] = (int)p;
	}
}

/* Whether the pod stood somewhere and does not any more. */
static bool has_gone(const struct decision *decision, int group, size_t pod, const struct picture *before,
                     const struct picture *after)
{
	return find_eviction(decision, group, (int)pod) ||
	       (picture_is_member(&before->pods[group][pod]) && !picture_is_member(&after->pods[group][pod]));
}

/* All pods below the node that have gone, as one unit. False when one of them has stayed. */
static bool add_part(struct cycle_fixture *fixture, const struct gang *gang, const bool *gone, bool *listed, int node,
                     struct victim_unit *unit)
{
	bool whole = true;
	unit->pods = arena_array(fixture->arena, int, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++) {
		if (gang->pods[p].state != MEMBER_RUNNING || !is_inside(gang, gang->pods[p].leaf, node))
			continue;
		whole &= gone[p];
		if (gone[p])
			unit->pods[unit->pod_count++] = (int)p;
		listed[p] = true;
	}
	return whole;
}

/* The topmost part around a leaf that was of use before, and is not any more; -1 when all are. */
static int find_lost_part(const struct gang *gang, const bool *before, const bool *after, int leaf)
{
	int lost = -1;
	for (int at = leaf; at >= 0; at = gang->tree[at].parent)
		lost = before[at] && !after[at] ? at : lost;
	return lost;
}

/* What was given up of a gang that does not move; false when something is left of a part that is of no use without the rest. */
static bool list_given_up(struct scene *scene, const struct decision *decision, int group, const struct picture *before,
                          const struct picture *after, struct victim_list *units)
{
	struct cycle_fixture *fixture = scene->fixture;
	struct gang_pod pods[INSTANCE_PODS], left[INSTANCE_PODS];
	struct cycle_group groups[CASE_GROUPS];
	bool gone[INSTANCE_PODS], listed[INSTANCE_PODS] = {0}, whole = true;
	picture_recall(fixture, before, group, &groups[group], pods);
	const struct gang *gang = &groups[group].gang;
	struct gang rest = *gang;
	bool *was = arena_array(fixture->arena, bool, gang->tree_count);
	bool *is = arena_array(fixture->arena, bool, gang->tree_count);
	rest.pods = left;
	memcpy(left, gang->pods, gang->pod_count * sizeof(*left));
	for (size_t p = 0; p < gang->pod_count; p++) {
		gone[p] = has_gone(decision, group, p, before, after);
		left[p].state = gone[p] ? MEMBER_GONE : left[p].state;
	}
	gang_satisfied(gang, NULL, was);
	gang_satisfied(&rest, NULL, is);
	units->items = arena_array(fixture->arena, struct victim_unit, INSTANCE_PODS);
	for (size_t p = 0; p < gang->pod_count; p++) {
		int part = was[0] ? find_lost_part(gang, was, is, gang->pods[p].leaf) : 0;
		if (!gone[p] || listed[p])
			continue;
		struct victim_unit *unit = &units->items[units->count++];
		*unit = (struct victim_unit){.group = group, .tree = part};
		unit->extent = part < 0 ? UNIT_POD : part == 0 ? UNIT_GANG : UNIT_CHILD;
		if (part >= 0) {
			whole &= add_part(fixture, gang, gone, listed, part, unit);
			continue;
		}
		unit->pods = arena_array(fixture->arena, int, 1);
		unit->pods[unit->pod_count++] = (int)p;
	}
	return whole;
}

static bool check_group(struct scene *scene, const struct decision *decision, int group, const struct picture *before,
                        const struct picture *after)
{
	struct cycle_fixture *fixture = scene->fixture;
	struct victim_list units = {0};
	if (scene->action == ACTION_CONSOLIDATE || is_moved(decision, group))
		list_units(scene, before, group, &units);
	else if (!list_given_up(scene, decision, group, before, after, &units))
		return scene_fail(scene, CYCLE_MINIMUM, "g%d keeps pods that are of no use without those that leave",
		                  group);
	for (size_t i = 0; i < units.count; i++) {
		const struct victim_unit *unit = &units.items[i];
		if (count_gone(decision, unit) == 0)
			continue;
		scene->tally->whole_gangs += unit->extent == UNIT_GANG;
		scene->tally->children += unit->extent == UNIT_CHILD;
		scene->tally->single_pods += unit->extent == UNIT_POD;
		if (scene->action != ACTION_CONSOLIDATE && lost_its_home(fixture, decision, &units, i))
			continue;
		/* What a preemption may swap depends on what moves: a pod may move that, with the others moved, could stay. */
		if (scene->action == ACTION_PREEMPT && is_moved(decision, group))
			continue;
		struct picture now = *after;
		put_back(unit, before, &now);
		scene->tally->returns_tried++;
		if (could_stay(fixture, unit, &now) &&
		    (scene->action != ACTION_PREEMPT || picture_is_swap(fixture, before, &now, decision->by)))
			return scene_fail(scene, CYCLE_UNNEEDED, "g%d-p%d%s could have stayed beside g%d", group,
			                  unit->pods[0], unit->pod_count > 1 ? " and what goes with it" : "",
			                  decision->by);
	}
	return true;
}

bool inspect_necessity(struct scene *scene, const struct decision *decision, const struct picture *before,
                       const struct picture *after)
{
	bool seen[CASE_GROUPS] = {0};
	for (size_t i = 0; i < decision->count; i++) {
		int group = decision->evictions[i].group;
		if (seen[group])
			continue;
		seen[group] = true;
		if (!check_group(scene, decision, group, before, after))
			return false;
	}
	return true;
}
