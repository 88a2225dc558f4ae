/* Owns what a group can give up, in units. The tree is shrunk step by step exactly as evictions would shrink it. */
#include "engine/evict/victims.h"

#include <stdlib.h>
#include <string.h>

struct shrink {
	const struct gang *gang;
	int group;
	struct arena *arena;
	struct victim_list *list;
	bool *gone;   /* by pod: not running, or given up already */
	int *members; /* by tree node */
	bool *satisfied;
	int sequence;
};

void victims_add(struct victim_list *list, const struct victim_unit *unit, struct arena *arena)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 16;
		struct victim_unit *items = arena_alloc_raw(arena, capacity * sizeof(*items)); /* filled at once */
		if (list->count)
			memcpy(items, list->items, list->count * sizeof(*items));
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *unit;
}

static struct victim_unit *add_unit(struct shrink *shrink, enum unit_extent extent, int pod_capacity)
{
	struct victim_unit unit = {.group = shrink->group,
	                           .sequence = shrink->sequence++,
	                           .extent = extent,
	                           .tree = -1,
	                           .pods = arena_array(shrink->arena, int, (size_t)pod_capacity)};
	victims_add(shrink->list, &unit, shrink->arena);
	return &shrink->list->items[shrink->list->count - 1];
}

static void count_members(struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	memset(shrink->members, 0, gang->tree_count * sizeof(int));
	for (size_t p = 0; p < gang->pod_count; p++)
		if (!shrink->gone[p])
			shrink->members[gang->pods[p].leaf]++;
	for (size_t i = gang->tree_count; i-- > 0;) {
		shrink->satisfied[i] = shrink->members[i] >= gang->tree[i].minimum;
		if (i > 0 && shrink->satisfied[i])
			shrink->members[gang->tree[i].parent]++;
	}
}

static void take_pod(struct shrink *shrink, size_t pod)
{
	struct victim_unit *unit = add_unit(shrink, UNIT_POD, 1);
	unit->pods[unit->pod_count++] = (int)pod;
	shrink->gone[pod] = true;
}

/* Running pods below a node that does not count help nobody: they go first, the youngest before the others. */
static void take_orphans(struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	bool *useless = arena_array(shrink->arena, bool, gang->tree_count);
	for (size_t i = 0; i < gang->tree_count; i++)
		useless[i] = !shrink->satisfied[i] || (i > 0 && useless[gang->tree[i].parent]);
	for (size_t p = gang->pod_count; p-- > 0;)
		if (!shrink->gone[p] && useless[gang->pods[p].leaf])
			take_pod(shrink, p);
}

/* The leaf that is furthest above its minimum, in proportion; the last one among equals. -1 when none has surplus. */
static int fattest_leaf(const struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	int best = -1;
	for (size_t i = 0; i < gang->tree_count; i++) {
		const struct gang_node *node = &gang->tree[i];
		if (node->child_count || shrink->members[i] <= node->minimum)
			continue;
		if (best < 0) {
			best = (int)i;
			continue;
		}
		const struct gang_node *other = &gang->tree[best];
		bool optional = node->minimum == 0, other_optional = other->minimum == 0;
		bool fatter = optional != other_optional ? optional
		              : optional                 ? shrink->members[i] >= shrink->members[best]
		                                         : (int64_t)shrink->members[i] * other->minimum >=
		                                   (int64_t)shrink->members[best] * node->minimum;
		if (fatter)
			best = (int)i;
	}
	return best;
}

static void take_surplus_pods(struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	int *youngest = arena_array(shrink->arena, int, gang->tree_count); /* where to look on, per leaf */
	for (size_t i = 0; i < gang->tree_count; i++)
		youngest[i] = (int)gang->pod_count - 1;
	for (int leaf; (leaf = fattest_leaf(shrink)) >= 0;) {
		int p = youngest[leaf];
		while (shrink->gone[p] || gang->pods[p].leaf != leaf)
			p--;
		youngest[leaf] = p - 1;
		take_pod(shrink, (size_t)p);
		shrink->members[leaf]--;
	}
}

/* The last satisfied child of the deepest parent that has more of them than it needs. -1 when there is none. */
static int surplus_child(const struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	for (size_t i = gang->tree_count; i-- > 0;) {
		const struct gang_node *node = &gang->tree[i];
		if (!node->child_count || shrink->members[i] <= node->minimum)
			continue;
		for (size_t k = gang->tree_count; k-- > i + 1;)
			if (gang->tree[k].parent == (int)i && shrink->satisfied[k] &&
			    gang_minimum_pods(gang, (int)k) > 0)
				return (int)k;
	}
	return -1;
}

static void take_child(struct shrink *shrink, int child)
{
	const struct gang *gang = shrink->gang;
	struct victim_unit *unit = add_unit(shrink, UNIT_CHILD, (int)gang->pod_count);
	unit->tree = child;
	for (size_t p = 0; p < gang->pod_count; p++) {
		int tree = gang->pods[p].leaf;
		while (tree > child)
			tree = gang->tree[tree].parent;
		if (shrink->gone[p] || tree != child)
			continue;
		unit->pods[unit->pod_count++] = (int)p;
		shrink->gone[p] = true;
	}
}

static void take_rest(struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	struct victim_unit *unit = add_unit(shrink, UNIT_GANG, (int)gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		if (!shrink->gone[p])
			unit->pods[unit->pod_count++] = (int)p;
	if (!unit->pod_count)
		shrink->list->count--;
}

/* Pods that were bound in this very cycle never ran: taking them back costs nothing. One is free to go only if all
 * before it are. */
static void note_costs(const struct cycle_group *group, struct victim_unit *units, size_t count)
{
	bool fresh = true;
	for (size_t i = 0; i < count; i++) {
		for (int k = 0; k < units[i].pod_count; k++)
			fresh &= !group->was_running[units[i].pods[k]];
		units[i].fresh = fresh;
		units[i].of = group;
		units[i].priority = group->priority;
		units[i].creation = group->creation;
	}
}

/* A gang without subgroups, by far the most common one, needs no counting per part: the last pods are the surplus. */
static void take_flat(struct shrink *shrink, bool whole)
{
	const struct gang *gang = shrink->gang;
	int running = 0, minimum = gang->tree[0].minimum;
	for (size_t p = 0; p < gang->pod_count; p++)
		running += gang->pods[p].state == MEMBER_RUNNING;
	size_t p = gang->pod_count;
	for (int surplus = running - minimum; surplus > 0; surplus--) {
		do
			p--;
		while (gang->pods[p].state != MEMBER_RUNNING);
		struct victim_unit *unit = add_unit(shrink, UNIT_POD, 1);
		unit->pods[unit->pod_count++] = (int)p;
		running--;
	}
	if (!whole || !running)
		return;
	struct victim_unit *unit = add_unit(shrink, UNIT_GANG, running);
	for (size_t k = 0; k < p; k++)
		if (gang->pods[k].state == MEMBER_RUNNING)
			unit->pods[unit->pod_count++] = (int)k;
}

/* Gives up everything that the minimum does not need. `gone` says who is not there. */
static void take_surplus(struct shrink *shrink)
{
	const struct gang *gang = shrink->gang;
	shrink->members = arena_array(shrink->arena, int, gang->tree_count);
	shrink->satisfied = arena_array(shrink->arena, bool, gang->tree_count);
	count_members(shrink);
	if (!shrink->satisfied[0])
		return;
	take_orphans(shrink);
	count_members(shrink);
	take_surplus_pods(shrink);
	count_members(shrink);
	for (int child; (child = surplus_child(shrink)) >= 0;) {
		take_child(shrink, child);
		count_members(shrink);
	}
}

/* Each pod for itself, the youngest first: what is left of the gang does not matter. */
static void take_singly(struct shrink *shrink)
{
	for (size_t p = shrink->gang->pod_count; p-- > 0;)
		if (!shrink->gone[p])
			take_pod(shrink, p);
}

/* As the group says its pods are to go, where it says so. */
static void take_as_told(struct shrink *shrink, enum cycle_disruption disruption)
{
	const struct gang *gang = shrink->gang;
	shrink->gone = arena_array(shrink->arena, bool, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		shrink->gone[p] = gang->pods[p].state != MEMBER_RUNNING;
	if (disruption == CYCLE_DISRUPT_SINGLE)
		take_singly(shrink);
	else
		take_rest(shrink);
}

static void take_tree(struct shrink *shrink, bool whole)
{
	const struct gang *gang = shrink->gang;
	shrink->gone = arena_array(shrink->arena, bool, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		shrink->gone[p] = gang->pods[p].state != MEMBER_RUNNING;
	take_surplus(shrink);
	if (whole)
		take_rest(shrink);
}

void victims_mark_core(const struct gang *gang, bool *core)
{
	struct victim_list units = {0};
	struct shrink shrink = {.gang = gang, .arena = arena_create(), .list = &units};
	shrink.gone = arena_array(shrink.arena, bool, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		shrink.gone[p] = gang->pods[p].state != MEMBER_RUNNING && gang->pods[p].state != MEMBER_RESERVED;
	take_surplus(&shrink);
	for (size_t p = 0; p < gang->pod_count; p++)
		core[p] = !shrink.gone[p];
	arena_destroy(shrink.arena);
}

void victims_list_group(const struct cycle *cycle, int group, bool whole, struct arena *arena, struct victim_list *list)
{
	const struct gang *gang = &cycle->groups[group].gang;
	struct shrink shrink = {.gang = gang, .group = group, .arena = arena, .list = list};
	enum cycle_disruption disruption = cycle->groups[group].disruption;
	size_t first = list->count;
	if (disruption != CYCLE_DISRUPT_USUAL && whole)
		take_as_told(&shrink, disruption);
	else if (disruption == CYCLE_DISRUPT_WHOLE)
		return;
	else if (gang->tree_count == 1)
		take_flat(&shrink, whole);
	else
		take_tree(&shrink, whole);
	if (list->count > first)
		note_costs(&cycle->groups[group], list->items + first, list->count - first);
}

int victims_compare(const struct victim_unit *a, const struct victim_unit *b)
{
	if (a->fresh != b->fresh)
		return a->fresh ? -1 : 1;
	if (a->extent != b->extent)
		return a->extent < b->extent ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	if (a->creation != b->creation)
		return a->creation > b->creation ? -1 : 1;
	int order = a->group == b->group ? 0 : cycle_compare(b->of, a->of);
	if (order)
		return order;
	if (a->group != b->group)
		return a->group > b->group ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(left, right);
}

void victims_sort(struct victim_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_units);
}
