/* Owns the places kept for pods that were moved, from the eviction until their owner has created them again. */
#include "engine/cycle/moved_places.h"

#include "base/clock.h"
#include "engine/cluster/internal.h"
#include "engine/cycle/refusal_cache.h"

#define NODES_NAMED 3 /* in a reason, before it says "and n more" */

/* ---- which count ---- */

static int count_running(const struct gang *gang, int leaf, int node)
{
	int count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		count += gang->pods[p].state == MEMBER_RUNNING && gang->pods[p].leaf == leaf &&
		         (node < 0 || gang->pods[p].node == node);
	return count;
}

static int count_members(const struct gang *gang, int leaf)
{
	int count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		count += cycle_is_member(&gang->pods[p]) && gang->pods[p].leaf == leaf;
	return count;
}

/* How many of the places before this one are for the same leaf and still count; on the same node, if one is given. */
static int count_before(const struct cycle_group *group, size_t number, int node)
{
	int count = 0;
	for (size_t i = 0; i < number; i++) {
		const struct cycle_place *place = &group->places[i];
		count += place->leaf == group->places[number].leaf && place->state != PLACE_OVER &&
		         (node < 0 || place->at == node);
	}
	return count;
}

static int count_kept_on(const struct cycle_group *group, int leaf, int node)
{
	int count = 0;
	for (size_t i = 0; i < group->place_count; i++)
		count += group->places[i].leaf == leaf && group->places[i].at == node;
	return count;
}

/* What starts whole needs the room for as long as it waits for the others, which its owner makes when it likes. */
static bool is_held_on(const struct gang *gang, const struct cycle_place *place)
{
	bool runs = false;
	for (size_t p = 0; p < gang->pod_count && !runs; p++)
		runs = gang->pods[p].state == MEMBER_RUNNING;
	return runs && place->coming && gang->starts_whole;
}

/* A place is over when its time is, when its node is of no use any more, when a pod of the leaf has come to the node
 * since, or when the leaf has all of its pods again, wherever they are. A clock that was set back ends it too. */
static bool is_over(const struct cycle *cycle, const struct cycle_group *group, size_t number)
{
	const struct cycle_place *place = &group->places[number];
	const struct gang *gang = &group->gang;
	const struct cluster_node_data *node = place->at < 0 ? NULL : &cycle->cluster->nodes[place->at];
	bool in_time = (cycle->now < place->until && cycle->now >= place->since) || is_held_on(gang, place);
	if (!node || !node->ready || node->unschedulable || !in_time)
		return true;
	int came = count_running(gang, place->leaf, place->at) - place->before;
	return count_before(group, number, place->at) + (came > 0 ? came : 0) >=
	               count_kept_on(group, place->leaf, place->at) ||
	       count_before(group, number, -1) >= place->wanted - count_running(gang, place->leaf, -1);
}

/* ---- nominations ---- */

static bool is_given(const struct cycle_group *group, size_t count, int pod)
{
	for (size_t i = 0; i < count; i++)
		if (group->places[i].pod == pod)
			return true;
	return false;
}

/* Whether a pod of the one class needs nothing that the other did not. */
static bool fits_into(const struct cluster *cluster, int pod_class, int place)
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++)
		if (shape->amount[i] > cluster_pod_class_request(cluster, place, shape->resource[i]))
			return false;
	return true;
}

/* The pod the place is for: one that is nominated for its node, else the first that could use it. */
static int find_pod(const struct cycle *cycle, const struct cycle_group *group, const struct cycle_place *place)
{
	const struct gang *gang = &group->gang;
	int first = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		if (pod->state != MEMBER_WAITING || pod->leaf != place->leaf ||
		    is_given(group, group->place_count, (int)p))
			continue;
		if (pod->nominated == place->at)
			return (int)p;
		if (first < 0 && pod->nominated < 0 && fits_into(cycle->cluster, pod->pod_class, place->pod_class))
			first = (int)p;
	}
	return first;
}

static void nominate(struct cycle *cycle, struct cycle_group *group)
{
	for (size_t i = 0; i < group->place_count; i++) {
		group->places[i].state = PLACE_OVER;
		group->places[i].pod = -1;
		group->places[i].own = group->places[i].fresh = false;
		group->places[i].at = cluster_find_node(cycle->cluster, group->places[i].node);
	}
	for (size_t i = 0; i < group->place_count; i++)
		if (!is_over(cycle, group, i))
			group->places[i].state = PLACE_LIFTED;
	for (size_t i = 0; i < group->place_count; i++) {
		struct cycle_place *place = &group->places[i];
		place->pod = place->state == PLACE_LIFTED ? find_pod(cycle, group, place) : -1;
		if (place->pod < 0 || group->gang.pods[place->pod].nominated >= 0)
			continue;
		group->gang.pods[place->pod].nominated = place->at;
		place->own = true;
	}
}

void moved_places_nominate(struct cycle *cycle)
{
	cycle->kept = 0;
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		if (group->place_count)
			nominate(cycle, group);
	}
}

bool moved_places_nominated(const struct cycle_group *group)
{
	for (size_t i = 0; i < group->place_count; i++)
		if (group->places[i].pod >= 0 && group->places[i].own)
			return true;
	return false;
}

bool moved_places_withdraw(struct cycle_group *group)
{
	bool taken = false;
	for (size_t i = 0; i < group->place_count; i++) {
		struct cycle_place *place = &group->places[i];
		if (place->pod < 0 || !place->own)
			continue;
		group->gang.pods[place->pod].nominated = -1;
		place->own = false;
		taken = true;
	}
	return taken;
}

/* ---- occupying ---- */

static void set_kept(struct cycle *cycle, struct cycle_place *place, bool kept)
{
	if (kept)
		cluster_occupy(cycle->cluster, place->pod_class, place->at, OCCUPY_RESERVED);
	else
		cluster_vacate(cycle->cluster, place->pod_class, place->at, OCCUPY_RESERVED);
	cycle->kept += kept ? 1 : (size_t)-1;
	place->state = kept ? PLACE_KEPT : PLACE_LIFTED;
}

static int count_kept(const struct cycle_group *group, int leaf)
{
	int count = 0;
	for (size_t i = 0; i < group->place_count; i++)
		count += group->places[i].leaf == leaf && group->places[i].state == PLACE_KEPT;
	return count;
}

/* Whether the place is kept again: no pod of its group has it, the leaf still lacks one, and nothing else is there. */
static bool is_wanted(const struct cycle *cycle, const struct cycle_group *group, const struct cycle_place *place)
{
	const struct gang *gang = &group->gang;
	if (place->pod >= 0 && cycle_is_member(&gang->pods[place->pod]) && gang->pods[place->pod].node == place->at)
		return false;
	return count_kept(group, place->leaf) < place->wanted - count_members(gang, place->leaf) &&
	       pod_class_fits_node(cycle->cluster, place->pod_class, place->at, VIEW_RELEASING);
}

void moved_places_occupy(struct cycle *cycle)
{
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		for (size_t k = 0; k < group->place_count; k++)
			if (group->places[k].state == PLACE_LIFTED && is_wanted(cycle, group, &group->places[k]))
				set_kept(cycle, &group->places[k], true);
	}
}

/* A member that came gives the others time again. Before the room of this cycle is forgotten. */
static void renew(const struct cycle *cycle, struct cycle_group *group, struct cycle_place *place)
{
	bool came = false;
	for (size_t p = 0; p < group->gang.pod_count && !came; p++)
		came = group->gang.pods[p].leaf == place->leaf && group->gang.pods[p].state == MEMBER_RUNNING &&
		       !group->was_running[p];
	if (place->fresh) {
		place->before = count_running(&group->gang, place->leaf, place->at);
	} else if (came && cycle->hold_for > 0) {
		place->since = cycle->now;
		place->until = cycle->now + cycle->hold_for;
	}
}

void moved_places_release(struct cycle *cycle)
{
	for (size_t i = 0; cycle->kept > 0 && i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		for (size_t k = 0; k < group->place_count; k++)
			if (group->places[k].state == PLACE_KEPT) {
				set_kept(cycle, &group->places[k], false);
				group->places[k].state = PLACE_KEPT;
				if (group->places[k].coming)
					renew(cycle, group, &group->places[k]);
			}
	}
}

static int count_waiting(const struct gang *gang, int leaf)
{
	int count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		count += gang->pods[p].state == MEMBER_WAITING && gang->pods[p].leaf == leaf;
	return count;
}

static void charge(struct cycle_run *run, const struct cycle_group *group, const struct cycle_place *place, int sign)
{
	struct cycle_cost cost = {0};
	cycle_add_pod(run, place->pod_class, cost.amounts);
	cycle_charge(run, group->queue, &cost, sign);
}

void moved_places_lift(struct cycle_run *run, struct cycle_group *group)
{
	/* Room for those to come is searched anew together with a place for those that are there. */
	bool started = group->place_count > 0 && gang_root_satisfied(&group->gang);
	for (size_t i = 0; i < group->place_count; i++) {
		struct cycle_place *place = &group->places[i];
		int lifted = 0;
		for (size_t k = 0; k < i; k++)
			lifted += group->places[k].leaf == place->leaf && group->places[k].state == PLACE_LIFTED;
		int waiting = place->state == PLACE_KEPT ? count_waiting(&group->gang, place->leaf) : 0;
		if (place->state != PLACE_KEPT || (place->coming ? started && waiting == 0 : lifted >= waiting))
			continue;
		set_kept(run->cycle, place, false);
		charge(run, group, place, -1);
	}
}

void moved_places_restore(struct cycle_run *run, struct cycle_group *group)
{
	for (size_t i = 0; i < group->place_count; i++) {
		struct cycle_place *place = &group->places[i];
		if (place->state != PLACE_LIFTED || !is_wanted(run->cycle, group, place))
			continue;
		set_kept(run->cycle, place, true);
		charge(run, group, place, 1);
	}
}

/* ---- pods to come ---- */

/* Room that was held before and is not occupied now gives way to what was just found. */
static void replace_lifted(struct cycle_group *group, const struct placement *placement)
{
	for (size_t i = 0; i < placement->coming_count; i++)
		for (size_t k = 0; k < group->place_count; k++)
			if (group->places[k].coming && group->places[k].state == PLACE_LIFTED &&
			    group->places[k].leaf == placement->coming[i].leaf)
				group->places[k].state = PLACE_OVER;
}

void moved_places_hold(struct cycle_run *run, struct cycle_group *group, const struct placement *placement)
{
	struct cycle *cycle = run->cycle;
	struct cycle_cost cost = {0};
	if (!placement->coming_count || placement->coming_count > PLACES_MOST_HELD || cycle->hold_for <= 0)
		return;
	for (size_t i = 0; i < placement->coming_count; i++)
		cycle_add_pod(run, placement->coming[i].pod_class, cost.amounts);
	if (!cycle_queue_has_room(run, group->queue, &cost))
		return;
	replace_lifted(group, placement);
	size_t count = group->place_count;
	struct cycle_place *places = arena_array(cycle->arena, struct cycle_place, count + placement->coming_count);
	for (size_t i = 0; i < count; i++)
		places[i] = group->places[i];
	group->places = places;
	for (size_t i = 0; i < placement->coming_count; i++) {
		const struct place_coming *coming = &placement->coming[i];
		struct cycle_place *place = &places[group->place_count];
		*place = (struct cycle_place){.leaf = coming->leaf,
		                              .pod_class = coming->pod_class,
		                              .node = cluster_node_name(cycle->cluster, coming->node),
		                              .wanted = group->gang.tree[coming->leaf].expected,
		                              .since = cycle->now,
		                              .until = cycle->now + cycle->hold_for,
		                              .coming = true,
		                              .fresh = true,
		                              .at = coming->node,
		                              .pod = -1,
		                              .state = PLACE_LIFTED};
		group->place_count++;
		if (!is_wanted(cycle, group, place)) { /* room that was held before is still there */
			group->place_count--;
			continue;
		}
		set_kept(cycle, place, true);
		charge(run, group, place, 1);
	}
	refusal_cache_disturb(cycle);
}

bool moved_places_concern(const struct cycle_group *group)
{
	for (size_t i = 0; i < group->place_count; i++)
		if (group->places[i].state == PLACE_KEPT || group->places[i].state == PLACE_LIFTED)
			return true;
	return false;
}

/* ---- explaining ---- */

static const char *describe(struct cycle *cycle, struct cycle_place *const *kept, struct cycle_group *const *of,
                            size_t count)
{
	const char *text = "";
	for (size_t i = 0; i < count && i < NODES_NAMED; i++) {
		char until[32];
		clock_print_rfc3339(kept[i]->until / CLOCK_SECOND, until);
		bool open = is_held_on(&of[i]->gang, kept[i]);
		text = arena_printf(cycle->arena, "%s%son node %s for %s until %s", text, i ? ", " : "", kept[i]->node,
		                    gang_title(&of[i]->gang, cycle->arena), open ? "they are there" : until);
	}
	return count > NODES_NAMED ? arena_printf(cycle->arena, "%s and %zu more", text, count - NODES_NAMED) : text;
}

void moved_places_explain(struct cycle *cycle, const struct gang *gang, bool grow, struct reasons *reasons)
{
	enum { STEPS = 20000 };
	size_t count = 0;
	if (!cycle->kept)
		return;
	struct cycle_place **kept = arena_array(cycle->arena, struct cycle_place *, cycle->kept);
	struct cycle_group **of = arena_array(cycle->arena, struct cycle_group *, cycle->kept);
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		for (size_t k = 0; k < group->place_count; k++)
			if (group->places[k].state == PLACE_KEPT) {
				of[count] = group;
				kept[count++] = &group->places[k];
			}
	}
	for (size_t i = 0; i < count; i++)
		set_kept(cycle, kept[i], false);
	struct place_options options = {.budget = STEPS};
	struct placement placement;
	struct arena *scratch = arena_create();
	enum place_outcome outcome = grow ? engine_grow(cycle->cluster, gang, &options, scratch, &placement)
	                                  : engine_place(cycle->cluster, gang, &options, scratch, &placement);
	arena_destroy(scratch);
	for (size_t i = 0; i < count; i++)
		set_kept(cycle, kept[i], true);
	bool moved = false;
	for (size_t i = 0; i < count; i++)
		moved |= !kept[i]->coming;
	if (outcome == PLACE_PLACED)
		reason_add(reasons, cycle->arena,
		           (struct reason){.code = REASON_KEPT,
		                           .message = arena_printf(
						   cycle->arena, "it would fit, but %s: %s",
						   moved ? "places are kept for pods that were moved and that their "
							   "owners have to create again"
							 : "room is held for pods that are still to come",
						   describe(cycle, kept, of, count))});
}
