/* Owns the way from a gang to wants: which subtrees need what, grouped into part classes of equal subtrees. */
#include "base/clamp.h"
#include "engine/place/solver.h"

#include <string.h>

struct tree_state {   /* per tree node */
	int *running; /* members running or reserved below, pods */
	int *satisfied_members;
	bool *satisfied;
	bool *reachable;
	bool *wanted; /* candidate to receive pods */
	int *need;
	int *fixed; /* domain at the node's level in force, -1 free, -2 violated */
	int *want;  /* want number, -1 */
};

/* The domain that members below dictate for nodes with a level in force. */
static void find_fixed(const struct solver *solver, const struct demand *demand, struct tree_state *state)
{
	const struct gang *gang = solver->gang;
	for (size_t i = 0; i < gang->tree_count; i++)
		state->fixed[i] = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		if (pod->state != MEMBER_RUNNING && pod->state != MEMBER_RESERVED)
			continue;
		for (int i = pod->leaf; i >= 0; i = gang->tree[i].parent) {
			struct gang_level level = demand->levels[i];
			if (level.topology < 0)
				continue;
			int domain = solver->cluster->topologies[level.topology].node_domain[level.level][pod->node];
			if (domain < 0 || (state->fixed[i] != -1 && state->fixed[i] != domain))
				state->fixed[i] = -2;
			else
				state->fixed[i] = domain;
		}
	}
	for (size_t i = 0; demand->pins && i < gang->tree_count; i++)
		if (state->fixed[i] == -1)
			state->fixed[i] = demand->pins[i];
}

static void want_minimum(const struct gang *gang, struct tree_state *state, size_t first)
{
	for (size_t i = first; i < gang->tree_count; i++) {
		const struct gang_node *node = &gang->tree[i];
		if (i != first && (node->parent < 0 || !state->wanted[node->parent]))
			continue;
		state->wanted[i] = !state->satisfied[i] && state->reachable[i];
		state->need[i] = node->minimum - state->satisfied_members[i];
	}
}

static void want_all(const struct gang *gang, struct tree_state *state, const int *waiting)
{
	int *kids = state->want; /* borrowed as a counter until wants are numbered */
	memset(kids, 0, gang->tree_count * sizeof(int));
	for (size_t i = gang->tree_count; i-- > 0;) {
		state->wanted[i] = state->reachable[i] && (gang->tree[i].child_count ? kids[i] > 0 : waiting[i] > 0);
		state->need[i] = gang->tree[i].child_count ? kids[i] : waiting[i];
		if (state->wanted[i] && i > 0)
			kids[gang->tree[i].parent]++;
	}
	/* A child of a subtree that cannot reach its minimum is not started. */
	for (size_t i = 1; i < gang->tree_count; i++)
		state->wanted[i] &= state->wanted[gang->tree[i].parent];
}

static void want_unit(const struct gang *gang, struct tree_state *state, const struct demand *demand,
                      const int *waiting)
{
	int unit = demand->unit_tree;
	if (demand->unit_pod < 0)
		want_minimum(gang, state, (size_t)unit);
	state->wanted[unit] = true;
	if (demand->unit_pod >= 0)
		state->need[unit] = 1;
	else if (demand->unit_whole)
		state->need[unit] = waiting[unit];
	for (int i = gang->tree[unit].parent; i >= 0; i = gang->tree[i].parent) {
		state->wanted[i] = true;
		state->need[i] = 1;
	}
}

static struct tree_state *tree_state(const struct solver *solver, const struct demand *demand, const int *waiting)
{
	const struct gang *gang = solver->gang;
	struct arena *arena = solver->arena;
	size_t count = gang->tree_count;
	struct tree_state *state = arena_new(arena, struct tree_state);
	state->running = arena_array(arena, int, count);
	state->satisfied_members = arena_array(arena, int, count);
	state->satisfied = arena_array(arena, bool, count);
	state->reachable = arena_array(arena, bool, count);
	state->wanted = arena_array(arena, bool, count);
	state->need = arena_array(arena, int, count);
	state->fixed = arena_array(arena, int, count);
	state->want = arena_array(arena, int, count);
	gang_satisfied(gang, state->satisfied_members, state->satisfied);
	if (demand->mode == DEMAND_ALL)
		gang_reachable_later(gang, state->running, state->reachable);
	else
		gang_reachable(gang, state->running, state->reachable);
	memset(state->running, 0, count * sizeof(int));
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_RUNNING || gang->pods[p].state == MEMBER_RESERVED)
			state->running[gang->pods[p].leaf]++;
	for (size_t i = count; i-- > 1;)
		state->running[gang->tree[i].parent] += state->running[i];
	find_fixed(solver, demand, state);
	if (demand->mode == DEMAND_ALL)
		want_all(gang, state, waiting);
	else if (demand->mode == DEMAND_UNIT)
		want_unit(gang, state, demand, waiting);
	else
		want_minimum(gang, state, 0);
	return state;
}

static void class_key(struct buffer *key, const struct part_class *class_, int shape_count)
{
	int head[] = {class_->topology, class_->level, class_->fixed,    class_->dead,
	              class_->leaf,     class_->need,  class_->kid_count};
	buffer_append(key, (const char *)head, sizeof(head));
	if (class_->leaf)
		buffer_append(key, (const char *)class_->waiting, sizeof(int) * (size_t)shape_count);
	buffer_append(key, (const char *)class_->kids, sizeof(int) * (size_t)class_->kid_count);
	buffer_append(key, (const char *)class_->kid_copies, sizeof(int) * (size_t)class_->kid_count);
}

struct amount_count {
	int64_t amount;
	int64_t count;
};

static int compare_amount_counts(const void *left, const void *right)
{
	int64_t a = ((const struct amount_count *)left)->amount, b = ((const struct amount_count *)right)->amount;
	return (a > b) - (a < b);
}

/* The smallest sum of `need` values out of the list. */
static int64_t least_sum(struct amount_count *list, int count, int64_t need)
{
	qsort(list, (size_t)count, sizeof(*list), compare_amount_counts);
	int64_t sum = 0;
	for (int i = 0; i < count && need > 0; i++) {
		int64_t take = list[i].count < need ? list[i].count : need;
		sum = clamp_add(sum, clamp_multiply(take, list[i].amount));
		need -= take;
	}
	return sum;
}

static void class_amounts(const struct solver *solver, struct part_class *class_, struct amount_count *list)
{
	struct arena *arena = solver->arena;
	class_->least = arena_array(arena, int64_t, (size_t)solver->counter_count);
	class_->all = arena_array(arena, int64_t, (size_t)solver->counter_count);
	for (int j = 0; j < solver->counter_count; j++) {
		int count = class_->leaf ? solver->shape_count : class_->kid_count;
		for (int i = 0; i < count; i++) {
			const struct part_class *kid = class_->leaf ? NULL : &solver->classes[class_->kids[i]];
			int64_t copies = class_->leaf ? class_->waiting[i] : class_->kid_copies[i];
			list[i] = (struct amount_count){.amount = kid ? kid->least[j] : counters_per_pod(solver, j, i),
			                                .count = copies};
			class_->all[j] =
				clamp_add(class_->all[j], kid ? clamp_multiply(copies, kid->all[j])
			                                      : clamp_multiply(class_->ahead[i], list[i].amount));
		}
		class_->least[j] = least_sum(list, count, class_->need);
		class_->surplus |= class_->all[j] > class_->least[j] && solver->counters[j].resource == COUNTER_SLOTS;
	}
}

static int class_number(struct solver *solver, struct part_class *class_, struct amount_count *list)
{
	struct buffer key = {0};
	class_key(&key, class_, solver->shape_count);
	struct key_entry *entry;
	HASH_FIND(hh, solver->class_index, key.text, key.length, entry);
	if (!entry) {
		entry = base_calloc(1, sizeof(*entry) + key.length);
		entry->length = key.length;
		memcpy(entry->bytes, key.text, key.length);
		entry->number = solver->class_count;
		HASH_ADD_KEYPTR(hh, solver->class_index, entry->bytes, key.length, entry);
		class_amounts(solver, class_, list);
		solver->classes[solver->class_count++] = *class_;
	}
	buffer_free(&key);
	return entry->number;
}

static void class_level(const struct solver *solver, struct part_class *class_, struct gang_level level, int fixed)
{
	class_->topology = class_->level = class_->fixed = -1;
	for (int t = 0; level.topology >= 0 && t < solver->topology_count; t++)
		if (solver->topologies[t] == level.topology) {
			class_->topology = t;
			class_->level = level.level;
		}
	class_->fixed = fixed >= 0 ? fixed : -1;
	class_->dead = fixed == -2;
}

struct kid_rank {
	int class_;
	int order;
};

static int compare_by_class(const void *left, const void *right)
{
	const struct kid_rank *a = left, *b = right;
	if (a->class_ != b->class_)
		return a->class_ < b->class_ ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void class_kids(const struct solver *solver, struct part_class *class_, struct kid_rank *ranks, int count)
{
	qsort(ranks, (size_t)count, sizeof(*ranks), compare_by_class);
	class_->kids = arena_array(solver->arena, int, (size_t)count);
	class_->kid_copies = arena_array(solver->arena, int, (size_t)count);
	class_->kid_total = count;
	for (int i = 0; i < count; i++) {
		if (!class_->kid_count || class_->kids[class_->kid_count - 1] != ranks[i].class_)
			class_->kids[class_->kid_count++] = ranks[i].class_;
		class_->kid_copies[class_->kid_count - 1]++;
	}
}

/* Numbers the wants in tree order and records for each tree node where its kids start. */
static void number_wants(struct solver *solver, struct tree_state *state)
{
	const struct gang *gang = solver->gang;
	solver->want_count = 0;
	for (size_t i = 0; i < gang->tree_count; i++) {
		state->want[i] = -1;
		if (!state->wanted[i])
			continue;
		state->want[i] = solver->want_count;
		int parent = gang->tree[i].parent >= 0 ? state->want[gang->tree[i].parent] : -1;
		solver->wants[solver->want_count++] =
			(struct want){.tree = (int)i,
		                      .parent = parent,
		                      .need = state->need[i],
		                      .rest = 1,
		                      .depth = parent < 0 ? 0 : solver->wants[parent].depth + 1};
		if (parent >= 0)
			solver->wants[parent].kid_count++;
	}
	int at = 0;
	for (int w = 0; w < solver->want_count; w++) {
		solver->wants[w].first_kid = at;
		at += solver->wants[w].kid_count;
		solver->wants[w].kid_count = 0;
	}
	for (int w = 1; w < solver->want_count; w++) {
		struct want *parent = &solver->wants[solver->wants[w].parent];
		solver->kids[parent->first_kid + parent->kid_count++] = w;
	}
}

static void classify(struct solver *solver, const struct demand *demand, const struct tree_state *state,
                     int *const *waiting_by_shape, int *const *ahead_by_shape)
{
	const struct gang *gang = solver->gang;
	size_t widest = (size_t)solver->shape_count;
	for (int w = 0; w < solver->want_count; w++)
		if ((size_t)solver->wants[w].kid_count > widest)
			widest = (size_t)solver->wants[w].kid_count;
	struct amount_count *list = arena_array(solver->arena, struct amount_count, widest);
	struct kid_rank *ranks = arena_array(solver->arena, struct kid_rank, widest);
	for (int w = solver->want_count; w-- > 0;) {
		struct want *want = &solver->wants[w];
		struct part_class class_ = {.leaf = gang->tree[want->tree].child_count == 0, .need = want->need};
		class_level(solver, &class_, demand->levels[want->tree], state->fixed[want->tree]);
		if (class_.leaf) {
			class_.waiting = waiting_by_shape[want->tree];
			class_.ahead = ahead_by_shape[want->tree];
			int shapes = 0;
			for (int s = 0; s < solver->shape_count; s++)
				shapes += class_.waiting[s] > 0;
			class_.mixed = shapes > 1;
		} else {
			for (int k = 0; k < want->kid_count; k++) {
				int kid = solver->kids[want->first_kid + k];
				ranks[k] = (struct kid_rank){.class_ = solver->wants[kid].class_, .order = k};
			}
			class_kids(solver, &class_, ranks, want->kid_count);
		}
		want->class_ = class_number(solver, &class_, list);
	}
}

/* Classes that every solution contains: the root, and all children of a mandatory parent that needs them all. Parents
 * have larger numbers than their kids. */
static void mark_mandatory(struct solver *solver)
{
	solver->classes[solver->wants[0].class_].mandatory = true;
	for (int c = solver->class_count; c-- > 0;) {
		const struct part_class *class_ = &solver->classes[c];
		for (int k = 0; class_->mandatory && class_->need >= class_->kid_total && k < class_->kid_count; k++)
			solver->classes[class_->kids[k]].mandatory = true;
	}
}

/* Preference among the kids of a K-of-N parent: those that already have members first, then spec order. */
static void order_choices(struct solver *solver, const struct tree_state *state)
{
	for (int w = 0; w < solver->want_count; w++) {
		struct want *want = &solver->wants[w];
		if (want->need >= want->kid_count)
			continue;
		int *kids = solver->kids + want->first_kid, front = 0;
		int *copy = arena_array(solver->arena, int, (size_t)want->kid_count);
		for (int pass = 0; pass < 2; pass++)
			for (int k = 0; k < want->kid_count; k++)
				if ((state->running[solver->wants[kids[k]].tree] > 0) == (pass == 0))
					copy[front++] = kids[k];
		memcpy(kids, copy, sizeof(int) * (size_t)want->kid_count);
	}
}

/* Whether the parts that every solution contains need more pods of some shape than the whole cluster has slots for. Costs
 * nothing beside the counters of a gang with several shapes, and is the reason for most refusals in a full cluster. */
static bool lacks_slots(const struct solver *solver, int *const *waiting_by_shape)
{
	int64_t *need = arena_array(solver->arena, int64_t, (size_t)solver->shape_count);
	bool *optional = arena_array(solver->arena, bool, (size_t)solver->want_count);
	for (int w = 0; w < solver->want_count; w++) {
		const struct want *want = &solver->wants[w], *parent = w ? &solver->wants[want->parent] : NULL;
		optional[w] = parent && (optional[want->parent] || parent->need < parent->kid_count);
		if (optional[w] || solver->gang->tree[want->tree].child_count)
			continue;
		const int *waiting = waiting_by_shape[want->tree];
		int only = -1;
		for (int s = 0; s < solver->shape_count; s++)
			only = waiting[s] == 0 ? only : only == -1 ? s : -2;
		if (only < 0)
			continue;
		need[only] += want->need;
		if (need[only] > solver->shapes[only].slots->total)
			return true;
	}
	return false;
}

/* Pods per leaf and local shape that may be used now, and those to look ahead to: all that wait, and those to come. */
static void count_pods(const struct solver *solver, const struct demand *demand, int *waiting, int **by_shape,
                       int **ahead)
{
	const struct gang *gang = solver->gang;
	bool use_coming = demand->mode == DEMAND_ALL || (demand->mode == DEMAND_UNIT && demand->unit_whole);
	for (size_t p = 0; p < gang->pod_count; p++) {
		int leaf = gang->pods[p].leaf, shape = solver->pod_shape[p];
		if (shape < 0)
			continue;
		bool usable = use_coming || gang->pods[p].state != MEMBER_COMING;
		waiting[leaf] += usable;
		by_shape[leaf][shape] += usable;
		if (ahead != by_shape)
			ahead[leaf][shape]++;
	}
}

static int **arrays_by_shape(const struct solver *solver)
{
	const struct gang *gang = solver->gang;
	int **by_shape = arena_array(solver->arena, int *, gang->tree_count);
	for (size_t i = 0; i < gang->tree_count; i++)
		if (gang->tree[i].child_count == 0)
			by_shape[i] = arena_array(solver->arena, int, (size_t)solver->shape_count);
	return by_shape;
}

bool demand_build(struct solver *solver, const struct demand *demand)
{
	const struct gang *gang = solver->gang;
	solver_forget_demand(solver);
	int *waiting = arena_array(solver->arena, int, gang->tree_count);
	int **by_shape = arrays_by_shape(solver);
	/* Those to come stand behind all others. */
	bool more = gang->pod_count && gang->pods[gang->pod_count - 1].state == MEMBER_COMING;
	int **ahead = more ? arrays_by_shape(solver) : by_shape;
	count_pods(solver, demand, waiting, by_shape, ahead);
	if (demand->mode == DEMAND_UNIT && demand->unit_pod >= 0) {
		by_shape = arena_array(solver->arena, int *, gang->tree_count);
		by_shape[demand->unit_tree] = arena_array(solver->arena, int, (size_t)solver->shape_count);
		by_shape[demand->unit_tree][solver->pod_shape[demand->unit_pod]] = 1;
	}
	struct tree_state *state = tree_state(solver, demand, waiting);
	solver->wants = arena_array(solver->arena, struct want, gang->tree_count);
	solver->kids = arena_array(solver->arena, int, gang->tree_count);
	number_wants(solver, state);
	if (!solver->want_count)
		return false;
	if (solver->stop_when_refuted && lacks_slots(solver, by_shape)) {
		solver->refuted = true;
		return true;
	}
	if (!solver->counters)
		counters_build(solver);
	solver->classes = arena_array(solver->arena, struct part_class, (size_t)solver->want_count);
	classify(solver, demand, state, by_shape, ahead);
	mark_mandatory(solver);
	order_choices(solver, state);
	bound_build(solver);
	return true;
}
