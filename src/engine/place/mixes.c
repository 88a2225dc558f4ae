/* Owns counting mixes: what each domain holds of several kinds of children, and what all domains hold together. */
#include "engine/place/mixes.h"

#include <string.h>

/* What is worth counting: cells of all tables, and sums of two cells. */
enum { MOST_CELLS = 1 << 18, MOST_SUMS = 1 << 23, MIX_BUDGET = 20000 };

struct mix_kind {
	int class_;
	int copies; /* children of this kind */
	int *wants; /* of them, in the order they are preferred */
};

/* A cell stands for numbers of all kinds but the last, and holds how many of the last one go with them: -1 when not even
 * none do. `sure` was found, `hoped` was not refuted. */
struct frontier {
	int cap[MIX_KINDS];
	int cell_count;
	int *sure, *hoped;
};

struct known_frontier {
	uint64_t signature;
	struct frontier *frontier;
	UT_hash_handle hh;
};

struct mixes {
	struct solver *solver;
	const struct want *want;
	struct confine at;
	int topology, level;
	struct mix_kind kinds[MIX_KINDS];
	int kind_count;
	int *domains;
	struct frontier **frontiers;  /* of each domain; shared by those that are alike */
	struct known_frontier *known; /* by signature */
	int domain_count;
	int *scratch; /* wants of one check */
};

/* ---- the question ---- */

static bool add_kid(struct mixes *mixes, int number)
{
	const struct solver *solver = mixes->solver;
	int class_ = solver->wants[number].class_, k = 0;
	const struct part_class *kid = &solver->classes[class_];
	if (kid->topology != 0 || kid->level <= mixes->at.level[0] || (mixes->level >= 0 && kid->level != mixes->level))
		return false;
	mixes->level = kid->level;
	while (k < mixes->kind_count && mixes->kinds[k].class_ != class_)
		k++;
	if (k == MIX_KINDS)
		return false;
	if (k == mixes->kind_count)
		mixes->kinds[mixes->kind_count++] =
			(struct mix_kind){.class_ = class_,
		                          .wants = arena_array(solver->arena, int, (size_t)mixes->want->kid_count)};
	mixes->kinds[k].wants[mixes->kinds[k].copies++] = number;
	return true;
}

/* The kind with most children last: cells are made of the others. */
static void order_kinds(struct mixes *mixes)
{
	int most = 0, last = mixes->kind_count - 1;
	for (int k = 1; k <= last; k++)
		if (mixes->kinds[k].copies >= mixes->kinds[most].copies)
			most = k;
	struct mix_kind moved = mixes->kinds[most];
	mixes->kinds[most] = mixes->kinds[last];
	mixes->kinds[last] = moved;
}

static void list_domains(struct mixes *mixes)
{
	struct solver *solver = mixes->solver;
	const struct topology *topology = solver_topology(solver, 0);
	enum { DOMAINS_A_STEP = 64 }; /* looking at one is much less than a step */
	int count = topology->domain_count[mixes->level];
	solver->steps += (uint64_t)(count / DOMAINS_A_STEP);
	mixes->domains = arena_array(solver->arena, int, (size_t)count);
	for (int d = 0; d < count; d++) {
		int up = d;
		bool useful = false;
		for (int l = mixes->level; l > mixes->at.level[0]; l--)
			up = topology_find_parent(topology, l, up);
		if (mixes->at.level[0] >= 0 && up != mixes->at.domain[0])
			continue;
		for (int k = 0; k < mixes->kind_count && !useful; k++)
			useful = bound_get(solver, mixes->kinds[k].class_, 0, mixes->level, d) > 0;
		if (useful)
			mixes->domains[mixes->domain_count++] = d;
	}
}

static bool prepare(struct mixes *mixes, int number)
{
	struct solver *solver = mixes->solver;
	const int *kids = solver->kids + mixes->want->first_kid;
	mixes->level = -1;
	if (solver->topology_count != 1 || solver->social || solver->matching || mixes->want->need < 1)
		return false;
	for (int k = 0; k < solver->wants[number].kid_count; k++)
		if (!add_kid(mixes, kids[k]))
			return false;
	if (mixes->level < 0)
		return false;
	order_kinds(mixes);
	list_domains(mixes);
	int64_t cells = 1;
	for (int k = 0; k + 1 < mixes->kind_count && cells < MOST_CELLS; k++)
		cells *= mixes->kinds[k].copies + 1;
	if (cells * (mixes->domain_count + 1) > MOST_CELLS)
		return false;
	mixes->frontiers = arena_array(solver->arena, struct frontier *, (size_t)mixes->domain_count);
	mixes->scratch = arena_array(solver->arena, int, (size_t)mixes->want->kid_count);
	return true;
}

/* ---- one domain ---- */

/* The numbers that a cell stands for; caps are those of the table it is in. */
static void cell_counts(const int *cap, int kinds, int cell, int *counts)
{
	for (int k = 0; k + 1 < kinds; k++) {
		counts[k] = cell % (cap[k] + 1);
		cell /= cap[k] + 1;
	}
}

static int cell_of(const int *cap, int kinds, const int *counts)
{
	int cell = 0;
	for (int k = kinds - 1; k-- > 0;)
		cell = cell * (cap[k] + 1) + counts[k];
	return cell;
}

/* Whether so many of each kind fit into the domain together. */
static enum verdict check_mix(struct mixes *mixes, int domain, const int *counts)
{
	int count = 0;
	struct confine at = mixes->at;
	at.level[0] = (int8_t)mixes->level;
	at.domain[0] = domain;
	for (int k = 0; k < mixes->kind_count; k++)
		for (int i = 0; i < counts[k]; i++)
			mixes->scratch[count++] = mixes->kinds[k].wants[i];
	return search_together(mixes->solver, mixes->scratch, count, &at, MIX_BUDGET);
}

/* At most what any cell with one child less holds. */
static int limit_of(const struct mixes *mixes, const struct frontier *frontier, const int *counts)
{
	int most = frontier->cap[mixes->kind_count - 1], sum = 0;
	int less[MIX_KINDS];
	memcpy(less, counts, sizeof(less));
	for (int k = 0; k + 1 < mixes->kind_count; k++) {
		sum += counts[k];
		if (!counts[k])
			continue;
		less[k]--;
		int held = frontier->hoped[cell_of(frontier->cap, mixes->kind_count, less)];
		most = held < most ? held : most;
		less[k]++;
	}
	return mixes->want->need - sum < most ? mixes->want->need - sum : most;
}

static struct frontier *find_frontier(struct mixes *mixes, int domain)
{
	struct solver *solver = mixes->solver;
	struct frontier *frontier = arena_new(solver->arena, struct frontier);
	int last = mixes->kind_count - 1;
	frontier->cell_count = 1;
	for (int k = 0; k <= last; k++) {
		int fit = bound_get(solver, mixes->kinds[k].class_, 0, mixes->level, domain);
		frontier->cap[k] = fit < mixes->kinds[k].copies ? fit : mixes->kinds[k].copies;
		frontier->cell_count *= k < last ? frontier->cap[k] + 1 : 1;
	}
	frontier->sure = arena_array(solver->arena, int, (size_t)frontier->cell_count);
	frontier->hoped = arena_array(solver->arena, int, (size_t)frontier->cell_count);
	for (int cell = 0; cell < frontier->cell_count; cell++) {
		int counts[MIX_KINDS] = {0};
		cell_counts(frontier->cap, mixes->kind_count, cell, counts);
		int most = limit_of(mixes, frontier, counts), hoped = -1;
		enum verdict verdict = VERDICT_IMPOSSIBLE;
		for (; most >= 0 && verdict != VERDICT_PLACED && !solver->out_of_budget; most--) {
			counts[last] = most;
			verdict = check_mix(mixes, domain, counts);
			if (verdict != VERDICT_IMPOSSIBLE && hoped < 0)
				hoped = most;
		}
		frontier->sure[cell] = verdict == VERDICT_PLACED ? most + 1 : -1;
		frontier->hoped[cell] = solver->out_of_budget ? frontier->cap[last] : hoped;
	}
	return frontier;
}

static void find_frontiers(struct mixes *mixes)
{
	struct solver *solver = mixes->solver;
	const struct want *kid = &solver->wants[mixes->kinds[0].wants[0]];
	for (int d = 0; d < mixes->domain_count && !solver->out_of_budget; d++) {
		uint64_t signature = choose_signature(solver, kid, &mixes->at, mixes->domains[d]);
		struct known_frontier *known;
		HASH_FIND(hh, mixes->known, &signature, sizeof(signature), known);
		if (!known) {
			known = arena_new(solver->arena, struct known_frontier);
			known->signature = signature;
			known->frontier = find_frontier(mixes, mixes->domains[d]);
			HASH_ADD(hh, mixes->known, signature, sizeof(signature), known);
		}
		mixes->frontiers[d] = known->frontier;
	}
	HASH_CLEAR(hh, mixes->known);
}

/* ---- all domains ---- */

/* Cells of a table over all domains so far: numbers of all kinds but the last, capped by the children there are. */
struct table {
	int cap[MIX_KINDS];
	int cell_count;
	int *held;  /* most of the last kind, -1 when the numbers cannot be reached */
	int *taken; /* per domain and cell: the cell of its frontier that led there */
};

static bool adds_up(const struct mixes *mixes, const struct table *table, int cell)
{
	int counts[MIX_KINDS] = {0}, sum = table->held[cell];
	cell_counts(table->cap, mixes->kind_count, cell, counts);
	for (int k = 0; k + 1 < mixes->kind_count; k++)
		sum += counts[k];
	return table->held[cell] >= 0 && sum >= mixes->want->need;
}

static void add_domain(struct mixes *mixes, struct table *table, const struct frontier *frontier, const int *holds,
                       int *next, int *taken)
{
	int last = mixes->kind_count - 1;
	for (int cell = 0; cell < table->cell_count; cell++)
		next[cell] = -1;
	for (int cell = 0; cell < table->cell_count; cell++) {
		int counts[MIX_KINDS] = {0};
		if (table->held[cell] < 0)
			continue;
		cell_counts(table->cap, mixes->kind_count, cell, counts);
		for (int own = 0; own < frontier->cell_count; own++) {
			int added[MIX_KINDS] = {0};
			bool fine = holds[own] >= 0;
			cell_counts(frontier->cap, mixes->kind_count, own, added);
			for (int k = 0; k < last && fine; k++) {
				added[k] += counts[k];
				fine = added[k] <= table->cap[k];
			}
			if (!fine)
				continue;
			int to = cell_of(table->cap, mixes->kind_count, added), held = table->held[cell] + holds[own];
			held = held < table->cap[last] ? held : table->cap[last];
			if (held > next[to]) {
				next[to] = held;
				taken[to] = own;
			}
		}
	}
	memcpy(table->held, next, sizeof(int) * (size_t)table->cell_count);
}

/* The cell in which there are as many children as needed, -1 for none. */
static int count_together(struct mixes *mixes, bool hoping, struct table *table)
{
	struct arena *arena = mixes->solver->arena;
	int last = mixes->kind_count - 1;
	*table = (struct table){.cell_count = 1};
	for (int k = 0; k <= last; k++) {
		table->cap[k] = mixes->kinds[k].copies;
		table->cell_count *= k < last ? table->cap[k] + 1 : 1;
	}
	size_t cells = (size_t)table->cell_count;
	table->held = arena_array(arena, int, cells);
	table->taken = arena_array(arena, int, cells *(size_t)(mixes->domain_count + 1));
	int *next = arena_array(arena, int, cells);
	for (size_t cell = 1; cell < cells; cell++)
		table->held[cell] = -1;
	for (int d = 0; d < mixes->domain_count; d++)
		add_domain(mixes, table, mixes->frontiers[d],
		           hoping ? mixes->frontiers[d]->hoped : mixes->frontiers[d]->sure, next,
		           table->taken + cells * (size_t)d);
	for (int cell = 0; cell < table->cell_count; cell++)
		if (adds_up(mixes, table, cell))
			return cell;
	return -1;
}

/* From the last domain back to the first; each takes the next children of a kind, no more than are needed. */
static void write_plan(struct mixes *mixes, const struct table *table, int cell, struct mix_plan *plan)
{
	int last = mixes->kind_count - 1, next[MIX_KINDS] = {0};
	plan->places = arena_array(mixes->solver->arena, struct mix_place, (size_t)mixes->want->need);
	plan->count = 0;
	for (int d = mixes->domain_count; d-- > 0;) {
		const struct frontier *frontier = mixes->frontiers[d];
		int counts[MIX_KINDS] = {0}, own[MIX_KINDS] = {0};
		int taken = table->taken[(size_t)table->cell_count * (size_t)d + (size_t)cell];
		cell_counts(table->cap, mixes->kind_count, cell, counts);
		cell_counts(frontier->cap, mixes->kind_count, taken, own);
		own[last] = frontier->sure[taken];
		for (int k = 0; k <= last; k++) {
			counts[k] -= k < last ? own[k] : 0;
			for (int i = 0; i < own[k] && next[k] < mixes->kinds[k].copies; i++)
				if (plan->count < mixes->want->need)
					plan->places[plan->count++] =
						(struct mix_place){.want = mixes->kinds[k].wants[next[k]++],
					                           .domain = mixes->domains[d]};
		}
		cell = cell_of(table->cap, mixes->kind_count, counts);
	}
}

/* Whether the sums are few enough, so that counting stays cheaper than what it saves. */
static bool worth_counting(const struct mixes *mixes)
{
	int64_t cells = 1, sums = 0;
	for (int k = 0; k + 1 < mixes->kind_count; k++)
		cells *= mixes->kinds[k].copies + 1;
	for (int d = 0; d < mixes->domain_count; d++)
		sums += cells * mixes->frontiers[d]->cell_count;
	return sums <= MOST_SUMS;
}

enum verdict mixes_solve(struct solver *solver, int want, const struct confine *at, struct mix_plan *plan)
{
	struct mixes mixes = {.solver = solver, .want = &solver->wants[want], .at = *at};
	struct table table;
	if (!prepare(&mixes, want))
		return VERDICT_EXHAUSTED;
	find_frontiers(&mixes);
	if (solver->out_of_budget || !worth_counting(&mixes))
		return VERDICT_EXHAUSTED;
	if (count_together(&mixes, true, &table) < 0)
		return VERDICT_IMPOSSIBLE;
	int cell = count_together(&mixes, false, &table);
	if (cell < 0)
		return VERDICT_EXHAUSTED;
	write_plan(&mixes, &table, cell, plan);
	return VERDICT_PLACED;
}
