/* Owns the depth-first search over children and domains, iterative so that deep or wide trees cannot exhaust the stack.
 *
 * Hardest child first; the first domain is found by walking down the topology, the rest is listed only when that one
 * fails. Equal siblings do not repeat choices an earlier one has refuted; equal domains are tried once. */
#include "engine/place/mixes.h"
#include "engine/place/solver.h"

#include <assert.h>
#include <string.h>

enum frame_type { FRAME_DOMAIN, FRAME_KID, FRAME_MIX };

struct frame {
	enum frame_type type;
	int want;
	struct goal *rest; /* goals that remain after this choice */
	struct goal here;  /* the goal this frame decides (copied: confinement, next kid) */
	size_t trail_mark, item_mark;
	struct arena_mark memory;
	int tried;   /* alternatives taken so far */
	int current; /* FRAME_DOMAIN: domain being tried */
	int *list;   /* FRAME_DOMAIN: all candidates in order, once the first has failed */
	int list_count, list_at;
	uint64_t *signatures;
	int signature_count;
	int twin;         /* earlier frame of an equal sibling, -1 */
	bool twins_tried; /* some frame in the twin chain has refuted a choice */
	int *mix;         /* FRAME_MIX: counts per local shape */
	bool done;        /* no alternative is left */
};

/* Whether the children of a parent are counted together (mixes.h) when it is opened: to refute it, and to follow the plan
 * that was found. Following a plan leaves the other choices out: then the end of the search proves nothing. */
enum counting { COUNT_NOTHING, COUNT_AND_FOLLOW, COUNT_TO_REFUTE };

struct search {
	struct solver *solver;
	VEC(struct frame) frames;
	struct goal *goals;
	enum counting counting;
	bool followed; /* a plan */
};

static struct goal *push_goal(struct solver *solver, struct goal goal, struct goal *next)
{
	struct goal *cell = arena_new(solver->trial, struct goal);
	*cell = goal;
	cell->next = next;
	return cell;
}

static bool seen_signature(const struct frame *frame, uint64_t signature)
{
	for (int i = 0; i < frame->signature_count; i++)
		if (frame->signatures[i] == signature)
			return true;
	return false;
}

/* ---- equal siblings ---- */

static bool refuted_by_twin(const struct search *search, const struct frame *frame, int domain)
{
	for (int f = frame->twin; f >= 0; f = search->frames.items[f].twin) {
		const struct frame *twin = &search->frames.items[f];
		if (!twin->twins_tried && !twin->list)
			return false;
		for (int i = 0; i + 1 < twin->list_at; i++)
			if (twin->list[i] == domain)
				return true;
	}
	return false;
}

static int find_twin(const struct search *search, const struct want *want)
{
	const struct solver *solver = search->solver;
	/* The frame of an equal sibling, if it was opened at all, is the nearest frame of that parent and class. Looking
	 * back a bounded number of frames keeps wide trees linear; missing one only costs a repeated refutation. */
	int stop = (int)search->frames.count - 64;
	for (int f = (int)search->frames.count - 1; f >= 0 && f >= stop; f--) {
		const struct frame *frame = &search->frames.items[f];
		const struct want *other = &solver->wants[frame->want];
		if (frame->type == FRAME_DOMAIN && other->parent == want->parent && other->class_ == want->class_)
			return f;
	}
	return -1;
}

/* ---- expanding ---- */

static bool other_topologies_fit(const struct solver *solver, const struct part_class *class_, const struct confine *at)
{
	if (solver->topology_count == 1)
		return true;
	/* Count inside the intersection of all confinements by walking the nodes of the smallest one. */
	int smallest = -1, size = solver->cluster->node_count + 1;
	for (int t = 0; t < solver->topology_count; t++) {
		if (at->level[t] < 0)
			continue;
		const struct domain *domain = &solver_topology(solver, t)->domains[at->level[t]][at->domain[t]];
		if (domain->end - domain->first < size) {
			size = domain->end - domain->first;
			smallest = t;
		}
	}
	if (smallest < 0)
		return true;
	const struct topology *topology = solver_topology(solver, smallest);
	const struct domain *domain = &topology->domains[at->level[smallest]][at->domain[smallest]];
	for (int s = 0; s < solver->shape_count; s++) {
		int64_t have = 0;
		for (int p = domain->first; p < domain->end && have < class_->least[s]; p++) {
			int node = topology->order[p];
			bool inside = true;
			for (int t = 0; t < solver->topology_count; t++)
				inside &= at->level[t] < 0 ||
				          solver_topology(solver, t)->node_domain[at->level[t]][node] == at->domain[t];
			have += inside ? solver->shapes[s].slots->node[node] : 0;
		}
		if (have < class_->least[s])
			return false;
	}
	return true;
}

static bool reserve_leaf(struct solver *solver, const struct want *want, const int *counts, const struct confine *at)
{
	struct item item = {.want = (int)(want - solver->wants), .at = *at};
	item.counts = arena_array(solver->trial, int, (size_t)solver->shape_count);
	memcpy(item.counts, counts, sizeof(int) * (size_t)solver->shape_count);
	vec_push(&solver->items, item);
	if (!bound_reserve(solver, &item, 1))
		return false;
	if (solver->exact || solver->shape_count == 1 || solver->topology_count > 1 || at->level[0] < 0 ||
	    solver->social)
		return true;
	return pack_local(solver, at) != VERDICT_IMPOSSIBLE;
}

/* The first `need` waiting pods in order, counted per shape. */
static void first_mix(const struct solver *solver, const struct want *want, int *counts)
{
	const struct part_class *class_ = &solver->classes[want->class_];
	memset(counts, 0, sizeof(int) * (size_t)solver->shape_count);
	if (!class_->mixed) {
		for (int s = 0; s < solver->shape_count; s++)
			if (class_->waiting[s])
				counts[s] = want->need;
		return;
	}
	int left = want->need;
	for (size_t p = 0; p < solver->gang->pod_count && left > 0; p++) {
		int shape = solver->pod_shape[p];
		if (shape < 0 || solver->gang->pods[p].leaf != want->tree || counts[shape] >= class_->waiting[shape])
			continue;
		counts[shape]++;
		left--;
	}
}

static void open_kids(struct solver *solver, struct goal **goals, int number, const struct confine *at)
{
	const struct want *want = &solver->wants[number];
	const int *kids = solver->kids + want->first_kid;
	if (want->need < want->kid_count) {
		*goals = push_goal(solver,
		                   (struct goal){.type = GOAL_KIDS, .want = number, .remaining = want->need, .at = *at},
		                   *goals);
		return;
	}
	for (int k = want->kid_count; k-- > 0;)
		*goals = push_goal(solver, (struct goal){.type = GOAL_WANT, .want = kids[k], .at = *at}, *goals);
}

/* The same with counting. False: there is no room for as many as are needed. */
static bool open_counted(struct search *search, int number, const struct confine *at)
{
	struct solver *solver = search->solver;
	struct mix_plan plan;
	enum verdict verdict = mixes_solve(solver, number, at, &plan);
	if (verdict == VERDICT_IMPOSSIBLE) {
		if (solver->blocking_tree < 0)
			solver->blocking_tree = solver->wants[number].tree;
		return false;
	}
	if (verdict == VERDICT_EXHAUSTED || search->counting == COUNT_TO_REFUTE) {
		open_kids(solver, &search->goals, number, at);
		return true;
	}
	search->followed = true;
	for (int i = plan.count; i-- > 0;) {
		struct goal goal = {.type = GOAL_WANT, .want = plan.places[i].want, .at = *at};
		goal.at.level[0] = (int8_t)solver->classes[solver->wants[goal.want].class_].level;
		goal.at.domain[0] = plan.places[i].domain;
		search->goals = push_goal(solver, goal, search->goals);
	}
	return true;
}

/* Leaves reserve, parents push their children. False: this branch is refuted. *mix is set when a choice of pods opens. */
static bool expand(struct search *search, int number, const struct confine *at, bool *mix)
{
	struct solver *solver = search->solver;
	const struct want *want = &solver->wants[number];
	const struct part_class *class_ = &solver->classes[want->class_];
	*mix = false;
	if (!class_->leaf && search->counting != COUNT_NOTHING)
		return open_counted(search, number, at);
	if (!class_->leaf) {
		open_kids(solver, &search->goals, number, at);
		return true;
	}
	int waiting = 0;
	for (int s = 0; s < solver->shape_count; s++)
		waiting += class_->waiting[s];
	if (class_->mixed && waiting > want->need) {
		*mix = true;
		return true;
	}
	int *counts = arena_array(solver->trial, int, (size_t)solver->shape_count);
	first_mix(solver, want, counts);
	return reserve_leaf(solver, want, counts, at);
}

static struct frame *open_frame(struct search *search, enum frame_type type, int want, const struct goal *here)
{
	struct solver *solver = search->solver;
	struct frame frame = {.type = type,
	                      .want = want,
	                      .rest = search->goals,
	                      .here = *here,
	                      .trail_mark = solver->trail.count,
	                      .item_mark = solver->items.count,
	                      .memory = arena_mark(solver->trial),
	                      .current = -1,
	                      .twin = -1};
	if (type == FRAME_DOMAIN && solver->wants[want].parent >= 0) {
		frame.twin = find_twin(search, &solver->wants[want]);
		if (frame.twin >= 0) {
			assert(search->frames.items); /* the twin is one of them */
			const struct frame *twin = &search->frames.items[frame.twin];
			frame.twins_tried = twin->twins_tried || twin->list;
		}
	}
	vec_push(&search->frames, frame);
	return &search->frames.items[search->frames.count - 1];
}

/* ---- alternatives ---- */

static int next_domain(struct search *search, struct frame *frame)
{
	struct solver *solver = search->solver;
	const struct want *want = &solver->wants[frame->want];
	if (frame->tried == 0 && !frame->twins_tried) {
		frame->tried = 1;
		return choose_first(solver, want, &frame->here.at);
	}
	bool symmetric = solver->topology_count == 1 && !solver->social && !solver->matching;
	if (!frame->list) {
		const struct part_class *class_ = &solver->classes[want->class_];
		const struct topology *topology = solver_topology(solver, class_->topology);
		frame->list = arena_array(solver->trial, int, (size_t)topology->domain_count[class_->level]);
		frame->list_count = choose_list(solver, want, &frame->here.at, frame->list);
		frame->signatures = arena_array(solver->trial, uint64_t, (size_t)frame->list_count + 1);
		frame->memory = arena_mark(solver->trial);
		/* the first one of the list was tried before the list existed */
		if (frame->tried && frame->list_count)
			frame->list_at = 1;
		if (frame->tried && frame->list_count && symmetric)
			frame->signatures[frame->signature_count++] =
				choose_signature(solver, want, &frame->here.at, frame->list[0]);
	}
	frame->tried++;
	while (frame->list_at < frame->list_count) {
		int domain = frame->list[frame->list_at++];
		if (refuted_by_twin(search, frame, domain))
			continue;
		uint64_t signature = symmetric ? choose_signature(solver, want, &frame->here.at, domain) : 0;
		if (symmetric && seen_signature(frame, signature))
			continue;
		if (symmetric)
			frame->signatures[frame->signature_count++] = signature;
		return domain;
	}
	return -1;
}

static bool try_domain(struct search *search, struct frame *frame, bool *mix)
{
	struct solver *solver = search->solver;
	const struct part_class *class_ = &solver->classes[solver->wants[frame->want].class_];
	struct confine at = frame->here.at;
	at.level[class_->topology] = (int8_t)class_->level;
	at.domain[class_->topology] = frame->current;
	if (!other_topologies_fit(solver, class_, &at))
		return false;
	return expand(search, frame->want, &at, mix);
}

/* Include the next kid or skip it. Skipping one skips all equal ones: they would fail alike. */
static bool next_kid(struct search *search, struct frame *frame)
{
	struct solver *solver = search->solver;
	const struct want *want = &solver->wants[frame->want];
	const int *kids = solver->kids + want->first_kid;
	int k = frame->here.next_kid;
	if (frame->tried++ == 0) {
		search->goals = push_goal(solver,
		                          (struct goal){.type = GOAL_KIDS,
		                                        .want = frame->want,
		                                        .next_kid = k + 1,
		                                        .remaining = frame->here.remaining - 1,
		                                        .at = frame->here.at},
		                          frame->rest);
		search->goals =
			push_goal(solver, (struct goal){.type = GOAL_WANT, .want = kids[k], .at = frame->here.at},
		                  search->goals);
		return true;
	}
	if (frame->tried > 2)
		return false;
	int skipped = solver->wants[kids[k]].class_;
	while (k < want->kid_count && solver->wants[kids[k]].class_ == skipped)
		k++;
	if (want->kid_count - k < frame->here.remaining)
		return false;
	search->goals = push_goal(solver,
	                          (struct goal){.type = GOAL_KIDS,
	                                        .want = frame->want,
	                                        .next_kid = k,
	                                        .remaining = frame->here.remaining,
	                                        .at = frame->here.at},
	                          frame->rest);
	return true;
}

/* Next vector of pod counts with the right sum, in odometer order; the first is the order of the pods. */
static bool next_mix(struct search *search, struct frame *frame)
{
	struct solver *solver = search->solver;
	const struct want *want = &solver->wants[frame->want];
	const struct part_class *class_ = &solver->classes[want->class_];
	int shapes = solver->shape_count;
	if (frame->tried++ == 0) {
		frame->mix = arena_array(solver->trial, int, (size_t)shapes * 2);
		frame->memory = arena_mark(solver->trial);
		first_mix(solver, want, frame->mix);
		return true;
	}
	int *counts = frame->mix + shapes;
	for (;;) {
		int sum = 0, s = 0;
		while (s < shapes && counts[s] == class_->waiting[s])
			counts[s++] = 0;
		if (s == shapes)
			return false;
		counts[s]++;
		for (int i = 0; i < shapes; i++)
			sum += counts[i];
		if (sum == want->need && memcmp(counts, frame->mix, sizeof(int) * (size_t)shapes) != 0)
			return true;
		if (++solver->steps > solver->budget) {
			solver->out_of_budget = true;
			return false;
		}
	}
}

static void rewind_frame(struct search *search, const struct frame *frame)
{
	trail_undo(search->solver, frame->trail_mark);
	search->solver->items.count = frame->item_mark;
	arena_rewind(search->solver->trial, frame->memory);
	search->goals = frame->rest;
}

/* Takes the next alternative of the top frame. False when it has none left. */
static bool advance(struct search *search, bool *mix)
{
	struct solver *solver = search->solver;
	*mix = false;
	for (;;) {
		struct frame *frame = &search->frames.items[search->frames.count - 1];
		rewind_frame(search, frame);
		if (frame->done)
			return false;
		if (++solver->steps > solver->budget) {
			solver->out_of_budget = true;
			return false;
		}
		if (frame->type == FRAME_KID) {
			frame->done = !next_kid(search, frame);
			return !frame->done;
		}
		if (frame->type == FRAME_MIX) {
			frame->done = !next_mix(search, frame);
			if (frame->done)
				return false;
			const int *counts = frame->tried == 1 ? frame->mix : frame->mix + solver->shape_count;
			if (reserve_leaf(solver, &solver->wants[frame->want], counts, &frame->here.at))
				return true;
			continue;
		}
		frame->current = next_domain(search, frame);
		frame->done = frame->current < 0;
		if (frame->done)
			return false;
		if (try_domain(search, frame, mix))
			return true;
	}
}

/* Handles one goal. False: refuted, backtrack. */
static bool take_goal(struct search *search)
{
	struct solver *solver = search->solver;
	struct goal *goal = search->goals;
	search->goals = goal->next;
	bool mix = false;
	if (goal->type == GOAL_KIDS) {
		const struct want *want = &solver->wants[goal->want];
		if (goal->remaining == 0)
			return true;
		if (want->kid_count - goal->next_kid < goal->remaining)
			return false;
		open_frame(search, FRAME_KID, goal->want, goal);
		return advance(search, &mix);
	}
	const struct part_class *class_ = &solver->classes[solver->wants[goal->want].class_];
	int t = class_->topology;
	struct confine at = goal->at;
	if (t >= 0 && class_->level > goal->at.level[t]) {
		open_frame(search, FRAME_DOMAIN, goal->want, goal);
		if (!advance(search, &mix)) {
			if (solver->blocking_tree < 0)
				solver->blocking_tree = solver->wants[goal->want].tree;
			return false;
		}
		at = goal->at;
		at.level[t] = (int8_t)class_->level;
		at.domain[t] = search->frames.items[search->frames.count - 1].current;
	} else {
		/* No level of its own, or already confined deeper: the bound of the place it is in must allow it. */
		for (int u = 0; u < solver->topology_count; u++) {
			int level = goal->at.level[u], domain = goal->at.domain[u];
			while (level > solver->deepest[u])
				domain = topology_find_parent(solver_topology(solver, u), level, domain), level--;
			if (bound_get(solver, solver->wants[goal->want].class_, u, level, domain) < 1)
				return false;
			if (u == t && class_->fixed >= 0) {
				while (level > class_->level)
					domain = topology_find_parent(solver_topology(solver, u), level, domain),
					level--;
				if (domain != class_->fixed)
					return false;
			}
		}
		if (!expand(search, goal->want, &at, &mix))
			return false;
	}
	if (!mix)
		return true;
	struct goal here = {.type = GOAL_WANT, .want = goal->want, .at = at};
	open_frame(search, FRAME_MIX, goal->want, &here);
	return advance(search, &mix);
}

static bool backtrack(struct search *search)
{
	while (search->frames.count && !search->solver->out_of_budget) {
		bool mix = false;
		if (advance(search, &mix)) {
			if (!mix)
				return true;
			struct frame *frame = &search->frames.items[search->frames.count - 1];
			const struct part_class *class_ =
				&search->solver->classes[search->solver->wants[frame->want].class_];
			struct goal here = {.type = GOAL_WANT, .want = frame->want, .at = frame->here.at};
			here.at.level[class_->topology] = (int8_t)class_->level;
			here.at.domain[class_->topology] = frame->current;
			open_frame(search, FRAME_MIX, frame->want, &here);
			continue;
		}
		if (search->solver->out_of_budget)
			break;
		search->frames.count--;
	}
	return false;
}

/* ---- whole searches ---- */

static struct confine anywhere(void)
{
	struct confine at;
	for (int t = 0; t < CLUSTER_MAX_TOPOLOGIES; t++) {
		at.level[t] = -1;
		at.domain[t] = -1;
	}
	return at;
}

/* Settles the goals of the search, and what is reserved then by packing: all of it, or what is inside `within`. */
static enum verdict settle_goals(struct search *search, const struct confine *within)
{
	struct solver *solver = search->solver;
	for (;;) {
		bool refuted = false;
		while (search->goals && !refuted)
			refuted = !take_goal(search);
		if (!refuted) {
			size_t mark = solver->trail.count;
			enum verdict verdict = within ? pack_local(solver, within) : pack_items(solver);
			if (verdict == VERDICT_PLACED)
				return verdict;
			trail_undo(solver, mark);
			if (verdict == VERDICT_EXHAUSTED)
				return verdict;
		}
		if (!backtrack(search))
			return solver->out_of_budget ? VERDICT_EXHAUSTED : VERDICT_IMPOSSIBLE;
	}
}

/* The same in `budget` steps at most. The search is over then. */
static enum verdict settle_in_steps(struct search *search, const struct confine *within, uint64_t budget)
{
	struct solver *solver = search->solver;
	uint64_t whole = solver->budget;
	if (solver->steps < whole && budget < whole - solver->steps)
		solver->budget = solver->steps + budget;
	enum verdict verdict = settle_goals(search, within);
	vec_free(&search->frames);
	solver->budget = whole;
	solver->out_of_budget = solver->steps > whole;
	return verdict;
}

/* The whole demand; nothing is left of a search that did not place it. */
static enum verdict search_demand(struct solver *solver, enum counting counting, uint64_t budget, bool *followed)
{
	struct search search = {.solver = solver, .counting = counting};
	struct arena_mark memory = arena_mark(solver->trial);
	size_t mark = solver->trail.count;
	search.goals = push_goal(solver, (struct goal){.type = GOAL_WANT, .want = 0, .at = anywhere()}, NULL);
	enum verdict verdict = settle_in_steps(&search, NULL, budget);
	if (verdict != VERDICT_PLACED) {
		trail_undo(solver, mark);
		solver->items.count = 0;
		arena_rewind(solver->trial, memory);
	}
	*followed = search.followed;
	return verdict;
}

enum verdict search_together(struct solver *solver, const int *wants, int count, const struct confine *at,
                             uint64_t budget)
{
	struct search search = {.solver = solver};
	struct arena_mark memory = arena_mark(solver->trial);
	size_t mark = solver->trail.count, items = solver->items.count;
	int blocking = solver->blocking_tree;
	for (int i = count; i-- > 0;)
		search.goals =
			push_goal(solver, (struct goal){.type = GOAL_WANT, .want = wants[i], .at = *at}, search.goals);
	enum verdict verdict = settle_in_steps(&search, at, budget);
	trail_undo(solver, mark);
	solver->items.count = items;
	arena_rewind(solver->trial, memory);
	solver->blocking_tree = blocking;
	return verdict;
}

enum verdict search_run(struct solver *solver)
{
	enum { SHORT_SHARE = 64, SHORT_LEAST = 4096 };
	uint64_t budget = solver->budget - solver->steps, first = budget / SHORT_SHARE;
	bool followed;
	solver->blocking_tree = -1;
	solver->out_of_budget = false;
	if (solver->refuted)
		return VERDICT_IMPOSSIBLE;
	search_order_kids(solver);
	/* Most answers come soon. Where they do not, counting decides, and at last all that is left of the budget. */
	first = first < SHORT_LEAST ? SHORT_LEAST : first;
	enum verdict verdict = search_demand(solver, COUNT_NOTHING, first, &followed);
	if (verdict != VERDICT_EXHAUSTED || solver->out_of_budget)
		return verdict;
	verdict = search_demand(solver, COUNT_AND_FOLLOW, budget / 4, &followed);
	if (verdict == VERDICT_PLACED || (verdict == VERDICT_IMPOSSIBLE && !followed) || solver->out_of_budget)
		return solver->out_of_budget && verdict != VERDICT_PLACED ? VERDICT_EXHAUSTED : verdict;
	return search_demand(solver, COUNT_TO_REFUTE, budget, &followed);
}
