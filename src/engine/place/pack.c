/* Owns putting pods onto nodes, once every leaf knows where it is confined.
 *
 * First the quick way: tightest set of domains, then of hosts, shape by shape. With one shape and one topology that
 * cannot fail. Otherwise an exhaustive search over pods and nodes follows (pack_exhaust.c). */
#include "engine/place/pack.h"
#include "engine/place/liking.h"
#include "engine/place/matching.h"
#include "engine/place/rules.h"

#include <string.h>

bool pack_is_inside(const struct solver *solver, const struct confine *at, int node)
{
	for (int t = 0; t < solver->topology_count; t++)
		if (at->level[t] >= 0 && solver_topology(solver, t)->node_domain[at->level[t]][node] != at->domain[t])
			return false;
	return true;
}

int pack_narrowest(const struct solver *solver, const struct confine *at, int *first, int *end)
{
	int best = 0;
	*first = 0;
	*end = solver->cluster->node_count;
	for (int t = 0; t < solver->topology_count; t++) {
		if (at->level[t] < 0)
			continue;
		const struct domain *domain = &solver_topology(solver, t)->domains[at->level[t]][at->domain[t]];
		if (domain->end - domain->first < *end - *first) {
			*first = domain->first;
			*end = domain->end;
			best = t;
		}
	}
	return best;
}

static void shift_sums(struct solver *solver, struct slots *slots, int node, int32_t change)
{
	const struct cluster *cluster = solver->cluster;
	trail_set32(solver, &slots->node[node], slots->node[node] + change);
	trail_set64(solver, &slots->total, slots->total + change);
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = &cluster->topologies[solver->topologies[t]];
		int64_t **sums = slots->sums[solver->topologies[t]];
		for (int l = 0; l < topology->level_count && topology->node_domain[l][node] >= 0; l++) {
			if (!sums[l])
				continue;
			int64_t *sum = &sums[l][topology->node_domain[l][node]];
			trail_set64(solver, sum, *sum + change);
		}
	}
}

void pack_take(struct solver *solver, const struct pack_unit *unit, int node, int copies)
{
	struct cluster *cluster = solver->cluster;
	if (solver->shape_count == 1) {
		shift_sums(solver, solver->shapes[0].slots, node, -copies);
	} else {
		const struct shape *shape = &cluster->shapes.items[solver->shapes[unit->shape].shape];
		for (int i = 0; i < shape->request_count; i++) {
			int64_t *free = &cluster->resources.items[shape->resource[i]].free[node];
			trail_set64(solver, free, *free - copies * shape->amount[i]);
		}
		for (int s = 0; s < solver->shape_count; s++) {
			struct slots *slots = solver->shapes[s].slots;
			const struct shape *other = &cluster->shapes.items[solver->shapes[s].shape];
			if (!slots->node[node])
				continue;
			int32_t now = slots_count_on_node(cluster, other, node, solver->view);
			if (other->one_per_node && other == shape)
				now = 0;
			if (now != slots->node[node])
				shift_sums(solver, slots, node, now - slots->node[node]);
		}
	}
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = solver_topology(solver, t);
		for (int l = 0; l < topology->level_count && topology->node_domain[l][node] >= 0; l++)
			if (solver->used[t][l]) {
				int32_t *used = &solver->used[t][l][topology->node_domain[l][node]];
				trail_set32(solver, used, *used + copies);
			}
	}
	for (int c = 0; c < copies; c++)
		vec_push(&solver->assigned,
		         (struct assigned){.want = unit->want, .shape = unit->shape, .node = node, .kind = -1});
}

/* ---- the quick way ---- */

static int compare_bins(const void *left, const void *right)
{
	const struct bin *a = left, *b = right;
	if (a->used != b->used)
		return a->used ? -1 : 1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->room != b->room)
		return a->room > b->room ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Bins are listed by number, so that equal ones are in order already. */
static void sort_bins(struct bin *bins, int count)
{
	int sorted = 1;
	while (sorted < count && compare_bins(&bins[sorted - 1], &bins[sorted]) <= 0)
		sorted++;
	if (sorted < count)
		qsort(bins, (size_t)count, sizeof(*bins), compare_bins);
}

static int smallest_holding(const struct bin *bins, int count, int64_t need)
{
	int best = -1;
	for (int i = 0; i < count; i++) {
		if (bins[i].room < need)
			continue;
		if (best < 0 || bins[i].used > bins[best].used ||
		    (bins[i].used == bins[best].used &&
		     (bins[i].score > bins[best].score ||
		      (bins[i].score == bins[best].score && bins[i].room < bins[best].room))))
			best = i;
	}
	return best;
}

/* Takes from `bins` (sorted, largest first) the fewest that cover `need`, each as small as the rest allows. */
static int cover_tightly(struct bin *bins, int count, int64_t need, struct share *shares)
{
	int64_t sum = 0;
	int fewest = 0, taken = 0;
	while (sum < need)
		sum += bins[fewest++].room;
	while (need > 0) {
		int64_t first = 0; /* of the `fewest` largest */
		for (int i = 0; i < fewest; i++)
			first += bins[i].room;
		int pick = fewest - 1;
		for (int i = count; i-- > fewest - 1;) {
			int64_t others = i < fewest ? first - bins[i].room : first - bins[fewest - 1].room;
			if (bins[i].room + others >= need) {
				pick = i;
				break;
			}
		}
		int64_t amount = bins[pick].room < need ? bins[pick].room : need;
		shares[taken++] = (struct share){.number = bins[pick].number, .count = amount};
		need -= amount;
		memmove(&bins[pick], &bins[pick + 1], sizeof(*bins) * (size_t)(count - pick - 1));
		count--;
		fewest--;
	}
	return taken;
}

/* When what the gang uses already suffices, nothing else is looked at. */
static int keep_used_if_enough(struct bin *bins, int count, int64_t need)
{
	int64_t room = 0;
	int kept = 0;
	for (int i = 0; i < count; i++)
		room += bins[i].used ? bins[i].room : 0;
	if (room < need)
		return count;
	for (int i = 0; i < count; i++)
		if (bins[i].used)
			bins[kept++] = bins[i];
	return kept;
}

/* Which bins take how much: one that holds all if there is one; else what the gang uses already, then the fewest more.
 * Returns the number of shares, -1 when the room does not suffice. */
static int divide(struct bin *bins, int count, int64_t need, struct share *shares)
{
	count = keep_used_if_enough(bins, count, need);
	int one = smallest_holding(bins, count, need);
	if (one >= 0) {
		shares[0] = (struct share){.number = bins[one].number, .count = need};
		return 1;
	}
	int64_t room = 0;
	bool scored = false;
	for (int i = 0; i < count; i++) {
		room += bins[i].room;
		scored |= bins[i].score != bins[0].score;
	}
	if (room < need)
		return -1;
	sort_bins(bins, count);
	int at = 0, taken = 0;
	/* Preferences decide before tightness; very many bins are simply filled from the largest down. */
	while (at < count && need > 0 && (bins[at].used || scored || need > 64 * bins[at].room)) {
		int64_t amount = bins[at].room < need ? bins[at].room : need;
		shares[taken++] = (struct share){.number = bins[at++].number, .count = amount};
		need -= amount;
	}
	return need > 0 ? taken + cover_tightly(bins + at, count - at, need, shares + taken) : taken;
}

/* Whether a member of the gang ran on the node before this decision. */
static bool has_member(const struct solver *solver, int node)
{
	int low = 0, high = solver->member_node_count;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (solver->member_nodes[middle] < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < solver->member_node_count && solver->member_nodes[low] == node;
}

/* The end of the domain at this position that has no slots at all, or the position itself. */
static int skip_full(const struct topology *topology, int64_t *const *sums, int level, int position)
{
	int domain = level < 0 ? -1 : topology->node_domain[level][topology->order[position]];
	return domain >= 0 && sums[level][domain] == 0 ? topology->domains[level][domain].end : position;
}

/* Copies taken from a domain that were not written into its sums yet. */
struct pending {
	int domain; /* -1: none */
	int64_t copies;
};

static void write_pending(struct solver *solver, int level, const struct pending *pending)
{
	int64_t *sums = solver->shapes[0].slots->sums[solver->topologies[0]][level];
	int32_t *used = solver->used[0][level];
	if (pending->domain >= 0 && sums)
		trail_set64(solver, &sums[pending->domain], sums[pending->domain] - pending->copies);
	if (pending->domain >= 0 && used)
		trail_set32(solver, &used[pending->domain], used[pending->domain] + (int32_t)pending->copies);
}

/* What pack_take does for one node after the other, for a gang of one shape and one topology: nodes side by side are in the
 * same domains, whose sums change once. */
static void take_shares(struct solver *solver, const struct pack_unit *unit, const struct share *shares, int count)
{
	const struct topology *topology = solver_topology(solver, 0);
	struct slots *slots = solver->shapes[0].slots;
	struct pending pending[CLUSTER_MAX_LEVELS];
	int64_t total = 0;
	for (int l = 0; l < topology->level_count; l++)
		pending[l].domain = -1;
	vec_reserve(&solver->assigned, solver->assigned.count + (size_t)unit->count);
	for (int i = 0; i < count; i++) {
		int node = shares[i].number, copies = (int)shares[i].count;
		trail_set32(solver, &slots->node[node], slots->node[node] - copies);
		total += copies;
		for (int l = 0; l < topology->level_count; l++) {
			int domain = topology->node_domain[l][node];
			if (domain != pending[l].domain) {
				write_pending(solver, l, &pending[l]);
				pending[l] = (struct pending){.domain = domain};
			}
			pending[l].copies += copies;
		}
		for (int c = 0; c < copies; c++)
			vec_push(&solver->assigned,
			         (struct assigned){.want = unit->want, .shape = 0, .node = node, .kind = -1});
	}
	for (int l = 0; l < topology->level_count; l++)
		write_pending(solver, l, &pending[l]);
	trail_set64(solver, &slots->total, slots->total - total);
}

static bool fill_hosts(struct solver *solver, const struct pack_unit *unit, int64_t need, int t, int first, int end,
                       int strays_of_level)
{
	const struct topology *topology = solver_topology(solver, t);
	const struct local_shape *shape = &solver->shapes[unit->shape];
	const int32_t *score = shape->score, *slots = shape->slots->node;
	const int32_t *order = topology->order;
	bool filter = solver->topology_count > 1;
	VEC(struct bin) bins = {0};
	int64_t *const *sums = shape->slots->sums[solver->topologies[t]];
	int level = topology->level_count - 1;
	while (level >= 0 && (!sums[level] || topology->hosts[level]))
		level--;
	for (int p = first, next; p < end; p = next) {
		next = skip_full(topology, sums, level, p);
		if (next > p)
			continue;
		next = p + 1;
		int node = order[p];
		if (slots[node] <= 0 || (filter && !pack_is_inside(solver, unit->at, node)))
			continue;
		if (strays_of_level >= 0 && topology->node_domain[strays_of_level][node] >= 0)
			continue;
		vec_push(&bins, (struct bin){.room = slots[node],
		                             .score = score ? score[node] : 0,
		                             .number = node,
		                             .used = !unit->apart && has_member(solver, node)});
	}
	struct share *shares = base_calloc(bins.count, sizeof(*shares));
	int taken = solver->spreading && strategy_wants_spread(solver, unit->shape)
	                    ? strategy_divide_spread(solver, unit->shape, bins.items, (int)bins.count, need, shares)
	                    : divide(bins.items, (int)bins.count, need, shares);
	if (solver->shape_count == 1 && solver->topology_count == 1)
		take_shares(solver, unit, shares, taken);
	else
		for (int i = 0; i < taken; i++)
			pack_take(solver, unit, shares[i].number, (int)shares[i].count);
	vec_free(&bins);
	free(shares);
	return taken >= 0;
}

static bool fill_domain(struct solver *solver, const struct pack_unit *unit, int64_t need, int t, int level, int domain)
{
	const struct topology *topology = solver_topology(solver, t);
	int first = level < 0 ? 0 : topology->domains[level][domain].first;
	int end = level < 0 ? solver->cluster->node_count : topology->domains[level][domain].end;
	int next = level + 1;
	if (solver->topology_count > 1 || solver->shapes[unit->shape].score ||
	    (solver->spreading && strategy_wants_spread(solver, unit->shape)) || next >= topology->level_count ||
	    !solver->used[t][next])
		return fill_hosts(solver, unit, need, t, first, end, -1);
	int from = level < 0 ? 0 : topology->domains[level][domain].first_child;
	int to = level < 0 ? topology->domain_count[0] : topology->domains[level][domain].child_end;
	const struct slots *slots = solver->shapes[unit->shape].slots;
	const int64_t *sums = slots->sums[solver->topologies[t]][next];
	int64_t strays = level < 0 ? slots->total : slots->sums[solver->topologies[t]][level][domain];
	struct bin *bins = base_calloc((size_t)(to - from) + 1, sizeof(*bins));
	int count = 0;
	for (int d = from; d < to; d++) {
		strays -= sums[d];
		if (sums[d] > 0)
			bins[count++] =
				(struct bin){.room = sums[d], .number = d, .used = solver->used[t][next][d] > 0};
	}
	if (strays > 0)
		bins[count++] = (struct bin){.room = strays, .number = -1};
	struct share *shares = base_calloc((size_t)count, sizeof(*shares));
	int taken = divide(bins, count, need, shares);
	bool fine = taken >= 0;
	for (int i = 0; i < taken && fine; i++)
		fine = shares[i].number < 0 ? fill_hosts(solver, unit, shares[i].count, t, first, end, next)
		                            : fill_domain(solver, unit, shares[i].count, t, next, shares[i].number);
	free(bins);
	free(shares);
	return fine;
}

static bool quick(struct solver *solver, const struct pack_unit *units, int count)
{
	for (int u = 0; u < count; u++) {
		int first, end;
		int t = pack_narrowest(solver, units[u].at, &first, &end);
		if (!fill_domain(solver, &units[u], units[u].count, t, units[u].at->level[t], units[u].at->domain[t]))
			return false;
	}
	return true;
}

/* ---- entry points ---- */

bool pack_one(struct solver *solver, const struct pack_unit *unit)
{
	int first, end;
	int t = pack_narrowest(solver, unit->at, &first, &end);
	return fill_domain(solver, unit, 1, t, unit->at->level[t], unit->at->domain[t]);
}

static int compare_units(const void *left, const void *right)
{
	const struct pack_unit *a = left, *b = right;
	if (a->room != b->room)
		return a->room < b->room ? -1 : 1;
	if (a->slots != b->slots)
		return a->slots < b->slots ? -1 : 1;
	if (a->want != b->want)
		return a->want < b->want ? -1 : 1;
	return (a->shape > b->shape) - (a->shape < b->shape);
}

/* Units of the given items, smallest confinement and rarest shape first. */
static struct pack_unit *list_units(struct solver *solver, const bool *chosen, int *count)
{
	size_t chosen_count = 0;
	for (size_t i = 0; i < solver->items.count; i++)
		chosen_count += !chosen || chosen[i];
	struct pack_unit *units =
		arena_array(solver->trial, struct pack_unit, chosen_count * (size_t)solver->shape_count);
	*count = 0;
	for (size_t i = 0; i < solver->items.count; i++) {
		const struct item *item = &solver->items.items[i];
		int first, end;
		if (chosen && !chosen[i])
			continue;
		pack_narrowest(solver, &item->at, &first, &end);
		for (int s = 0; s < solver->shape_count; s++)
			if (item->counts[s])
				units[(*count)++] = (struct pack_unit){.want = item->want,
				                                       .shape = s,
				                                       .count = item->counts[s],
				                                       .at = &item->at,
				                                       .room = end - first,
				                                       .slots = solver->shapes[s].slots->total};
	}
	qsort(units, (size_t)*count, sizeof(*units), compare_units);
	return units;
}

const int32_t *pack_score_nodes(struct solver *solver, int shape)
{
	if (!solver->shapes[shape].scored) {
		solver->shapes[shape].score = liking_score_nodes(solver, solver->shapes[shape].pod_class);
		solver->shapes[shape].scored = true;
	}
	return solver->shapes[shape].score;
}

static bool is_spread(const struct solver *solver)
{
	for (int s = 0; s < solver->shape_count; s++)
		if (strategy_wants_spread(solver, s))
			return true;
	return false;
}

bool pack_is_valid(const struct solver *solver)
{
	return (!solver->social || rules_check_final(solver)) && (!solver->matching || matching_holds(solver));
}

static enum verdict pack_units(struct solver *solver, const struct pack_unit *units, int count, uint64_t budget)
{
	size_t mark = solver->trail.count;
	/* Evenly spread pods may stand in each other's way: then they are packed, before the long search. */
	for (int spreading = is_spread(solver); spreading >= 0; spreading--) {
		solver->spreading = spreading;
		solver->assigned.count = 0;
		bool fine = quick(solver, units, count);
		if (fine && pack_is_valid(solver))
			return VERDICT_PLACED;
		trail_undo(solver, mark);
	}
	solver->assigned.count = 0;
	if (solver->exact)
		return VERDICT_IMPOSSIBLE;
	return pack_exhaust(solver, units, count, budget);
}

enum verdict pack_items(struct solver *solver)
{
	int count;
	for (int s = 0; s < solver->shape_count; s++)
		pack_score_nodes(solver, s);
	for (size_t i = 0; i < solver->items.count; i++)
		bound_reserve(solver, &solver->items.items[i], -1);
	struct arena_mark memory = arena_mark(solver->trial);
	struct pack_unit *units = list_units(solver, NULL, &count);
	enum verdict verdict = pack_units(solver, units, count, UINT64_MAX);
	arena_rewind(solver->trial, memory);
	return verdict;
}

enum verdict pack_local(struct solver *solver, const struct confine *at)
{
	enum { MANY_ITEMS = 512, LOCAL_BUDGET = 2000 };
	if (solver->items.count > MANY_ITEMS)
		return VERDICT_EXHAUSTED;
	size_t mark = solver->trail.count;
	struct arena_mark memory = arena_mark(solver->trial);
	bool *chosen = arena_array(solver->trial, bool, solver->items.count);
	const struct topology *topology = solver_topology(solver, 0);
	for (size_t i = 0; i < solver->items.count; i++) {
		const struct item *item = &solver->items.items[i];
		int level = item->at.level[0], domain = item->at.domain[0];
		for (; level > at->level[0]; level--)
			domain = topology_find_parent(topology, level, domain);
		chosen[i] = level == at->level[0] && domain == at->domain[0];
		if (chosen[i])
			bound_reserve(solver, item, -1);
	}
	int count;
	struct pack_unit *units = list_units(solver, chosen, &count);
	enum verdict verdict = pack_units(solver, units, count, LOCAL_BUDGET);
	bool exhausted_all = solver->out_of_budget;
	trail_undo(solver, mark);
	arena_rewind(solver->trial, memory);
	solver->assigned.count = 0;
	solver->out_of_budget = exhausted_all;
	return verdict;
}
