/* Owns upper bounds: how many copies of a part class a domain can hold at most. A relaxation: it may say yes where the packing
 * later says no, never the other way round. */
#include "base/clamp.h"
#include "engine/place/solver.h"

#include <string.h>

/* More than this many bound entries are not worth keeping: then bounds stay as computed at the start (still valid). */
#define LIVE_CLASSES 512
/* Computed when somebody asks: most domains are never looked at for the larger parts of a gang. */
#define BOUND_UNKNOWN (-1)

static int32_t copies_confined(struct solver *solver, int number, int topology, int level, int domain);

static int32_t *bound_slot(const struct solver *solver, int class_, int topology, int level, int domain)
{
	if (level < 0)
		return &solver->bound_total[topology][class_];
	int levels = solver->deepest[topology] + 1;
	return &solver->bound[topology][class_ * levels + level][domain];
}

int32_t bound_get(struct solver *solver, int class_, int topology, int level, int domain)
{
	int32_t *slot = bound_slot(solver, class_, topology, level, domain);
	if (*slot == BOUND_UNKNOWN)
		trail_set32(solver, slot, copies_confined(solver, class_, topology, level, domain));
	return *slot;
}

static int64_t counter_value(const struct solver *solver, int counter, int topology, int level, int domain)
{
	const struct counter *c = &solver->counters[counter];
	return level < 0 || !c->sums[topology] ? *c->total : c->sums[topology][level][domain];
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Copies by the amounts that every choice needs at least. */
static int64_t copies_by_amount(const struct solver *solver, const struct part_class *class_, int topology, int level,
                                int domain)
{
	int64_t copies = COPIES_CAP;
	for (int j = 0; j < solver->counter_count; j++) {
		int64_t least = class_->least[j];
		if (least <= 0)
			continue;
		int64_t have = counter_value(solver, j, topology, level, domain);
		if (have < least)
			return 0;
		copies = least == 1 ? smaller(copies, have) : smaller(copies, have / least);
	}
	return copies;
}

static int64_t copies_of_leaf(const struct solver *solver, const struct part_class *class_, int topology, int level,
                              int domain)
{
	if (!class_->mixed)
		return COPIES_CAP;
	int64_t usable = 0, once = 0;
	for (int s = 0; s < solver->shape_count; s++) {
		if (!class_->waiting[s])
			continue;
		int64_t have = counter_value(solver, s, topology, level, domain);
		usable += have > 0 ? have : 0;
		once += smaller(have > 0 ? have : 0, class_->waiting[s]);
	}
	return once < class_->need ? 0 : usable / class_->need;
}

static int64_t copies_of_parent(struct solver *solver, const struct part_class *class_, int topology, int level,
                                int domain)
{
	int64_t copies = COPIES_CAP, sum = 0, once = 0;
	for (int k = 0; k < class_->kid_count; k++) {
		int64_t kid = bound_get(solver, class_->kids[k], topology, level, domain);
		copies = smaller(copies, kid / class_->kid_copies[k]);
		sum += kid;
		once += smaller(kid, class_->kid_copies[k]);
	}
	if (class_->need >= class_->kid_total)
		return copies;
	if (once < class_->need)
		return 0;
	return class_->need ? sum / class_->need : COPIES_CAP;
}

/* Copies of the class when confined to this domain. */
static int32_t copies_confined(struct solver *solver, int number, int topology, int level, int domain)
{
	const struct part_class *class_ = &solver->classes[number];
	if (class_->dead)
		return 0;
	if (class_->topology == topology && class_->level == level && class_->fixed >= 0 && class_->fixed != domain)
		return 0;
	int64_t copies = copies_by_amount(solver, class_, topology, level, domain);
	if (copies == 0)
		return 0;
	copies = smaller(copies, class_->leaf ? copies_of_leaf(solver, class_, topology, level, domain)
	                                      : copies_of_parent(solver, class_, topology, level, domain));
	return (int32_t)smaller(copies, COPIES_CAP);
}

static bool finer(const struct part_class *class_, int topology, int level)
{
	return class_->topology == topology && class_->level > level;
}

static int32_t sum_children(const struct solver *solver, int number, int topology, int level, int domain)
{
	const struct topology *top = solver_topology(solver, topology);
	int first = 0, end = level + 1 <= solver->deepest[topology] ? top->domain_count[0] : 0;
	if (level >= 0) {
		first = top->domains[level][domain].first_child;
		end = top->domains[level][domain].child_end;
	}
	/* Above its own level a class is always counted: no entry is unknown. */
	const int32_t *children = first < end ? bound_slot(solver, number, topology, level + 1, 0) : NULL;
	int64_t sum = 0;
	for (int d = first; d < end; d++)
		sum += children[d];
	return (int32_t)smaller(sum, COPIES_CAP);
}

static void find_deepest(struct solver *solver)
{
	for (int t = 0; t < solver->topology_count; t++)
		solver->deepest[t] = -1;
	for (int c = 0; c < solver->class_count; c++) {
		const struct part_class *class_ = &solver->classes[c];
		if (class_->topology >= 0 && class_->level > solver->deepest[class_->topology])
			solver->deepest[class_->topology] = class_->level;
	}
	for (int t = 0; t < solver->topology_count; t++)
		for (int l = 0; l <= solver->deepest[t]; l++)
			for (int s = 0; s < solver->shape_count; s++)
				slots_need_level(solver->cluster, solver->shapes[s].slots, solver->topologies[t], l);
}

static void allocate_bounds(struct solver *solver)
{
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = solver_topology(solver, t);
		int levels = solver->deepest[t] + 1;
		solver->bound_total[t] = arena_array(solver->arena, int32_t, (size_t)solver->class_count);
		solver->bound[t] = arena_array(solver->arena, int32_t *, (size_t)solver->class_count * (size_t)levels);
		for (int l = 0; l < levels; l++)
			for (int c = 0; c < solver->class_count; c++)
				solver->bound[t][c * levels + l] =
					arena_alloc_raw(solver->arena,
				                        (size_t)topology->domain_count[l] * sizeof(int32_t));
	}
}

/* Members that are placed already count as use of their domains, so that new ones prefer to join them. Single hosts are
 * counted only where a constraint names their level. */
static void count_used(struct solver *solver)
{
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = solver_topology(solver, t);
		solver->used[t] = arena_array(solver->arena, int32_t *, (size_t)topology->level_count);
		for (int l = 0; l < topology->level_count; l++)
			if (l <= solver->deepest[t] || !topology->hosts[l])
				solver->used[t][l] =
					arena_array(solver->arena, int32_t, (size_t)topology->domain_count[l]);
		for (int m = 0; m < solver->member_node_count; m++)
			for (int l = 0; l < topology->level_count; l++) {
				int domain = topology->node_domain[l][solver->member_nodes[m]];
				if (domain >= 0 && solver->used[t][l])
					solver->used[t][l][domain]++;
			}
	}
}

/* The common case without a call per domain: a leaf of one shape in a gang of one shape. */
static bool fill_simple(const struct solver *solver, const struct part_class *class_, int topology, int level,
                        int32_t *out)
{
	if (!class_->leaf || class_->mixed || class_->dead || class_->fixed >= 0 || solver->counter_count != 1 ||
	    class_->least[0] <= 0 || class_->least[0] > COPIES_CAP)
		return false;
	int domains = solver_topology(solver, topology)->domain_count[level];
	const int64_t *sums = solver->counters[0].sums[topology][level];
	/* x / n as (x + 0.5) * (1 / n): exact for whole x below 2^50, and several times faster than dividing. */
	double per_copy = 1.0 / (double)class_->least[0];
	for (int d = 0; d < domains; d++) {
		int32_t have = (int32_t)(sums[d] < 0 ? 0 : sums[d] > COPIES_CAP ? COPIES_CAP : sums[d]);
		out[d] = (int32_t)(((double)have + 0.5) * per_copy);
	}
	return true;
}

/* At its own level a class is counted in every domain, above it by sums; elsewhere on demand. */
static void fill_level(struct solver *solver, int number, int topology, int level)
{
	const struct part_class *class_ = &solver->classes[number];
	int32_t *out = bound_slot(solver, number, topology, level, 0);
	int domains = level < 0 ? 1 : solver_topology(solver, topology)->domain_count[level];
	if (finer(class_, topology, level)) {
		for (int d = 0; d < domains; d++)
			out[d] = sum_children(solver, number, topology, level, d);
	} else if (level < 0) {
		*out = copies_confined(solver, number, topology, level, 0);
	} else if (class_->topology != topology || class_->level != level) {
		memset(out, 0xff, (size_t)domains * sizeof(int32_t));
	} else if (!fill_simple(solver, class_, topology, level, out)) {
		for (int d = 0; d < domains; d++)
			out[d] = copies_confined(solver, number, topology, level, d);
	}
}

/* Children first, so that a part that fits nowhere ends the work before its parents are looked at. */
void bound_build(struct solver *solver)
{
	find_deepest(solver);
	allocate_bounds(solver);
	solver->live_bounds = solver->class_count <= LIVE_CLASSES;
	solver->refuted = false;
	for (int c = 0; c < solver->class_count; c++)
		for (int t = 0; t < solver->topology_count; t++) {
			for (int level = solver->deepest[t]; level >= -1; level--)
				fill_level(solver, c, t, level);
			if (solver->classes[c].mandatory && solver->bound_total[t][c] < 1) {
				solver->refuted = true;
				if (solver->stop_when_refuted)
					return;
			}
		}
	count_used(solver);
}

/* Bounds on the path from the changed domain to the whole cluster. */
static void refresh_path(struct solver *solver, int topology, int level, int domain)
{
	const struct topology *top = solver_topology(solver, topology);
	int count = solver->class_count;
	int32_t change[LIVE_CLASSES] = {0};      /* of each class in the domain one level down on the path */
	if (level > solver->deepest[topology]) { /* bounds do not reach that deep: start where they do */
		while (level > solver->deepest[topology])
			domain = topology_find_parent(top, level, domain), level--;
	}
	for (int l = level; l >= -1; l--) {
		for (int c = 0; c < count; c++) {
			int32_t *slot = bound_slot(solver, c, topology, l, domain);
			if (*slot == BOUND_UNKNOWN)
				continue;
			int32_t now = finer(&solver->classes[c], topology, l)
			                      ? (int32_t)smaller((int64_t)*slot + change[c], COPIES_CAP)
			                      : copies_confined(solver, c, topology, l, domain);
			change[c] = now - *slot;
			trail_set32(solver, slot, now);
		}
		if (l >= 0)
			domain = topology_find_parent(top, l, domain);
	}
}

static bool draw(struct solver *solver, int counter, int64_t amount, const struct confine *at)
{
	const struct counter *c = &solver->counters[counter];
	bool fine = *c->total >= amount;
	trail_set64(solver, c->total, *c->total - amount);
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = solver_topology(solver, t);
		int domain = at->domain[t];
		for (int l = c->sums[t] ? at->level[t] : -1; l >= 0; l--) {
			int64_t *sum = &c->sums[t][l][domain];
			fine &= *sum >= amount;
			trail_set64(solver, sum, *sum - amount);
			domain = topology_find_parent(topology, l, domain);
		}
	}
	return fine;
}

bool bound_reserve(struct solver *solver, const struct item *item, int sign)
{
	bool fine = true;
	int pods = 0;
	for (int j = 0; j < solver->counter_count; j++) {
		int64_t amount = 0;
		for (int s = 0; s < solver->shape_count; s++) {
			if (!item->counts[s])
				continue;
			amount = clamp_add(amount, clamp_multiply(item->counts[s], counters_per_pod(solver, j, s)));
			pods += j == 0 ? item->counts[s] : 0;
		}
		if (amount)
			fine &= draw(solver, j, sign * amount, &item->at);
	}
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = solver_topology(solver, t);
		int domain = item->at.domain[t];
		for (int l = item->at.level[t]; l >= 0; l--) {
			if (solver->used[t][l])
				trail_set32(solver, &solver->used[t][l][domain],
				            solver->used[t][l][domain] + sign * pods);
			domain = topology_find_parent(topology, l, domain);
		}
		if (solver->live_bounds && sign > 0 && fine)
			refresh_path(solver, t, item->at.level[t], item->at.domain[t]);
	}
	return fine;
}
