/* Making room for one group.
 *
 * The units that may go are sorted from the one that hurts least; the shortest prefix that lets the group fit is found by
 * bisection. Then the group is placed, preferring domains and nodes that need no eviction, and every unit the placement
 * can live with returns to its place, the most expensive first. Pods that still have to leave are moved where possible. */
#include "engine/room_internal.h"

#include <string.h>

#define MOST_ATTEMPTS 24 /* longer prefixes a consolidation tries when the shortest leaves somebody without a place */

/* ---- which units ---- */

static bool may_give(const struct room *room, int number)
{
	const struct cycle_group *victim = &room->cycle->groups[number], *own = beneficiary(room);
	if (number == room->group || victim->preempt == CYCLE_NON_PREEMPTIBLE || victim->blocked)
		return false;
	/* What is reserved or moved in this cycle is settled. */
	for (size_t p = 0; p < victim->gang.pod_count; p++)
		if (victim->gang.pods[p].state == MEMBER_RESERVED)
			return false;
	if (room->action == ACTION_PREEMPT)
		return victim->queue == own->queue && victim->priority < own->priority;
	if (room->action == ACTION_RECLAIM)
		return victim->queue != own->queue && victim->queue >= 0;
	return true;
}

/* Consolidation moves pods one by one: nothing is lost, so minimums do not matter. */
static void list_single_pods(struct room *room, int number)
{
	const struct gang *gang = &room->cycle->groups[number].gang;
	for (size_t p = gang->pod_count; p-- > 0;) {
		if (gang->pods[p].state != MEMBER_RUNNING)
			continue;
		struct victim_unit unit = {.group = number,
		                           .sequence = (int)(gang->pod_count - p),
		                           .tree = -1,
		                           .pod_count = 1};
		unit.pods = arena_array(room->scratch, int, 1);
		unit.pods[0] = (int)p;
		struct victim_list *list = &room->units;
		if (list->count == list->capacity) {
			size_t capacity = list->capacity ? list->capacity * 2 : 64;
			struct victim_unit *items = arena_array(room->scratch, struct victim_unit, capacity);
			if (list->count)
				memcpy(items, list->items, sizeof(*items) * list->count);
			list->items = items;
			list->capacity = capacity;
		}
		list->items[list->count++] = unit;
	}
}

/* Reclaim takes only from queues above what they may keep, judged with all cheaper victims gone. A unit that is refused
 * also closes the later units of its group. What may not be taken may still be moved: it stands at the end. */
static void sort_out_reclaimable(struct room *room)
{
	struct share_claim *claim = &room->run->claim;
	bool *closed = arena_array(room->scratch, bool, room->cycle->group_count);
	struct victim_unit *refused = arena_array(room->scratch, struct victim_unit, room->units.count);
	size_t kept = 0, refused_count = 0;
	for (size_t i = 0; i < room->units.count; i++) {
		struct victim_unit unit = room->units.items[i];
		int64_t amounts[CYCLE_RESOURCES];
		room_unit_amounts(room, &unit, amounts);
		if (closed[unit.group] ||
		    share_claim_take(claim, room->cycle->groups[unit.group].queue, amounts) != SHARE_ALLOWED) {
			closed[unit.group] = true;
			refused[refused_count++] = unit;
			continue;
		}
		room->units.items[kept++] = unit;
	}
	if (refused_count)
		memcpy(room->units.items + kept, refused, refused_count * sizeof(*refused));
	room->movable_from = kept;
}

static void list_units(struct room *room)
{
	for (size_t g = 0; g < room->cycle->group_count; g++) {
		if (!may_give(room, (int)g))
			continue;
		if (room->action == ACTION_CONSOLIDATE)
			list_single_pods(room, (int)g);
		else
			victims_of_group(room->cycle, (int)g, room->cycle->groups[g].preempt == CYCLE_PREEMPTIBLE,
			                 room->scratch, &room->units);
	}
	victims_sort(room->cycle, &room->units);
	room->movable_from = room->units.count;
	if (room->action == ACTION_RECLAIM)
		sort_out_reclaimable(room);
	else if (room->action == ACTION_CONSOLIDATE)
		room->movable_from = 0;
}

/* ---- trying ---- */

static void lift_unit(struct room *room, const struct victim_unit *unit)
{
	room_charge_unit(room, unit, -1);
	struct gang *gang = &room->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_vacate(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RUNNING);
		pod->state = MEMBER_GONE;
	}
}

static void return_unit(struct room *room, const struct victim_unit *unit)
{
	room_charge_unit(room, unit, 1);
	struct gang *gang = &room->cycle->groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		cluster_occupy(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RUNNING);
		pod->state = MEMBER_RUNNING;
	}
}

static void apply(struct room *room, size_t count)
{
	while (room->applied < count)
		lift_unit(room, &room->units.items[room->applied++]);
	while (room->applied > count)
		return_unit(room, &room->units.items[--room->applied]);
}

static bool fits(struct room *room, struct arena *arena)
{
	struct place_options options = {.budget = room->cycle->budget, .use_releasing = true, .bias = &room->bias};
	enum place_outcome (*find)(struct cluster *, const struct gang *, const struct place_options *, struct arena *,
	                           struct placement *) = room->grow ? engine_grow : engine_place;
	if (find(room->cycle->cluster, &beneficiary(room)->gang, &options, arena, &room->placement) != PLACE_PLACED)
		return false;
	memset(room->request, 0, sizeof(room->request));
	for (size_t i = 0; i < room->placement.choice_count; i++)
		cycle_pod_amounts(room->cycle->cluster,
		                  beneficiary(room)->gang.pods[room->placement.choices[i].pod].kind, room->request);
	return room_queue_allows(room);
}

static bool fits_with(struct room *room, size_t count)
{
	struct arena *arena = arena_create();
	apply(room, count);
	bool result = fits(room, arena);
	arena_destroy(arena);
	return result;
}

/* What is free without any eviction, so that placements prefer to need none; then nodes with few pods to evict. */
static void find_bias(struct room *room)
{
	struct cluster *cluster = room->cycle->cluster;
	bias_from_free(cluster, &beneficiary(room)->gang, room->scratch, &room->bias);
	int32_t *score = room->bias.node_score;
	for (int n = 0; n < cluster->node_count; n++)
		score[n] = score[n] >= BIAS_IDLE;
	for (size_t u = 0; u < room->units.count; u++) {
		const struct victim_unit *unit = &room->units.items[u];
		for (int i = 0; i < unit->pod_count; i++) {
			int node = room->cycle->groups[unit->group].gang.pods[unit->pods[i]].node;
			score[node] -= score[node] <= 0;
		}
	}
}

/* The shortest prefix of more than `low` and at most `high` units that makes the group fit; 0 when none does, or when it
 * fits without. */
static size_t shortest_prefix(struct room *room, size_t low, size_t high)
{
	if (!high || (!low && fits_with(room, 0)) || !fits_with(room, high))
		return 0;
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
	const struct shape *shape = &cluster->shapes.items[cluster->kinds.items[kind].shape];
	for (int i = 0; i < shape->request_count; i++)
		if (resource_view(cluster, shape->resource[i], node, VIEW_RELEASING) < shape->amount[i])
			return false;
	return rules_tolerate_members(cluster, &beneficiary(room)->gang, kind, node);
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
	const struct victim_unit *unit = &room->units.items[number];
	const struct gang *gang = &room->cycle->groups[unit->group].gang;
	for (size_t i = number + 1; i < room->applied; i++) {
		const struct victim_unit *later = &room->units.items[i];
		if (later->group != unit->group || room->kept[i] || room->action == ACTION_CONSOLIDATE)
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
	bool *lost = arena_array(room->scratch, bool, room->cycle->group_count); /* groups that are gone as a whole */
	for (size_t i = room->applied; i-- > 0;) {
		const struct victim_unit *unit = &room->units.items[i];
		if (room->kept[i] || (room->moved_group && room->moved_group[unit->group]))
			continue;
		if (!lost[unit->group] && (unit->class_ == UNIT_GANG || still_has_a_home(room, i)) &&
		    unit_can_return(room, unit)) {
			return_unit(room, unit);
			room->kept[i] = true;
			if (!room_queue_allows(room)) {
				room->kept[i] = false;
				lift_unit(room, unit);
			}
		}
		lost[unit->group] |= !room->kept[i] && unit->class_ == UNIT_GANG && room->action != ACTION_CONSOLIDATE;
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
			return_unit(room, &room->units.items[i]);
	room->applied = 0;
	room->kept = NULL;
}

/* A pod that has to leave its node. One that was bound in this very cycle just waits again. */
static void let_go(struct room *room, int group, int number, int node, bool moved)
{
	struct cycle *cycle = room->cycle;
	struct gang_pod *pod = &cycle->groups[group].gang.pods[number];
	if (!cycle->groups[group].was_running[number]) {
		if (!moved)
			pod->state = MEMBER_WAITING;
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
	cluster_vacate(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RESERVED);
	cluster_occupy(room->cycle->cluster, pod->kind, pod->node, OCCUPY_RUNNING);
	pod->state = MEMBER_RUNNING;
	return true;
}

static void record(struct room *room, const struct moves *moves)
{
	const bool *moved_group = room->moved_group;
	for (size_t i = 0; i < moves->count; i++) {
		const struct moved_pod *pod = &moves->items[i];
		if (moved_group[pod->group] && !stays(room, pod))
			let_go(room, pod->group, pod->pod, pod->from, true);
	}
	for (size_t i = 0; i < room->applied; i++) {
		const struct victim_unit *unit = &room->units.items[i];
		const struct gang *gang = &room->cycle->groups[unit->group].gang;
		for (int k = 0; !room->kept[i] && !moved_group[unit->group] && k < unit->pod_count; k++)
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
	room->moved_group = arena_array(room->scratch, bool, room->cycle->group_count);
	bool fine = moves_find(room, optional_moves, &moves);
	room_charge_left(room, true, 1); /* what moves is still held */
	if (fine && moves.count && room->action == ACTION_PREEMPT)
		return_what_can_stay(room); /* with more held, more may be beyond the entitlement: see is_swap */
	if (fine && room_shares_agree(room) && room_queue_allows(room)) {
		cycle_charge(room->run, beneficiary(room)->queue, room->request, room_protects(room), 1);
		record(room, &moves);
		return true;
	}
	for (size_t i = 0; i < room->applied; i++)
		if (room->kept[i] && !kept[i])
			lift_unit(room, &room->units.items[i]);
	room->kept = kept;
	room_charge_left(room, true, -1);
	moves_undo(room, &moves);
	room->moved_group = NULL;
	return false;
}

/* With the first `count` units off: place, return, move, ask the queues; commit or leave everything as it was. */
static bool decide(struct room *room, size_t count)
{
	struct cycle *cycle = room->cycle;
	struct cycle_group *own = beneficiary(room);
	apply(room, count);
	if (!fits(room, room->scratch)) {
		apply(room, 0);
		return false;
	}
	engine_commit(cycle->cluster, &own->gang, &room->placement);
	room->kept = arena_array(room->scratch, bool, room->applied);
	return_what_can_stay(room);
	/* Moving a victim keeps it on the account of its queue: where a limit needs it gone, it is not moved. */
	if (settle_victims(room, true) || settle_victims(room, false))
		return true;
	undo_placement(room);
	undo_all(room);
	return false;
}

/* Shortest prefix first; where everybody must find a new place, longer ones too. */
static bool try_units(struct room *room, size_t low, size_t count)
{
	size_t shortest = shortest_prefix(room, low, count);
	size_t longest = shortest > room->movable_from ? count : shortest;
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

bool room_make(struct cycle_run *run, int group, enum cycle_action action, bool grow)
{
	struct room room = {.run = run, .cycle = run->cycle, .group = group, .action = action, .grow = grow};
	room.scratch = arena_create();
	bool made = false;
	room_remember_held(&room);
	if (room_claim_allows(&room)) {
		list_units(&room);
		if (room.units.count)
			find_bias(&room);
		made = action == ACTION_PREEMPT ? try_swaps(&room)
		                                : room.movable_from && try_units(&room, 0, room.movable_from);
		if (!made && room.movable_from < room.units.count)
			made = try_units(&room, 0, room.units.count);
	}
	arena_destroy(room.scratch);
	return made;
}
