/* Owns the public face of placement: preferences and surplus. */
#include "engine/place/place.h"

#include "engine/place/decision.h"
#include "engine/place/most.h"
#include "engine/place/whole.h"

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

/* ---- one decision ---- */

/* Along the topology: nodes of a domain stand side by side, whatever they are called. */
static int compare_nodes(const void *left, const void *right, void *context)
{
	int a = ((const struct assigned *)left)->node, b = ((const struct assigned *)right)->node;
	const struct topology *topology = context;
	/* Domains are numbered along the topology: where both nodes are in one of the deepest level, that says it all. */
	int deepest = topology->level_count - 1;
	bool both = deepest >= 0 && topology->node_domain[deepest][a] >= 0 && topology->node_domain[deepest][b] >= 0;
	for (int level = both ? deepest : 0; level <= deepest; level++) {
		int32_t in = topology->node_domain[level][a], other = topology->node_domain[level][b];
		if (in != other)
			return in < other ? -1 : 1;
	}
	return (a > b) - (a < b);
}

/* Want by want, nodes in order, so that the pods of a leaf meet them in order. Packing mostly leaves the nodes of a want in
 * order. */
static void sort_assigned(const struct solver *solver, struct assigned *list, size_t count)
{
	struct topology *topology = &solver->cluster->topologies[solver->topologies[0]];
	struct assigned *from = arena_array(solver->trial, struct assigned, count);
	size_t *end = arena_array(solver->trial, size_t, (size_t)solver->want_count + 1);
	memcpy(from, list, count * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		end[from[i].want + 1]++;
	for (int w = 0; w < solver->want_count; w++)
		end[w + 1] += end[w];
	for (size_t i = 0; i < count; i++)
		list[end[from[i].want]++] = from[i];
	for (size_t first = 0, next; first < count; first = next) {
		bool sorted = true;
		for (next = first + 1; next < count && list[next].want == list[first].want; next++)
			sorted = sorted && compare_nodes(&list[next - 1], &list[next], topology) <= 0;
		if (!sorted)
			qsort_r(list + first, next - first, sizeof(*list), compare_nodes, topology);
	}
}

static void keep_assigned(struct decision *decision)
{
	struct solver *solver = &decision->solver;
	decision->best_count = solver->assigned.count;
	decision->best = arena_array(solver->arena, struct assigned, solver->assigned.count);
	decision->best_tree = arena_array(solver->arena, int, solver->assigned.count);
	for (size_t i = 0; i < solver->assigned.count; i++)
		decision->best[i] = solver->assigned.items[i];
	sort_assigned(solver, decision->best, decision->best_count);
	for (size_t i = 0; i < decision->best_count; i++)
		decision->best_tree[i] = solver->wants[decision->best[i].want].tree;
}

/* Where it is not known how many pods devices serve, nothing is proved. */
static bool is_unsure(const struct solver *solver)
{
	bool unsure = false;
	for (int s = 0; s < solver->shape_count; s++)
		unsure |= solver->cluster->shapes.items[solver->shapes[s].shape].unsure[solver->view];
	return unsure;
}

enum verdict decision_attempt(struct decision *decision, uint64_t budget)
{
	struct solver *solver = &decision->solver;
	solver->budget = solver->steps + budget;
	solver->out_of_budget = false;
	decision->demand.levels = decision->levels;
	if (!demand_build(solver, &decision->demand))
		return is_unsure(solver) ? VERDICT_EXHAUSTED : VERDICT_IMPOSSIBLE;
	enum verdict verdict = search_run(solver);
	if (verdict == VERDICT_IMPOSSIBLE && is_unsure(solver))
		verdict = VERDICT_EXHAUSTED;
	bool keep = verdict == VERDICT_PLACED;
	if (keep && decision->liking) {
		sort_assigned(solver, solver->assigned.items, solver->assigned.count);
		struct liking_sum sum = liking_improve(solver, decision->liking, decision->demand.unit_pod);
		keep = !decision->better_only || liking_is_better(sum, decision->sum);
		decision->sum = keep ? sum : decision->sum;
	}
	if (keep)
		keep_assigned(decision);
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
			enum verdict verdict = decision_attempt(decision, budget);
			if (verdict == VERDICT_PLACED)
				break;
			decision->preference_exhausted |= verdict == VERDICT_EXHAUSTED;
			decision->levels[node] = tree->required;
		}
	}
}

/* With preferred levels: all of them at once, else the plain requirements and then one by one. */
static enum verdict solve_levels(struct decision *decision, uint64_t budget)
{
	if (decision->preference_count) {
		all_preferred(decision);
		enum verdict verdict = decision_attempt(decision, budget / 8);
		if (verdict == VERDICT_PLACED)
			return verdict;
	}
	required_levels(decision->solver.gang, decision->levels);
	enum verdict verdict = decision_attempt(decision, budget);
	if (verdict == VERDICT_PLACED && decision->preference_count)
		improve(decision, budget / 8);
	return verdict;
}

/* The same, then in the domains that pods like best. */
static enum verdict solve(struct decision *decision, uint64_t budget)
{
	enum verdict verdict = solve_levels(decision, budget);
	if (verdict == VERDICT_PLACED && decision->liking)
		decision_prefer_domains(decision, budget / 16);
	return verdict;
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

static bool has_coming(const struct gang *gang)
{
	return gang->pod_count && gang->pods[gang->pod_count - 1].state == MEMBER_COMING; /* they stand last */
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
	if (view != VIEW_EMPTY && !(options && options->look_ahead && has_coming(gang)))
		decision->liking = liking_create(&decision->solver);
	if (!decision->liking)
		return;
	decision->demand.pins = arena_array(arena, int, gang->tree_count);
	memset(decision->demand.pins, 0xff, gang->tree_count * sizeof(int));
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
	enum verdict verdict = decision_attempt(decision, budget);
	if (verdict == VERDICT_PLACED && decision->liking)
		decision_prefer_domains(decision, budget / 16);
	return verdict;
}

enum place_outcome engine_place(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                                struct arena *arena, struct placement *out)
{
	*out = (struct placement){.blocking_node = -1, .reserve = options && options->use_releasing};
	if (gang_root_satisfied(gang))
		return out->outcome = PLACE_NOTHING;
	if (!gang_root_reachable(gang))
		return out->outcome = PLACE_NOT_READY;
	struct gang whole = *gang;
	if (whole_make(cluster, gang, arena, &whole)) {
		engine_place(cluster, &whole, options, arena, out);
		whole_take_apart(gang, &whole, arena, out);
		return out->outcome;
	}
	uint64_t budget = options && options->budget ? options->budget : PLACE_DEFAULT_BUDGET;
	struct decision decision;
	bool more = options && options->look_ahead && gang_add_coming(gang, arena, &whole);
	decision_init(&decision, cluster, &whole, options, arena);
	/* If everything fits with every preference, the minimum goes where the surplus can follow. Not with rules between
	 * pods: the minimum might lean on pods that are not part of it. Nor where not everything is allowed. */
	bool leaning = more ? decision.solver.leaning : decision.solver.member_rules;
	bool follows = !leaning && !decision.solver.allowance && (more || has_surplus(gang, arena));
	if (follows && find_all(&decision, more, budget / 16) == VERDICT_PLACED) {
		choices_make(&decision, choices_minimum(&decision, arena), arena, out);
		if (more)
			choices_make_coming(&decision, arena, out);
		finish(&decision, out);
		return out->outcome = PLACE_PLACED;
	}
	decision.demand.mode = DEMAND_MINIMUM;
	enum verdict verdict = solve(&decision, budget);
	if (verdict == VERDICT_PLACED)
		choices_make(&decision, NULL, arena, out);
	finish(&decision, out);
	if (verdict == VERDICT_PLACED && follows && !more && options && options->look_ahead && !options->use_releasing)
		most_place_minimum(cluster, gang, options, arena, out);
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

static void begin_unit(struct growth *growth, int tree, int pod, bool whole)
{
	growth->decision.demand = (struct demand){.mode = DEMAND_UNIT,
	                                          .unit_tree = tree,
	                                          .unit_pod = pod,
	                                          .unit_whole = whole,
	                                          .pins = growth->decision.demand.pins};
}

static enum verdict try_unit(struct growth *growth, int tree, int pod)
{
	growth->any = true;
	growth->whole = false;
	begin_unit(growth, tree, pod, false);
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
	begin_unit(growth, tree, -1, true);
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
	growth.pods = choices_list_pods(&whole, arena, growth.first_pod);
	decision_init(&growth.decision, cluster, &whole, options, arena);
	bool grown = grow_tree(&growth);
	if (grown)
		choices_make(&growth.decision, NULL, arena, out);
	if (grown && growth.whole)
		choices_make_coming(&growth.decision, arena, out);
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
		choices_make(&decision, NULL, arena, out);
	if (verdict == VERDICT_PLACED && more)
		choices_make_coming(&decision, arena, out);
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
