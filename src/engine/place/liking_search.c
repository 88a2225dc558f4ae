/* Owns the search for a placement of the same pods that they like better: one after the other as if they came alone, from
 * several first nodes, then single moves and swaps. All are counted, so that the answer depends on nothing else. */
#include "engine/place/liking.h"
#include "engine/place/pack.h"
#include "engine/place/rules.h"

#include <stdlib.h>
#include <string.h>

/* Nodes that are looked at for a pod: for placing all in turn once, and for everything after that. */
enum { IN_TURN_LOOKS = 1 << 24, MORE_LOOKS = 1 << 20, LOOKS_PER_STEP = 64, MOST_STARTS = 64, FEW_NODES = 24 };

struct entry { /* a pod that was placed, in the order of the gang */
	int pod, want, shape, kind;
	const struct confine *at;
};

struct plan {
	int *node; /* by entry */
	struct liking_sum sum;
};

struct search {
	struct solver *solver;
	struct liking *liking;
	struct entry *entries;
	int count;
	int64_t most;
	int32_t *scores; /* by node, for one pod after the other */
	uint64_t looks, limit;
	int64_t least_once; /* what pods in turn reach, counted once */
};

/* ---- pods of the placement that was found ---- */

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return (a->pod > b->pod) - (a->pod < b->pod);
}

/* Gives every assignment a pod, the first ones of its leaf and shape or the `only` one, and sorts by pods. */
static void list_entries(struct search *search, int only, struct plan *found)
{
	struct solver *solver = search->solver;
	const struct gang *gang = solver->gang;
	size_t shapes = (size_t)solver->shape_count;
	int *next = arena_array(solver->arena, int, gang->tree_count *shapes); /* pod to look at */
	int *node_of = arena_array(solver->arena, int, gang->pod_count);
	const struct confine **at = arena_array(solver->arena, const struct confine *, (size_t)solver->want_count);
	search->entries = arena_array(solver->arena, struct entry, solver->assigned.count);
	found->node = arena_array(solver->arena, int, solver->assigned.count);
	for (size_t i = 0; i < solver->items.count; i++)
		at[solver->items.items[i].want] = &solver->items.items[i].at;
	for (size_t i = 0; i < solver->assigned.count; i++) {
		const struct assigned *assigned = &solver->assigned.items[i];
		int leaf = solver->wants[assigned->want].tree;
		int *p = &next[(size_t)leaf * shapes + (size_t)assigned->shape];
		*p = only > *p ? only : *p;
		while (gang->pods[*p].leaf != leaf || solver->pod_shape[*p] != assigned->shape)
			++*p; /* as many as were placed are waiting */
		search->entries[search->count++] = (struct entry){.pod = *p,
		                                                  .want = assigned->want,
		                                                  .shape = assigned->shape,
		                                                  .kind = liking_find_kind(search->liking, *p),
		                                                  .at = at[assigned->want]};
		node_of[*p] = assigned->node;
		++*p;
	}
	qsort(search->entries, (size_t)search->count, sizeof(*search->entries), compare_entries);
	for (int e = 0; e < search->count; e++)
		found->node[e] = node_of[search->entries[e].pod];
}

static void put_plan(struct search *search, const struct plan *plan, int sign)
{
	for (int e = 0; e < search->count; e++)
		liking_add(search->liking, search->entries[e].kind, plan->node[e], sign);
}

static void write_assigned(struct search *search, const struct plan *plan)
{
	struct solver *solver = search->solver;
	solver->assigned.count = 0;
	for (int e = 0; e < search->count; e++) {
		const struct entry *entry = &search->entries[e];
		vec_push(&solver->assigned, (struct assigned){.want = entry->want,
		                                              .shape = entry->shape,
		                                              .node = plan->node[e],
		                                              .kind = entry->kind});
	}
}

/* ---- one after the other ---- */

static struct liking_sum try_node(struct search *search, const struct entry *entry, int node)
{
	liking_add(search->liking, entry->kind, node, 1);
	struct liking_sum sum = liking_value(search->liking);
	liking_add(search->liking, entry->kind, node, -1);
	return sum;
}

/* Of nodes that are liked alike: those without GPUs first where the strategy spares them, then the tighter one. */
static bool is_tighter(const struct solver *solver, const struct local_shape *shape, int node, int other)
{
	bool spares =
		shape->score && strategy_spares_gpus(solver->cluster, &solver->cluster->shapes.items[shape->shape]);
	int spared = spares ? shape->score[node] & 1 : 0, other_spared = spares ? shape->score[other] & 1 : 0;
	return spared != other_spared ? spared > other_spared : shape->slots->node[node] < shape->slots->node[other];
}

/* The node that is liked best with the pods placed so far; -1 when there is none. */
static int best_node(struct search *search, const struct entry *entry)
{
	struct solver *solver = search->solver;
	const struct local_shape *shape = &solver->shapes[entry->shape];
	int first, end, best = -1;
	struct liking_sum best_sum = {0};
	const struct topology *topology = solver_topology(solver, pack_narrowest(solver, entry->at, &first, &end));
	for (int p = first; p < end; p++) {
		int node = topology->order[p];
		search->looks++;
		if (shape->slots->node[node] < 1 || !pack_is_inside(solver, entry->at, node) ||
		    (solver->social && !rules_allow_node(solver, shape->pod_class, node)))
			continue;
		struct liking_sum sum = try_node(search, entry, node);
		if (best < 0 || liking_is_better(sum, best_sum) ||
		    (!liking_is_better(best_sum, sum) && is_tighter(solver, shape, node, best))) {
			best = node;
			best_sum = sum;
		}
	}
	return best;
}

/* The node that a pod would get that comes alone after those placed so far; -1 when there is none. It is taken. */
static int take_alone(struct search *search, const struct entry *entry)
{
	struct solver *solver = search->solver;
	struct local_shape *shape = &solver->shapes[entry->shape];
	const int32_t *score = shape->score;
	int nodes = solver->cluster->node_count;
	size_t before = solver->assigned.count;
	search->looks += (uint64_t)nodes;
	shape->score = NULL;
	bool spares = strategy_spares_gpus(solver->cluster, &solver->cluster->shapes.items[shape->shape]);
	if (spares || liking_has_score(search->liking, entry->kind)) {
		for (int n = 0; n < nodes; n++)
			search->scores[n] = (int32_t)liking_score(search->liking, entry->kind, n);
		if (spares)
			strategy_score_spared(solver->cluster, search->scores);
		shape->score = search->scores;
	}
	bool taken = pack_one(solver, &(struct pack_unit){.want = entry->want,
	                                                  .shape = entry->shape,
	                                                  .count = 1,
	                                                  .apart = liking_has_spread(search->liking, entry->kind),
	                                                  .at = entry->at});
	shape->score = score;
	return taken ? solver->assigned.items[before].node : -1;
}

/* The same for a node that is best for all: the first pod on `start` unless that is -1. */
static int take_best(struct search *search, const struct entry *entry, int start)
{
	int node = start >= 0 ? start : best_node(search, entry);
	if (node >= 0)
		pack_take(search->solver, &(struct pack_unit){.want = entry->want, .shape = entry->shape}, node, 1);
	return node;
}

enum order { ALONE, TOGETHER };

/* Places the pods one after the other: each as if it came alone, or where the sum grows most, then the first one on `start` unless
 * that is -1. False when one finds no room. */
static bool place_in_turn(struct search *search, enum order order, int start, struct plan *out)
{
	struct solver *solver = search->solver;
	int placed = 0, node = 0;
	solver->assigned.count = 0;
	for (; placed < search->count && search->looks < search->limit; placed++) {
		const struct entry *entry = &search->entries[placed];
		node = order == ALONE ? take_alone(search, entry) : take_best(search, entry, placed ? -1 : start);
		if (node < 0)
			break;
		liking_add(search->liking, entry->kind, node, 1);
		out->node[placed] = node;
	}
	out->sum = liking_value(search->liking);
	for (int e = 0; e < placed; e++)
		liking_add(search->liking, search->entries[e].kind, out->node[e], -1);
	trail_undo(solver, 0);
	return placed == search->count && pack_is_valid(solver);
}

/* ---- moves and swaps ---- */

/* Whether the node holds what the plan puts there. */
static bool node_holds(struct search *search, const struct plan *plan, int node)
{
	struct solver *solver = search->solver;
	bool holds = true;
	for (int e = 0; e < search->count && holds; e++) {
		const struct entry *entry = &search->entries[e];
		if (plan->node[e] != node)
			continue;
		holds = solver->shapes[entry->shape].slots->node[node] > 0;
		if (holds)
			pack_take(solver, &(struct pack_unit){.want = entry->want, .shape = entry->shape}, node, 1);
	}
	trail_undo(solver, 0);
	return holds;
}

static bool is_fine(struct search *search, const struct plan *plan, int a, int b)
{
	struct solver *solver = search->solver;
	if (!node_holds(search, plan, a) || (b >= 0 && !node_holds(search, plan, b)))
		return false;
	if (!solver->social && !solver->matching)
		return true;
	write_assigned(search, plan);
	return pack_is_valid(solver);
}

static bool is_gain(const struct search *search, struct liking_sum after, struct liking_sum before)
{
	return liking_is_better(after, before) && (after.once >= search->least_once || after.once >= before.once);
}

/* Moves a pod to the node if that is a gain. The plan is on the accounts of what is liked, and stays there. */
static bool try_move(struct search *search, struct plan *plan, int e, int node)
{
	const struct entry *entry = &search->entries[e];
	int from = plan->node[e];
	search->looks++;
	if (node == from || search->solver->shapes[entry->shape].slots->node[node] < 1 ||
	    !pack_is_inside(search->solver, entry->at, node))
		return false;
	liking_add(search->liking, entry->kind, from, -1);
	liking_add(search->liking, entry->kind, node, 1);
	plan->node[e] = node;
	if (is_gain(search, liking_value(search->liking), plan->sum) && is_fine(search, plan, node, -1)) {
		plan->sum = liking_value(search->liking);
		return true;
	}
	plan->node[e] = from;
	liking_add(search->liking, entry->kind, node, -1);
	liking_add(search->liking, entry->kind, from, 1);
	return false;
}

static void exchange(struct search *search, struct plan *plan, int e, int f)
{
	int node = plan->node[e], other = plan->node[f];
	liking_add(search->liking, search->entries[e].kind, node, -1);
	liking_add(search->liking, search->entries[f].kind, other, -1);
	liking_add(search->liking, search->entries[e].kind, other, 1);
	liking_add(search->liking, search->entries[f].kind, node, 1);
	plan->node[e] = other;
	plan->node[f] = node;
}

static bool try_swap(struct search *search, struct plan *plan, int e, int f)
{
	const struct entry *a = &search->entries[e], *b = &search->entries[f];
	search->looks++;
	if (plan->node[e] == plan->node[f] || (a->kind == b->kind && a->shape == b->shape) ||
	    !pack_is_inside(search->solver, a->at, plan->node[f]) ||
	    !pack_is_inside(search->solver, b->at, plan->node[e]))
		return false;
	exchange(search, plan, e, f);
	if (is_gain(search, liking_value(search->liking), plan->sum) &&
	    is_fine(search, plan, plan->node[e], plan->node[f])) {
		plan->sum = liking_value(search->liking);
		return true;
	}
	exchange(search, plan, e, f);
	return false;
}

/* Moves and swaps as long as one is a gain. */
static void polish(struct search *search, struct plan *plan)
{
	bool again = true;
	put_plan(search, plan, 1);
	while (again && plan->sum.each < search->most && search->looks < search->limit) {
		again = false;
		for (int e = 0; e < search->count; e++) {
			int first, end;
			const struct topology *topology =
				solver_topology(search->solver,
			                        pack_narrowest(search->solver, search->entries[e].at, &first, &end));
			for (int p = first; p < end && search->looks < search->limit; p++)
				again |= try_move(search, plan, e, topology->order[p]);
			for (int f = 0; f < e && search->looks < search->limit; f++)
				again |= try_swap(search, plan, e, f);
		}
	}
	put_plan(search, plan, -1);
}

/* ---- the whole ---- */

static struct plan new_plan(const struct search *search)
{
	return (struct plan){.node = arena_array(search->solver->arena, int, (size_t)search->count)};
}

/* Keeps `plan` if it is better than the best so far. */
static void keep_better(const struct search *search, const struct plan *plan, struct plan *best)
{
	if (!is_gain(search, plan->sum, best->sum))
		return;
	best->sum = plan->sum;
	memcpy(best->node, plan->node, sizeof(int) * (size_t)search->count);
}

static int list_starts(const struct search *search, int *starts)
{
	const struct solver *solver = search->solver;
	const int32_t *slots = solver->shapes[search->entries[0].shape].slots->node;
	int count = 0;
	if (solver->cluster->node_count > FEW_NODES)
		return liking_list_domains(search->liking, slots, starts, MOST_STARTS);
	for (int n = 0; n < solver->cluster->node_count; n++)
		if (slots[n] > 0)
			starts[count++] = n;
	return count;
}

/* From other first nodes: near each there may be room for more of them. */
static void try_starts(struct search *search, struct plan *trial, struct plan *best)
{
	int starts[MOST_STARTS], count = list_starts(search, starts);
	for (int i = 0; i < count && best->sum.each < search->most && search->looks < search->limit; i++) {
		if (!pack_is_inside(search->solver, search->entries[0].at, starts[i]) ||
		    !place_in_turn(search, TOGETHER, starts[i], trial))
			continue;
		polish(search, trial);
		keep_better(search, trial, best);
	}
}

/* Of what was found and of pods in turn the better one, which is never worse than those in turn in either way of counting. */
static void start_with(struct search *search, const struct plan *in_turn, struct plan *best)
{
	search->least_once = in_turn->sum.once;
	if (best->sum.each >= in_turn->sum.each && best->sum.once >= in_turn->sum.once)
		return;
	best->sum = in_turn->sum;
	memcpy(best->node, in_turn->node, sizeof(int) * (size_t)search->count);
}

static void improve(struct search *search, struct plan *best)
{
	struct plan trial = new_plan(search);
	search->scores = arena_array(search->solver->arena, int32_t, (size_t)search->solver->cluster->node_count);
	if (place_in_turn(search, ALONE, -1, &trial))
		start_with(search, &trial, best);
	if (search->count == 1 || (!liking_is_mutual(search->liking) && search->solver->shape_count == 1))
		return; /* each has the best node that is left */
	search->limit = search->looks + MORE_LOOKS;
	polish(search, best);
	if (!liking_is_mutual(search->liking))
		return;
	if (place_in_turn(search, TOGETHER, -1, &trial)) {
		polish(search, &trial);
		keep_better(search, &trial, best);
	}
	try_starts(search, &trial, best);
}

struct liking_sum liking_improve(struct solver *solver, struct liking *liking, int only)
{
	struct search search = {.solver = solver, .liking = liking, .least_once = INT64_MIN, .limit = IN_TURN_LOOKS};
	struct plan best;
	trail_undo(solver, 0);
	list_entries(&search, only, &best);
	int *kinds = arena_array(solver->arena, int, (size_t)search.count);
	for (int e = 0; e < search.count; e++)
		kinds[e] = search.entries[e].kind;
	search.most = liking_expect(liking, kinds, (size_t)search.count);
	put_plan(&search, &best, 1);
	best.sum = liking_value(liking);
	put_plan(&search, &best, -1);
	bool single = search.count == 1 && !liking_has_spread(liking, kinds[0]);
	if (best.sum.each < search.most && !single)
		improve(&search, &best);
	write_assigned(&search, &best);
	solver->steps += search.looks / LOOKS_PER_STEP;
	return best.sum;
}
