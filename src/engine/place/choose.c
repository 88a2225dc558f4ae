/* Owns which domain a part of the gang should try, in what order, and which domains are alike. */
#include "engine/place/solver.h"

struct domain_key {
	int64_t evictions; /* pods that do not fit without making room */
	int unused;        /* 0 when the gang is there already */
	int holds;         /* bit per ancestor that fits as a whole, outermost highest; negated for ordering */
	int64_t dislike;   /* of the pods' own preferences for its best node */
	int64_t hosted;    /* negated: how much of everything waiting it could take */
	int64_t fit;       /* tightest that holds the rest, else largest */
	int64_t slack;
};

static int64_t hosted(const struct solver *solver, const struct part_class *class_, int topology, int level, int domain)
{
	int64_t sum = 0;
	for (int s = 0; s < solver->shape_count; s++) {
		int64_t have = solver->counters[s].sums[topology][level][domain];
		sum += have < class_->all[s] ? have : class_->all[s];
	}
	return sum;
}

/* What the gang's first shape thinks of the best node of the domain: terms such as "apart from the pods of another group"
 * say which of several domains to take, not only which of their nodes. */
static int64_t dislike_of(struct solver *solver, int t, int level, int domain)
{
	const int32_t *score = solver->bias || solver->shape_count == 0 ? NULL : pack_score_nodes(solver, 0);
	if (!score)
		return 0;
	const struct topology *topology = solver_topology(solver, t);
	const struct domain *d = &topology->domains[level][domain];
	int64_t best = INT32_MIN;
	for (int p = d->first; p < d->end; p++) {
		int node = topology->order[p];
		if (solver->shapes[0].slots->node[node] > 0 && score[node] > best)
			best = score[node];
	}
	return -best;
}

static struct domain_key key_of(struct solver *solver, const struct want *want, int topology, int level, int domain)
{
	const struct part_class *class_ = &solver->classes[want->class_];
	struct domain_key key = {.unused = solver->used[topology][level][domain] == 0};
	if (solver->bias) {
		int64_t need = 0, idle = solver->bias->idle[solver->topologies[topology]][level][domain];
		for (int s = 0; s < solver->shape_count; s++)
			need += class_->least[s];
		key.evictions = need > idle ? need - idle : 0;
	}
	int holds = 0;
	for (int p = want->parent; p >= 0; p = solver->wants[p].parent) {
		int bit = solver->wants[p].depth < 24 ? 24 - solver->wants[p].depth : 0;
		if (bound_get(solver, solver->wants[p].class_, topology, level, domain) > 0)
			holds |= 1 << bit;
	}
	key.holds = -holds;
	key.dislike = dislike_of(solver, topology, level, domain);
	if (class_->surplus)
		key.hosted = -hosted(solver, class_, topology, level, domain);
	int32_t copies = bound_get(solver, want->class_, topology, level, domain);
	key.fit = copies >= want->rest ? copies : (int64_t)2 * COPIES_CAP - copies;
	key.slack = solver->counters[0].sums[topology][level][domain];
	return key;
}

static int compare_keys(const struct domain_key *a, const struct domain_key *b)
{
	if (a->evictions != b->evictions)
		return a->evictions < b->evictions ? -1 : 1;
	if (a->unused != b->unused)
		return a->unused - b->unused;
	if (a->holds != b->holds)
		return a->holds < b->holds ? -1 : 1;
	if (a->dislike != b->dislike)
		return a->dislike < b->dislike ? -1 : 1;
	if (a->hosted != b->hosted)
		return a->hosted < b->hosted ? -1 : 1;
	if (a->fit != b->fit)
		return a->fit < b->fit ? -1 : 1;
	return (a->slack > b->slack) - (a->slack < b->slack);
}

static void child_range(const struct topology *topology, int level, int domain, int *first, int *end)
{
	*first = level < 0 ? 0 : topology->domains[level][domain].first_child;
	*end = level < 0 ? topology->domain_count[0] : topology->domains[level][domain].child_end;
}

int choose_first(struct solver *solver, const struct want *want, const struct confine *at)
{
	const struct part_class *class_ = &solver->classes[want->class_];
	int t = class_->topology, domain = at->domain[t];
	const struct topology *topology = solver_topology(solver, t);
	for (int level = at->level[t]; level < class_->level; level++) {
		int first, end, best = -1;
		struct domain_key best_key = {0};
		child_range(topology, level, domain, &first, &end);
		for (int d = first; d < end; d++) {
			if (bound_get(solver, want->class_, t, level + 1, d) < 1)
				continue;
			struct domain_key key = key_of(solver, want, t, level + 1, d);
			if (best < 0 || compare_keys(&key, &best_key) < 0) {
				best = d;
				best_key = key;
			}
		}
		if (best < 0)
			return -1;
		domain = best;
	}
	return domain;
}

struct ranked {
	struct domain_key key;
	int domain;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int order = compare_keys(&a->key, &b->key);
	return order ? order : (a->domain > b->domain) - (a->domain < b->domain);
}

static void list_below(struct solver *solver, const struct want *want, int t, int level, int domain, int *list,
                       int *count)
{
	const struct part_class *class_ = &solver->classes[want->class_];
	if (level == class_->level) {
		list[(*count)++] = domain;
		return;
	}
	int first, end, n = 0;
	child_range(solver_topology(solver, t), level, domain, &first, &end);
	struct ranked *ranked = base_calloc((size_t)(end - first), sizeof(*ranked));
	for (int d = first; d < end; d++)
		if (bound_get(solver, want->class_, t, level + 1, d) > 0)
			ranked[n++] = (struct ranked){.key = key_of(solver, want, t, level + 1, d), .domain = d};
	qsort(ranked, (size_t)n, sizeof(*ranked), compare_ranked);
	for (int i = 0; i < n; i++)
		list_below(solver, want, t, level + 1, ranked[i].domain, list, count);
	free(ranked);
}

int choose_list(struct solver *solver, const struct want *want, const struct confine *at, int *list)
{
	int t = solver->classes[want->class_].topology, count = 0;
	list_below(solver, want, t, at->level[t], at->domain[t], list, &count);
	return count;
}

/* ---- equal domains ---- */

/* State of a domain as far as the gang can tell: slots of its nodes, what is drawn from it, recursively. */
static uint64_t domain_signature(const struct solver *solver, int t, int level, int domain)
{
	const struct topology *topology = solver_topology(solver, t);
	const struct domain *d = &topology->domains[level][domain];
	uint64_t hash = 0x51ed270b;
	for (int j = 0; j < solver->counter_count && solver->counters[j].sums[t]; j++)
		hash = hash_mix(hash, (uint64_t)solver->counters[j].sums[t][level][domain]);
	uint64_t members = 0;
	if (level < solver->deepest[t]) {
		for (int c = d->first_child; c < d->child_end; c++)
			members += domain_signature(solver, t, level + 1, c);
	}
	for (int p = d->first; p < d->end; p++) {
		int node = topology->order[p];
		if (level < solver->deepest[t] && topology->node_domain[level + 1][node] >= 0)
			continue;
		uint64_t own = 0x2545f491;
		for (int s = 0; s < solver->shape_count; s++)
			own = hash_mix(own, (uint64_t)solver->shapes[s].slots->node[node]);
		for (int j = solver->shape_count; j < solver->counter_count && solver->counters[j].resource >= 0; j++)
			own = hash_mix(own,
			               (uint64_t)cluster_amount_in_view(solver->cluster, solver->counters[j].resource,
			                                                node, solver->view));
		members += own * 0x9e3779b97f4a7c15ULL;
	}
	/* Domains the gang is in already are told apart: running members may tie other parts of the tree to them. */
	hash = hash_mix(hash, members);
	return hash_mix(hash, solver->used[t][level][domain] > 0 ? (uint64_t)domain + 1 : 0);
}

uint64_t choose_signature(const struct solver *solver, const struct want *want, const struct confine *at, int domain)
{
	const struct part_class *class_ = &solver->classes[want->class_];
	int t = class_->topology;
	uint64_t hash = 0;
	for (int l = class_->level; l > at->level[t]; l--) {
		hash = hash_mix(hash, domain_signature(solver, t, l, domain));
		domain = topology_find_parent(solver_topology(solver, t), l, domain);
	}
	return hash;
}
