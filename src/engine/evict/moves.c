/* New places for pods that have to leave: a victim that can run elsewhere is moved, not lost. */
#include "engine/evict/internal.h"

/* Pods of one group that left, as waiting members; those that waited before stay out of it. */
static int reopen_group(struct room *room, int number, bool *evicted)
{
	struct gang *gang = &room->cycle->groups[number].gang;
	int count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING) {
			gang->pods[p].state = MEMBER_GATED;
			evicted[p] = false;
		}
	for (size_t i = 0; i < room->applied; i++) {
		const struct victim_unit *unit = room->units[i];
		if (unit->group != number || room->kept[i])
			continue;
		for (int k = 0; k < unit->pod_count; k++, count++) {
			gang->pods[unit->pods[k]].state = MEMBER_WAITING;
			evicted[unit->pods[k]] = true;
		}
	}
	return count;
}

/* Finds new places for every pod of the group that left. All or none. */
static bool move_group(struct room *room, int number, struct moves *moves)
{
	struct cycle *cycle = room->cycle;
	struct gang *gang = &cycle->groups[number].gang;
	enum member_state *before = arena_array(room->scratch, enum member_state, gang->pod_count);
	int *origin = arena_array(room->scratch, int, gang->pod_count);
	bool *evicted = arena_array(room->scratch, bool, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++) {
		before[p] = gang->pods[p].state;
		origin[p] = gang->pods[p].node;
	}
	int left = reopen_group(room, number, evicted);
	size_t mark = moves->count;
	while (left > 0) {
		struct placement placement;
		struct place_options options = {.budget = cycle->budget, .use_releasing = true};
		struct arena *scratch = room->run->scratch;
		arena_reset(scratch);
		enum place_outcome outcome = engine_place(cycle->cluster, gang, &options, scratch, &placement);
		if (outcome == PLACE_NOTHING)
			outcome = engine_grow(cycle->cluster, gang, &options, scratch, &placement);
		if (outcome != PLACE_PLACED)
			break;
		for (size_t i = 0; i < placement.choice_count; i++)
			moves->items[moves->count++] = (struct moved_pod){.group = number,
			                                                  .pod = placement.choices[i].pod,
			                                                  .node = placement.choices[i].node,
			                                                  .from = origin[placement.choices[i].pod]};
		engine_commit(cycle->cluster, gang, &placement);
		left -= (int)placement.choice_count;
	}
	if (left > 0) {
		for (; moves->count > mark; moves->count--) {
			const struct moved_pod *pod = &moves->items[moves->count - 1];
			cluster_vacate(cycle->cluster, gang->pods[pod->pod].kind, pod->node, OCCUPY_RESERVED);
		}
		for (size_t p = 0; p < gang->pod_count; p++) {
			gang->pods[p].state = before[p];
			gang->pods[p].node = origin[p];
		}
		return false;
	}
	for (size_t p = 0; p < gang->pod_count; p++)
		if (before[p] == MEMBER_WAITING)
			gang->pods[p].state = MEMBER_WAITING;
	return true;
}

static size_t count_leaving(const struct room *room)
{
	size_t count = 0;
	for (size_t i = 0; i < room->applied; i++)
		count += room->kept[i] ? 0 : (size_t)room->units[i]->pod_count;
	return count;
}

/* Groups that must not lose anything: some unit of theirs may only be moved. */
static void find_must_move(const struct room *room)
{
	cycle_clear_marks(room->run, MARK_MUST_MOVE);
	for (size_t i = room->movable_from; i < room->applied; i++)
		if (!room->kept[i])
			cycle_mark(room->run, MARK_MUST_MOVE, room->units[i]->group);
}

bool moves_find(struct room *room, bool optional, struct moves *moves)
{
	size_t leaving = count_leaving(room);
	moves->items = arena_array(room->scratch, struct moved_pod, leaving);
	if (room->action == ACTION_CONSOLIDATE && leaving > MOST_MOVES)
		return false;
	if (leaving > 64 * MOST_MOVES) /* moving so many is not worth the search */
		return room->action != ACTION_CONSOLIDATE;
	cycle_clear_marks(room->run, MARK_SEEN);
	find_must_move(room);
	for (int pass = 0; pass < (optional ? 2 : 1); pass++) /* those who must find a place choose first */
		for (size_t i = 0; i < room->applied; i++) {
			int group = room->units[i]->group;
			if (room->kept[i] || cycle_marked(room->run, MARK_SEEN, group) ||
			    cycle_marked(room->run, MARK_MUST_MOVE, group) != (pass == 0))
				continue;
			cycle_mark(room->run, MARK_SEEN, group);
			if (move_group(room, group, moves))
				cycle_mark(room->run, MARK_MOVED, group);
			else if (pass == 0)
				return false;
		}
	return true;
}

void moves_undo(struct room *room, const struct moves *moves)
{
	for (size_t i = 0; i < moves->count; i++) {
		struct gang_pod *pod = &room->cycle->groups[moves->items[i].group].gang.pods[moves->items[i].pod];
		if (!cycle_marked(room->run, MARK_MOVED, moves->items[i].group))
			continue;
		cluster_vacate(room->cycle->cluster, pod->kind, moves->items[i].node, OCCUPY_RESERVED);
		pod->state = MEMBER_GONE;
		pod->node = moves->items[i].from;
	}
}
