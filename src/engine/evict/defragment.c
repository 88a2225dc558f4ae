/* Owns the action that keeps whole domains free: it moves what runs so that more racks (or whatever the level is) can take a
 * gang of whole nodes than can now.
 *
 * Such a gang is imagined. As many as fit are given their places first, which keeps those free; then room is made for one
 * more after the other, as consolidation makes it for a gang that waits: everybody who leaves has a new place in the same plan, no
 * disruption budget is violated, gangs move in part or as a whole. In the end the imagined ones are taken away again. */
#include "base/clamp.h"
#include "engine/cluster/internal.h"
#include "engine/cycle/actions.h"
#include "engine/cycle/queue_order.h"
#include "engine/cycle/refusals.h"
#include "engine/evict/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_TRIED = 64,  /* domains for one more place */
	ALL_LISTED = 32,  /* pods of a domain that are all asked; with more those on the nodes that need the fewest */
	MOST_CHAINED = 64 /* pods in the cluster that are all asked, where no domain alone can be freed */
};

#define IMPOSSIBLE (INT_MAX / 2)

struct kept_place {
	int node;
	enum occupancy occupancy;
};

struct defragment {
	struct cycle_run *run;
	struct cycle *cycle;
	struct cluster *cluster;
	struct cycle_defragment *report;
	struct arena *arena;
	int resource, topology, level;
	int pods; /* of the imagined gang, and what each asks for */
	int64_t amount;
	int group;      /* its number */
	int *node_cost; /* by node: pods that have to leave for one imagined pod */
	int *order;     /* nodes of a domain, by their cost */
	bool *from;     /* by node: what runs there may be moved */
	bool *given_up; /* by domain */
	VEC(struct kept_place) kept;
	VEC(int) costs; /* of all places that are not free, as far as they can become free */
};

/* ---- what is imagined ---- */

/* Devices: the resource of GPUs of which there is most. */
static int find_resource(const struct cluster *cluster)
{
	int best = -1;
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		int64_t scale;
		if (cycle_resource_of(cluster_resource_name(cluster, r), &scale) != CYCLE_GPU || scale != 1000)
			continue;
		if (cluster_total(cluster, r) > 0 &&
		    (best < 0 || cluster_total(cluster, r) > cluster_total(cluster, best)))
			best = r;
	}
	return best;
}

/* The level with this label; without one the smallest domains that are more than one node, or single nodes where there are no
 * others. */
static bool find_level(struct defragment *work, const char *label)
{
	const struct cluster *cluster = work->cluster;
	for (work->topology = 0; work->topology < cluster->topology_count; work->topology++) {
		const struct topology *topology = &cluster->topologies[work->topology];
		for (work->level = topology->level_count - 1; work->level >= 0; work->level--)
			if (label ? strcmp(topology->labels[work->level], label) == 0 : !topology->hosts[work->level])
				return true;
	}
	work->topology = 0;
	work->level = cluster->topology_count ? cluster->topologies[0].level_count - 1 : -1;
	return !label && work->level >= 0;
}

static bool is_usable(const struct defragment *work, int node)
{
	const struct cluster_node_data *data = &work->cluster->nodes[node];
	return data->ready && !data->unschedulable && !data->pool &&
	       cluster_node_domain(work->cluster, work->topology, work->level, node) >= 0 &&
	       cluster_allocatable(work->cluster, work->resource, node) >= work->amount;
}

static int compare_amounts(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* The value that most of them have, the larger of two; 0 for none. */
static int64_t most_common(int64_t *values, int count)
{
	int64_t best = 0;
	int most = 0;
	if (count > 1)
		qsort(values, (size_t)count, sizeof(*values), compare_amounts);
	for (int i = 0, end; i < count; i = end) {
		for (end = i; end < count && values[end] == values[i];)
			end++;
		if (end - i >= most) {
			most = end - i;
			best = values[i];
		}
	}
	return best;
}

/* As many whole nodes as most domains have, of the kind that most nodes are. */
static bool find_size(struct defragment *work)
{
	const struct cluster *cluster = work->cluster;
	int domains = cluster_domain_count(cluster, work->topology, work->level), count = 0;
	int64_t *values = arena_array(work->arena, int64_t, (size_t)(cluster->node_count + domains) + 1);
	work->amount = 1;
	for (int node = 0; node < cluster->node_count; node++)
		if (is_usable(work, node))
			values[count++] = cluster_allocatable(cluster, work->resource, node);
	work->amount = most_common(values, count);
	if (!work->amount)
		return false;
	int64_t *nodes = arena_array(work->arena, int64_t, (size_t)domains + 1);
	for (int node = 0; node < cluster->node_count; node++)
		if (is_usable(work, node))
			nodes[cluster_node_domain(cluster, work->topology, work->level, node)]++;
	count = 0;
	for (int d = 0; d < domains; d++)
		if (nodes[d] > 0)
			values[count++] = nodes[d];
	work->pods = (int)most_common(values, count);
	return work->pods > 0;
}

/* It stands for gangs that are made for such nodes, so it minds none of their taints; but cordoned nodes it leaves alone. */
static int imagine_class(const struct defragment *work)
{
	const struct cluster *cluster = work->cluster;
	struct toleration all = {.exists = true, .any_effect = true};
	struct match uncordoned = {.key = "metadata.name", .op = MATCH_NOT_IN, .field_name = true};
	struct node_term term = {.selector = {&uncordoned, 1}};
	uncordoned.values = arena_array(work->arena, const char *, (size_t)cluster->node_count);
	for (int node = 0; node < cluster->node_count; node++)
		if (cluster->nodes[node].unschedulable)
			uncordoned.values[uncordoned.value_count++] = cluster->nodes[node].name;
	struct pod_rules rules = {.tolerations = &all,
	                          .toleration_count = 1,
	                          .has_node_terms = uncordoned.value_count > 0,
	                          .node_terms = &term,
	                          .node_term_count = uncordoned.value_count > 0};
	struct resource_amount request = {cluster_resource_name(cluster, work->resource), work->amount};
	struct pod_input input = {.namespace_ = "", .requests = &request, .request_count = 1, .rules = &rules};
	return cluster_add_pod_class(work->cluster, &input);
}

static void imagine_group(struct defragment *work, struct cycle_group *group)
{
	struct gang_node *leaf = arena_new(work->arena, struct gang_node);
	*leaf = (struct gang_node){.name = "",
	                           .parent = -1,
	                           .minimum = work->pods,
	                           .required = {work->topology, work->level},
	                           .preferred = GANG_NO_LEVEL};
	struct gang_pod *pods = arena_array(work->arena, struct gang_pod, (size_t)work->pods);
	int pod_class = imagine_class(work);
	for (int p = 0; p < work->pods; p++)
		pods[p] = (struct gang_pod){.name = "", .pod_class = pod_class, .node = -1, .nominated = -1};
	*group = (struct cycle_group){.gang = {.namespace_ = "",
	                                       .name = "",
	                                       .tree = leaf,
	                                       .tree_count = 1,
	                                       .pods = pods,
	                                       .pod_count = (size_t)work->pods},
	                              .queue = -1,
	                              .grace = -1,
	                              .was_running = arena_array(work->arena, bool, (size_t)work->pods)};
}

/* What it was given stays taken on the nodes; it itself is as before, for the next one. */
static void keep_place(struct defragment *work)
{
	struct gang *gang = &work->cycle->groups[work->group].gang;
	for (size_t p = 0; p < gang->pod_count; p++) {
		struct gang_pod *pod = &gang->pods[p];
		if (pod->node < 0)
			continue; /* a placement may leave pods out */
		enum occupancy occupancy = pod->state == MEMBER_RESERVED ? OCCUPY_RESERVED : OCCUPY_RUNNING;
		vec_push(&work->kept, (struct kept_place){pod->node, occupancy});
		pod->state = MEMBER_WAITING;
		pod->node = -1;
	}
}

/* Those for which there is room now. */
static void place_first(struct defragment *work)
{
	struct gang *gang = &work->cycle->groups[work->group].gang;
	struct place_options options = {.budget = work->cycle->budget, .use_releasing = true};
	struct placement placement;
	for (;; work->report->before++) {
		arena_reset(work->run->scratch);
		if (engine_place(work->cluster, gang, &options, work->run->scratch, &placement) != PLACE_PLACED)
			return;
		engine_commit(work->cluster, gang, &placement);
		keep_place(work);
	}
}

static void forget_places(struct defragment *work)
{
	int pod_class = work->cycle->groups[work->group].gang.pods[0].pod_class;
	for (size_t i = work->kept.count; i-- > 0;)
		cluster_vacate(work->cluster, pod_class, work->kept.items[i].node, work->kept.items[i].occupancy);
	vec_free(&work->kept);
}

/* ---- what may move ---- */

static int64_t granted_runtime(const struct cycle *cycle, int queue, bool reclaim)
{
	for (; queue >= 0; queue = cycle->queues[queue].parent)
		if (cycle->queues[queue].has_runtime[reclaim])
			return reclaim ? cycle->queues[queue].reclaim_runtime : cycle->queues[queue].preempt_runtime;
	return 0;
}

/* Nobody waits for this: who has not run as long as its queues grant, for whichever reason, stays. */
static bool has_run_enough(const struct cycle *cycle, const struct cycle_group *group)
{
	int64_t preempt = granted_runtime(cycle, group->queue, false),
		reclaim = granted_runtime(cycle, group->queue, true);
	int64_t granted = preempt > reclaim ? preempt : reclaim;
	return granted <= 0 || (group->has_started && cycle->now - group->started >= granted);
}

static int node_of(const struct cycle *cycle, const struct victim_unit *unit)
{
	return cycle->groups[unit->group].gang.pods[unit->pods[0]].node;
}

/* Of a pod that stands alone nothing keeps the new place for the one that its owner makes in its stead: it might come back. */
static bool may_move(const struct cycle *cycle, const struct victim_unit *unit)
{
	const struct cycle_group *group = &cycle->groups[unit->group];
	return !unit->fresh && !group->implicit && has_run_enough(cycle, group);
}

static void list_pods(struct evict_attempt *attempt)
{
	const struct victim_list *list = victim_index_list_pods(attempt->run->victim_index);
	cycle_clear_mark(attempt->run, MARK_ASKED);
	cycle_clear_mark(attempt->run, MARK_GROWING);
	for (size_t i = 0; i < list->count; i++)
		if (attempt->run->move_from[node_of(attempt->cycle, &list->items[i])] &&
		    may_move(attempt->cycle, &list->items[i]) && evict_may_move(attempt, &list->items[i]) &&
		    !evict_defer_guarded(attempt, &list->items[i]))
			evict_append_unit(attempt, &list->items[i]);
}

/* ---- what it costs ---- */

struct movable {
	int node;
	int64_t amount;
};

static int compare_movables(const void *left, const void *right)
{
	const struct movable *a = left, *b = right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->amount < b->amount) - (a->amount > b->amount);
}

/* Fewest pods that have to leave a node: the largest first. */
static int cost_of_node(const struct defragment *work, int node, const struct movable *movable, size_t count)
{
	int64_t free = cluster_amount_in_view(work->cluster, work->resource, node, VIEW_RELEASING);
	int cost = 0;
	for (size_t i = 0; i < count && free < work->amount; i++, cost++)
		free = clamp_add(free, movable[i].amount);
	return free >= work->amount ? cost : IMPOSSIBLE;
}

static void find_costs(struct defragment *work)
{
	const struct victim_list *list = victim_index_list_pods(work->run->victim_index);
	struct movable *movable = base_calloc(list->count + 1, sizeof(*movable));
	size_t count = 0, at = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct victim_unit *unit = &list->items[i];
		int pod_class = work->cycle->groups[unit->group].gang.pods[unit->pods[0]].pod_class;
		int64_t amount = cluster_pod_class_request(work->cluster, pod_class, work->resource);
		if (amount > 0 && may_move(work->cycle, unit))
			movable[count++] = (struct movable){node_of(work->cycle, unit), amount};
	}
	if (count > 1)
		qsort(movable, count, sizeof(*movable), compare_movables);
	for (int node = 0; node < work->cluster->node_count; node++) {
		size_t first = at;
		while (at < count && movable[at].node == node)
			at++;
		work->node_cost[node] =
			is_usable(work, node) ? cost_of_node(work, node, movable + first, at - first) : IMPOSSIBLE;
	}
	free(movable);
}

static int compare_nodes(const void *left, const void *right, void *context)
{
	const int *cost = context, a = *(const int *)left, b = *(const int *)right;
	return cost[a] != cost[b] ? (cost[a] < cost[b] ? -1 : 1) : (a > b) - (a < b);
}

/* The nodes of a domain into `order`, the cheapest first. How many. */
static int order_nodes(struct defragment *work, int domain)
{
	const struct topology *topology = &work->cluster->topologies[work->topology];
	const struct domain *own = &topology->domains[work->level][domain];
	int count = 0;
	for (int32_t at = own->first; at < own->end; at++)
		if (work->node_cost[topology->order[at]] < IMPOSSIBLE)
			work->order[count++] = topology->order[at];
	if (count > 1)
		qsort_r(work->order, (size_t)count, sizeof(*work->order), compare_nodes, work->node_cost);
	return count;
}

/* Pods that have to leave, at least, for place number `which` in the domain; to be called after order_nodes. */
static int cost_of_place(const struct defragment *work, int count, int which)
{
	int64_t cost = 0;
	if ((which + 1) * work->pods > count)
		return IMPOSSIBLE;
	for (int i = which * work->pods; i < (which + 1) * work->pods; i++)
		cost += work->node_cost[work->order[i]];
	return cost < IMPOSSIBLE ? (int)cost : IMPOSSIBLE;
}

/* ---- how many are possible at most ---- */

static int compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;
	return (a > b) - (a < b);
}

/* No moves can give more places than this: each costs at least what has to leave there, and devices do not grow. */
static int count_possible(struct defragment *work, int moves)
{
	int64_t free = 0;
	int possible = 0;
	work->costs.count = 0;
	for (int d = 0; d < cluster_domain_count(work->cluster, work->topology, work->level); d++) {
		int count = order_nodes(work, d), cost;
		for (int which = 0; (cost = cost_of_place(work, count, which)) < IMPOSSIBLE; which++)
			vec_push(&work->costs, cost);
	}
	if (work->costs.count > 1)
		qsort(work->costs.items, work->costs.count, sizeof(int), compare_ints);
	for (int node = 0; node < work->cluster->node_count; node++) {
		int64_t amount = cluster_amount_in_view(work->cluster, work->resource, node, VIEW_RELEASING);
		free = clamp_add(free, amount > 0 ? amount : 0);
	}
	int64_t spent = 0;
	for (size_t i = 0; i < work->costs.count && (spent += work->costs.items[i]) <= moves; i++)
		possible++;
	int64_t one = clamp_multiply(work->amount, work->pods), by_amount = free / (one > 0 ? one : 1);
	return by_amount < possible ? (int)by_amount : possible;
}

/* ---- making places ---- */

/* The domain that needs the fewest moves of those not given up; -1 when all need more than `most`. */
static int find_cheapest(struct defragment *work, int most)
{
	int best = -1, least = most + 1;
	for (int d = 0; d < cluster_domain_count(work->cluster, work->topology, work->level); d++) {
		int cost = work->given_up[d] ? IMPOSSIBLE : cost_of_place(work, order_nodes(work, d), 0);
		if (cost < least) {
			least = cost;
			best = d;
		}
	}
	return best;
}

static void choose_nodes(struct defragment *work, int domain)
{
	const struct topology *topology = &work->cluster->topologies[work->topology];
	const struct domain *own = &topology->domains[work->level][domain];
	int count = order_nodes(work, domain), all = 0;
	memset(work->from, 0, (size_t)work->cluster->node_count);
	for (int i = 0; i < count; i++)
		all += work->node_cost[work->order[i]];
	if (all <= ALL_LISTED)
		for (int32_t at = own->first; at < own->end; at++)
			work->from[topology->order[at]] = true;
	for (int i = 0; i < work->pods; i++)
		work->from[work->order[i]] = true;
}

/* Makes room for one more, with at most so many moves. */
static bool make_place(struct defragment *work, int most)
{
	struct cycle *cycle = work->cycle;
	size_t before = cycle->eviction_count;
	work->run->move_from = work->from;
	work->run->most_moves = most < MOST_MOVES ? most : MOST_MOVES;
	if (!evict_for_group(work->run, work->group, ACTION_DEFRAGMENT, false))
		return false;
	for (size_t i = before; i < cycle->eviction_count; i++)
		cycle->evictions[i].by = -1;
	work->report->moves += (int)(cycle->eviction_count - before);
	work->report->gained++;
	keep_place(work);
	refusals_invalidate(cycle->refusals);
	return true;
}

static bool make_one(struct defragment *work, int most)
{
	find_costs(work);
	for (int tries = 0; tries < MOST_TRIED; tries++) {
		int domain = find_cheapest(work, most < MOST_MOVES ? most : MOST_MOVES);
		if (domain < 0)
			break;
		choose_nodes(work, domain);
		if (make_place(work, most))
			return true;
		work->given_up[domain] = true; /* there will not be more room for what runs in it */
	}
	memset(work->from, 1, (size_t)work->cluster->node_count);
	return victim_index_list_pods(work->run->victim_index)->count <= MOST_CHAINED && make_place(work, most);
}

static void make_places(struct defragment *work)
{
	size_t nodes = (size_t)work->cluster->node_count;
	size_t domains = (size_t)cluster_domain_count(work->cluster, work->topology, work->level);
	work->node_cost = arena_array(work->arena, int, nodes);
	work->order = arena_array(work->arena, int, nodes);
	work->from = arena_array(work->arena, bool, nodes);
	work->given_up = arena_array(work->arena, bool, domains);
	evict_open_index(work->run);
	place_first(work);
	find_costs(work);
	int possible = count_possible(work, work->report->most_moves);
	while (work->report->gained < possible && make_one(work, work->report->most_moves - work->report->moves))
		continue;
	work->report->proved = work->report->gained == possible;
	vec_free(&work->costs);
	forget_places(work);
}

/* The groups with one more behind them, for as long as it is imagined. */
static void run_with_imagined(struct defragment *work)
{
	struct cycle *cycle = work->cycle;
	struct cycle_group *groups = cycle->groups;
	size_t count = cycle->group_count;
	cycle->groups = arena_array_bytes(work->arena, count + 1, sizeof(*groups));
	if (count > 0)
		memcpy(cycle->groups, groups, count * sizeof(*groups));
	work->group = (int)count;
	imagine_group(work, &cycle->groups[count]);
	cycle->group_count = count + 1;
	make_places(work);
	if (count > 0)
		memcpy(groups, cycle->groups, count * sizeof(*groups));
	cycle->groups = groups;
	cycle->group_count = count;
}

static void run(struct cycle *cycle, enum cycle_action action)
{
	struct queue_order order;
	struct cycle_defragment *report = &cycle->defragment;
	struct defragment work = {.cycle = cycle, .cluster = cycle->cluster, .report = report, .arena = cycle->arena};
	(void)action;
	report->before = report->gained = report->moves = 0;
	report->level = NULL;
	report->ran = true;
	report->proved = false;
	work.resource = find_resource(work.cluster);
	/* Where others are on their way already the room they leave is not known yet. */
	if (cycle->eviction_count > 0 || work.resource < 0 || !find_level(&work, report->wanted_level) ||
	    !find_size(&work))
		return;
	report->level = cluster_level_label(work.cluster, work.topology, work.level);
	report->pods = work.pods;
	report->devices = work.amount;
	queue_order_open(cycle, &order);
	work.run = &order.run;
	order.run.decision = arena_create();
	run_with_imagined(&work);
	victim_index_destroy(order.run.victim_index);
	queue_order_close(&order);
}

static bool could_help(struct evict_attempt *attempt)
{
	return moves_could_help(attempt);
}

static const struct evict_method defragmentation = {
	.moves_only = true,
	.begin = could_help,
	.list = list_pods,
};

const struct action_row action_defragment = {
	.run = run,
	.method = &defragmentation,
	.evicts = true,
	.opt_in = true,
	.why = "it keeps a whole domain free",
};
