/* Owns the order of nodes: the domains of topologies as ranges in it, and what has to follow when nodes come and go. */
#include "engine/cluster/cluster.h"

#include "base/clamp.h"
#include "engine/cluster/internal.h"

#include <stdlib.h>
#include <string.h>

static struct cluster_node copy_node(struct arena *arena, const struct cluster_node *node)
{
	struct cluster_node copy = *node;
	copy.name = arena_strdup(arena, node->name);
	copy.labels = cluster_copy_labels(arena, &node->labels);
	copy.taints = cluster_copy_taints(arena, node->taints, node->taint_count);
	struct resource_amount *amounts = arena_array(arena, struct resource_amount, node->allocatable_count);
	for (size_t i = 0; i < node->allocatable_count; i++)
		amounts[i] = (struct resource_amount){.name = arena_strdup(arena, node->allocatable[i].name),
		                                      .amount = node->allocatable[i].amount};
	copy.allocatable = amounts;
	return copy;
}

void cluster_add_node(struct cluster *cluster, const struct cluster_node *node)
{
	if (!cluster->sealed)
		vec_push(&cluster->added, copy_node(cluster->arena, node));
}

/* Values of the node's labels along the levels; NULL from the first missing one on. */
static void level_values(const struct topology *topology, const struct cluster_node *node, const char **values)
{
	bool missing = false;
	for (int l = 0; l < topology->level_count; l++) {
		const char *value = missing ? NULL : labels_get(&node->labels, topology->labels[l]);
		missing = !value;
		values[l] = value;
	}
}

struct sort_row {
	const struct cluster_node *node;
	const char **values;
	int level_count;
	int number; /* position in the first topology, or in the input */
};

static int compare_rows(const void *left, const void *right)
{
	const struct sort_row *a = left, *b = right;
	for (int l = 0; l < a->level_count; l++) {
		if (!a->values[l] || !b->values[l]) {
			if (a->values[l] != b->values[l])
				return a->values[l] ? -1 : 1;
			continue;
		}
		int order = strcmp(a->values[l], b->values[l]);
		if (order)
			return order;
	}
	int order = strcmp(a->node->name, b->node->name);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Rows that are in order but for a few at the end, which is what a change of nodes gives, are merged. */
static struct sort_row *sort_rows(struct arena *arena, struct sort_row *rows, int count)
{
	int first = 1;
	while (first < count && compare_rows(&rows[first - 1], &rows[first]) <= 0)
		first++;
	if (first >= count)
		return rows;
	qsort(rows + first, (size_t)(count - first), sizeof(*rows), compare_rows);
	struct sort_row *merged = arena_array(arena, struct sort_row, (size_t)count);
	for (int n = 0, a = 0, b = first; n < count; n++)
		merged[n] = b >= count || (a < first && compare_rows(&rows[a], &rows[b]) <= 0) ? rows[a++] : rows[b++];
	return merged;
}

static struct sort_row *sorted_rows(struct arena *arena, const struct topology *topology,
                                    const struct cluster_node *nodes, int count)
{
	struct sort_row *rows = arena_array(arena, struct sort_row, (size_t)count);
	int levels = topology ? topology->level_count : 0;
	for (int n = 0; n < count; n++) {
		rows[n] = (struct sort_row){.node = &nodes[n],
		                            .values = arena_array(arena, const char *, (size_t)levels),
		                            .level_count = levels,
		                            .number = n};
		if (topology)
			level_values(topology, &nodes[n], rows[n].values);
	}
	return sort_rows(arena, rows, count);
}

/* Cuts the sorted rows into domains, level by level. */
static void build_domains(struct cluster *cluster, struct topology *topology, const struct sort_row *rows)
{
	int count = cluster->node_count;
	topology->order = base_calloc((size_t)count, sizeof(int32_t));
	for (int p = 0; p < count; p++)
		topology->order[p] = rows[p].number;
	for (int l = 0; l < topology->level_count; l++) {
		VEC(struct domain) domains = {0};
		int32_t *node_domain = base_calloc((size_t)count, sizeof(int32_t));
		for (int p = 0; p < count; p++) {
			const char *value = rows[p].values[l];
			int node = rows[p].number;
			int parent = l ? topology->node_domain[l - 1][node] : -1;
			node_domain[node] = -1;
			if (!value)
				continue;
			struct domain *last = domains.count ? &domains.items[domains.count - 1] : NULL;
			if (!last || last->end != p || last->parent != parent || strcmp(last->name, value) != 0) {
				vec_push(&domains,
				         (struct domain){.first = p, .end = p, .parent = parent, .name = value});
				last = &domains.items[domains.count - 1];
			}
			last->end = p + 1;
			node_domain[node] = (int32_t)domains.count - 1;
		}
		topology->domains[l] = domains.items;
		topology->domain_count[l] = (int)domains.count;
		topology->node_domain[l] = node_domain;
		for (int d = 0; l && d < topology->domain_count[l]; d++) {
			struct domain *parent = &topology->domains[l - 1][domains.items[d].parent];
			if (parent->child_end == 0)
				parent->first_child = d;
			parent->child_end = d + 1;
		}
	}
	for (int l = 0; l < topology->level_count; l++) {
		topology->hosts[l] = true;
		for (int d = 0; d < topology->domain_count[l]; d++)
			topology->hosts[l] &= topology->domains[l][d].end - topology->domains[l][d].first == 1;
	}
	int deepest = topology->level_count - 1;
	for (int n = 0; deepest >= 0 && n < count; n++)
		topology->unlabelled_count += topology->node_domain[deepest][n] < 0;
}

/* Drops later nodes of the same name; keeps the input order of the rest. */
static int keep_first_by_name(struct cluster *cluster)
{
	struct name_entry *seen = NULL;
	int kept = 0;
	for (size_t i = 0; i < cluster->added.count; i++) {
		struct name_entry *entry;
		const char *name = cluster->added.items[i].name;
		HASH_FIND(hh, seen, name, strlen(name), entry);
		if (entry)
			continue;
		entry = base_calloc(1, sizeof(*entry));
		entry->name = name;
		HASH_ADD_KEYPTR(hh, seen, name, strlen(name), entry);
		cluster->added.items[kept++] = cluster->added.items[i];
	}
	cluster_free_names(&seen);
	return kept;
}

bool cluster_node_blocks_plain_pods(const struct cluster_node_data *node)
{
	if (!node->ready || node->unschedulable || node->pool)
		return true;
	for (size_t i = 0; i < node->taint_count; i++)
		if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE)
			return true;
	return false;
}

static void place_node(struct cluster *cluster, int number, const struct cluster_node *from)
{
	struct cluster_node_data *node = &cluster->nodes[number];
	*node = (struct cluster_node_data){.name = from->name,
	                                   .labels = from->labels,
	                                   .taints = (struct taint *)from->taints,
	                                   .taint_count = from->taint_count,
	                                   .pool = cluster_pool_of(cluster, &from->labels),
	                                   .unschedulable = from->unschedulable,
	                                   .ready = from->ready};
	cluster->plain_blocked += cluster_node_blocks_plain_pods(node);
	for (size_t i = 0; i < node->taint_count; i++)
		cluster->soft_taints += node->taints[i].effect == TAINT_PREFER_NO_SCHEDULE;
	struct name_entry *entry = base_calloc(1, sizeof(*entry));
	*entry = (struct name_entry){.name = node->name, .number = number};
	HASH_ADD_KEYPTR(hh, cluster->node_index, node->name, strlen(node->name), entry);
	for (size_t i = 0; i < from->allocatable_count; i++) {
		int resource = cluster_add_resource(cluster, from->allocatable[i].name, 0);
		struct resource_column *column = &cluster->resources.items[resource];
		column->allocatable[number] = column->free[number] = clamp_amount(from->allocatable[i].amount);
		column->total = clamp_add(column->total, column->allocatable[number] - column->initial);
	}
}

/* After amounts of many nodes were written. */
static void bound_columns(struct cluster *cluster)
{
	for (size_t r = 0; r < cluster->resources.count; r++) {
		struct resource_column *column = &cluster->resources.items[r];
		free(column->allocatable_spans);
		free(column->free_spans);
		free(column->releasing_spans);
		column->allocatable_spans = spans_create(column->allocatable, cluster->node_count);
		column->free_spans = spans_create(column->free, cluster->node_count);
		column->releasing_spans =
			column->releasing ? spans_create(column->releasing, cluster->node_count) : NULL;
	}
}

static bool have_unique_hostnames(const struct cluster *cluster)
{
	struct name_entry *seen = NULL;
	bool unique = true;
	for (int n = 0; n < cluster->node_count && unique; n++) {
		const char *host = labels_get(&cluster->nodes[n].labels, HOSTNAME_LABEL);
		struct name_entry *entry = NULL;
		if (host)
			HASH_FIND(hh, seen, host, strlen(host), entry);
		unique = host && !entry;
		if (!unique)
			break;
		entry = base_calloc(1, sizeof(*entry));
		HASH_ADD_KEYPTR(hh, seen, host, strlen(host), entry);
	}
	cluster_free_names(&seen);
	return unique;
}

void cluster_seal(struct cluster *cluster)
{
	if (cluster->sealed)
		return;
	struct arena *scratch = arena_create();
	cluster->node_count = keep_first_by_name(cluster);
	cluster->nodes = base_calloc((size_t)cluster->node_count, sizeof(*cluster->nodes));
	cluster->residents = base_calloc((size_t)cluster->node_count, sizeof(*cluster->residents));
	cluster->sealed = true;
	int topologies = cluster->topology_count ? cluster->topology_count : 1;
	/* The first topology's order gives the node numbers. */
	struct cluster_node *ordered = arena_array(scratch, struct cluster_node, (size_t)cluster->node_count);
	struct sort_row *rows = sorted_rows(scratch, cluster->topology_count ? &cluster->topologies[0] : NULL,
	                                    cluster->added.items, cluster->node_count);
	for (int n = 0; n < cluster->node_count; n++)
		ordered[n] = *rows[n].node;
	for (int n = 0; n < cluster->node_count; n++)
		place_node(cluster, n, &ordered[n]);
	bound_columns(cluster);
	cluster->hostnames_unique = have_unique_hostnames(cluster);
	if (!cluster->topology_count)
		cluster->topologies[cluster->topology_count++].name = "";
	for (int t = 0; t < topologies; t++) {
		rows = sorted_rows(scratch, &cluster->topologies[t], ordered, cluster->node_count);
		build_domains(cluster, &cluster->topologies[t], rows);
	}
	vec_free(&cluster->added);
	arena_destroy(scratch);
}

/* ---- nodes that come and go ---- */

#define FEW_NODES 16 /* so many are compared with all others one by one */

static const char *hostname_of(const struct cluster_node_data *node)
{
	return labels_get(&node->labels, HOSTNAME_LABEL);
}

/* Whether hostnames that were unique still are with a node that came. */
static bool has_own_hostname(const struct cluster *cluster, int number)
{
	const char *own = hostname_of(&cluster->nodes[number]);
	bool unique = own;
	for (int n = 0; n < cluster->node_count && unique; n++)
		unique = n == number || strcmp(hostname_of(&cluster->nodes[n]), own) != 0;
	return unique;
}

void cluster_free_domains(struct topology *topology)
{
	for (int l = 0; l < topology->level_count; l++) {
		free(topology->domains[l]);
		free(topology->node_domain[l]);
	}
	free(topology->order);
}

/* A change of the nodes under way. */
struct turnover {
	struct cluster *cluster;
	struct arena *scratch;
	int before, after;
	const int32_t *from;        /* by new number: the old one, or -1 - i for the i-th that comes in */
	struct cluster_node *nodes; /* by new number */
};

/* The nodes that stay and those that come, in the order of the first topology. */
static void line_up(struct turnover *turnover, const struct cluster_node *in, size_t in_count, const bool *out,
                    int32_t *moved)
{
	struct cluster *cluster = turnover->cluster;
	size_t most = (size_t)turnover->before + in_count;
	struct cluster_node *all = arena_array(turnover->scratch, struct cluster_node, most);
	int32_t *origin = arena_array(turnover->scratch, int32_t, most),
		*from = arena_array(turnover->scratch, int32_t, most);
	int count = 0;
	for (int n = 0; n < turnover->before; n++) {
		const struct cluster_node_data *node = &cluster->nodes[n];
		moved[n] = -1;
		if (out[n])
			continue;
		all[count] = (struct cluster_node){.name = node->name, .labels = node->labels};
		origin[count++] = n;
	}
	for (size_t i = 0; i < in_count; i++) {
		all[count] = copy_node(cluster->arena, &in[i]);
		origin[count++] = -1 - (int32_t)i;
	}
	struct sort_row *rows = sorted_rows(turnover->scratch, &cluster->topologies[0], all, count);
	turnover->nodes = arena_array(turnover->scratch, struct cluster_node, (size_t)count);
	for (int n = 0; n < count; n++) {
		turnover->nodes[n] = *rows[n].node;
		from[n] = origin[rows[n].number];
		if (from[n] >= 0)
			moved[from[n]] = n;
	}
	turnover->from = from;
	turnover->after = count;
}

static int64_t *reorder(const struct turnover *turnover, int64_t *column, int64_t initial)
{
	int64_t *now = base_calloc((size_t)turnover->after, sizeof(*now));
	for (int n = 0; n < turnover->after; n++)
		now[n] = turnover->from[n] >= 0 ? column[turnover->from[n]] : initial;
	free(column);
	return now;
}

static void reorder_columns(const struct turnover *turnover)
{
	struct cluster *cluster = turnover->cluster;
	for (size_t r = 0; r < cluster->resources.count; r++) {
		struct resource_column *column = &cluster->resources.items[r];
		column->allocatable = reorder(turnover, column->allocatable, column->initial);
		column->free = reorder(turnover, column->free, column->initial);
		if (column->releasing)
			column->releasing = reorder(turnover, column->releasing, 0);
		if (column->held)
			column->held = reorder(turnover, column->held, 0);
		column->total = 0;
		for (int n = 0; n < turnover->after; n++)
			column->total = clamp_add(column->total, column->allocatable[n]);
	}
}

static void reorder_nodes(const struct turnover *turnover, const int32_t *moved)
{
	struct cluster *cluster = turnover->cluster;
	struct cluster_node_data *nodes = base_calloc((size_t)turnover->after, sizeof(*nodes));
	struct resident_list *residents = base_calloc((size_t)turnover->after, sizeof(*residents));
	for (int n = 0; n < turnover->before; n++) {
		struct cluster_node_data *node = &cluster->nodes[n];
		struct name_entry *entry;
		HASH_FIND(hh, cluster->node_index, node->name, strlen(node->name), entry);
		if (moved[n] >= 0) {
			nodes[moved[n]] = *node;
			residents[moved[n]] = cluster->residents[n];
			entry->number = moved[n];
			continue;
		}
		cluster->plain_blocked -= cluster_node_blocks_plain_pods(node);
		for (size_t i = 0; i < node->taint_count; i++)
			cluster->soft_taints -= node->taints[i].effect == TAINT_PREFER_NO_SCHEDULE;
		free(cluster->residents[n].items);
		HASH_DEL(cluster->node_index, entry);
		free(entry);
	}
	free(cluster->nodes);
	free(cluster->residents);
	cluster->nodes = nodes;
	cluster->residents = residents;
	cluster->node_count = turnover->after;
}

/* Which nodes a shape may use follows its nodes; slots are counted again when somebody asks. */
static void reorder_shape(const struct turnover *turnover, struct shape *shape)
{
	struct cluster *cluster = turnover->cluster;
	uint8_t *allowed = base_malloc((size_t)turnover->after ? (size_t)turnover->after : 1);
	bool everywhere = true;
	for (int n = 0; n < turnover->after; n++) {
		allowed[n] = turnover->from[n] < 0 ? shape_find_exclusion(cluster, shape, n) == EXCLUDE_NONE
		             : shape->everywhere   ? 1
		                                   : shape->allowed[turnover->from[n]];
		everywhere &= allowed[n];
	}
	free(shape->allowed);
	shape->allowed = everywhere ? NULL : allowed;
	shape->everywhere = everywhere;
	if (everywhere)
		free(allowed);
	free(shape->exclusions);
	shape->exclusions = NULL;
}

static void drop_slots(struct cluster *cluster)
{
	slots_free(cluster, cluster->spare_slots);
	cluster->spare_slots = NULL;
	for (size_t s = 0; s < cluster->shapes.count; s++)
		for (int view = 0; view < VIEW_COUNT; view++) {
			slots_free(cluster, cluster->shapes.items[s].slots[view]);
			cluster->shapes.items[s].slots[view] = NULL;
		}
	cluster->changed_base += cluster->changed.count + 1;
	cluster->changed.count = 0;
}

static void order_topologies(const struct turnover *turnover)
{
	struct cluster *cluster = turnover->cluster;
	for (int t = 0; t < cluster->topology_count; t++) {
		struct topology *topology = &cluster->topologies[t];
		cluster_free_domains(topology);
		topology->unlabelled_count = 0;
		build_domains(cluster, topology,
		              sorted_rows(turnover->scratch, topology, turnover->nodes, turnover->after));
	}
}

static bool hostnames_stay_unique(const struct turnover *turnover, size_t in_count)
{
	const struct cluster *cluster = turnover->cluster;
	bool unique = true;
	if (!cluster->hostnames_unique || in_count > FEW_NODES)
		return have_unique_hostnames(cluster);
	/* Those that came must have one before they are compared. */
	for (int pass = 0; pass < 2; pass++)
		for (int n = 0; n < turnover->after && unique; n++)
			if (turnover->from[n] < 0)
				unique = pass ? has_own_hostname(cluster, n) : hostname_of(&cluster->nodes[n]) != NULL;
	return unique;
}

bool cluster_change_nodes(struct cluster *cluster, const struct cluster_node *in, size_t in_count, const bool *out,
                          int32_t *moved)
{
	struct turnover turnover = {.cluster = cluster, .scratch = arena_create(), .before = cluster->node_count};
	line_up(&turnover, in, in_count, out, moved);
	drop_slots(cluster);
	reorder_columns(&turnover);
	reorder_nodes(&turnover, moved);
	order_topologies(&turnover);
	for (int n = 0; n < turnover.after; n++)
		if (turnover.from[n] < 0)
			place_node(cluster, n, &turnover.nodes[n]);
	bound_columns(cluster);
	for (size_t s = 0; s < cluster->shapes.count; s++)
		reorder_shape(&turnover, &cluster->shapes.items[s]);
	bool unique = hostnames_stay_unique(&turnover, in_count), same = unique == cluster->hostnames_unique;
	cluster->hostnames_unique = unique;
	cluster->freed++;
	cluster->node_changes++;
	cluster->vacant.sign = 0;
	arena_destroy(turnover.scratch);
	return same;
}
