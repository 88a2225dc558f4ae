/* Owns the losses of groups: their list, and what is left of a group while losses are taken and given back. */
#include "engine/evict/losses.h"

#include <stdlib.h>
#include <string.h>

/* What is left of a group that loses something. */
struct losing_group {
	int number;
	const struct gang *gang;
	bool idle;       /* what may go of it never ran */
	bool whole;      /* it may go as a whole */
	bool keeps;      /* some pods of it are not listed, and stay */
	bool each;       /* every pod for itself, whatever is left */
	bool together;   /* nobody but all of them */
	bool any;        /* any pod or child may be the one that goes; otherwise those that are listed */
	int *members;    /* by tree node: pods, or children that count */
	bool *counts;    /* by tree node: it counts, and so do all above it */
	int *taken;      /* by tree node: losses in it or below it; negative when it is gone as a whole */
	int *single;     /* by pod: its number among all, -1: cannot go */
	int taken_total; /* losses */
};

static bool any_ran(const struct victim_unit *unit)
{
	for (int i = 0; i < unit->pod_count; i++)
		if (unit->of->was_running[unit->pods[i]])
			return true;
	return false;
}

void losses_measure(const struct evict_attempt *attempt, struct victim_unit *unit)
{
	const struct gang *gang = &unit->of->gang;
	memset(unit->amounts, 0, sizeof(unit->amounts));
	for (int i = 0; i < unit->pod_count; i++)
		cycle_add_pod(attempt->run, gang->pods[unit->pods[i]].pod_class, unit->amounts);
	unit->fresh = !any_ran(unit);
}

/* Pods that were reserved or bound in this cycle only have none that leaves its node. */
static bool has_run(const struct cycle_group *group)
{
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_RUNNING && group->was_running[p])
			return true;
	return false;
}

/* ---- the tree ---- */

static void open_tree(const struct evict_attempt *attempt, struct losing_group *group)
{
	const struct gang *gang = group->gang;
	bool *satisfied = arena_array(attempt->scratch, bool, gang->tree_count);
	group->members = arena_array(attempt->scratch, int, gang->tree_count);
	group->counts = arena_array(attempt->scratch, bool, gang->tree_count);
	group->taken = arena_array(attempt->scratch, int, gang->tree_count);
	gang_satisfied(gang, group->members, satisfied);
	for (size_t i = 0; i < gang->tree_count; i++)
		group->counts[i] = satisfied[i] && (i == 0 || group->counts[gang->tree[i].parent]);
}

static bool is_below(const struct gang *gang, int tree, int above)
{
	while (tree > above)
		tree = gang->tree[tree].parent;
	return tree == above;
}

/* What moves is missing for a moment: not from those whose minimum is protected. */
static bool takes_from_minimum(const struct losing_group *group, const struct loss *loss)
{
	return loss->tier != LOSS_NONE || group->keeps;
}

bool losses_may_take(const struct losses *losses, const struct loss *loss)
{
	if (loss->group < 0)
		return true;
	const struct losing_group *group = &losses->groups[loss->group];
	const struct victim_unit *unit = &loss->unit;
	if (unit->extent == UNIT_GANG)
		return group->taken_total == 0;
	if (group->each && loss->tier != LOSS_NONE)
		return true;
	int tree = unit->extent == UNIT_CHILD ? unit->tree : group->gang->pods[unit->pods[0]].leaf;
	if (unit->extent == UNIT_CHILD && group->taken[tree])
		return false;
	for (int at = tree; at >= 0; at = group->gang->tree[at].parent)
		if (group->taken[at] < 0) /* it is gone as a whole */
			return false;
	if (!group->counts[tree] || !takes_from_minimum(group, loss))
		return true; /* it helps nobody, or goes on elsewhere */
	int of = unit->extent == UNIT_CHILD ? group->gang->tree[tree].parent : tree;
	return group->members[of] > group->gang->tree[of].minimum;
}

void losses_take(struct losses *losses, const struct loss *loss, int sign)
{
	enum { ALL = 1 << 20 };
	if (loss->group < 0)
		return;
	struct losing_group *group = &losses->groups[loss->group];
	const struct victim_unit *unit = &loss->unit;
	group->taken_total += sign;
	if (unit->extent == UNIT_GANG) {
		group->taken[0] -= sign * ALL;
		return;
	}
	bool child = unit->extent == UNIT_CHILD;
	int tree = child ? unit->tree : group->gang->pods[unit->pods[0]].leaf;
	if (takes_from_minimum(group, loss))
		group->members[child ? group->gang->tree[tree].parent : tree] -= sign;
	if (child)
		group->taken[tree] -= sign * ALL;
	for (int at = child ? group->gang->tree[tree].parent : tree; at >= 0; at = group->gang->tree[at].parent)
		group->taken[at] += sign;
}

/* ---- the list ---- */

static struct victim_unit begin_unit(const struct evict_attempt *attempt, int number, enum unit_extent extent)
{
	const struct cycle_group *group = &attempt->cycle->groups[number];
	return (struct victim_unit){.group = number,
	                            .extent = extent,
	                            .tree = -1,
	                            .of = group,
	                            .priority = group->priority,
	                            .creation = group->creation};
}

static void add_loss(const struct evict_attempt *attempt, struct losses *losses, size_t group, struct victim_unit unit)
{
	struct loss *loss = &losses->items[losses->count];
	int *singles = arena_array(attempt->scratch, int, (size_t)unit.pod_count);
	*loss = (struct loss){.unit = unit, .group = (int)group, .singles = singles, .single_count = unit.pod_count};
	for (int i = 0; i < unit.pod_count; i++)
		singles[i] = losses->groups[group].single[unit.pods[i]];
	loss->pods = unit.pod_count;
	loss->unit.sequence = (int)losses->count++;
	losses_measure(attempt, &loss->unit);
}

/* A unit of pods that never ran; nobody has to leave for it. */
static void add_free(const struct evict_attempt *attempt, struct losses *losses, size_t group,
                     const struct victim_unit *unit)
{
	int *single = arena_array(attempt->scratch, int, 1);
	*single = (int)losses->single_count;
	losses->singles[losses->single_count++] = *unit;
	losses->items[losses->count++] =
		(struct loss){.unit = *unit, .group = (int)group, .singles = single, .single_count = 1};
}

/* One pod on its own, and the loss of it. The youngest first. */
static void add_pods(const struct evict_attempt *attempt, struct losses *losses, size_t number)
{
	struct losing_group *group = &losses->groups[number];
	for (size_t p = group->gang->pod_count; p-- > 0;) {
		if (group->single[p] < 0)
			continue;
		struct victim_unit unit = begin_unit(attempt, group->number, UNIT_POD);
		unit.pods = arena_array(attempt->scratch, int, 1);
		unit.pods[unit.pod_count++] = (int)p;
		losses_measure(attempt, &unit);
		group->single[p] = (int)losses->single_count;
		losses->singles[losses->single_count++] = unit;
		int leaf = group->gang->pods[p].leaf;
		/* A gang below its minimum goes as a whole: it may be one that has grown. */
		if (group->together || (!group->counts[0] && !group->each))
			continue;
		if (group->each || !group->counts[leaf] || group->members[leaf] > group->gang->tree[leaf].minimum)
			add_loss(attempt, losses, number, unit);
	}
}

static void add_child(const struct evict_attempt *attempt, struct losses *losses, size_t number, int child)
{
	struct losing_group *group = &losses->groups[number];
	struct victim_unit unit = begin_unit(attempt, group->number, child ? UNIT_CHILD : UNIT_GANG);
	unit.tree = child ? child : -1;
	unit.pods = arena_array(attempt->scratch, int, group->gang->pod_count);
	for (size_t p = 0; p < group->gang->pod_count; p++)
		if (group->gang->pods[p].state == MEMBER_RUNNING &&
		    is_below(group->gang, group->gang->pods[p].leaf, child)) {
			if (group->single[p] < 0)
				return; /* part of it must stay */
			unit.pods[unit.pod_count++] = (int)p;
		}
	if (unit.pod_count)
		add_loss(attempt, losses, number, unit);
}

static void add_group(const struct evict_attempt *attempt, struct losses *losses, size_t number)
{
	struct losing_group *group = &losses->groups[number];
	const struct gang *gang = group->gang;
	add_pods(attempt, losses, number);
	for (int i = 1; i < (int)gang->tree_count && !group->each && !group->together; i++) {
		int parent = gang->tree[i].parent;
		if (group->counts[i] && group->members[parent] > gang->tree[parent].minimum &&
		    gang_minimum_pods(gang, i) > 0)
			add_child(attempt, losses, number, i);
	}
	if (group->whole && !group->each && (group->together || !group->counts[0] || gang_minimum_pods(gang, 0) > 0))
		add_child(attempt, losses, number, 0);
}

/* The units of one group, from `units` on, say what may go at all. */
static void open_group(const struct evict_attempt *attempt, const struct victim_unit *const *units, size_t count,
                       struct losing_group *group)
{
	const struct cycle_group *of = &attempt->cycle->groups[group->number];
	group->gang = &of->gang;
	group->single = arena_array(attempt->scratch, int, of->gang.pod_count);
	memset(group->single, -1, of->gang.pod_count * sizeof(int));
	open_tree(attempt, group);
	group->idle = !has_run(of);
	group->any = of->preempt == CYCLE_PREEMPTIBLE;
	group->each = group->any && of->disruption == CYCLE_DISRUPT_SINGLE;
	group->together = of->disruption == CYCLE_DISRUPT_WHOLE;
	for (size_t i = 0; i < count; i++) {
		if (units[i]->group != group->number)
			continue;
		group->idle |= units[i]->reserved;
		group->whole |= units[i]->extent == UNIT_GANG;
		for (int k = 0; k < units[i]->pod_count; k++)
			group->single[units[i]->pods[k]] = 0;
	}
	for (size_t p = 0; p < of->gang.pod_count; p++)
		group->keeps |= of->gang.pods[p].state == MEMBER_RUNNING && group->single[p] < 0;
	for (size_t p = 0; group->any && p < of->gang.pod_count; p++)
		group->single[p] = of->gang.pods[p].state == MEMBER_RUNNING ? 0 : -1;
}

static int compare_losses(const void *left, const void *right)
{
	const struct loss *a = left, *b = right;
	return victims_compare(&a->unit, &b->unit);
}

static void rank_losses(struct losses *losses)
{
	if (losses->count)
		qsort(losses->items, losses->count, sizeof(*losses->items), compare_losses);
	for (size_t i = 1; i < losses->count; i++) {
		const struct victim_unit *a = &losses->items[i - 1].unit, *b = &losses->items[i].unit;
		bool same =
			a->fresh == b->fresh && (a->fresh || (a->extent == b->extent && a->priority == b->priority));
		losses->items[i].tier = losses->items[i - 1].tier + !same;
	}
}

bool losses_list(const struct evict_attempt *attempt, const struct victim_unit *const *units, size_t count, size_t most,
                 struct losses *losses)
{
	struct arena *arena = attempt->scratch;
	size_t pods = 0, trees = 0;
	*losses = (struct losses){.groups = arena_array(arena, struct losing_group, count)};
	cycle_clear_mark(attempt->run, MARK_SEEN);
	for (size_t i = 0; i < count; i++) {
		if (cycle_has_mark(attempt->run, MARK_SEEN, units[i]->group))
			continue;
		cycle_mark(attempt->run, MARK_SEEN, units[i]->group);
		losses->groups[losses->group_count++].number = units[i]->group;
		pods += units[i]->of->gang.pod_count;
		trees += units[i]->of->gang.tree_count;
	}
	if (pods > most)
		return false;
	losses->items = arena_array(arena, struct loss, pods + trees + count);
	losses->singles = arena_array(arena, struct victim_unit, pods + count);
	for (size_t g = 0; g < losses->group_count; g++) {
		open_group(attempt, units, count, &losses->groups[g]);
		if (!losses->groups[g].idle)
			add_group(attempt, losses, g);
	}
	for (size_t i = 0, g = 0; i < count; i++, g = 0) {
		while (losses->groups[g].number != units[i]->group)
			g++;
		if (losses->groups[g].idle)
			add_free(attempt, losses, g, units[i]);
	}
	rank_losses(losses);
	return true;
}

int losses_find_single(const struct losses *losses, int group, int pod, int *among)
{
	for (size_t g = 0; g < losses->group_count; g++)
		if (losses->groups[g].number == group) {
			*among = (int)g;
			return losses->groups[g].single[pod];
		}
	*among = -1;
	return -1;
}

/* ---- as units ---- */

static bool is_within(const struct victim_unit *unit, const struct loss *loss)
{
	if (unit->group != loss->unit.group)
		return false;
	for (int i = 0; i < unit->pod_count; i++) {
		bool found = false;
		for (int k = 0; k < loss->unit.pod_count && !found; k++)
			found = loss->unit.pods[k] == unit->pods[i];
		if (!found)
			return false;
	}
	return true;
}

/* What is left of a child when all that is listed of it has gone on its own. */
static void append_rest(struct evict_attempt *attempt, const struct loss *loss, size_t first)
{
	struct victim_unit *rest = arena_new(attempt->scratch, struct victim_unit);
	*rest = loss->unit;
	rest->pods = arena_array(attempt->scratch, int, (size_t)loss->unit.pod_count);
	rest->pod_count = 0;
	for (int k = 0; k < loss->unit.pod_count; k++) {
		bool gone = false;
		for (size_t i = first; i < attempt->unit_count; i++)
			for (int p = 0; p < attempt->units[i]->pod_count; p++)
				gone |= attempt->units[i]->pods[p] == loss->unit.pods[k];
		if (!gone)
			rest->pods[rest->pod_count++] = loss->unit.pods[k];
	}
	losses_measure(attempt, rest);
	if (rest->pod_count)
		attempt->units[attempt->unit_count++] = rest;
}

void losses_append(struct evict_attempt *attempt, const struct victim_unit *const *listed, size_t count,
                   const struct loss *loss)
{
	size_t first = attempt->unit_count;
	if (loss->unit.extent == UNIT_POD) {
		attempt->units[attempt->unit_count++] = &loss->unit;
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (is_within(listed[i], loss))
			attempt->units[attempt->unit_count++] = listed[i];
	append_rest(attempt, loss, first);
}
