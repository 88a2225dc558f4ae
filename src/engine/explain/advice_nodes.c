/* Owns the kinds of advice that change nodes or who may use them: room on nodes, cordons, readiness, taints. What is tried is
 * written into the cluster and taken back after each search. */
#include "engine/explain/advice_internal.h"

#include "base/arena_mark.h"
#include "engine/place/rules.h"

#include <stdlib.h>
#include <string.h>

static struct shape *shape_at(const struct advisor *advisor, size_t i)
{
	return &advisor->cluster->shapes.items[advisor->shapes[i]];
}

/* Nodes as parts of a change: each can be had once. */
struct node_list {
	int *nodes;
	size_t count;
};

static bool is_near(const struct advisor *advisor, int node)
{
	const struct advice_hint *hint = &advisor->hint;
	return hint->topology >= 0 && hint->level >= 0 &&
	       cluster_node_domain(advisor->cluster, hint->topology, hint->level, node) == hint->domain;
}

struct ranked_node {
	int node;
	bool near;
	int64_t gain;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_node *a = left, *b = right;
	if (a->near != b->near)
		return a->near ? -1 : 1;
	if (a->gain != b->gain)
		return a->gain > b->gain ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The nodes with a gain: those of the near domain first, and of them those that gain most. */
static struct node_list list_nodes(struct advisor *advisor, int64_t (*gain_of)(struct advisor *, int))
{
	int all = advisor->cluster->node_count;
	struct ranked_node *ranked = arena_array(advisor->lists, struct ranked_node, (size_t)all);
	struct node_list list = {.nodes = arena_array(advisor->lists, int, (size_t)all)};
	for (int n = 0; n < all; n++) {
		int64_t gain = gain_of(advisor, n);
		if (gain > 0)
			ranked[list.count++] = (struct ranked_node){n, is_near(advisor, n), gain};
	}
	if (list.count > 1)
		qsort(ranked, list.count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < list.count; i++)
		list.nodes[i] = ranked[i].node;
	return list;
}

static void find_nodes(struct advisor *advisor, enum advice_kind kind, struct node_list list,
                       bool (*fits)(struct advisor *, struct change *))
{
	int *most = arena_array(advisor->lists, int, list.count);
	for (size_t i = 0; i < list.count; i++)
		most[i] = 1;
	struct change change = {.count = list.count,
	                        .most = most,
	                        .now = arena_array(advisor->lists, int, list.count),
	                        .fits = fits,
	                        .context = list.nodes};
	if (advisor_find_smallest(advisor, &change))
		advisor_add(advisor, kind, &change, list.nodes);
}

/* Whether the shapes of the gang may use the node, asked anew after something about it was changed. */
static void allow(struct advisor *advisor, int node)
{
	for (size_t s = 0; s < advisor->shape_count; s++) {
		struct shape *shape = shape_at(advisor, s);
		if (!shape->everywhere)
			shape->allowed[node] = shape_find_exclusion(advisor->cluster, shape, node) == EXCLUDE_NONE;
	}
	cluster_mark_node_changed(advisor->cluster, node);
}

/* ---- room ---- */

/* What the gang itself uses of a resource of a node, and what would be free there if nothing else did. */
static int64_t free_when_alone(const struct advisor *advisor, int resource, int node)
{
	const struct resource_column *column = &advisor->cluster->resources.items[resource];
	const struct gang *gang = advisor->gang;
	int64_t free = column->allocatable[node];
	for (size_t p = 0; p < gang->pod_count; p++)
		if ((gang->pods[p].state == MEMBER_RUNNING || gang->pods[p].state == MEMBER_RESERVED) &&
		    gang->pods[p].node == node)
			free -= cluster_pod_class_request(advisor->cluster, gang->pods[p].pod_class, resource);
	/* In the view of what will be free, what is leaving counts as free already. */
	return advisor->view == VIEW_RELEASING && column->releasing ? free - column->releasing[node] : free;
}

/* Whether pods that end give it back: what is not said by nodes, such as volumes, stays with its claims. */
static bool is_given_back(const struct advisor *advisor, int resource)
{
	return !advisor->cluster->resources.items[resource].outside;
}

/* The largest share of a request that others use there. */
static int64_t room_gain(struct advisor *advisor, int node)
{
	int64_t gain = 0;
	for (size_t s = 0; s < advisor->shape_count; s++) {
		const struct shape *shape = shape_at(advisor, s);
		for (int i = 0; shape_allows_node(advisor->cluster, shape, node) && i < shape->request_count; i++) {
			int64_t used = free_when_alone(advisor, shape->resource[i], node) -
			               advisor->cluster->resources.items[shape->resource[i]].free[node];
			int64_t more = used / shape->amount[i] + (used > 0);
			gain = more > gain && is_given_back(advisor, shape->resource[i]) ? more : gain;
		}
	}
	return gain;
}

/* Writes an amount as if pods had come or gone; what was free before. */
static int64_t set_free(struct cluster *cluster, size_t resource, int node, int64_t amount)
{
	struct resource_column *column = &cluster->resources.items[resource];
	int64_t before = column->free[node];
	if (amount != before) {
		span_set(column->free, column->free_spans, node, amount);
		cluster_mark_node_changed(cluster, node);
	}
	return before;
}

static bool fits_with_room(struct advisor *advisor, struct change *change)
{
	struct cluster *cluster = advisor->cluster;
	const int *nodes = change->context;
	size_t columns = cluster->resources.count, kept = 0;
	struct arena_mark mark = arena_mark(advisor->lists);
	int64_t *before = arena_array(advisor->lists, int64_t, columns * change->count);
	for (size_t i = 0; i < change->count; i++)
		for (size_t r = 0; change->now[i] && r < columns; r++) {
			int64_t amount = is_given_back(advisor, (int)r) ? free_when_alone(advisor, (int)r, nodes[i])
			                                                : cluster->resources.items[r].free[nodes[i]];
			before[kept++] = set_free(cluster, r, nodes[i], amount);
		}
	bool fits = advisor_fits(advisor, cluster, advisor->gang);
	kept = 0;
	for (size_t i = 0; i < change->count; i++)
		for (size_t r = 0; change->now[i] && r < columns; r++)
			set_free(cluster, r, nodes[i], before[kept++]);
	arena_rewind(advisor->lists, mark);
	return fits;
}

static bool shares_something(const struct advisor *advisor)
{
	bool shares = false;
	for (size_t s = 0; s < advisor->shape_count; s++)
		shares |= shape_at(advisor, s)->shares || shape_at(advisor, s)->claims;
	return shares;
}

void advisor_try_room(struct advisor *advisor)
{
	/* Pods that leave would also stop to count for rules between pods and for volumes, which is not tried here. */
	if (!rules_concern_gang(advisor->cluster, advisor->gang) && !shares_something(advisor))
		find_nodes(advisor, ADVICE_ROOM, list_nodes(advisor, room_gain), fits_with_room);
}

/* ---- cordons and readiness ---- */

/* Kubernetes says of nodes that are cordoned or not ready in their taints too. */
static bool says_cordoned(const struct taint *taint)
{
	return strcmp(taint->key, "node.kubernetes.io/unschedulable") == 0;
}

static bool says_not_ready(const struct taint *taint)
{
	return strcmp(taint->key, "node.kubernetes.io/not-ready") == 0 ||
	       strcmp(taint->key, "node.kubernetes.io/unreachable") == 0;
}

/* The node as it is when it is uncordoned, or ready. */
static struct cluster_node_data mend(struct advisor *advisor, int number, bool readiness)
{
	struct cluster_node_data node = advisor->cluster->nodes[number];
	bool (*is_sign)(const struct taint *) = readiness ? says_not_ready : says_cordoned;
	const struct taint *taints = node.taints;
	size_t count = node.taint_count;
	*(readiness ? &node.ready : &node.unschedulable) = readiness;
	node.taints = arena_array(advisor->lists, struct taint, count);
	node.taint_count = 0;
	for (size_t t = 0; t < count; t++)
		if (!is_sign(&taints[t]))
			node.taints[node.taint_count++] = taints[t];
	return node;
}

/* 1 when some shape of the gang could use the node, were it not for this. */
static int64_t gain_of_mending(struct advisor *advisor, int number, bool readiness)
{
	struct cluster_node_data *node = &advisor->cluster->nodes[number], before = *node;
	int64_t gain = 0;
	if (readiness ? node->ready : !node->unschedulable)
		return 0;
	struct arena_mark mark = arena_mark(advisor->lists);
	*node = mend(advisor, number, readiness);
	for (size_t s = 0; s < advisor->shape_count; s++)
		gain |= shape_find_exclusion(advisor->cluster, shape_at(advisor, s), number) == EXCLUDE_NONE &&
		        !shape_allows_node(advisor->cluster, shape_at(advisor, s), number);
	*node = before;
	arena_rewind(advisor->lists, mark);
	return gain;
}

static int64_t cordon_gain(struct advisor *advisor, int node)
{
	return gain_of_mending(advisor, node, false);
}

static int64_t readiness_gain(struct advisor *advisor, int node)
{
	return gain_of_mending(advisor, node, true);
}

static bool fits_mended(struct advisor *advisor, const struct change *change, bool readiness)
{
	struct cluster_node_data *all = advisor->cluster->nodes;
	const int *nodes = change->context;
	struct arena_mark mark = arena_mark(advisor->lists);
	struct cluster_node_data *before = arena_array(advisor->lists, struct cluster_node_data, change->count);
	for (size_t i = 0; i < change->count; i++) {
		before[i] = all[nodes[i]];
		if (!change->now[i])
			continue;
		all[nodes[i]] = mend(advisor, nodes[i], readiness);
		allow(advisor, nodes[i]);
	}
	bool fits = advisor_fits(advisor, advisor->cluster, advisor->gang);
	for (size_t i = 0; i < change->count; i++) {
		all[nodes[i]] = before[i];
		if (change->now[i])
			allow(advisor, nodes[i]);
	}
	arena_rewind(advisor->lists, mark);
	return fits;
}

static bool fits_uncordoned(struct advisor *advisor, struct change *change)
{
	return fits_mended(advisor, change, false);
}

static bool fits_ready(struct advisor *advisor, struct change *change)
{
	return fits_mended(advisor, change, true);
}

void advisor_try_cordons(struct advisor *advisor)
{
	find_nodes(advisor, ADVICE_UNCORDON, list_nodes(advisor, cordon_gain), fits_uncordoned);
}

void advisor_try_readiness(struct advisor *advisor)
{
	find_nodes(advisor, ADVICE_READY, list_nodes(advisor, readiness_gain), fits_ready);
}

/* ---- taints ---- */

enum { MOST_TAINTS = 16 };

static bool is_same_taint(const struct taint *a, const struct taint *b)
{
	return text_equal(a->key, b->key) && text_equal(a->value, b->value) && a->effect == b->effect;
}

/* The taints that keep some shape of the gang off some node. */
static size_t list_taints(const struct advisor *advisor, const struct taint **taints)
{
	const struct cluster *cluster = advisor->cluster;
	size_t count = 0;
	for (int n = 0; n < cluster->node_count; n++)
		for (size_t t = 0; t < cluster->nodes[n].taint_count; t++) {
			const struct taint *taint = &cluster->nodes[n].taints[t];
			bool needed = false, known = taint->effect == TAINT_PREFER_NO_SCHEDULE ||
			                             says_cordoned(taint) || says_not_ready(taint);
			for (size_t k = 0; k < count && !known; k++)
				known = is_same_taint(taints[k], taint);
			for (size_t s = 0; s < advisor->shape_count && !known && !needed; s++) {
				const struct pod_rules *rules = &shape_at(advisor, s)->rules;
				needed = !taint_tolerated(taint, rules->tolerations, rules->toleration_count);
			}
			if (needed && count < MOST_TAINTS)
				taints[count++] = taint;
		}
	return count;
}

static void allow_tainted(struct advisor *advisor)
{
	for (int n = 0; n < advisor->cluster->node_count; n++)
		if (advisor->cluster->nodes[n].taint_count)
			allow(advisor, n);
}

static bool fits_tolerating(struct advisor *advisor, struct change *change)
{
	const struct taint *const *taints = change->context;
	struct arena_mark mark = arena_mark(advisor->lists);
	struct pod_rules *before = arena_array(advisor->lists, struct pod_rules, advisor->shape_count);
	for (size_t s = 0; s < advisor->shape_count; s++) {
		struct pod_rules *rules = &shape_at(advisor, s)->rules;
		before[s] = *rules;
		rules->tolerations =
			arena_array(advisor->lists, struct toleration, before[s].toleration_count + change->count);
		if (before[s].toleration_count)
			memcpy(rules->tolerations, before[s].tolerations,
			       before[s].toleration_count * sizeof(*rules->tolerations));
		for (size_t t = 0; t < change->count; t++)
			if (change->now[t])
				rules->tolerations[rules->toleration_count++] =
					(struct toleration){.key = taints[t]->key,
				                            .value = taints[t]->value,
				                            .effect = taints[t]->effect};
	}
	allow_tainted(advisor);
	bool fits = advisor_fits(advisor, advisor->cluster, advisor->gang);
	for (size_t s = 0; s < advisor->shape_count; s++)
		shape_at(advisor, s)->rules = before[s];
	allow_tainted(advisor);
	arena_rewind(advisor->lists, mark);
	return fits;
}

void advisor_try_taints(struct advisor *advisor)
{
	const struct taint *taints[MOST_TAINTS];
	int most[MOST_TAINTS], now[MOST_TAINTS], items[MOST_TAINTS];
	struct change change = {.count = list_taints(advisor, taints),
	                        .most = most,
	                        .now = now,
	                        .fits = fits_tolerating,
	                        .context = taints};
	for (int i = 0; i < MOST_TAINTS; i++) {
		most[i] = 1;
		items[i] = i;
	}
	if (!advisor_find_smallest(advisor, &change))
		return;
	struct advice *advice = advisor_add(advisor, ADVICE_TOLERATE, &change, items);
	advice->taints = arena_array(advisor->arena, const struct taint *, advice->count);
	for (size_t i = 0; i < advice->count; i++)
		advice->taints[i] = taints[advice->items[i]];
}
