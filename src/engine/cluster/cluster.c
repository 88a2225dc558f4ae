/* Owns building the cluster and looking at it: topologies, resource columns, occupancy. The order of nodes is in order.c. */
#include "engine/cluster/cluster.h"

#include "base/clamp.h"
#include "engine/cluster/internal.h"

#include <string.h>

struct cluster *cluster_create(void)
{
	struct cluster *cluster = base_calloc(1, sizeof(*cluster));
	cluster->arena = arena_create();
	cluster->topologies = base_calloc(CLUSTER_MAX_TOPOLOGIES, sizeof(struct topology));
	return cluster;
}

void cluster_free_names(struct name_entry **index)
{
	struct name_entry *entry, *next;
	HASH_ITER(hh, *index, entry, next) {
		HASH_DEL(*index, entry);
		free(entry);
	}
}

static void free_keys(struct key_entry **index)
{
	struct key_entry *entry, *next;
	HASH_ITER(hh, *index, entry, next) {
		HASH_DEL(*index, entry);
		free(entry);
	}
}

void cluster_destroy(struct cluster *cluster)
{
	if (!cluster)
		return;
	slots_free(cluster, cluster->spare_slots);
	device_stock_free(cluster);
	for (size_t s = 0; s < cluster->shapes.count; s++) {
		struct shape *shape = &cluster->shapes.items[s];
		free(shape->allowed);
		free(shape->exclusions);
		for (int view = 0; view < VIEW_COUNT; view++)
			slots_free(cluster, shape->slots[view]);
	}
	for (int t = 0; t < cluster->topology_count; t++)
		cluster_free_domains(&cluster->topologies[t]);
	free(cluster->topologies);
	for (size_t r = 0; r < cluster->resources.count; r++) {
		free(cluster->resources.items[r].allocatable);
		free(cluster->resources.items[r].free);
		free(cluster->resources.items[r].releasing);
		free(cluster->resources.items[r].held);
		free(cluster->resources.items[r].allocatable_spans);
		free(cluster->resources.items[r].free_spans);
		free(cluster->resources.items[r].releasing_spans);
	}
	if (cluster->residents)
		for (int n = 0; n < cluster->node_count; n++)
			free(cluster->residents[n].items);
	free(cluster->residents);
	free(cluster->nodes);
	cluster_free_names(&cluster->node_index);
	cluster_free_names(&cluster->resource_index);
	free_keys(&cluster->shape_index);
	free_keys(&cluster->pod_class_index);
	vec_free(&cluster->resources);
	vec_free(&cluster->shapes);
	vec_free(&cluster->pod_classes);
	vec_free(&cluster->guarded_pod_classes);
	vec_free(&cluster->changed);
	vec_free(&cluster->pod_class_mark);
	vec_free(&cluster->pod_class_amounts);
	vec_free(&cluster->journal);
	vec_free(&cluster->added);
	vec_free(&cluster->pool_strategies);
	arena_destroy(cluster->arena);
	free(cluster);
}

int cluster_add_topology(struct cluster *cluster, const char *name, const char *const *levels, size_t level_count)
{
	if (cluster->sealed || cluster->topology_count == CLUSTER_MAX_TOPOLOGIES || level_count > CLUSTER_MAX_LEVELS)
		return -1;
	struct topology *topology = &cluster->topologies[cluster->topology_count];
	topology->name = arena_strdup(cluster->arena, name);
	topology->level_count = (int)level_count;
	for (size_t l = 0; l < level_count; l++)
		topology->labels[l] = arena_strdup(cluster->arena, levels[l]);
	return cluster->topology_count++;
}

void cluster_set_pool_key(struct cluster *cluster, const char *key)
{
	cluster->pool_key = key && *key ? arena_strdup(cluster->arena, key) : NULL;
}

const char *cluster_pool_of(const struct cluster *cluster, const struct labels *labels)
{
	const char *pool = cluster->pool_key ? labels_get(labels, cluster->pool_key) : NULL;
	return pool && *pool ? pool : NULL;
}

struct labels cluster_copy_labels(struct arena *arena, const struct labels *from)
{
	struct labels copy = {.items = arena_array(arena, struct label, from->count), .count = from->count};
	for (size_t i = 0; i < from->count; i++)
		copy.items[i] = (struct label){.key = arena_strdup(arena, from->items[i].key),
		                               .value = arena_strdup(arena, from->items[i].value)};
	return copy;
}

struct taint *cluster_copy_taints(struct arena *arena, const struct taint *from, size_t count)
{
	struct taint *copy = arena_array(arena, struct taint, count);
	for (size_t i = 0; i < count; i++)
		copy[i] = (struct taint){.key = arena_strdup(arena, from[i].key),
		                         .value = arena_strdup(arena, from[i].value),
		                         .effect = from[i].effect};
	return copy;
}

int cluster_node_count(const struct cluster *cluster)
{
	return cluster->node_count;
}

const char *cluster_node_name(const struct cluster *cluster, int node)
{
	return cluster->nodes[node].name;
}

const struct labels *cluster_node_labels(const struct cluster *cluster, int node)
{
	return &cluster->nodes[node].labels;
}

static int find_name(struct name_entry *index, const char *name)
{
	struct name_entry *entry;
	HASH_FIND(hh, index, name, strlen(name), entry);
	return entry ? entry->number : -1;
}

int cluster_find_node(const struct cluster *cluster, const char *name)
{
	return find_name(cluster->node_index, name);
}

int cluster_topology_count(const struct cluster *cluster)
{
	return cluster->topology_count;
}

const char *cluster_topology_name(const struct cluster *cluster, int topology)
{
	return cluster->topologies[topology].name;
}

int cluster_find_topology(const struct cluster *cluster, const char *name)
{
	for (int t = 0; t < cluster->topology_count; t++)
		if (strcmp(cluster->topologies[t].name, name) == 0)
			return t;
	return -1;
}

int cluster_level_count(const struct cluster *cluster, int topology)
{
	return cluster->topologies[topology].level_count;
}

const char *cluster_level_label(const struct cluster *cluster, int topology, int level)
{
	return cluster->topologies[topology].labels[level];
}

int cluster_domain_count(const struct cluster *cluster, int topology, int level)
{
	return cluster->topologies[topology].domain_count[level];
}

int cluster_node_domain(const struct cluster *cluster, int topology, int level, int node)
{
	return cluster->topologies[topology].node_domain[level][node];
}

const char *cluster_domain_name(const struct cluster *cluster, int topology, int level, int domain)
{
	return cluster->topologies[topology].domains[level][domain].name;
}

const char *cluster_domain_path(const struct cluster *cluster, int topology, int level, int domain, struct arena *arena)
{
	const struct topology *top = &cluster->topologies[topology];
	const char *path = top->domains[level][domain].name;
	for (int l = level; l > 0; l--) {
		domain = top->domains[l][domain].parent;
		path = arena_printf(arena, "%s/%s", top->domains[l - 1][domain].name, path);
	}
	return path;
}

int cluster_unlabelled_count(const struct cluster *cluster, int topology)
{
	return cluster->topologies[topology].unlabelled_count;
}

int cluster_unlabelled_node(const struct cluster *cluster, int topology, int index, const char **missing_label)
{
	const struct topology *top = &cluster->topologies[topology];
	for (int n = 0; n < cluster->node_count; n++) {
		if (top->node_domain[top->level_count - 1][n] >= 0 || index-- > 0)
			continue;
		int level = 0;
		while (top->node_domain[level][n] >= 0)
			level++;
		if (missing_label)
			*missing_label = top->labels[level];
		return n;
	}
	return -1;
}

int cluster_add_resource(struct cluster *cluster, const char *name, int64_t initial)
{
	int found = find_name(cluster->resource_index, name);
	if (found >= 0)
		return found;
	size_t count = (size_t)cluster->node_count;
	struct resource_column column = {.name = arena_strdup(cluster->arena, name),
	                                 .allocatable = base_calloc(count, sizeof(int64_t)),
	                                 .free = base_calloc(count, sizeof(int64_t)),
	                                 .initial = initial,
	                                 .shared_of = -1,
	                                 .claims = -1};
	for (size_t n = 0; n < count; n++)
		column.allocatable[n] = column.free[n] = initial;
	column.allocatable_spans = spans_create(column.allocatable, cluster->node_count);
	column.free_spans = spans_create(column.free, cluster->node_count);
	column.total = clamp_multiply(initial, cluster->node_count);
	struct name_entry *entry = base_calloc(1, sizeof(*entry));
	*entry = (struct name_entry){.name = column.name, .number = (int)cluster->resources.count};
	HASH_ADD_KEYPTR(hh, cluster->resource_index, column.name, strlen(column.name), entry);
	vec_push(&cluster->resources, column);
	return entry->number;
}

int64_t cluster_amount_in_view(const struct cluster *cluster, int resource, int node, int view)
{
	const struct resource_column *column = &cluster->resources.items[resource];
	if (view == VIEW_EMPTY)
		return column->allocatable[node];
	int64_t amount = column->free[node];
	if (view == VIEW_RELEASING && column->releasing)
		amount = clamp_add(amount, column->releasing[node]);
	return amount;
}

void cluster_add_free(struct cluster *cluster, int resource, int node, int64_t change)
{
	struct resource_column *column = &cluster->resources.items[resource];
	span_set(column->free, column->free_spans, node, clamp_add(column->free[node], change));
}

void cluster_add_releasing(struct cluster *cluster, int resource, int node, int64_t change)
{
	struct resource_column *column = &cluster->resources.items[resource];
	if (!column->releasing) {
		column->releasing = base_calloc((size_t)cluster->node_count, sizeof(int64_t));
		column->releasing_spans = spans_create(column->releasing, cluster->node_count);
	}
	span_set(column->releasing, column->releasing_spans, node, clamp_add(column->releasing[node], change));
}

void cluster_mark_node_changed(struct cluster *cluster, int node)
{
	if (cluster->changed.count > 4 * (size_t)cluster->node_count + 1024) {
		cluster->changed_base += cluster->changed.count;
		cluster->changed.count = 0;
	}
	vec_push(&cluster->changed, node);
}

static void resident_add(struct cluster *cluster, int node, int pod_class, int change, bool releasing)
{
	struct resident_list *list = &cluster->residents[node];
	size_t i = 0;
	while (i < list->count && list->items[i].pod_class != pod_class)
		i++;
	if (i == list->count)
		vec_push(list, (struct resident){.pod_class = pod_class});
	struct resident *resident = &list->items[i];
	*(releasing ? &resident->releasing : &resident->count) += change;
	if (resident->count == 0 && resident->releasing == 0)
		*resident = list->items[--list->count];
}

static void note_guarded(struct cluster *cluster, int pod_class)
{
	if (!cluster->pod_classes.items[pod_class].rules.anti_affinity_count)
		return;
	for (size_t i = 0; i < cluster->guarded_pod_classes.count; i++)
		if (cluster->guarded_pod_classes.items[i] == pod_class)
			return;
	vec_push(&cluster->guarded_pod_classes, pod_class);
}

static int64_t requested(const struct shape *shape, int resource)
{
	for (int i = 0; i < shape->request_count; i++)
		if (shape->resource[i] == resource)
			return shape->amount[i];
	return 0;
}

/* Whether pods of a node ask for a resource: some that stay, only some that leave, or none. */
enum use { USE_NONE, USE_LEAVING, USE_STAYING };

static enum use find_use(const struct cluster *cluster, int resource, int node)
{
	enum use use = USE_NONE;
	for (size_t i = 0; i < cluster->residents[node].count && use != USE_STAYING; i++) {
		const struct resident *resident = &cluster->residents[node].items[i];
		if (requested(&cluster->shapes.items[cluster->pod_classes.items[resident->pod_class].shape], resource))
			use = resident->count > 0 ? USE_STAYING : USE_LEAVING;
	}
	return use;
}

int64_t cluster_shared_need(const struct cluster *cluster, const struct shape *shape, int of, int node, int view)
{
	int64_t need = requested(shape, of);
	for (int i = 0; shape->shares && i < shape->request_count; i++) {
		if (cluster->resources.items[shape->resource[i]].shared_of != of)
			continue;
		enum use use = view == VIEW_EMPTY ? USE_NONE : find_use(cluster, shape->resource[i], node);
		need += use == USE_NONE || (use == USE_LEAVING && view == VIEW_RELEASING);
	}
	return need;
}

/* Gives back, or takes, what resources of the shape that are shared on the node take of others. */
static void count_shared(struct cluster *cluster, const struct shape *shape, int node, int sign)
{
	for (int i = 0; i < shape->request_count; i++) {
		int of = cluster->resources.items[shape->resource[i]].shared_of;
		enum use use = of < 0 ? USE_NONE : find_use(cluster, shape->resource[i], node);
		if (use == USE_NONE)
			continue;
		cluster_add_free(cluster, of, node, -sign);
		if (use == USE_LEAVING)
			cluster_add_releasing(cluster, of, node, sign);
	}
}

static void change_occupancy(struct cluster *cluster, int pod_class, int node, enum occupancy occupancy, int sign)
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++) {
		cluster_add_free(cluster, shape->resource[i], node, -sign * shape->amount[i]);
		if (occupancy == OCCUPY_RELEASING)
			cluster_add_releasing(cluster, shape->resource[i], node, sign * shape->amount[i]);
	}
	if (occupancy == OCCUPY_RELEASING)
		cluster->releasing_pods += sign;
	if (shape->shares)
		count_shared(cluster, shape, node, -1);
	uint64_t there = hash_mix((uint64_t)(uint32_t)pod_class << 32 | (uint32_t)node, (uint64_t)occupancy);
	cluster->occupied += sign > 0 ? there : UINT64_C(0) - there;
	resident_add(cluster, node, pod_class, sign, occupancy == OCCUPY_RELEASING);
	if (shape->shares)
		count_shared(cluster, shape, node, 1);
	cluster_mark_node_changed(cluster, node);
	struct journal_entry entry = {pod_class, node, occupancy, sign};
	if (cluster->recording)
		vec_push(&cluster->journal, entry);
	else
		cluster_note_freed(cluster, &entry);
}

void cluster_occupy(struct cluster *cluster, int pod_class, int node, enum occupancy occupancy)
{
	note_guarded(cluster, pod_class);
	change_occupancy(cluster, pod_class, node, occupancy, 1);
}

void cluster_vacate(struct cluster *cluster, int pod_class, int node, enum occupancy occupancy)
{
	change_occupancy(cluster, pod_class, node, occupancy, -1);
}

int cluster_resource_count(const struct cluster *cluster)
{
	return (int)cluster->resources.count;
}

const char *cluster_resource_name(const struct cluster *cluster, int resource)
{
	return cluster->resources.items[resource].name;
}

int cluster_find_resource(const struct cluster *cluster, const char *name)
{
	return find_name(cluster->resource_index, name);
}

int64_t cluster_allocatable(const struct cluster *cluster, int resource, int node)
{
	return cluster->resources.items[resource].allocatable[node];
}

int64_t cluster_total(const struct cluster *cluster, int resource)
{
	return cluster->resources.items[resource].total;
}

int cluster_pod_class_count(const struct cluster *cluster)
{
	return (int)cluster->pod_classes.count;
}

int64_t cluster_free(const struct cluster *cluster, int resource, int node)
{
	return cluster->resources.items[resource].free[node];
}

int64_t cluster_releasing(const struct cluster *cluster, int resource, int node)
{
	const int64_t *column = cluster->resources.items[resource].releasing;
	return column ? column[node] : 0;
}

const int64_t *cluster_free_column(const struct cluster *cluster, int resource)
{
	return cluster->resources.items[resource].free;
}

size_t cluster_memory(const struct cluster *cluster)
{
	size_t nodes = (size_t)cluster->node_count, bytes = arena_reserved(cluster->arena);
	size_t per_slots = nodes * sizeof(int32_t);
	for (int t = 0; t < cluster->topology_count; t++)
		for (int l = 0; l < cluster->topologies[t].level_count; l++) {
			size_t domains = (size_t)cluster->topologies[t].domain_count[l];
			bytes += domains * sizeof(struct domain) + nodes * sizeof(int32_t);
			per_slots += domains * sizeof(int64_t);
		}
	bytes += nodes * (sizeof(struct cluster_node_data) + sizeof(struct resident_list) + sizeof(struct name_entry));
	for (size_t r = 0; r < cluster->resources.count; r++)
		bytes += nodes * sizeof(int64_t) *
		         (2U + !!cluster->resources.items[r].releasing + !!cluster->resources.items[r].held);
	for (size_t s = 0; s < cluster->shapes.count; s++)
		for (int view = 0; view < VIEW_COUNT; view++)
			bytes += cluster->shapes.items[s].slots[view] ? per_slots : 0;
	return bytes + cluster->changed.capacity * sizeof(int32_t);
}
