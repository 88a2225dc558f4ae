/* Owns new places for pods that have to leave: a victim that can run elsewhere is moved, not lost. */
#include "engine/evict/internal.h"

#include "base/clamp.h"

/* Pods of one group that left, as waiting members; those that waited before stay out of it. */
static int reopen_group(struct evict_attempt *attempt, int number, bool *evicted)
{
	struct gang *gang = &attempt->cycle->groups[number].gang;
	int count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING) {
			gang->pods[p].state = MEMBER_GATED;
			evicted[p] = false;
		}
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		if (unit->group != number || attempt->kept[i])
			continue;
		for (int k = 0; k < unit->pod_count; k++, count++) {
			gang->pods[unit->pods[k]].state = MEMBER_WAITING;
			evicted[unit->pods[k]] = true;
		}
	}
	return count;
}

/* Finds new places for every pod of the group that left. All or none. */
static bool move_group(struct evict_attempt *attempt, int number, struct moves *moves)
{
	struct cycle *cycle = attempt->cycle;
	struct gang *gang = &cycle->groups[number].gang;
	if (evict_awaits_pods(attempt, number))
		return false;
	enum member_state *before = arena_array(attempt->scratch, enum member_state, gang->pod_count);
	int *origin = arena_array(attempt->scratch, int, gang->pod_count);
	bool *evicted = arena_array(attempt->scratch, bool, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++) {
		before[p] = gang->pods[p].state;
		origin[p] = gang->pods[p].node;
	}
	int left = reopen_group(attempt, number, evicted);
	size_t mark = moves->count;
	while (left > 0) {
		struct placement placement;
		struct place_options options = {.budget = cycle->budget, .use_releasing = true};
		struct arena *scratch = attempt->run->scratch;
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
			cluster_vacate(cycle->cluster, gang->pods[pod->pod].pod_class, pod->node, OCCUPY_RESERVED);
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

static size_t count_leaving(const struct evict_attempt *attempt)
{
	size_t count = 0;
	for (size_t i = 0; i < attempt->applied; i++)
		count += attempt->kept[i] ? 0 : (size_t)attempt->units[i]->pod_count;
	return count;
}

/* Groups that must not lose anything: some unit of theirs may only be moved. */
static void find_must_move(const struct evict_attempt *attempt)
{
	cycle_clear_mark(attempt->run, MARK_MUST_MOVE);
	for (size_t i = attempt->movable_from; i < attempt->applied; i++)
		if (!attempt->kept[i])
			cycle_mark(attempt->run, MARK_MUST_MOVE, attempt->units[i]->group);
}

static void use_planned(struct evict_attempt *attempt, struct moves *moves)
{
	*moves = *attempt->planned;
	for (size_t i = 0; i < moves->count; i++) {
		const struct moved_pod *moved = &moves->items[i];
		struct gang_pod *pod = &attempt->cycle->groups[moved->group].gang.pods[moved->pod];
		pod->node = moved->node;
		pod->state = MEMBER_RESERVED;
		pod->held = false;
		cluster_occupy(attempt->cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
		cycle_mark(attempt->run, MARK_MOVED, moved->group);
	}
}

bool moves_find_places(struct evict_attempt *attempt, bool optional, struct moves *moves)
{
	if (attempt->planned) {
		use_planned(attempt, moves);
		return true;
	}
	size_t leaving = count_leaving(attempt);
	moves->items = arena_array(attempt->scratch, struct moved_pod, leaving);
	if (attempt->method->moves_only && leaving > evict_most_moves(attempt->run))
		return false;
	if (leaving > 64 * MOST_MOVES) /* moving so many is not worth the search */
		return true;
	cycle_clear_mark(attempt->run, MARK_SEEN);
	find_must_move(attempt);
	for (int pass = 0; pass < (optional ? 2 : 1); pass++) /* those who must find a place choose first */
		for (size_t i = 0; i < attempt->applied; i++) {
			int group = attempt->units[i]->group;
			if (attempt->kept[i] || cycle_has_mark(attempt->run, MARK_SEEN, group) ||
			    cycle_has_mark(attempt->run, MARK_MUST_MOVE, group) != (pass == 0))
				continue;
			cycle_mark(attempt->run, MARK_SEEN, group);
			if (move_group(attempt, group, moves))
				cycle_mark(attempt->run, MARK_MOVED, group);
			else if (pass == 0)
				return false;
		}
	return true;
}

void moves_undo(struct evict_attempt *attempt, const struct moves *moves)
{
	for (size_t i = 0; i < moves->count; i++) {
		struct gang_pod *pod = &attempt->cycle->groups[moves->items[i].group].gang.pods[moves->items[i].pod];
		if (!cycle_has_mark(attempt->run, MARK_MOVED, moves->items[i].group))
			continue;
		cluster_vacate(attempt->cycle->cluster, pod->pod_class, moves->items[i].node, OCCUPY_RESERVED);
		pod->state = MEMBER_GONE;
		pod->node = moves->items[i].from;
	}
}

/* Moving pods creates no resources: what is free in the whole cluster must cover the least the group could ask for. */
bool moves_could_help(struct evict_attempt *attempt)
{
	const struct cluster *cluster = attempt->cycle->cluster;
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	int64_t pods = attempt->grow ? 1 : gang_minimum_pods(gang, 0);
	for (size_t p = 0; !attempt->grow && p < gang->pod_count; p++)
		pods -= cycle_is_member(&gang->pods[p]);
	pods = pods > 0 ? pods : 1;
	for (size_t r = 0; r < cluster->resources.count; r++) {
		int64_t least = INT64_MAX, sum = 0;
		for (size_t p = 0; p < gang->pod_count && least > 0; p++)
			if (gang->pods[p].state == MEMBER_WAITING) {
				int64_t request = cluster_pod_class_request(cluster, gang->pods[p].pod_class, (int)r);
				least = request < least ? request : least;
			}
		if (least <= 0 || least == INT64_MAX)
			continue;
		for (int n = 0; n < cluster->node_count && sum / pods < least; n++) {
			int64_t free = cluster_amount_in_view(cluster, (int)r, n, VIEW_RELEASING);
			sum = clamp_add(sum, free > 0 ? free : 0);
		}
		if (sum / pods < least)
			return false;
	}
	return true;
}
