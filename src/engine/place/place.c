/* Owns the public face of placement: preferences, surplus, and turning the solver's answer into choices. */
#include "engine/place/place.h"

#include "engine/place/solver.h"

#include <string.h>

/* ---- levels in force ---- */

static void required_levels(const struct gang *gang, struct gang_level *levels)
{
	for (size_t i = 0; i < gang->tree_count; i++)
		levels[i] = gang->tree[i].required;
}

/* A preference in force at `level` (at or above the preferred one) replaces a coarser requirement. */
static void prefer_level(const struct gang *gang, struct gang_level *levels, int node, int level)
{
	const struct gang_node *tree = &gang->tree[node];
	levels[node] = tree->required;
	int floor = tree->required.topology == tree->preferred.topology ? tree->required.level : -1;
	if (level > floor)
		levels[node] = (struct gang_level){.topology = tree->preferred.topology, .level = level};
}

/* Tree nodes with a preference, outermost first, in the order of the spec within a depth. */
static int list_preferences(const struct gang *gang, struct arena *arena, int **list)
{
	int *depth = arena_array(arena, int, gang->tree_count);
	int deepest = 0, count = 0;
	*list = arena_array(arena, int, gang->tree_count);
	for (size_t i = 1; i < gang->tree_count; i++) {
		depth[i] = depth[gang->tree[i].parent] + 1;
		deepest = depth[i] > deepest ? depth[i] : deepest;
	}
	for (int d = 0; d <= deepest; d++)
		for (size_t i = 0; i < gang->tree_count; i++)
			if (depth[i] == d && gang->tree[i].preferred.topology >= 0)
				(*list)[count++] = (int)i;
	return count;
}

/* ---- bias ---- */

/* ---- one decision ---- */

struct decision {
	struct solver solver;
	struct demand demand;
	struct gang_level *levels;
	int *preferences;
	int preference_count;
	struct assigned *best; /* the placement to keep */
	int *best_tree;        /* tree node of each */
	size_t best_count;
	bool preference_exhausted;
	int blocking_tree;
};

/* Along the topology: nodes of a domain stand side by side, whatever they are called. */
static int compare_assigned(const void *left, const void *right, void *context)
{
	const struct assigned *a = left, *b = right;
	const struct topology *topology = context;
	if (a->want != b->want)
		return a->want < b->want ? -1 : 1;
	for (int level = 0; level < topology->level_count; level++) {
		int32_t in = topology->node_domain[level][a->node], other = topology->node_domain[level][b->node];
		if (in != other)
			return in < other ? -1 : 1;
	}
	return (a->node > b->node) - (a->node < b->node);
}

/* Runs one search with the levels in force and keeps the placement when there is one. */
static enum verdict attempt(struct decision *decision, uint64_t budget)
{
	struct solver *solver = &decision->solver;
	solver->budget = solver->steps + budget;
	solver->out_of_budget = false;
	decision->demand.levels = decision->levels;
	if (!demand_build(solver, &decision->demand))
		return VERDICT_IMPOSSIBLE;
	enum verdict verdict = search_run(solver);
	if (verdict == VERDICT_PLACED) {
		decision->best_count = solver->assigned.count;
		decision->best = arena_array(solver->arena, struct assigned, solver->assigned.count);
		decision->best_tree = arena_array(solver->arena, int, solver->assigned.count);
		for (size_t i = 0; i < solver->assigned.count; i++)
			decision->best[i] = solver->assigned.items[i];
		/* Nodes in order, so that the pods of a leaf meet them in order. */
		if (decision->best_count)
			qsort_r(decision->best, decision->best_count, sizeof(*decision->best), compare_assigned,
			        &solver->cluster->topologies[solver->topologies[0]]);
		for (size_t i = 0; i < decision->best_count; i++) {
			decision->best_tree[i] = solver->wants[decision->best[i].want].tree;
		}
	}
	decision->blocking_tree = solver->blocking_tree;
	trail_undo(solver, 0);
	return verdict;
}

static void all_preferred(struct decision *decision)
{
	const struct gang *gang = decision->solver.gang;
	required_levels(gang, decision->levels);
	for (int i = 0; i < decision->preference_count; i++) {
		int node = decision->preferences[i];
		prefer_level(gang, decision->levels, node, gang->tree[node].preferred.level);
	}
}

/* Fixes one preference after the other at the deepest level that still allows a placement. */
static void improve(struct decision *decision, uint64_t budget)
{
	const struct gang *gang = decision->solver.gang;
	for (int i = 0; i < decision->preference_count; i++) {
		int node = decision->preferences[i];
		const struct gang_node *tree = &gang->tree[node];
		int floor = tree->required.topology == tree->preferred.topology ? tree->required.level : -1;
		for (int level = tree->preferred.level; level > floor; level--) {
			prefer_level(gang, decision->levels, node, level);
			enum verdict verdict = attempt(decision, budget);
			if (verdict == VERDICT_PLACED)
				break;
			decision->preference_exhausted |= verdict == VERDICT_EXHAUSTED;
			decision->levels[node] = tree->required;
		}
	}
}

/* The minimum with preferences: all of them at once, else the plain requirements and then one by one. */
static enum verdict solve(struct decision *decision, uint64_t budget)
{
	if (decision->preference_count) {
		all_preferred(decision);
		enum verdict verdict = attempt(decision, budget / 8);
		if (verdict == VERDICT_PLACED)
			return verdict;
	}
	required_levels(decision->solver.gang, decision->levels);
	enum verdict verdict = attempt(decision, budget);
	if (verdict == VERDICT_PLACED && decision->preference_count)
		improve(decision, budget / 8);
	return verdict;
}

/* ---- from assignments to pods ---- */

/* The pods of each leaf, in array order: pods of leaf i are list[first[i]] .. list[first[i + 1] - 1]. */
static int *pods_by_leaf(const struct gang *gang, struct arena *arena, int *first)
{
	int *list = arena_array(arena, int, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		first[gang->pods[p].leaf + 1]++;
	for (size_t i = 0; i < gang->tree_count; i++)
		first[i + 1] += first[i];
	int *fill = arena_array(arena, int, gang->tree_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		list[first[gang->pods[p].leaf] + fill[gang->pods[p].leaf]++] = (int)p;
	return list;
}

/* Choices for the given assignments: within a leaf, earlier pods first; a pod nominated to a chosen node gets it. */
static void choose_pods(struct decision *decision, const bool *keep, struct arena *arena, struct placement *out)
{
	const struct solver *solver = &decision->solver;
	const struct gang *gang = solver->gang;
	int *first = arena_array(arena, int, gang->tree_count + 1);
	int *list = pods_by_leaf(gang, arena, first);
	int *cursor = arena_array(arena, int, gang->tree_count);
	int *node_of = arena_array(arena, int, gang->pod_count);
	bool *placed = arena_array(arena, bool, decision->best_count);
	int only = decision->demand.mode == DEMAND_UNIT ? decision->demand.unit_pod : -1;
	bool nominated = false;
	for (size_t p = 0; p < gang->pod_count; p++) {
		bool usable = solver->pod_shape[p] >= 0 && gang->pods[p].state != MEMBER_COMING;
		node_of[p] = usable && (only < 0 || only == (int)p) ? -1 : -2;
		nominated |= node_of[p] == -1 && gang->pods[p].nominated >= 0;
	}
	for (int pass = nominated ? 0 : 1; pass < 2; pass++) {
		for (size_t i = 0; i < decision->best_count; i++) {
			int leaf = decision->best_tree[i], node = decision->best[i].node;
			if (placed[i] || (keep && !keep[i]))
				continue;
			/* The first pass serves nominations and leaves the cursors alone. */
			int at = first[leaf] + (pass ? cursor[leaf] : 0);
			for (; at < first[leaf + 1]; at++) {
				int p = list[at];
				if (node_of[p] == -1 && solver->pod_shape[p] == decision->best[i].shape &&
				    (pass || gang->pods[p].nominated == node))
					break;
			}
			if (at == first[leaf + 1])
				continue;
			node_of[list[at]] = node;
			placed[i] = true;
			while (first[leaf] + cursor[leaf] < first[leaf + 1] &&
			       node_of[list[first[leaf] + cursor[leaf]]] != -1)
				cursor[leaf]++;
		}
	}
	out->choices = arena_array(arena, struct place_choice, decision->best_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		if (node_of[p] >= 0)
			out->choices[out->choice_count++] = (struct place_choice){.pod = (int)p, .node = node_of[p]};
}

/* Per leaf and local shape the waiting pods, which meet the first of the assigned nodes. */
static int *count_waiting(const struct solver *solver, struct arena *arena)
{
	const struct gang *gang = solver->gang;
	int *left = arena_array(arena, int, gang->tree_count *(size_t)solver->shape_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING)
			left[gang->pods[p].leaf * solver->shape_count + solver->pod_shape[p]]++;
	return left;
}

/* Of a placement of everything, the nodes behind those that waiting pods get: for the pods that are to come. */
static void choose_coming(struct decision *decision, struct arena *arena, struct placement *out)
{
	const struct solver *solver = &decision->solver;
	int *left = count_waiting(solver, arena);
	out->coming = arena_array(arena, struct place_coming, decision->best_count);
	for (size_t i = 0; i < decision->best_count; i++) {
		int leaf = decision->best_tree[i], shape = decision->best[i].shape;
		if (left[leaf * solver->shape_count + shape]-- > 0)
			continue;
		out->coming[out->coming_count++] = (struct place_coming){.leaf = leaf,
		                                                         .pod_class = solver->shapes[shape].pod_class,
		                                                         .node = decision->best[i].node};
	}
}

/* Of a placement of everything, the part that makes up the minimum: first children, first pods. */
static bool *minimum_part(struct decision *decision, struct arena *arena)
{
	const struct gang *gang = decision->solver.gang;
	const struct solver *solver = &decision->solver;
	size_t trees = gang->tree_count;
	int *left = count_waiting(solver, arena);
	int *members = arena_array(arena, int, trees);
	bool *satisfied = arena_array(arena, bool, trees);
	bool *reachable = arena_array(arena, bool, trees);
	bool *wanted = arena_array(arena, bool, trees);
	int *need = arena_array(arena, int, trees);
	gang_satisfied(gang, members, satisfied);
	gang_reachable(gang, need, reachable);
	int *kids_left = arena_array(arena, int, trees);
	for (size_t i = 0; i < trees; i++) {
		int parent = gang->tree[i].parent;
		wanted[i] = !satisfied[i] && reachable[i] && (parent < 0 || (wanted[parent] && kids_left[parent] > 0));
		if (wanted[i] && parent >= 0)
			kids_left[parent]--;
		need[i] = kids_left[i] = gang->tree[i].minimum - members[i];
	}
	bool *keep = arena_array(arena, bool, decision->best_count);
	for (size_t i = 0; i < decision->best_count; i++) {
		int tree = decision->best_tree[i];
		int *waiting = &left[tree * solver->shape_count + decision->best[i].shape];
		keep[i] = wanted[tree] && need[tree] > 0 && *waiting > 0;
		need[tree] -= keep[i];
		*waiting -= keep[i];
	}
	return keep;
}

static bool has_surplus(const struct gang *gang, struct arena *arena)
{
	int *waiting = arena_array(arena, int, gang->tree_count);
	int *members = arena_array(arena, int, gang->tree_count);
	gang_satisfied(gang, members, NULL);
	for (size_t p = 0; p < gang->pod_count; p++)
		waiting[gang->pods[p].leaf] += gang->pods[p].state == MEMBER_WAITING;
	for (size_t i = 0; i < gang->tree_count; i++) {
		const struct gang_node *node = &gang->tree[i];
		if (node->child_count ? node->minimum < node->child_count : members[i] + waiting[i] > node->minimum)
			return true;
	}
	return false;
}

static void decision_init(struct decision *decision, struct cluster *cluster, const struct gang *gang,
                          const struct place_options *options, struct arena *arena)
{
	int view = !options                 ? VIEW_FREE
	           : options->empty_cluster ? VIEW_EMPTY
	           : options->use_releasing ? VIEW_RELEASING
	                                    : VIEW_FREE;
	*decision = (struct decision){.blocking_tree = -1};
	decision->demand.unit_tree = decision->demand.unit_pod = -1;
	solver_init(&decision->solver, cluster, gang, view, 0, arena);
	decision->solver.stop_when_refuted = true;
	decision->solver.bias = options ? options->bias : NULL;
	decision->solver.allowance = options ? options->allowance : NULL;
	decision->levels = arena_array(arena, struct gang_level, gang->tree_count);
	decision->preference_count = list_preferences(gang, arena, &decision->preferences);
}

static void finish(struct decision *decision, struct placement *out)
{
	out->steps += decision->solver.steps;
	out->preference_exhausted |= decision->preference_exhausted;
	out->blocking_node = decision->blocking_tree;
	solver_close(&decision->solver);
}

static enum place_outcome outcome_of(enum verdict verdict)
{
	return verdict == VERDICT_PLACED       ? PLACE_PLACED
	       : verdict == VERDICT_IMPOSSIBLE ? PLACE_IMPOSSIBLE
	                                       : PLACE_EXHAUSTED;
}

/* Everything at once; with all preferences only, unless there is more to come, whose place is worth more. */
static enum verdict find_all(struct decision *decision, bool more, uint64_t budget)
{
	decision->demand.mode = DEMAND_ALL;
	if (more)
		return solve(decision, budget);
	all_preferred(decision);
	return attempt(decision, budget);
}

enum place_outcome engine_place(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                                struct arena *arena, struct placement *out)
{
	*out = (struct placement){.blocking_node = -1, .reserve = options && options->use_releasing};
	if (gang_root_satisfied(gang))
		return out->outcome = PLACE_NOTHING;
	if (!gang_root_reachable(gang))
		return out->outcome = PLACE_NOT_READY;
	uint64_t budget = options && options->budget ? options->budget : PLACE_DEFAULT_BUDGET;
	struct decision decision;
	struct gang whole = *gang;
	bool more = options && options->look_ahead && gang_add_coming(gang, arena, &whole);
	decision_init(&decision, cluster, &whole, options, arena);
	/* If everything fits with every preference, the minimum goes where the surplus can follow. Not with rules between
	 * pods: the minimum might lean on pods that are not part of it. Nor where not everything is allowed. */
	bool leaning = more ? decision.solver.leaning : decision.solver.member_rules;
	if (!leaning && !decision.solver.allowance && (more || has_surplus(gang, arena)) &&
	    find_all(&decision, more, budget / 16) == VERDICT_PLACED) {
		choose_pods(&decision, minimum_part(&decision, arena), arena, out);
		if (more)
			choose_coming(&decision, arena, out);
		finish(&decision, out);
		return out->outcome = PLACE_PLACED;
	}
	decision.demand.mode = DEMAND_MINIMUM;
	enum verdict verdict = solve(&decision, budget);
	if (verdict == VERDICT_PLACED)
		choose_pods(&decision, NULL, arena, out);
	finish(&decision, out);
	return out->outcome = outcome_of(verdict);
}

/* ---- growth ---- */

struct growth {
	struct decision decision;
	int *members;
	bool *satisfied, *reachable;
	int *first_pod, *pods; /* pods of each leaf, see pods_by_leaf */
	uint64_t budget;
	bool look_ahead;
	bool exhausted;
	bool any;   /* something was waiting */
	bool whole; /* what was placed is all of a leaf */
};

struct kid_order {
	int tree;
	bool satisfied;
	int64_t members, minimum;
	int order;
};

/* Below the minimum first; then the smaller share of its minimum; then spec order. Optional ones (minimum 0) last. */
static int compare_growth(const void *left, const void *right)
{
	const struct kid_order *a = left, *b = right;
	if (a->satisfied != b->satisfied)
		return a->satisfied ? 1 : -1;
	if (a->satisfied) {
		bool optional_a = a->minimum == 0, optional_b = b->minimum == 0;
		if (optional_a != optional_b)
			return optional_a ? 1 : -1;
		int64_t left_share = optional_a ? a->members : a->members * b->minimum;
		int64_t right_share = optional_a ? b->members : b->members * a->minimum;
		if (left_share != right_share)
			return left_share < right_share ? -1 : 1;
	}
	return (a->order > b->order) - (a->order < b->order);
}

static enum verdict try_unit(struct growth *growth, int tree, int pod)
{
	growth->any = true;
	growth->whole = false;
	growth->decision.demand = (struct demand){.mode = DEMAND_UNIT, .unit_tree = tree, .unit_pod = pod};
	enum verdict verdict = solve(&growth->decision, growth->budget);
	growth->exhausted |= verdict == VERDICT_EXHAUSTED;
	return verdict;
}

/* The first pods of a leaf whose size is known decide the domain for all of it: they go where all of it fits. */
static bool grow_whole_leaf(struct growth *growth, int tree)
{
	const struct solver *solver = &growth->decision.solver;
	int waiting = 0;
	for (int at = growth->first_pod[tree]; at < growth->first_pod[tree + 1]; at++)
		waiting += solver->gang->pods[growth->pods[at]].state == MEMBER_WAITING;
	if (!growth->look_ahead || solver->leaning || waiting == 0 || growth->members[tree] > 0 ||
	    solver->gang->tree[tree].expected <= 1)
		return false;
	growth->any = growth->whole = true;
	growth->decision.demand =
		(struct demand){.mode = DEMAND_UNIT, .unit_tree = tree, .unit_pod = -1, .unit_whole = true};
	return solve(&growth->decision, growth->budget / 2) == VERDICT_PLACED;
}

/* One pod of a satisfied leaf; of pods with equal shape only the first is tried. */
static bool grow_leaf(struct growth *growth, int tree)
{
	const struct solver *solver = &growth->decision.solver;
	bool *tried = NULL;
	if (grow_whole_leaf(growth, tree))
		return true;
	for (int at = growth->first_pod[tree]; at < growth->first_pod[tree + 1]; at++) {
		int pod = growth->pods[at], shape = solver->pod_shape[pod];
		if (shape < 0 || solver->gang->pods[pod].state == MEMBER_COMING)
			continue;
		if (!tried)
			tried = arena_array(solver->arena, bool, (size_t)solver->shape_count);
		if (tried[shape])
			continue;
		tried[shape] = true;
		if (try_unit(growth, tree, pod) == VERDICT_PLACED)
			return true;
	}
	return false;
}

/* Iterative walk in growth order: children of a satisfied node, best first; the first unit that fits wins. */
static bool grow_tree(struct growth *growth)
{
	const struct solver *solver = &growth->decision.solver;
	const struct gang *gang = solver->gang;
	struct arena *arena = solver->arena;
	int *first_child = arena_array(arena, int, gang->tree_count + 1);
	int *children = arena_array(arena, int, gang->tree_count);
	for (size_t i = 0; i < gang->tree_count; i++)
		first_child[i + 1] = first_child[i] + gang->tree[i].child_count;
	int *fill = arena_array(arena, int, gang->tree_count);
	for (size_t i = 1; i < gang->tree_count; i++) {
		int parent = gang->tree[i].parent;
		children[first_child[parent] + fill[parent]++] = (int)i;
	}
	int *stack = arena_array(arena, int, gang->tree_count);
	struct kid_order *kids = arena_array(arena, struct kid_order, gang->tree_count);
	int top = 0;
	stack[top++] = 0;
	while (top > 0) {
		int tree = stack[--top];
		if (!growth->satisfied[tree]) {
			if (growth->reachable[tree] && try_unit(growth, tree, -1) == VERDICT_PLACED)
				return true;
			continue;
		}
		int count = gang->tree[tree].child_count;
		if (count == 0) {
			if (grow_leaf(growth, tree))
				return true;
			continue;
		}
		for (int k = 0; k < count; k++) {
			int kid = children[first_child[tree] + k];
			kids[k] = (struct kid_order){.tree = kid,
			                             .satisfied = growth->satisfied[kid],
			                             .members = growth->members[kid],
			                             .minimum = gang->tree[kid].minimum,
			                             .order = k};
		}
		qsort(kids, (size_t)count, sizeof(*kids), compare_growth);
		for (int k = count; k-- > 0;)
			stack[top++] = kids[k].tree;
	}
	return false;
}

enum place_outcome engine_grow(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                               struct arena *arena, struct placement *out)
{
	*out = (struct placement){.blocking_node = -1, .reserve = options && options->use_releasing};
	struct growth growth = {.budget = (options && options->budget ? options->budget : PLACE_DEFAULT_BUDGET) / 8};
	growth.members = arena_array(arena, int, gang->tree_count);
	growth.satisfied = arena_array(arena, bool, gang->tree_count);
	growth.reachable = arena_array(arena, bool, gang->tree_count);
	gang_reachable(gang, growth.members, growth.reachable);
	gang_satisfied(gang, growth.members, growth.satisfied);
	if (!growth.satisfied[0])
		return out->outcome = PLACE_NOT_READY;
	bool waiting = false;
	for (size_t p = 0; p < gang->pod_count && !waiting; p++)
		waiting = gang->pods[p].state == MEMBER_WAITING;
	if (!waiting)
		return out->outcome = PLACE_NOTHING;
	struct gang whole = *gang;
	growth.look_ahead = options && options->look_ahead && !options->allowance;
	if (growth.look_ahead)
		gang_add_coming(gang, arena, &whole);
	growth.first_pod = arena_array(arena, int, gang->tree_count + 1);
	growth.pods = pods_by_leaf(&whole, arena, growth.first_pod);
	decision_init(&growth.decision, cluster, &whole, options, arena);
	bool grown = grow_tree(&growth);
	if (grown)
		choose_pods(&growth.decision, NULL, arena, out);
	if (grown && growth.whole)
		choose_coming(&growth.decision, arena, out);
	finish(&growth.decision, out);
	return out->outcome = grown              ? PLACE_PLACED
	                      : !growth.any      ? PLACE_NOTHING
	                      : growth.exhausted ? PLACE_EXHAUSTED
	                                         : PLACE_IMPOSSIBLE;
}

static enum verdict place_all(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                              bool more, struct arena *arena, struct placement *out)
{
	uint64_t budget = options && options->budget ? options->budget : PLACE_DEFAULT_BUDGET;
	struct decision decision;
	decision_init(&decision, cluster, gang, options, arena);
	decision.demand.mode = DEMAND_ALL;
	enum verdict verdict = more && decision.solver.leaning ? VERDICT_IMPOSSIBLE : solve(&decision, budget / 16);
	if (verdict == VERDICT_PLACED)
		choose_pods(&decision, NULL, arena, out);
	if (verdict == VERDICT_PLACED && more)
		choose_coming(&decision, arena, out);
	finish(&decision, out);
	return verdict;
}

/* Whether some leaf of known size has its first pods waiting: where they go decides for all of it. */
static bool has_unstarted_leaf(const struct gang *gang, struct arena *arena)
{
	int *members = arena_array(arena, int, gang->tree_count);
	gang_satisfied(gang, members, NULL);
	for (size_t p = 0; p < gang->pod_count; p++) {
		int leaf = gang->pods[p].leaf;
		if (gang->pods[p].state == MEMBER_WAITING && members[leaf] == 0 && gang->tree[leaf].expected > 1)
			return true;
	}
	return false;
}

enum place_outcome engine_grow_all(struct cluster *cluster, const struct gang *gang,
                                   const struct place_options *options, struct arena *arena, struct placement *out)
{
	*out = (struct placement){.blocking_node = -1, .reserve = options && options->use_releasing};
	if (!gang_root_satisfied(gang))
		return out->outcome = PLACE_NOT_READY;
	struct gang whole;
	if (options && options->look_ahead && gang_add_coming(gang, arena, &whole)) {
		enum verdict verdict = place_all(cluster, &whole, options, true, arena, out);
		if (verdict == VERDICT_PLACED || has_unstarted_leaf(gang, arena))
			return out->outcome = outcome_of(verdict);
	}
	return out->outcome = outcome_of(place_all(cluster, gang, options, false, arena, out));
}

void engine_commit(struct cluster *cluster, struct gang *gang, const struct placement *placement)
{
	for (size_t i = 0; i < placement->choice_count; i++) {
		struct gang_pod *pod = &gang->pods[placement->choices[i].pod];
		pod->node = placement->choices[i].node;
		pod->state = placement->reserve ? MEMBER_RESERVED : MEMBER_RUNNING;
		pod->held = false;
		cluster_occupy(cluster, pod->pod_class, pod->node,
		               placement->reserve ? OCCUPY_RESERVED : OCCUPY_RUNNING);
	}
}
