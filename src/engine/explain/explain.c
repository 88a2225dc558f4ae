/* Owns why a gang is refused: found with the same bounds the search uses, so that the reason is the cause. */
#include "engine/explain/explain.h"

#include "base/clamp.h"
#include "base/quantity.h"
#include "engine/explain/advice.h"
#include "engine/explain/internal.h"
#include "engine/place/solver.h"
#include "engine/place/whole.h"

#include <string.h>

struct explain {
	struct solver solver;
	struct arena *arena;   /* messages */
	struct arena *scratch; /* everything else */
	struct reasons *out;
	const struct gang *gang;
	struct gang_level *levels;
	struct advice_hint closest; /* the domain that comes closest, in the topologies of the solver */
};

/* "decode: " for a part of the gang, "" for the gang itself, which the reader asked about. */
static const char *part_prefix(const struct explain *x, int tree)
{
	const char *name = x->gang->tree[tree].name;
	return tree == 0 ? "" : arena_printf(x->arena, "%s: ", name[0] ? name : "an unnamed subgroup");
}

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* ---- not ready ---- */

/* Members that are there and do not count, in brackets; empty when there are none. */
static const char *name_left_out(struct arena *arena, const struct gang *gang)
{
	static const struct {
		enum member_state state;
		const char *word;
	} kinds[] = {{MEMBER_GATED, "gated"}, {MEMBER_BLOCKED, "blocked"}, {MEMBER_GONE, "ended or leaving"}};
	const char *words = "";
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		bool any = false;
		for (size_t p = 0; p < gang->pod_count && !any; p++)
			any = gang->pods[p].state == kinds[k].state;
		if (any)
			words = arena_printf(arena, "%s%s%s", words, *words ? " and " : "", kinds[k].word);
	}
	return *words ? arena_printf(arena, " (%s ones do not count)", words) : "";
}

static void explain_not_ready(struct explain *x)
{
	const struct gang *gang = x->gang;
	int *members = arena_array(x->scratch, int, gang->tree_count);
	bool *reachable = arena_array(x->scratch, bool, gang->tree_count);
	gang_reachable(gang, members, reachable);
	if (gang->pod_count == 1 && gang->pods[0].state == MEMBER_BLOCKED) /* why it is blocked says it all */
		return;
	const char *left_out = name_left_out(x->arena, gang);
	for (size_t i = 0; i < gang->tree_count && x->out->count < 8; i++) {
		const struct gang_node *node = &gang->tree[i];
		if (reachable[i] || (i > 0 && reachable[node->parent]))
			continue;
		const char *what = node->child_count
		                           ? arena_printf(x->arena, "subgroup%s can reach %s minimum",
		                                          plural(node->minimum), node->minimum == 1 ? "its" : "their")
		                           : arena_printf(x->arena, "pod%s exist%s%s", plural(node->minimum),
		                                          node->minimum == 1 ? "s" : "", left_out);
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_NOT_READY,
		                           .message = arena_printf(x->arena, "%s%d/%d %s", part_prefix(x, (int)i),
		                                                   members[i], node->minimum, what),
		                           .have = members[i],
		                           .need = node->minimum});
	}
}

/* ---- the part that does not fit ---- */

static bool fits_anywhere(const struct solver *solver, int class_)
{
	for (int t = 0; t < solver->topology_count; t++)
		if (solver->bound_total[t][class_] < 1)
			return false;
	return true;
}

/* Walks from the root to the deepest want whose own bound says no. -1 when every bound says yes. */
static int find_culprit(const struct solver *solver)
{
	int at = 0;
	if (fits_anywhere(solver, solver->wants[0].class_))
		return -1;
	for (;;) {
		const struct want *want = &solver->wants[at];
		int next = -1, misfits = 0;
		for (int k = 0; k < want->kid_count; k++) {
			int kid = solver->kids[want->first_kid + k];
			if (fits_anywhere(solver, solver->wants[kid].class_))
				continue;
			misfits++;
			next = next < 0 ? kid : next;
		}
		/* With K of N children a misfit matters only when too few are left. */
		if (next < 0 || want->kid_count - misfits >= want->need)
			return at;
		at = next;
	}
}

/* How many pods of a class (counted by its needs) a domain could take, at most what is needed. */
static int64_t pods_possible(const struct solver *solver, const struct part_class *class_, int t, int level, int domain)
{
	int64_t sum = 0;
	for (int s = 0; s < solver->shape_count; s++) {
		int64_t have = level < 0 ? *solver->counters[s].total : solver->counters[s].sums[t][level][domain];
		int64_t want = class_->least[s];
		if (class_->mixed && class_->leaf)
			want = class_->waiting[s] < class_->need ? class_->waiting[s] : class_->need;
		sum += have < want ? (have > 0 ? have : 0) : want;
	}
	return sum;
}

static int64_t pods_needed(const struct solver *solver, const struct part_class *class_)
{
	if (class_->leaf)
		return class_->need;
	int64_t sum = 0;
	for (int s = 0; s < solver->shape_count; s++)
		sum += class_->least[s];
	return sum;
}

static const char *domain_text(const struct explain *x, int t, int level, int domain)
{
	return cluster_domain_path(x->solver.cluster, x->solver.topologies[t], level, domain, x->arena);
}

/* The same for people, who know a node by its name alone. */
static const char *domain_words(const struct explain *x, int t, int level, int domain)
{
	return strcmp(solver_topology(&x->solver, t)->labels[level], HOSTNAME_LABEL) == 0
	               ? cluster_domain_name(x->solver.cluster, x->solver.topologies[t], level, domain)
	               : domain_text(x, t, level, domain);
}

/* "rack r1", or "the cluster" */
static const char *place_text(const struct explain *x, int t, int level, int domain)
{
	return level < 0 ? "the cluster"
	                 : arena_printf(x->arena, "%s %s",
	                                explain_level_word(solver_topology(&x->solver, t)->labels[level]),
	                                domain_words(x, t, level, domain));
}

/* ---- what is short ---- */

/* What a domain has free of one resource on the nodes that a shape may use. */
struct supply {
	int64_t slots; /* that many pods of the shape would find as much of it */
	int64_t sum, largest;
};

static struct supply measure(const struct explain *x, const struct shape *shape, int request, int t, int level,
                             int domain)
{
	const struct cluster *cluster = x->solver.cluster;
	const struct topology *topology = solver_topology(&x->solver, t);
	int first = level < 0 ? 0 : topology->domains[level][domain].first;
	int end = level < 0 ? cluster->node_count : topology->domains[level][domain].end;
	struct supply supply = {0};
	for (int p = first; p < end; p++) {
		int node = topology->order[p];
		if (!shape_allows_node(cluster, shape, node))
			continue;
		int64_t free = cluster_amount_in_view(cluster, shape->resource[request], node, x->solver.view);
		supply.slots = clamp_add(supply.slots, free > 0 ? free / shape->amount[request] : 0);
		supply.sum = clamp_add(supply.sum, free > 0 ? free : 0);
		supply.largest = free > supply.largest ? free : supply.largest;
	}
	return supply;
}

/* "needs 40 (5x8)" */
static const char *need_text(const struct explain *x, const char *name, int64_t each, int64_t pods)
{
	const char *one = quantity_print(x->arena, name, each);
	return pods == 1
	               ? arena_printf(x->arena, "needs %s", one)
	               : arena_printf(x->arena, "needs %s (%lldx%s)",
	                              quantity_print(x->arena, name, clamp_multiply(each, pods)), (long long)pods, one);
}

static const char *shortage_text(const struct explain *x, const char *name, int64_t each, int64_t pods,
                                 const struct supply *supply, const char *where)
{
	const char *free = quantity_print(x->arena, name, supply->sum);
	const char *largest = quantity_print(x->arena, name, supply->largest);
	const char *start = arena_printf(x->arena, "short of %s: %s, %s has %s free", explain_resource_word(name),
	                                 need_text(x, name, each, pods), where, free);
	if (supply->sum < each)
		return start;
	if (supply->largest < each)
		return arena_printf(x->arena, "%s, at most %s on one node", start, largest);
	if (supply->sum < clamp_multiply(each, pods))
		return start;
	return arena_printf(x->arena, "%s in pieces that hold %lld pod%s", start, (long long)supply->slots,
	                    plural(supply->slots));
}

/* The resource that leaves the fewest slots for the shape inside a domain. */
static void explain_resource(struct explain *x, int shape_number, int64_t pods, int t, int level, int domain)
{
	const struct cluster *cluster = x->solver.cluster;
	const struct shape *shape = &cluster->shapes.items[x->solver.shapes[shape_number].shape];
	int worst = -1;
	struct supply fewest = {.slots = INT64_MAX};
	for (int i = 0; i < shape->request_count; i++) {
		struct supply supply = measure(x, shape, i, t, level, domain);
		if (supply.slots < fewest.slots ||
		    (supply.slots == fewest.slots &&
		     explain_is_closer(cluster, shape->resource[i], shape->resource[worst]))) {
			fewest = supply;
			worst = i;
		}
	}
	if (worst < 0 || fewest.slots >= pods)
		return;
	const char *name = cluster->resources.items[shape->resource[worst]].name;
	const char *where = place_text(x, t, level, domain);
	const char *port = explain_port_name(name, x->arena);
	reason_add(x->out, x->arena,
	           (struct reason){.code = REASON_RESOURCE,
	                           .message = port ? explain_port_shortage(port, pods, fewest.slots, where, x->arena)
	                                           : shortage_text(x, name, shape->amount[worst], pods, &fewest, where),
	                           .level = level < 0 ? NULL : solver_topology(&x->solver, t)->labels[level],
	                           .domain = level < 0 ? NULL : domain_text(x, t, level, domain),
	                           .have = port ? fewest.slots : fewest.sum,
	                           .need = port ? pods : clamp_multiply(shape->amount[worst], pods)});
}

/* What all pods of the part ask for of a resource together. */
static int64_t ask_together(const struct explain *x, const int64_t *pods, int resource)
{
	const struct cluster *cluster = x->solver.cluster;
	int64_t sum = 0;
	for (int s = 0; s < x->solver.shape_count; s++) {
		const struct shape *shape = &cluster->shapes.items[x->solver.shapes[s].shape];
		for (int i = 0; i < shape->request_count; i++)
			if (shape->resource[i] == resource)
				sum = clamp_add(sum, clamp_multiply(shape->amount[i], pods[s]));
	}
	return sum;
}

/* Pods of several kinds that each find room alone: the first resource of which they need more together than there is. */
static void explain_sum(struct explain *x, const int64_t *pods, int t, int level, int domain)
{
	const struct cluster *cluster = x->solver.cluster;
	const struct topology *topology = solver_topology(&x->solver, t);
	int first = level < 0 ? 0 : topology->domains[level][domain].first;
	int end = level < 0 ? cluster->node_count : topology->domains[level][domain].end;
	for (int r = 0; r < (int)cluster->resources.count; r++) {
		const char *name = cluster->resources.items[r].name;
		int64_t need = ask_together(x, pods, r), free = 0;
		for (int p = first; p < end; p++) {
			int64_t own = cluster_amount_in_view(cluster, r, topology->order[p], x->solver.view);
			free = clamp_add(free, own > 0 ? own : 0);
		}
		if (need <= free || explain_port_name(name, x->arena) || text_starts_with(name, "volumes/"))
			continue;
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_RESOURCE,
		                           .message = arena_printf(x->arena,
		                                                   "short of %s: needs %s together, %s has %s free",
		                                                   explain_resource_word(name),
		                                                   quantity_print(x->arena, name, need),
		                                                   place_text(x, t, level, domain),
		                                                   quantity_print(x->arena, name, free)),
		                           .level = level < 0 ? NULL : topology->labels[level],
		                           .domain = level < 0 ? NULL : domain_text(x, t, level, domain),
		                           .have = free,
		                           .need = need});
		return;
	}
}

/* Pods of a leaf of one shape that the largest domain of a level would hold if nothing ran there; -1 when not told. */
static int64_t room_when_empty(const struct explain *x, const struct part_class *class_, int t, int level)
{
	struct cluster *cluster = x->solver.cluster;
	int shape_number = -1, shapes = 0;
	for (int s = 0; s < x->solver.shape_count; s++)
		if (class_->least[s]) {
			shape_number = s;
			shapes++;
		}
	if (!class_->leaf || shapes != 1)
		return -1;
	int topology = x->solver.topologies[t];
	struct slots *slots = slots_get(cluster, x->solver.shapes[shape_number].shape, VIEW_EMPTY);
	slots_need_level(cluster, slots, topology, level);
	int64_t best = 0;
	for (int d = 0; d < cluster->topologies[topology].domain_count[level]; d++)
		best = slots->sums[topology][level][d] > best ? slots->sums[topology][level][d] : best;
	return best;
}

/* The domain at the level of the class that could take most of its pods, -1 when there is none; how many domains are as
 * good. */
static int best_domain(const struct solver *solver, const struct part_class *class_, int64_t *most, int *equal)
{
	int best = -1, t = class_->topology, level = class_->level;
	*most = -1;
	*equal = 0;
	for (int d = 0; d < solver_topology(solver, t)->domain_count[level]; d++) {
		if (class_->fixed >= 0 && d != class_->fixed)
			continue;
		int64_t have = pods_possible(solver, class_, t, level, d);
		if (have > *most) {
			best = d;
			*most = have;
			*equal = 0;
		}
		*equal += have == *most;
	}
	return best;
}

/* How the pods that have a place are counted where they cannot be counted one by one. */
static const char *togetherness(const struct explain *x, const struct part_class *class_)
{
	return class_->leaf ? arena_printf(x->arena, "fits each pod alone, not all together%s",
	                                   explain_common_port(&x->solver, x->arena))
	                    : "fits the pods one by one, not its subgroups under their constraints";
}

/* The domain at the level of the culprit that comes closest. */
static void explain_level(struct explain *x, const struct want *want, const struct part_class *class_)
{
	const struct solver *solver = &x->solver;
	int t = class_->topology, level = class_->level, equal;
	const struct topology *topology = solver_topology(solver, t);
	const char *word = explain_level_word(topology->labels[level]), *part = part_prefix(x, want->tree);
	int64_t need = pods_needed(solver, class_), have;
	int best = best_domain(solver, class_, &have, &equal);
	if (best < 0) {
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_DOMAIN,
		                           .message = arena_printf(x->arena,
		                                                   "%smust be in one %s, and no node has the label %s",
		                                                   part, word, topology->labels[level]),
		                           .level = topology->labels[level],
		                           .need = need});
		return;
	}
	x->closest = (struct advice_hint){t, level, best};
	const char *where = domain_words(x, t, level, best), *message;
	int64_t empty = room_when_empty(x, class_, t, level);
	const char *others =
		equal > 1 ? arena_printf(x->arena, ", as %d other%s", equal - 1, equal == 2 ? " does" : "s do") : "";
	if (empty >= 0 && empty < need)
		others = arena_printf(x->arena, "%s; an empty %s fits %lld", others, word, (long long)empty);
	if (class_->fixed >= 0)
		message = arena_printf(x->arena, "%sheld in %s %s by its running pods, which fits %lld/%lld more", part,
		                       word, where, (long long)have, (long long)need);
	else if (have >= need)
		message = arena_printf(x->arena, "%sclosest %s %s %s", part, word, where, togetherness(x, class_));
	else
		message = arena_printf(x->arena, "%sclosest %s %s fits %lld/%lld%s", part, word, where, (long long)have,
		                       (long long)need, others);
	reason_add(x->out, x->arena,
	           (struct reason){.code = class_->fixed >= 0 ? REASON_PINNED : REASON_DOMAIN,
	                           .message = message,
	                           .level = topology->labels[level],
	                           .domain = domain_text(x, t, level, best),
	                           .have = have,
	                           .need = need});
}

/* A part that no level confines. */
static void explain_anywhere(struct explain *x, const struct want *want, const struct part_class *class_)
{
	int64_t need = pods_needed(&x->solver, class_), have = pods_possible(&x->solver, class_, 0, -1, -1);
	const char *part = part_prefix(x, want->tree), *message;
	if (need > 1 && have >= need)
		message = arena_printf(x->arena, "%sthe cluster %s", part, togetherness(x, class_));
	else if (need == 1 && want->tree == 0)
		message = "no node fits the pod";
	else
		message = arena_printf(x->arena, "%s%lld/%lld pod%s fit%s right now", part, (long long)have,
		                       (long long)need, plural(need), need == 1 ? "s" : "");
	reason_add(x->out, x->arena,
	           (struct reason){.code = REASON_DOMAIN, .message = message, .have = have, .need = need});
}

/* How many pods of each shape the part needs, of a mixed leaf how many wait. */
static int64_t *pods_by_shape(const struct explain *x, const struct part_class *class_)
{
	int64_t *pods = arena_array(x->scratch, int64_t, (size_t)x->solver.shape_count);
	for (int s = 0; s < x->solver.shape_count; s++)
		pods[s] = class_->mixed && class_->leaf ? class_->waiting[s] : class_->least[s];
	return pods;
}

/* The shape that is shortest of slots in the closest domain; the first when none is. */
static int shortest_shape(const struct explain *x, const int64_t *pods, int64_t *short_of)
{
	int worst = 0;
	*short_of = 0;
	for (int s = 0; s < x->solver.shape_count; s++) {
		const struct counter *counter = &x->solver.counters[s];
		const struct advice_hint *at = &x->closest;
		int64_t have = at->level < 0 ? *counter->total : counter->sums[at->topology][at->level][at->domain];
		if (pods[s] - have > *short_of) {
			*short_of = pods[s] - have;
			worst = s;
		}
	}
	return worst;
}

static void explain_culprit(struct explain *x, int culprit)
{
	const struct solver *solver = &x->solver;
	const struct want *want = &solver->wants[culprit];
	const struct part_class *class_ = &solver->classes[want->class_];
	if (class_->dead) {
		const char *label = solver_topology(solver, class_->topology)->labels[class_->level];
		const char *word = explain_level_word(label);
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_PINNED,
		                           .message = arena_printf(x->arena,
		                                                   "%smust be in one %s, but its running pods are in "
		                                                   "several: end those outside one %s",
		                                                   part_prefix(x, want->tree), word, word),
		                           .level = label});
		return;
	}
	if (class_->level >= 0)
		explain_level(x, want, class_);
	else
		explain_anywhere(x, want, class_);
	int64_t *pods = pods_by_shape(x, class_), short_of;
	int worst = shortest_shape(x, pods, &short_of), t = x->closest.topology < 0 ? 0 : x->closest.topology;
	if (!short_of)
		explain_sum(x, pods, t, x->closest.level, x->closest.domain);
	/* Where no node may be used at all, no amount of a resource helps. */
	else if (shape_count_exclusions(x->solver.cluster, x->solver.shapes[worst].shape)[EXCLUDE_NONE] > 0)
		explain_resource(x, worst, pods[worst], t, x->closest.level, x->closest.domain);
	explain_nodes(x->solver.cluster, &x->solver, worst, x->arena, x->out);
}

/* ---- what would help ---- */

static void explain_changes(struct explain *x, struct cluster *cluster, bool use_releasing, int trials)
{
	struct advices advices;
	engine_advise(cluster, x->gang, use_releasing, x->closest, trials, x->scratch, &advices);
	for (size_t i = 0; i < advices.count; i++) {
		const struct advice *advice = &advices.items[i];
		bool room = advice->kind == ADVICE_ROOM;
		int *nodes = arena_array(x->arena, int, room ? advice->count : 0);
		for (size_t n = 0; room && n < advice->count; n++)
			nodes[n] = advice->items[n];
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_RELAXATION,
		                           .change = advice_kind_name(advice->kind),
		                           .nodes = nodes,
		                           .node_count = room ? advice->count : 0,
		                           .message = arena_printf(x->arena, "would fit with %s",
		                                                   advice_text(cluster, x->gang, advice, x->scratch))});
	}
	if (advices.count == 0)
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_NO_CHANGE,
		                           .message = advices.complete
		                                              ? "no change of one kind alone would make it fit"
		                                              : "no change that would make it fit was found in time"});
}

/* ---- entry ---- */

static bool some_devices(const struct explain *x)
{
	bool some = false;
	for (int s = 0; s < x->solver.shape_count; s++)
		some |= x->solver.cluster->shapes.items[x->solver.shapes[s].shape].claims;
	return some;
}

/* Where nodes have room for each part, and still there is no placement. */
static const char *combination_text(const struct explain *x)
{
	if (x->gang->tree_count == 1 && x->solver.social)
		return "nodes have room, but the rules between pods leave no place";
	if (x->gang->tree_count == 1 && x->solver.matching)
		return some_devices(x) ? "nodes have room, but their devices do not serve all claims together"
		                       : "nodes have room, but can reach or attach no volumes for all claims";
	return "each part fits alone, not all together";
}

static void explain_refusal(struct explain *x, const struct placement *placement)
{
	struct demand demand = {.mode = DEMAND_MINIMUM, .unit_tree = -1, .unit_pod = -1, .levels = x->levels};
	if (!demand_build(&x->solver, &demand))
		return;
	int culprit = find_culprit(&x->solver);
	if (culprit >= 0) {
		explain_culprit(x, culprit);
	} else {
		int tree = placement->blocking_node >= 0 ? placement->blocking_node : 0;
		const char *left =
			tree == 0 ? "" : arena_printf(x->arena, ": no room is left for %s", x->gang->tree[tree].name);
		reason_add(x->out, x->arena,
		           (struct reason){.code = REASON_COMBINATION,
		                           .message = arena_printf(x->arena, "%s%s", combination_text(x), left)});
		if (x->solver.shape_count)
			explain_nodes(x->solver.cluster, &x->solver, 0, x->arena, x->out);
	}
}

static void explain_impossible(struct explain *x, struct cluster *cluster, const struct placement *placement,
                               int trials)
{
	const struct gang *gang = x->gang;
	int view = placement->reserve ? VIEW_RELEASING : VIEW_FREE;
	solver_init(&x->solver, cluster, gang, view, PLACE_DEFAULT_BUDGET, x->scratch);
	x->levels = arena_array(x->scratch, struct gang_level, gang->tree_count);
	for (size_t i = 0; i < gang->tree_count; i++)
		x->levels[i] = gang->tree[i].required;
	explain_claims(cluster, gang, view, x->arena, x->out);
	explain_refusal(x, placement);
	if (x->closest.topology >= 0)
		x->closest.topology = x->solver.topologies[x->closest.topology];
	solver_close(&x->solver);
	if (trials > 0)
		explain_changes(x, cluster, placement->reserve, trials);
}

void engine_explain(struct cluster *cluster, const struct gang *gang, const struct placement *placement, int trials,
                    struct arena *arena, struct reasons *out)
{
	struct explain x = {.arena = arena,
	                    .scratch = arena_create(),
	                    .out = out,
	                    .gang = gang,
	                    .closest = {.topology = -1, .level = -1, .domain = -1}};
	struct gang whole;
	if (placement->outcome == PLACE_NOT_READY)
		explain_not_ready(&x);
	else if (whole_make(cluster, gang, x.scratch, &whole)) /* what is missing is room for all of it */
		x.gang = &whole;
	if (placement->outcome == PLACE_EXHAUSTED)
		reason_add(out, arena,
		           (struct reason){.code = REASON_BUDGET,
		                           .message = arena_printf(
						   arena, "undecided after %llu search steps: raise --budget to decide",
						   (unsigned long long)placement->steps)});
	if (placement->outcome == PLACE_IMPOSSIBLE)
		explain_impossible(&x, cluster, placement, trials);
	arena_destroy(x.scratch);
}
