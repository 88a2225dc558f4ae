/* Owns the advice that takes more nodes: a copy of the cluster as the gang sees it, with nodes like one of its own beside that
 * one, of which more and more may be used. */
#include "engine/explain/advice_internal.h"

#include "engine/place/rules.h"

#include <string.h>

enum { MOST_MORE = 1024, MOST_COPIED = 4096 };

/* ---- which node ---- */

/* Pods of the shape that the node holds with nothing on it. */
static int32_t slots_when_empty(const struct advisor *advisor, size_t shape, int node)
{
	const struct cluster *cluster = advisor->cluster;
	return slots_count_on_node(cluster, &cluster->shapes.items[advisor->shapes[shape]], node, VIEW_EMPTY);
}

/* The node of the near domain, else of any, that holds most pods of the kinds it holds; -1 when none holds any. */
static int find_pattern(const struct advisor *advisor)
{
	const struct advice_hint *hint = &advisor->hint;
	int best = -1;
	int64_t most = 0;
	for (int n = 0; n < advisor->cluster->node_count; n++) {
		bool near = hint->topology >= 0 && hint->level >= 0 &&
		            cluster_node_domain(advisor->cluster, hint->topology, hint->level, n) == hint->domain;
		int64_t holds = 0;
		for (size_t s = 0; s < advisor->shape_count; s++) {
			int32_t slots = slots_when_empty(advisor, s, n);
			holds += slots ? (INT64_C(1) << 32) + slots : 0;
		}
		holds = holds && near ? holds + (INT64_C(1) << 48) : holds;
		if (holds > most) {
			most = holds;
			best = n;
		}
	}
	return best;
}

/* ---- the copy ---- */

struct copy {
	struct cluster *cluster;
	int *more; /* numbers of the nodes that were added */
	int count;
};

static struct cluster_node describe(const struct advisor *advisor, int number)
{
	const struct cluster *cluster = advisor->cluster;
	const struct cluster_node_data *from = &cluster->nodes[number];
	struct resource_amount *amounts = arena_array(advisor->lists, struct resource_amount, cluster->resources.count);
	struct cluster_node node = {.name = from->name,
	                            .labels = from->labels,
	                            .taints = from->taints,
	                            .taint_count = from->taint_count,
	                            .allocatable = amounts,
	                            .unschedulable = from->unschedulable,
	                            .ready = from->ready};
	for (size_t r = 0; r < cluster->resources.count; r++)
		amounts[node.allocatable_count++] =
			(struct resource_amount){cluster->resources.items[r].name,
		                                 cluster->resources.items[r].allocatable[number]};
	return node;
}

/* One more node like it, which has a name and a host of its own. */
static struct cluster_node describe_more(const struct advisor *advisor, int pattern, int number)
{
	struct cluster_node node = describe(advisor, pattern);
	struct label *labels = arena_array(advisor->lists, struct label, node.labels.count);
	node.name = arena_printf(advisor->lists, "%s more %d", node.name, number);
	for (size_t i = 0; i < node.labels.count; i++) {
		labels[i] = node.labels.items[i];
		if (strcmp(labels[i].key, HOSTNAME_LABEL) == 0)
			labels[i].value = node.name;
	}
	node.labels.items = labels;
	return node;
}

static void copy_topologies(const struct cluster *from, struct cluster *to)
{
	for (int t = 0; t < from->topology_count; t++)
		if (from->topologies[t].level_count)
			cluster_add_topology(to, from->topologies[t].name, from->topologies[t].labels,
			                     (size_t)from->topologies[t].level_count);
}

/* What is free in the view of the advisor, on nodes that are in both. */
static void copy_amounts(const struct advisor *advisor, struct cluster *to)
{
	const struct cluster *from = advisor->cluster;
	for (int n = 0; n < from->node_count; n++) {
		int at = cluster_find_node(to, from->nodes[n].name);
		for (size_t r = 0; r < from->resources.count; r++) {
			int own = cluster_find_resource(to, from->resources.items[r].name);
			struct resource_column *column = &to->resources.items[own];
			span_set(column->free, column->free_spans, at,
			         cluster_amount_in_view(from, (int)r, n, advisor->view));
		}
	}
}

static struct copy copy_cluster(const struct advisor *advisor, int pattern, int count)
{
	const struct cluster *from = advisor->cluster;
	struct copy copy = {.cluster = cluster_create(), .count = count};
	cluster_set_pool_key(copy.cluster, from->pool_key);
	copy_topologies(from, copy.cluster);
	for (int n = 0; n < from->node_count; n++) {
		struct cluster_node node = describe(advisor, n);
		cluster_add_node(copy.cluster, &node);
	}
	const char **names = arena_array(advisor->lists, const char *, (size_t)count);
	for (int i = 0; i < count; i++) {
		struct cluster_node node = describe_more(advisor, pattern, i);
		names[i] = node.name;
		cluster_add_node(copy.cluster, &node);
	}
	cluster_seal(copy.cluster);
	copy_amounts(advisor, copy.cluster);
	copy.more = arena_array(advisor->lists, int, (size_t)count);
	for (int i = 0; i < count; i++)
		copy.more[i] = cluster_find_node(copy.cluster, names[i]);
	return copy;
}

/* The class of a pod in the copy: what it asks for and which nodes it may use. Rules between pods are not copied, see
 * is_simple. */
static int copy_pod_class(const struct advisor *advisor, int pod_class, struct cluster *to)
{
	const struct cluster *from = advisor->cluster;
	const struct pod_class *own = &from->pod_classes.items[pod_class];
	const struct shape *shape = &from->shapes.items[own->shape];
	struct resource_amount *requests =
		arena_array(advisor->lists, struct resource_amount, (size_t)shape->request_count);
	for (int i = 0; i < shape->request_count; i++)
		requests[i] =
			(struct resource_amount){from->resources.items[shape->resource[i]].name, shape->amount[i]};
	struct pod_rules rules = shape->rules;
	rules.port_count = 0; /* they are among the requests */
	struct pod_input input = {.namespace_ = own->namespace_,
	                          .labels = own->labels,
	                          .requests = requests,
	                          .request_count = (size_t)shape->request_count,
	                          .rules = &rules};
	return cluster_add_pod_class(to, &input);
}

static struct gang copy_gang(const struct advisor *advisor, struct cluster *to)
{
	struct gang gang = *advisor->gang;
	gang.pods = arena_array(advisor->lists, struct gang_pod, gang.pod_count);
	for (size_t p = 0; p < gang.pod_count; p++) {
		gang.pods[p] = advisor->gang->pods[p];
		gang.pods[p].pod_class = copy_pod_class(advisor, gang.pods[p].pod_class, to);
		gang.pods[p].nominated = -1;
		if (gang.pods[p].state == MEMBER_RUNNING || gang.pods[p].state == MEMBER_RESERVED)
			gang.pods[p].node =
				cluster_find_node(to, cluster_node_name(advisor->cluster, gang.pods[p].node));
	}
	return gang;
}

/* ---- trials ---- */

/* Whether the gang fits with so many of the added nodes. */
static bool fits_with_more(struct advisor *advisor, const struct copy *copy, const struct gang *gang, int count)
{
	for (int i = 0; i < copy->count; i++) {
		int node = copy->more[i];
		copy->cluster->nodes[node].ready = i < count;
		for (size_t s = 0; s < copy->cluster->shapes.count; s++) {
			struct shape *shape = &copy->cluster->shapes.items[s];
			shape->allowed[node] = shape_find_exclusion(copy->cluster, shape, node) == EXCLUDE_NONE;
		}
		cluster_mark_node_changed(copy->cluster, node);
	}
	return advisor_fits(advisor, copy->cluster, gang);
}

static int fewest_nodes(struct advisor *advisor, const struct copy *copy, const struct gang *gang)
{
	int low = 1, high = copy->count;
	if (!fits_with_more(advisor, copy, gang, high))
		return 0;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (fits_with_more(advisor, copy, gang, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return advisor->trials > 0 ? low : 0;
}

/* Whether the copy says all that the gang sees: requests and nodes, not other pods, volumes or places of pods. */
static bool is_simple(const struct advisor *advisor)
{
	bool simple =
		advisor->cluster->node_count <= MOST_COPIED && !rules_concern_gang(advisor->cluster, advisor->gang);
	for (size_t s = 0; s < advisor->shape_count; s++) {
		const struct shape *shape = &advisor->cluster->shapes.items[advisor->shapes[s]];
		simple &= !shape->shares && !shape->one_per_node;
		for (int i = 0; i < shape->request_count; i++)
			simple &= !advisor->cluster->resources.items[shape->resource[i]].outside;
	}
	return simple;
}

void advisor_try_more_nodes(struct advisor *advisor)
{
	int64_t needed = gang_minimum_pods(advisor->gang, 0);
	int pattern = is_simple(advisor) ? find_pattern(advisor) : -1, most = 1;
	if (pattern < 0 || needed > MOST_MORE)
		return;
	struct copy copy = copy_cluster(advisor, pattern, (int)needed);
	struct gang gang = copy_gang(advisor, copy.cluster);
	/* Shapes that may use every node get the list in which nodes are closed. */
	for (size_t s = 0; s < copy.cluster->shapes.count; s++) {
		struct shape *shape = &copy.cluster->shapes.items[s];
		if (!shape->everywhere)
			continue;
		shape->everywhere = false;
		shape->allowed = base_malloc((size_t)copy.cluster->node_count);
		memset(shape->allowed, 1, (size_t)copy.cluster->node_count);
	}
	bool use_releasing = advisor->options.use_releasing;
	advisor->options.use_releasing = false; /* what is leaving counts as free in the copy already */
	int fewest = fewest_nodes(advisor, &copy, &gang);
	advisor->options.use_releasing = use_releasing;
	struct change change = {.count = 1, .most = &most, .now = &most};
	if (fewest)
		advisor_add(advisor, ADVICE_MORE_NODES, &change, &pattern)->amount = fewest;
	cluster_destroy(copy.cluster);
}
