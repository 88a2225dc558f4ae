/* Owns why a gang is refused: found with the same bounds the search uses, so that the reason is the cause. */
#include "engine/explain/explain.h"

#include "base/clamp.h"
#include "base/quantity.h"
#include "engine/explain/internal.h"
#include "engine/place/solver.h"

#include <string.h>

struct explain {
	struct solver solver;
	struct arena *arena;   /* messages */
	struct arena *scratch; /* everything else */
	struct reasons *out;
	const struct gang *gang;
	struct gang_level *levels;
	/* the nearest miss, for the relaxation sentence */
	int miss_topology, miss_level, miss_domain;
	int64_t miss_pods;
	int miss_shape;
	int miss_request; /* of that shape: what is short; counts when miss_pods is above 0 */
};

static const char *tree_name(const struct gang *gang, int tree)
{
	if (gang->tree[tree].name && gang->tree[tree].name[0])
		return gang->tree[tree].name;
	return tree == 0 ? gang->name : "(unnamed subgroup)";
}

/* Adds a reason whose sentence is `message`, the name of that part of the gang, and `rest`. */
static void add_about(struct explain *x, int tree, struct reason reason)
{
	const char *name = tree_name(x->gang, tree);
	if (name) {
		reason.message = arena_printf(x->arena, "%s%s%s", reason.message, name, reason.rest);
		reason.rest = NULL;
	}
	reason_add(x->out, x->arena, reason);
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
	return *words ? arena_printf(arena, " (%s pods do not count)", words) : "";
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
		bool leaf = node->child_count == 0;
		add_about(x, (int)i,
		          (struct reason){.code = REASON_NOT_READY,
		                          .message = "",
		                          .rest = arena_printf(x->arena, " has %d of %d %s it needs%s", members[i],
		                                               node->minimum,
		                                               leaf ? "pods" : "subgroups that can reach their minimum",
		                                               leaf ? left_out : ""),
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

/* The resource that leaves the fewest slots for the shape inside a range of nodes. */
static void explain_resource(struct explain *x, int shape_number, int64_t pods, int t, int level, int domain)
{
	const struct cluster *cluster = x->solver.cluster;
	const struct shape *shape = &cluster->shapes.items[x->solver.shapes[shape_number].shape];
	const struct topology *topology = solver_topology(&x->solver, t);
	int first = level < 0 ? 0 : topology->domains[level][domain].first;
	int end = level < 0 ? cluster->node_count : topology->domains[level][domain].end;
	int worst = -1;
	int64_t fewest = INT64_MAX, free_sum = 0, largest = 0;
	for (int i = 0; i < shape->request_count; i++) {
		int64_t slots = 0, sum = 0, best = 0;
		for (int p = first; p < end; p++) {
			int node = topology->order[p];
			if (!shape_allows_node(cluster, shape, node))
				continue;
			int64_t free = cluster_amount_in_view(cluster, shape->resource[i], node, x->solver.view);
			slots = clamp_add(slots, free > 0 ? free / shape->amount[i] : 0);
			sum = clamp_add(sum, free > 0 ? free : 0);
			best = free > best ? free : best;
		}
		if (slots < fewest ||
		    (slots == fewest && explain_is_closer(cluster, shape->resource[i], shape->resource[worst]))) {
			fewest = slots;
			worst = i;
			free_sum = sum;
			largest = best;
		}
	}
	if (worst < 0 || fewest >= pods)
		return;
	const char *name = cluster->resources.items[shape->resource[worst]].name;
	const char *where = level < 0 ? "the cluster" : domain_text(x, t, level, domain);
	const char *each = quantity_print(x->arena, name, shape->amount[worst]);
	int64_t need = clamp_multiply(shape->amount[worst], pods);
	const char *asked = pods == 1 ? arena_printf(x->arena, "1 pod needs %s", each)
	                              : arena_printf(x->arena, "%lld pods of %s each need %s", (long long)pods, each,
	                                             quantity_print(x->arena, name, need));
	x->miss_pods = pods - fewest;
	x->miss_request = worst;
	const char *port = explain_port_name(name, x->arena);
	const char *message =
		port ? explain_port_shortage(port, pods, fewest, where, x->arena)
		     : arena_printf(
			       x->arena,
			       "%s binds: %s, %s has %s free on usable nodes (%s at most on one node), enough for %lld",
			       name, asked, where, quantity_print(x->arena, name, free_sum),
			       quantity_print(x->arena, name, largest), (long long)fewest);
	reason_add(x->out, x->arena,
	           (struct reason){.code = REASON_RESOURCE,
	                           .message = message,
	                           .level = level < 0 ? NULL : topology->labels[level],
	                           .domain = level < 0 ? NULL : domain_text(x, t, level, domain),
	                           .have = port ? fewest : free_sum,
	                           .need = port ? pods : need});
}

static const char *const exclusion_text[EXCLUDE_CAUSES] = {
	[EXCLUDE_POOL] = "in another node pool",
	[EXCLUDE_LABEL] = "without the worker label",
	[EXCLUDE_NOT_READY] = "not ready",
	[EXCLUDE_UNSCHEDULABLE] = "unschedulable",
	[EXCLUDE_TAINT] = "with a taint the pod does not tolerate",
	[EXCLUDE_SELECTOR] = "not matching the node selector",
	[EXCLUDE_AFFINITY] = "not matching the node affinity",
	[EXCLUDE_VOLUME] = "out of reach of a volume",
};

static void explain_nodes(struct explain *x, int shape_number)
{
	struct cluster *cluster = x->solver.cluster;
	const struct local_shape *local = &x->solver.shapes[shape_number];
	int open = slots_get(cluster, local->shape, x->solver.view)->open;
	const int *counts = shape_count_exclusions(cluster, local->shape);
	const struct shape *shape = &cluster->shapes.items[local->shape];
	int full = counts[EXCLUDE_NONE] - open, by_rules = open - local->slots->open;
	int excluded = cluster->node_count - counts[EXCLUDE_NONE];
	if (!excluded && !by_rules && !full)
		return;
	struct buffer text = {0};
	buffer_printf(&text, "of %d nodes", cluster->node_count);
	const char *comma = ":";
	for (int c = 1; c < EXCLUDE_CAUSES; c++)
		if (counts[c]) {
			buffer_printf(&text, "%s %d %s", comma, counts[c], exclusion_text[c]);
			comma = ",";
		}
	if (by_rules)
		buffer_printf(&text, "%s %d %s", comma, by_rules,
		              explain_has_single_claim(&cluster->pod_classes.items[local->pod_class])
		                      ? "closed by a claim in use"
		                      : "excluded by affinity rules between pods"),
			comma = ",";
	if (full)
		buffer_printf(&text, "%s %d without room for one pod", comma, full);
	int usable = cluster->node_count - excluded - by_rules - full;
	const char *typo = counts[EXCLUDE_SELECTOR] + counts[EXCLUDE_AFFINITY] == cluster->node_count
	                           ? explain_missing_label(cluster, shape, x->arena)
	                           : "";
	reason_add(x->out, x->arena,
	           (struct reason){.code = REASON_NODES,
	                           .message = arena_printf(x->arena, "%s; %d usable%s", text.text, usable, typo),
	                           .have = usable,
	                           .need = cluster->node_count});
	buffer_free(&text);
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

/* Domains at the level of the culprit, best first in the message: "3 of 4". */
static void explain_level(struct explain *x, const struct want *want, const struct part_class *class_)
{
	const struct solver *solver = &x->solver;
	int t = class_->topology, level = class_->level, equal;
	const struct topology *topology = solver_topology(solver, t);
	int64_t need = pods_needed(solver, class_), best_have;
	int best = best_domain(solver, class_, &best_have, &equal);
	if (best < 0) {
		add_about(x, want->tree,
		          (struct reason){.code = REASON_DOMAIN,
		                          .message = "",
		                          .rest = arena_printf(x->arena, " needs one %s, but no node has that label",
		                                               topology->labels[level]),
		                          .level = topology->labels[level],
		                          .need = need});
		return;
	}
	x->miss_topology = t;
	x->miss_level = level;
	x->miss_domain = best;
	const char *where = domain_text(x, t, level, best);
	const char *others = equal > 2    ? arena_printf(x->arena, ", like %d others", equal - 1)
	                     : equal == 2 ? ", like one other"
	                                  : "";
	int64_t empty = room_when_empty(x, class_, t, level);
	if (empty >= 0 && empty < need)
		others = arena_printf(x->arena, "%s; even empty, none holds more than %lld", others, (long long)empty);
	bool fragmented = best_have >= need;
	const char *rest =
		class_->fixed >= 0
			? arena_printf(x->arena,
	                               " is held in %s %s by its running members, which has room for %lld of the %lld "
	                               "pods it still needs",
	                               topology->labels[level], where, (long long)best_have, (long long)need)
		: fragmented
			? arena_printf(x->arena,
	                               " must be in one %s: the best, %s, has room for the pods one by one, but not "
	                               "for its "
	                               "subgroups under their own constraints",
	                               topology->labels[level], where)
			: arena_printf(x->arena, " must be in one %s: the best, %s, has room for %lld of %lld pods%s",
	                               topology->labels[level], where, (long long)best_have, (long long)need, others);
	add_about(x, want->tree,
	          (struct reason){.code = class_->fixed >= 0 ? REASON_PINNED : REASON_DOMAIN,
	                          .message = "",
	                          .rest = rest,
	                          .level = topology->labels[level],
	                          .domain = where,
	                          .have = best_have,
	                          .need = need});
}

static void explain_culprit(struct explain *x, int culprit)
{
	const struct solver *solver = &x->solver;
	const struct want *want = &solver->wants[culprit];
	const struct part_class *class_ = &solver->classes[want->class_];
	int64_t need = pods_needed(solver, class_);
	if (class_->dead) {
		const struct topology *topology = solver_topology(solver, class_->topology);
		add_about(x, want->tree,
		          (struct reason){.code = REASON_PINNED,
		                          .message = "",
		                          .rest = arena_printf(x->arena,
		                                               " must be in one %s, but its running members are not: "
		                                               "nothing can be added until they are",
		                                               topology->labels[class_->level]),
		                          .level = topology->labels[class_->level]});
		return;
	}
	if (class_->level >= 0) {
		explain_level(x, want, class_);
	} else {
		int64_t have = pods_possible(solver, class_, 0, -1, -1);
		const char *together = need > 1 && have >= need ? explain_togetherness(&x->solver, x->arena) : NULL;
		const char *message =
			together ? "the cluster has room for each of the pods "
				 : arena_printf(x->arena, "the cluster has room for %lld of the %lld pod%s ",
		                                (long long)have, (long long)need, need == 1 ? "" : "s");
		add_about(x, want->tree,
		          (struct reason){.code = REASON_DOMAIN,
		                          .message = message,
		                          .rest = together ? together : " needs",
		                          .have = have,
		                          .need = need});
	}
	/* The shape that is shortest of slots at the nearest miss. */
	int t = x->miss_topology < 0 ? 0 : x->miss_topology, level = x->miss_level, domain = x->miss_domain;
	int worst = 0;
	int64_t short_of = 0;
	for (int s = 0; s < solver->shape_count; s++) {
		int64_t have = level < 0 ? *solver->counters[s].total : solver->counters[s].sums[t][level][domain];
		int64_t want_pods = class_->mixed ? class_->waiting[s] : class_->least[s];
		if (want_pods - have > short_of) {
			short_of = want_pods - have;
			worst = s;
		}
	}
	x->miss_shape = worst;
	/* Where no node may be used at all, no amount of a resource helps. */
	if (shape_count_exclusions(x->solver.cluster, x->solver.shapes[worst].shape)[EXCLUDE_NONE] > 0)
		explain_resource(x, worst, class_->mixed ? class_->waiting[worst] : class_->least[worst], t, level,
		                 domain);
	explain_nodes(x, worst);
}

/* ---- relaxations ---- */

static struct gang copy_gang(const struct gang *gang, struct arena *arena)
{
	struct gang copy = *gang;
	copy.tree = arena_array(arena, struct gang_node, gang->tree_count);
	memcpy(copy.tree, gang->tree, sizeof(*copy.tree) * gang->tree_count);
	return copy;
}

static bool places(struct cluster *cluster, const struct gang *gang, int view)
{
	struct arena *scratch = arena_create();
	struct placement placement;
	struct place_options options = {.budget = 20000, .use_releasing = view == VIEW_RELEASING};
	bool placed = engine_place(cluster, gang, &options, scratch, &placement) == PLACE_PLACED;
	arena_destroy(scratch);
	return placed;
}

static const char *level_name(const struct cluster *cluster, struct gang_level level)
{
	return level.level < 0 ? "the whole cluster" : cluster->topologies[level.topology].labels[level.level];
}

/* The constraint whose level has to be raised least. All constraints of one level are raised together too, because equal
 * siblings usually fail alike. */
static void explain_relaxation(struct explain *x)
{
	struct cluster *cluster = x->solver.cluster;
	for (int raise = 1; raise <= CLUSTER_MAX_LEVELS; raise++) {
		bool any = false;
		for (size_t i = 0; i < x->gang->tree_count && i < 64; i++) {
			struct gang_level level = x->gang->tree[i].required;
			bool repeated =
				false; /* an earlier sibling with the same level was raised together with this one */
			for (size_t k = 0; k < i && !repeated; k++)
				repeated = x->gang->tree[k].parent == x->gang->tree[i].parent &&
				           x->gang->tree[k].required.topology == level.topology &&
				           x->gang->tree[k].required.level == level.level;
			if (level.topology < 0 || level.level + 1 < raise || repeated)
				continue;
			any = true;
			struct gang copy = copy_gang(x->gang, x->scratch);
			int raised = 0;
			for (size_t k = i; k < copy.tree_count; k++) {
				struct gang_level *other = &copy.tree[k].required;
				if (copy.tree[k].parent != copy.tree[i].parent ||
				    x->gang->tree[k].required.topology != level.topology ||
				    x->gang->tree[k].required.level != level.level)
					continue;
				*other = level.level - raise < 0
				                 ? GANG_NO_LEVEL
				                 : (struct gang_level){level.topology, level.level - raise};
				raised++;
			}
			if (!places(cluster, &copy, x->solver.view))
				continue;
			const struct gang_level wider = {level.topology, level.level - raise};
			const char *others = raised > 1 ? arena_printf(x->arena, " and %d more", raised - 1) : "";
			add_about(x, (int)i,
			          (struct reason){.code = REASON_RELAXATION,
			                          .message = "it would fit if ",
			                          .rest = arena_printf(x->arena, "%s allowed %s instead of %s", others,
			                                               level_name(cluster, wider),
			                                               level_name(cluster, level)),
			                          .level = level_name(cluster, level)});
			return;
		}
		if (!any)
			return;
	}
}

static void explain_more_capacity(struct explain *x)
{
	const struct cluster *cluster = x->solver.cluster;
	if (x->miss_pods <= 0)
		return;
	const struct shape *shape = &cluster->shapes.items[x->solver.shapes[x->miss_shape].shape];
	int64_t amount = shape->amount[x->miss_request], more = clamp_multiply(amount, x->miss_pods);
	const char *name = cluster->resources.items[shape->resource[x->miss_request]].name;
	const char *label =
		x->miss_level < 0 ? NULL : solver_topology(&x->solver, x->miss_topology)->labels[x->miss_level];
	const char *where = label ? arena_printf(x->arena, "in %s %s", label,
	                                         domain_text(x, x->miss_topology, x->miss_level, x->miss_domain))
	                          : "anywhere in the cluster";
	const char *each = x->miss_pods == 1
	                           ? ""
	                           : arena_printf(x->arena, ", %s for each of %lld pods",
	                                          quantity_print(x->arena, name, amount), (long long)x->miss_pods);
	const char *port = explain_port_name(name, x->arena);
	const char *message = port ? arena_printf(x->arena, "nearest miss: %lld more node%s %s where %s is free",
	                                          (long long)x->miss_pods, x->miss_pods == 1 ? "" : "s", where, port)
	                           : arena_printf(x->arena, "nearest miss: %s more %s %s%s",
	                                          quantity_print(x->arena, name, more), name, where, each);
	more = port ? x->miss_pods : more;
	reason_add(x->out, x->arena,
	           (struct reason){.code = REASON_RELAXATION, .message = message, .level = label, .need = more});
}

/* ---- entry ---- */

/* Where nodes have room for each part, and still there is no placement. */
static const char *combination_text(const struct explain *x)
{
	if (x->gang->tree_count == 1 && x->solver.social)
		return "nodes have room, but the rules between pods leave no place: ";
	if (x->gang->tree_count == 1 && x->solver.matching)
		return "nodes have room, but can reach or attach no volumes for all claims: ";
	return "every part would fit alone, but they do not fit together: ";
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
		add_about(x, tree,
		          (struct reason){.code = REASON_COMBINATION,
		                          .message = combination_text(x),
		                          .rest = " is the part that stays without a place"});
		if (x->solver.shape_count)
			explain_nodes(x, 0);
	}
}

static void explain_impossible(struct explain *x, struct cluster *cluster, const struct placement *placement,
                               bool relax)
{
	const struct gang *gang = x->gang;
	int view = placement->reserve ? VIEW_RELEASING : VIEW_FREE;
	solver_init(&x->solver, cluster, gang, view, PLACE_DEFAULT_BUDGET, x->scratch);
	x->levels = arena_array(x->scratch, struct gang_level, gang->tree_count);
	for (size_t i = 0; i < gang->tree_count; i++)
		x->levels[i] = gang->tree[i].required;
	explain_claims(cluster, gang, view, x->arena, x->out);
	explain_refusal(x, placement);
	explain_more_capacity(x);
	solver_close(&x->solver);
	if (relax)
		explain_relaxation(x);
}

void engine_explain(struct cluster *cluster, const struct gang *gang, const struct placement *placement, bool relax,
                    struct arena *arena, struct reasons *out)
{
	struct explain x = {.arena = arena,
	                    .scratch = arena_create(),
	                    .out = out,
	                    .gang = gang,
	                    .miss_topology = -1,
	                    .miss_level = -1,
	                    .miss_domain = -1};
	if (placement->outcome == PLACE_NOT_READY)
		explain_not_ready(&x);
	if (placement->outcome == PLACE_EXHAUSTED)
		reason_add(out, arena,
		           (struct reason){.code = REASON_BUDGET,
		                           .message = arena_printf(
						   arena,
						   "the search budget ended after %llu steps without a placement and "
						   "without a proof that none exists; raise the budget to decide",
						   (unsigned long long)placement->steps)});
	if (placement->outcome == PLACE_IMPOSSIBLE)
		explain_impossible(&x, cluster, placement, relax);
	arena_destroy(x.scratch);
}
