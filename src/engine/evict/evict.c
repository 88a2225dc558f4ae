/* Making room for one group.
 *
 * The units that may go are sorted from the one that hurts least; the shortest prefix that lets the group fit is found by
 * bisection. Then the group is placed, preferring domains and nodes that need no eviction, and every unit the placement
 * can live with returns to its place, the most expensive first. Pods that still have to leave are moved where possible. */
#include "engine/evict/internal.h"

#include "base/clamp.h"
#include "engine/evict/runtime.h"

#include <string.h>

#define MOST_ATTEMPTS 24 /* longer prefixes a consolidation tries when the shortest leaves somebody without a place */

/* ---- trying ---- */

static void lift_unit(struct room *room, const struct victim_unit *unit)
{
	room_charge_unit(room, unit, -1);
	if (unit->reserved)
		cycle_mark(room->run, MARK_RESERVED, unit->group);
	struct gang *gang = &room->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_vacate(room->cycle->cluster, pod->kind, pod->node,
		               unit->reserved ? OCCUPY_RESERVED : OCCUPY_RUNNING);
		pod->state = MEMBER_GONE;
	}
}

static void return_unit(struct room *room, const struct victim_unit *unit)
{
	room_charge_unit(room, unit, 1);
	struct gang *gang = &room->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_occupy(room->cycle->cluster, pod->kind, pod->node,
		               unit->reserved ? OCCUPY_RESERVED : OCCUPY_RUNNING);
		pod->state = unit->reserved ? MEMBER_RESERVED : MEMBER_RUNNING;
	}
}

static void apply(struct room *room, size_t count)
{
	while (room->applied < count)
		lift_unit(room, room->units[room->applied++]);
	while (room->applied > count)
		return_unit(room, room->units[--room->applied]);
}

/* Searches for a place and says what it would count for. */
static bool search(struct room *room, const struct place_options *options, struct arena *arena)
{
	const struct gang *gang = &beneficiary(room)->gang;
	enum place_outcome (*find)(struct cluster *, const struct gang *, const struct place_options *, struct arena *,
	                           struct placement *) = room->grow ? engine_grow : engine_place;
	if (find(room->cycle->cluster, gang, options, arena, &room->placement) != PLACE_PLACED)
		return false;
	cycle_cost_of_placement(room->run, beneficiary(room), &room->placement, &room->cost);
	return true;
}

/* Whether the group fits now, and its queue allows it; where there is a choice, one that it allows. Without `final` any
 * place will do. */
static bool fits(struct room *room, struct arena *arena, bool final)
{
	struct place_allowance allowance;
	struct place_options options = {.budget = room->cycle->budget,
	                                .use_releasing = true,
	                                .bias = final ? &room->bias : NULL};
	if (!search(room, &options, arena))
		return false;
	if (room_queue_allows(room))
		return true;
	if (!room_find_allowance(room, &allowance))
		return false;
	options.allowance = &allowance;
	return search(room, &options, arena) && room_queue_allows(room);
}

static bool fits_with(struct room *room, size_t count)
{
	apply(room, count);
	arena_reset(room->run->scratch);
	return fits(room, room->run->scratch, false);
}

/* Nodes that need no eviction first, then those with few pods to evict. */
static void score_nodes(struct room *room)
{
	int32_t *score = room->bias.node_score;
	for (; room->scored < room->unit_count; room->scored++) {
		const struct victim_unit *unit = room->units[room->scored];
		for (int i = 0; i < unit->pod_count; i++) {
			int node = room->cycle->groups[unit->group].gang.pods[unit->pods[i]].node;
			score[node] -= score[node] <= 0;
		}
	}
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The shortest prefix of more than `low` and at most `high` units that makes the group fit; 0 when none does. Looks at
 * few units first, so that not all are listed and lifted for a small group. */
static size_t shortest_prefix(struct room *room, size_t low, size_t high)
{
	size_t step = beneficiary(room)->gang.pod_count;
	for (size_t next = low + step;; low = next, step *= 8, next = low + step) {
		room_more_units(room, next);
		next = smaller(next, smaller(high, room->unit_count));
		if (next <= low)
			return 0;
		if (fits_with(room, next)) {
			high = next;
			break;
		}
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (fits_with(room, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* ---- who may stay ---- */

static bool has_room(const struct room *room, int kind, int node)
{
	const struct cluster *cluster = room->cycle->cluster;
	return kind_has_room(cluster, kind, node, VIEW_RELEASING) &&
	       rules_tolerate_members(cluster, &beneficiary(room)->gang, kind, node);
}

static bool unit_can_return(struct room *room, const struct victim_unit *unit)
{
	struct gang *gang = &room->cycle->groups[unit->group].gang;
	int back = 0;
	bool fine = true;
	for (; back < unit->pod_count && fine; back++) {
		struct gang_pod *pod = &gang->pods[unit->pods[back]];
		fine = has_room(room, pod->kind, pod->node);
		if (fine)
			cluster_occupy(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RUNNING);
		else
			break;
	}
	for (int i = 0; i < back; i++) { /* leave the real return to return_unit */
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_vacate(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RUNNING);
	}
	return fine;
}

static bool inside_child(const struct gang *gang, int leaf, int child)
{
	while (leaf > child)
		leaf = gang->tree[leaf].parent;
	return leaf == child;
}

/* A unit may return only if what it belongs to has not been given up by a later unit of its group. */
static bool still_has_a_home(const struct room *room, size_t number)
{
	const struct victim_unit *unit = room->units[number];
	const struct gang *gang = &room->cycle->groups[unit->group].gang;
	for (size_t i = number + 1; i < room->applied && room->action != ACTION_CONSOLIDATE; i++) {
		const struct victim_unit *later = room->units[i];
		if (later->group != unit->group || room->kept[i])
			continue;
		if (later->class_ == UNIT_GANG)
			return false;
		for (int p = 0; later->class_ == UNIT_CHILD && p < unit->pod_count; p++)
			if (inside_child(gang, gang->pods[unit->pods[p]].leaf, later->tree))
				return false;
	}
	return true;
}

/* The most expensive first. Groups that move are left alone. */
static void return_what_can_stay(struct room *room)
{
	struct cycle_run *run = room->run;
	cycle_clear_marks(run, MARK_LOST); /* groups that are gone as a whole */
	for (size_t i = room->applied; i-- > 0;) {
		const struct victim_unit *unit = room->units[i];
		if (room->kept[i] || cycle_marked(run, MARK_MOVED, unit->group))
			continue;
		if (!cycle_marked(run, MARK_LOST, unit->group) &&
		    (unit->class_ == UNIT_GANG || still_has_a_home(room, i)) && unit_can_return(room, unit)) {
			return_unit(room, unit);
			room->kept[i] = true;
			if (!room_queue_allows(room)) {
				room->kept[i] = false;
				lift_unit(room, unit);
			}
		}
		if (!room->kept[i] && unit->class_ == UNIT_GANG && room->action != ACTION_CONSOLIDATE)
			cycle_mark(run, MARK_LOST, unit->group);
	}
}

/* ---- deciding ---- */

static void undo_placement(struct room *room)
{
	struct gang *gang = &beneficiary(room)->gang;
	for (size_t i = 0; i < room->placement.choice_count; i++) {
		struct gang_pod *pod = &gang->pods[room->placement.choices[i].pod];
		cluster_vacate(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RESERVED);
		pod->state = MEMBER_WAITING;
	}
}

/* Puts everything back as it was before the attempt. */
static void undo_all(struct room *room)
{
	for (size_t i = 0; i < room->applied; i++)
		if (!room->kept || !room->kept[i])
			return_unit(room, room->units[i]);
	room->applied = 0;
	room->kept = NULL;
}

/* A pod that has to leave its node. One that was bound in this very cycle, or has a reservation only, just waits again. */
static void let_go(struct room *room, int group, int number, int node, bool moved)
{
	struct cycle *cycle = room->cycle;
	struct gang_pod *pod = &cycle->groups[group].gang.pods[number];
	if (!cycle->groups[group].was_running[number]) {
		if (!moved) {
			pod->state = MEMBER_WAITING;
			pod->nominated = -1;
		}
		return;
	}
	cluster_occupy(cycle->cluster, pod->kind, node, OCCUPY_RELEASING);
	cycle_evict(cycle, (struct cycle_eviction){.group = group,
	                                           .pod = number,
	                                           .node = node,
	                                           .by = room->group,
	                                           .action = room->action,
	                                           .moved = moved});
}

/* A pod whose new place is its old one never moves at all. */
static bool stays(struct room *room, const struct moved_pod *moved)
{
	struct gang_pod *pod = &room->cycle->groups[moved->group].gang.pods[moved->pod];
	if (moved->node != moved->from)
		return false;
	if (cycle_marked(room->run, MARK_RESERVED, moved->group))
		return true;
	cluster_vacate(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RESERVED);
	cluster_occupy(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RUNNING);
	pod->state = MEMBER_RUNNING;
	return true;
}

static void record(struct room *room, const struct moves *moves)
{
	const struct cycle_run *run = room->run;
	for (size_t i = 0; i < moves->count; i++) {
		const struct moved_pod *pod = &moves->items[i];
		if (cycle_marked(run, MARK_MOVED, pod->group) && !stays(room, pod))
			let_go(room, pod->group, pod->pod, pod->from, true);
	}
	for (size_t i = 0; i < room->applied; i++) {
		const struct victim_unit *unit = room->units[i];
		const struct gang *gang = &room->cycle->groups[unit->group].gang;
		bool lost = !room->kept[i] && !cycle_marked(run, MARK_MOVED, unit->group);
		for (int k = 0; lost && k < unit->pod_count; k++)
			let_go(room, unit->group, unit->pods[k], gang->pods[unit->pods[k]].node, false);
	}
}

/* Moves, asks the shares and the queues, and commits; or leaves the victims where they are. */
static bool settle_victims(struct room *room, bool optional_moves)
{
	bool *kept = room->kept;
	struct moves moves = {0};
	room->kept = arena_array(room->scratch, bool, room->applied);
	memcpy(room->kept, kept, sizeof(*kept) * room->applied);
	cycle_clear_marks(room->run, MARK_MOVED);
	bool fine = moves_find(room, optional_moves, &moves);
	room_charge_left(room, true, 1); /* what moves is still held */
	if (fine && moves.count && room->action == ACTION_PREEMPT)
		return_what_can_stay(room); /* with more held, more may be beyond the entitlement: see is_swap */
	room->agreed = fine && room_shares_agree(room) && room_queue_allows(room);
	if (room->agreed && room->trial)
		runtime_note(room);
	if (room->agreed && !room->trial) {
		cycle_charge(room->run, beneficiary(room)->queue, &room->cost, 1);
		record(room, &moves);
		return true;
	}
	for (size_t i = 0; i < room->applied; i++)
		if (room->kept[i] && !kept[i])
			lift_unit(room, room->units[i]);
	room->kept = kept;
	room_charge_left(room, true, -1);
	moves_undo(room, &moves);
	cycle_clear_marks(room->run, MARK_MOVED);
	return false;
}

/* With the first `count` units off: place, return, move, ask the queues; commit or leave everything as it was. */
static bool decide(struct room *room, size_t count)
{
	struct cycle *cycle = room->cycle;
	struct cycle_group *own = beneficiary(room);
	apply(room, count);
	score_nodes(room);
	/* A search leaves a lot behind, of which only the places are of use. */
	arena_reset(room->run->scratch);
	if (!fits(room, room->run->scratch, true)) {
		apply(room, 0);
		return false;
	}
	struct place_choice *choices = arena_array(room->scratch, struct place_choice, room->placement.choice_count);
	memcpy(choices, room->placement.choices, room->placement.choice_count * sizeof(*choices));
	room->placement.choices = choices;
	engine_commit(cycle->cluster, &own->gang, &room->placement);
	room->kept = arena_array(room->scratch, bool, room->applied);
	return_what_can_stay(room);
	/* Moving a victim keeps it on the account of its queue: where a limit needs it gone, it is not moved. */
	if (settle_victims(room, true) || (!room->agreed && settle_victims(room, false)))
		return true;
	undo_placement(room);
	undo_all(room);
	return room->agreed;
}

/* Shortest prefix first; where everybody must find a new place, longer ones too. */
static bool try_units(struct room *room, size_t low, size_t count)
{
	size_t shortest = shortest_prefix(room, low, count);
	size_t longest = shortest > room->movable_from ? room->unit_count : shortest;
	bool made = false;
	for (size_t n = shortest, tries = 0; shortest && n <= longest && tries < MOST_ATTEMPTS && !made; n++, tries++)
		made = decide(room, n);
	if (!made)
		apply(room, 0);
	return made;
}

static bool try_swaps(struct room *room)
{
	size_t *cuts = arena_array(room->scratch, size_t, ROOM_CUTS(room->depth));
	size_t count = room_list_cuts(room, cuts), low = 0;
	bool made = false;
	for (size_t i = 0; i < count && !made; low = cuts[i++])
		made = cuts[i] > low && try_units(room, low, cuts[i]);
	return made;
}

/* Moving pods creates no resources: what is free in the whole cluster must cover the least the group could ask for. */
static bool moves_could_help(const struct room *room)
{
	const struct cluster *cluster = room->cycle->cluster;
	const struct gang *gang = &beneficiary(room)->gang;
	int64_t pods = room->grow ? 1 : gang_minimum_pods(gang, 0);
	for (size_t p = 0; !room->grow && p < gang->pod_count; p++)
		pods -= cycle_is_member(&gang->pods[p]);
	pods = pods > 0 ? pods : 1;
	for (size_t r = 0; r < cluster->resources.count; r++) {
		int64_t least = INT64_MAX, sum = 0;
		for (size_t p = 0; p < gang->pod_count && least > 0; p++)
			if (gang->pods[p].state == MEMBER_WAITING) {
				int64_t request = cluster_kind_request(cluster, gang->pods[p].kind, (int)r);
				least = request < least ? request : least;
			}
		if (least <= 0 || least == INT64_MAX)
			continue;
		for (int n = 0; n < cluster->node_count && sum / pods < least; n++) {
			int64_t free = resource_view(cluster, (int)r, n, VIEW_RELEASING);
			sum = clamp_add(sum, free > 0 ? free : 0);
		}
		if (sum / pods < least)
			return false;
	}
	return true;
}

static bool try_all(struct room *room)
{
	if (room->action == ACTION_CONSOLIDATE && !moves_could_help(room))
		return false;
	room_list_units(room);
	if (room->action != ACTION_RECLAIM && !room->unit_count)
		return false;
	bias_from_free(room->cycle->cluster, &beneficiary(room)->gang, false, room->scratch, &room->bias);
	if (fits_with(room, 0)) /* nobody has to go: that is for allocation */
		return false;
	if (room->action == ACTION_PREEMPT)
		return try_swaps(room);
	if (try_units(room, 0, SIZE_MAX))
		return true;
	if (room->action != ACTION_RECLAIM || !room_take_all(room))
		return false;
	apply(room, room->unit_count);
	bool hopeful = moves_could_help(room);
	apply(room, 0);
	if (!hopeful)
		return false;
	room_add_movable(room);
	return room->movable_from < room->unit_count && try_units(room, 0, SIZE_MAX);
}

/* Whether any group could be asked at all, before the units of all of them are listed: another queue's to reclaim from, one of
 * lower priority in the same queue to preempt. */
static bool has_candidates(const struct room *room)
{
	const struct cycle_group *own = beneficiary(room);
	for (size_t g = 0; g < room->cycle->group_count; g++) {
		const struct cycle_group *group = &room->cycle->groups[g];
		if (room->action == ACTION_CONSOLIDATE ||
		    (room->action == ACTION_RECLAIM && group->queue >= 0 && group->queue != own->queue) ||
		    (room->action == ACTION_PREEMPT && group->queue == own->queue && group->priority < own->priority))
			return true;
	}
	return false;
}

/* The index follows what was decided. */
static void note_changes(const struct room *room)
{
	victim_index_mark_changed(room->run->victim_index, room->group);
	for (size_t i = 0; i < room->applied; i++)
		if (!room->kept[i])
			victim_index_mark_changed(room->run->victim_index, room->units[i]->group);
}

/* What is as large as the number of groups is made for the first who has somebody to ask. */
static void open_victim_index(struct cycle_run *run)
{
	if (run->victim_index)
		return;
	run->victim_index = victim_index_create(run, run->cycle->arena);
	for (int i = 0; i < MARK_COUNT; i++) {
		run->marks[i] = arena_array(run->cycle->arena, uint32_t, run->cycle->group_count);
		cycle_clear_marks(run, (enum cycle_mark)i);
	}
}

static bool attempt(struct room *room)
{
	room->scratch = room->run->decision;
	arena_reset(room->scratch);
	cycle_clear_marks(room->run, MARK_RESERVED);
	room_remember_held(room);
	runtime_open(room);
	if (!room_claim_allows(room) || !has_candidates(room))
		return false;
	open_victim_index(room->run);
	size_t tried_from = cluster_recorded(room->cycle->cluster);
	bool made = try_all(room);
	if (!made) /* everything is as it was */
		cluster_unrecord(room->cycle->cluster, tried_from);
	return made;
}

bool room_would_fit(struct room *room, int64_t at)
{
	*room = (struct room){.run = room->run,
	                      .cycle = room->cycle,
	                      .group = room->group,
	                      .action = room->action,
	                      .grow = room->grow,
	                      .at = at,
	                      .first_end = INT64_MAX,
	                      .trial = true};
	return attempt(room);
}

bool room_make(struct cycle_run *run, int group, enum cycle_action action, bool grow)
{
	struct room room = {.run = run, .cycle = run->cycle, .group = group, .action = action, .grow = grow};
	room.at = run->cycle->now;
	room.first_end = INT64_MAX;
	bool made = attempt(&room);
	if (made) {
		note_changes(&room);
	} else if (room.first_end < INT64_MAX) {
		run->cycle->retry_at = room.first_end < run->cycle->retry_at ? room.first_end : run->cycle->retry_at;
		runtime_explain(run, group, action, grow);
	}
	return made;
}
