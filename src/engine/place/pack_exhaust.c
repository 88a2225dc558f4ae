/* Owns the exhaustive way of putting pods onto nodes: depth first over pods, equal nodes tried once. */
#include "engine/place/pack.h"
#include "engine/place/matching.h"
#include "engine/place/rules.h"

#include <stdlib.h>
#include <string.h>

struct depth {
	int unit;
	int *nodes;
	int node_count, at;
	size_t trail_mark, assigned_mark;
	struct arena_mark memory;
};

/* A leaf that has pods in a unit. */
struct owner {
	int want, count;
};

struct exhaust {
	struct solver *solver;
	struct pack_unit *units; /* of the same shape and confinement: one, unless rules tell pods apart */
	int unit_count;
	VEC(struct owner) * owners; /* per unit */
	bool *demands_more; /* [unit * unit_count + other]: where the other has room, so has the unit; NULL: unknown */
	int *left;          /* per unit: pods still to place */
	VEC(struct depth) depths;
	uint64_t budget;
};

static uint64_t node_signature(const struct exhaust *x, int node)
{
	const struct solver *solver = x->solver;
	uint64_t hash = 0x77;
	for (int s = 0; s < solver->shape_count; s++)
		hash = hash_mix(hash, (uint64_t)solver->shapes[s].slots->node[node]);
	for (int j = solver->shape_count; j < solver->counter_count && solver->counters[j].resource >= 0; j++)
		hash = hash_mix(hash, (uint64_t)cluster_amount_in_view(solver->cluster, solver->counters[j].resource,
		                                                       node, solver->view));
	for (int u = 0; u < x->unit_count; u++)
		if (x->left[u])
			hash = hash_mix(hash, pack_is_inside(solver, x->units[u].at, node));
	return hash;
}

static bool refuted_before(const struct exhaust *x, int unit, int node)
{
	for (size_t d = x->depths.count; d-- > 0 && x->depths.items[d].unit == unit;)
		for (int i = 0; i + 1 < x->depths.items[d].at; i++)
			if (x->depths.items[d].nodes[i] == node)
				return true;
	return false;
}

struct candidate {
	int64_t score;
	int slots;
	int node;
	uint64_t signature;
};

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->slots != b->slots)
		return a->slots < b->slots ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static void list_candidates(struct exhaust *x, struct depth *depth)
{
	struct solver *solver = x->solver;
	const struct pack_unit *unit = &x->units[depth->unit];
	const struct local_shape *shape = &solver->shapes[unit->shape];
	bool tell_apart = solver->social || solver->matching;
	int first, end, count = 0;
	const struct topology *topology = solver_topology(solver, pack_narrowest(solver, unit->at, &first, &end));
	struct candidate *list = base_calloc((size_t)(end - first), sizeof(*list));
	for (int p = first; p < end; p++) {
		int node = topology->order[p];
		if (shape->slots->node[node] < 1 || !pack_is_inside(solver, unit->at, node) ||
		    refuted_before(x, depth->unit, node))
			continue;
		if (solver->social && !rules_allow_node(solver, shape->pod_class, node))
			continue;
		list[count++] = (struct candidate){.score = shape->score ? shape->score[node] : 0,
		                                   .slots = shape->slots->node[node],
		                                   .node = node,
		                                   .signature = tell_apart ? 0 : node_signature(x, node)};
	}
	qsort(list, (size_t)count, sizeof(*list), compare_candidates);
	depth->nodes = arena_array(solver->trial, int, (size_t)count);
	for (int i = 0; i < count; i++) {
		bool equal = false;
		for (int k = 0; k < i && !equal && !tell_apart; k++)
			equal = list[k].signature == list[i].signature;
		if (!equal)
			depth->nodes[depth->node_count++] = list[i].node;
	}
	free(list);
}

/* Slots left for what is still to come: each unit must still fit, together with those whose pods are nowhere smaller. */
static bool rest_fits(const struct exhaust *x)
{
	const struct solver *solver = x->solver;
	for (int u = 0; u < x->unit_count; u++) {
		if (!x->left[u])
			continue;
		const struct slots *slots = solver->shapes[x->units[u].shape].slots;
		const struct confine *at = x->units[u].at;
		int64_t need = x->left[u];
		for (int v = 0; x->demands_more && v < x->unit_count; v++)
			need += x->demands_more[u * x->unit_count + v] ? x->left[v] : 0;
		for (int t = 0; t < solver->topology_count; t++) {
			int64_t have = at->level[t] < 0
			                       ? slots->total
			                       : slots->sums[solver->topologies[t]][at->level[t]][at->domain[t]];
			if (have < need)
				return false;
		}
	}
	return true;
}

static bool descend(struct exhaust *x)
{
	int unit = 0;
	while (unit < x->unit_count && !x->left[unit])
		unit++;
	if (unit == x->unit_count)
		return false;
	struct depth depth = {.unit = unit,
	                      .trail_mark = x->solver->trail.count,
	                      .assigned_mark = x->solver->assigned.count,
	                      .memory = arena_mark(x->solver->trial)};
	list_candidates(x, &depth);
	vec_push(&x->depths, depth);
	return true;
}

static enum verdict exhaust_run(struct exhaust *x)
{
	struct solver *solver = x->solver;
	if (!rest_fits(x))
		return VERDICT_IMPOSSIBLE;
	if (!descend(x))
		return VERDICT_PLACED;
	while (x->depths.count) {
		struct depth *depth = &x->depths.items[x->depths.count - 1];
		if (depth->at > 0) {
			trail_undo(solver, depth->trail_mark);
			solver->assigned.count = depth->assigned_mark;
			x->left[depth->unit]++;
		}
		if (depth->at == depth->node_count) {
			arena_rewind(solver->trial, depth->memory);
			x->depths.count--;
			continue;
		}
		if (++solver->steps > solver->budget || x->budget-- == 0) {
			solver->out_of_budget = solver->steps > solver->budget;
			return VERDICT_EXHAUSTED;
		}
		int node = depth->nodes[depth->at++];
		pack_take(solver, &x->units[depth->unit], node, 1);
		x->left[depth->unit]--;
		if (!rest_fits(x) || (solver->matching && !matching_holds(solver)))
			continue;
		if (!descend(x) && (!solver->social || rules_check_final(solver)))
			return VERDICT_PLACED;
	}
	return VERDICT_IMPOSSIBLE;
}

/* ---- units ---- */

/* A unit as it was given, for finding those that are exchangeable. */
struct given {
	const struct pack_unit *unit;
	int topologies;
	int order;
};

static int compare_places(const struct given *a, const struct given *b)
{
	if (a->unit->shape != b->unit->shape)
		return a->unit->shape < b->unit->shape ? -1 : 1;
	for (int t = 0; t < a->topologies; t++) {
		const struct confine *left = a->unit->at, *right = b->unit->at;
		if (left->level[t] != right->level[t])
			return left->level[t] < right->level[t] ? -1 : 1;
		if (left->level[t] >= 0 && left->domain[t] != right->domain[t])
			return left->domain[t] < right->domain[t] ? -1 : 1;
	}
	return 0;
}

static int compare_given(const void *left, const void *right)
{
	const struct given *a = left, *b = right;
	int order = compare_places(a, b);
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Pods of several leaves that ask for the same at the same place are exchangeable: trying them apart would try every
 * order of them. The units stay in the order of the first of each. */
static void merge_units(struct exhaust *x, const struct pack_unit *units, int count)
{
	struct solver *solver = x->solver;
	struct given *given = arena_array(solver->trial, struct given, (size_t)count);
	int *first = arena_array(solver->trial, int, (size_t)count); /* per unit: the first it is exchangeable with */
	int *merged = arena_array(solver->trial, int, (size_t)count);
	bool apart = solver->social || solver->matching;
	for (int i = 0; i < count; i++)
		given[i] = (struct given){.unit = &units[i], .topologies = solver->topology_count, .order = i};
	if (count > 1)
		qsort(given, (size_t)count, sizeof(*given), compare_given);
	for (int i = 0; i < count; i++) {
		bool same = !apart && i > 0 && compare_places(&given[i - 1], &given[i]) == 0;
		first[given[i].order] = same ? first[given[i - 1].order] : given[i].order;
	}
	x->units = arena_array(solver->trial, struct pack_unit, (size_t)count);
	x->owners = arena_alloc(solver->trial, (size_t)count * sizeof(*x->owners));
	for (int i = 0; i < count; i++) {
		int u = first[i] == i ? x->unit_count++ : merged[first[i]];
		merged[i] = u;
		if (first[i] == i)
			x->units[u] = units[i];
		else
			x->units[u].count += units[i].count;
		vec_push(&x->owners[u], (struct owner){.want = units[i].want, .count = units[i].count});
	}
}

/* What was taken for a unit goes to its leaves, one after the other. */
static void share_out(const struct exhaust *x)
{
	struct solver *solver = x->solver;
	for (int u = 0; u < x->unit_count; u++) {
		size_t owner = 0;
		int given = 0, want = x->units[u].want;
		for (size_t i = 0; i < solver->assigned.count && x->owners[u].count > 1; i++) {
			struct assigned *assigned = &solver->assigned.items[i];
			if (assigned->want != want || assigned->shape != x->units[u].shape)
				continue;
			if (given == x->owners[u].items[owner].count) {
				owner++;
				given = 0;
			}
			assigned->want = x->owners[u].items[owner].want;
			given++;
		}
	}
}

static bool asks_no_less(const struct shape *more, const struct shape *less)
{
	for (int i = 0; i < less->request_count; i++) {
		int64_t amount = 0;
		for (int k = 0; k < more->request_count; k++)
			if (more->resource[k] == less->resource[i])
				amount = more->amount[k];
		if (amount < less->amount[i])
			return false;
	}
	return !less->one_per_node;
}

/* Whether the pods of `more` count against the slots of `less`: each of them would be one of those, if it were smaller. */
static bool counts_too(const struct exhaust *x, const struct pack_unit *less, const struct pack_unit *more)
{
	const struct solver *solver = x->solver;
	const struct shape *shapes = solver->cluster->shapes.items;
	if (!asks_no_less(&shapes[solver->shapes[more->shape].shape], &shapes[solver->shapes[less->shape].shape]))
		return false;
	int first, end;
	const struct topology *topology = solver_topology(solver, pack_narrowest(solver, more->at, &first, &end));
	const int32_t *own = solver->shapes[less->shape].slots->node, *other = solver->shapes[more->shape].slots->node;
	for (int p = first; p < end; p++) {
		int node = topology->order[p];
		if (other[node] > 0 && pack_is_inside(solver, more->at, node) &&
		    (own[node] < 1 || !pack_is_inside(solver, less->at, node)))
			return false;
	}
	return true;
}

static void compare_units(struct exhaust *x)
{
	enum { MANY_UNITS = 32 };
	if (x->solver->topology_count == 0 || x->solver->social || x->unit_count > MANY_UNITS)
		return;
	x->demands_more = arena_array(x->solver->trial, bool, (size_t)(x->unit_count * x->unit_count));
	for (int u = 0; u < x->unit_count; u++)
		for (int v = 0; v < x->unit_count; v++)
			x->demands_more[u * x->unit_count + v] = u != v && counts_too(x, &x->units[u], &x->units[v]);
}

enum verdict pack_exhaust(struct solver *solver, const struct pack_unit *units, int count, uint64_t budget)
{
	struct exhaust x = {.solver = solver, .budget = budget};
	merge_units(&x, units, count);
	compare_units(&x);
	x.left = arena_array(solver->trial, int, (size_t)x.unit_count);
	for (int u = 0; u < x.unit_count; u++)
		x.left[u] = x.units[u].count;
	enum verdict verdict = exhaust_run(&x);
	if (verdict == VERDICT_PLACED)
		share_out(&x);
	for (int u = 0; u < x.unit_count; u++)
		vec_free(&x.owners[u]);
	vec_free(&x.depths);
	return verdict;
}
