/* Owns changes of single nodes in a sealed cluster (what would move a node in the order of a topology is refused), and taking
 * back what a decision occupied. */
#include "base/clamp.h"
#include "engine/cluster/internal.h"

#include <stdlib.h>
#include <string.h>

static bool same_value(const struct labels *a, const struct labels *b, const char *key)
{
	return text_equal(labels_get(a, key), labels_get(b, key));
}

static bool stays_in_place(const struct cluster *cluster, const struct labels *before, const struct labels *after)
{
	if (!same_value(before, after, HOSTNAME_LABEL))
		return false;
	for (int t = 0; t < cluster->topology_count; t++)
		for (int l = 0; l < cluster->topologies[t].level_count; l++)
			if (!same_value(before, after, cluster->topologies[t].labels[l]))
				return false;
	return true;
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++)
		same = strcmp(a->items[i].key, b->items[i].key) == 0 &&
		       strcmp(a->items[i].value, b->items[i].value) == 0;
	return same;
}

static bool same_taints(const struct cluster_node_data *a, const struct cluster_node *b)
{
	bool same = a->taint_count == b->taint_count;
	for (size_t i = 0; same && i < a->taint_count; i++)
		same = text_equal(a->taints[i].key, b->taints[i].key) &&
		       text_equal(a->taints[i].value, b->taints[i].value) && a->taints[i].effect == b->taints[i].effect;
	return same;
}

static int soft_taints(const struct cluster_node_data *node)
{
	int count = 0;
	for (size_t i = 0; i < node->taint_count; i++)
		count += node->taints[i].effect == TAINT_PREFER_NO_SCHEDULE;
	return count;
}

/* Whether something changed that rules of pods look at. The domains of topologies borrow label values of nodes, so texts
 * that are replaced stay in the arena. */
static bool take_properties(struct cluster *cluster, struct cluster_node_data *own, const struct cluster_node *node)
{
	bool labels = !same_labels(&own->labels, &node->labels), taints = !same_taints(own, node);
	if (!labels && !taints && own->ready == node->ready && own->unschedulable == node->unschedulable)
		return false;
	cluster->plain_blocked -= cluster_node_blocks_plain_pods(own);
	cluster->soft_taints -= soft_taints(own);
	if (labels)
		own->labels = cluster_copy_labels(cluster->arena, &node->labels);
	own->pool = cluster_pool_of(cluster, &own->labels);
	if (taints) {
		own->taints = cluster_copy_taints(cluster->arena, node->taints, node->taint_count);
		own->taint_count = node->taint_count;
	}
	own->ready = node->ready;
	own->unschedulable = node->unschedulable;
	cluster->plain_blocked += cluster_node_blocks_plain_pods(own);
	cluster->soft_taints += soft_taints(own);
	return true;
}

static void allow_shapes(struct cluster *cluster, int number)
{
	for (size_t s = 0; s < cluster->shapes.count; s++) {
		struct shape *shape = &cluster->shapes.items[s];
		bool allowed = shape_find_exclusion(cluster, shape, number) == EXCLUDE_NONE;
		free(shape->exclusions);
		shape->exclusions = NULL;
		if (shape->everywhere && !allowed) {
			shape->allowed = base_malloc((size_t)cluster->node_count);
			memset(shape->allowed, 1, (size_t)cluster->node_count);
			shape->everywhere = false;
		}
		if (!shape->everywhere)
			shape->allowed[number] = allowed;
	}
}

static bool set_amount(struct resource_column *column, int number, int64_t amount)
{
	int64_t change = amount - column->allocatable[number];
	if (change == 0)
		return false;
	span_set(column->allocatable, column->allocatable_spans, number, amount);
	span_set(column->free, column->free_spans, number, clamp_add(column->free[number], change));
	column->total = clamp_add(column->total, change);
	return true;
}

static bool take_amounts(struct cluster *cluster, int number, const struct cluster_node *node)
{
	bool changed = false;
	for (size_t i = 0; i < node->allocatable_count; i++)
		cluster_add_resource(cluster, node->allocatable[i].name, 0);
	for (size_t r = 0; r < cluster->resources.count; r++) {
		struct resource_column *column = &cluster->resources.items[r];
		int64_t amount = column->initial;
		if (column->outside)
			continue;
		for (size_t i = 0; i < node->allocatable_count; i++)
			if (strcmp(node->allocatable[i].name, column->name) == 0)
				amount = clamp_amount(node->allocatable[i].amount);
		changed |= set_amount(column, number, amount);
	}
	return changed;
}

int cluster_need_resource(struct cluster *cluster, const char *name)
{
	int number = cluster_add_resource(cluster, name, 0);
	cluster->resources.items[number].outside = true;
	return number;
}

void cluster_share_resource(struct cluster *cluster, int resource, int of)
{
	cluster->resources.items[resource].shared_of = of;
}

void cluster_set_amount(struct cluster *cluster, int resource, int node, int64_t amount)
{
	struct resource_column *column = &cluster->resources.items[resource];
	int64_t before = column->allocatable[node];
	if (!set_amount(column, node, clamp_amount(amount)))
		return;
	cluster_mark_node_changed(cluster, node);
	cluster->freed += column->allocatable[node] > before;
	cluster->node_changes++; /* also what would fit if nothing ran is another question now */
}

void cluster_hold_amount(struct cluster *cluster, int resource, int node, int64_t amount)
{
	struct resource_column *column = &cluster->resources.items[resource];
	int64_t before = column->held ? column->held[node] : 0;
	if (amount == before)
		return;
	if (!column->held)
		column->held = base_calloc((size_t)cluster->node_count, sizeof(*column->held));
	column->held[node] = amount;
	cluster_add_free(cluster, resource, node, before - amount);
	cluster_mark_node_changed(cluster, node);
	cluster->freed += amount < before;
}

void cluster_set_volume_pool(struct cluster *cluster, const struct volume_pool *pool)
{
	cluster->volume_pool = pool;
}

int cluster_update_node(struct cluster *cluster, const struct cluster_node *node)
{
	int number = cluster_find_node(cluster, node->name);
	if (number < 0 || !stays_in_place(cluster, &cluster->nodes[number].labels, &node->labels))
		return -1;
	bool properties = take_properties(cluster, &cluster->nodes[number], node);
	bool amounts = take_amounts(cluster, number, node);
	if (!properties && !amounts)
		return 0;
	if (properties)
		allow_shapes(cluster, number);
	cluster_mark_node_changed(cluster, number);
	cluster->freed++;
	cluster->node_changes++;
	return 1;
}

void cluster_note_freed(struct cluster *cluster, const struct journal_entry *change)
{
	const struct journal_entry *vacant = &cluster->vacant;
	if (change->sign < 0) {
		cluster->freed += vacant->sign != 0;
		cluster->vacant = *change;
		return;
	}
	/* In the view of what will be free when those that leave have left, one more that leaves is room. */
	cluster->freed += change->occupancy == OCCUPY_RELEASING;
	if (vacant->sign && vacant->pod_class == change->pod_class && vacant->node == change->node &&
	    vacant->occupancy == change->occupancy) {
		cluster->freed -= change->occupancy == OCCUPY_RELEASING;
		cluster->vacant.sign = 0;
	}
}

uint64_t cluster_freed(struct cluster *cluster)
{
	cluster->freed += cluster->vacant.sign != 0;
	cluster->vacant.sign = 0;
	return cluster->freed;
}

uint64_t cluster_state(struct cluster *cluster)
{
	return hash_mix(hash_mix(cluster_freed(cluster), cluster->node_changes), cluster->occupied);
}

void cluster_record(struct cluster *cluster)
{
	cluster->recording = true;
	cluster->journal.count = 0;
}

size_t cluster_journal_length(const struct cluster *cluster)
{
	return cluster->journal.count;
}

void cluster_journal_cut(struct cluster *cluster, size_t since)
{
	cluster->journal.count = since;
}

static int compare_entries(const void *left, const void *right)
{
	const struct journal_entry *a = left, *b = right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->pod_class != b->pod_class)
		return a->pod_class < b->pod_class ? -1 : 1;
	return ((int)a->occupancy > (int)b->occupancy) - ((int)a->occupancy < (int)b->occupancy);
}

void cluster_rewind(struct cluster *cluster)
{
	uint64_t freed = cluster_freed(cluster);
	cluster->recording = false;
	/* Most of what was tried was taken back at once: only what is left of it is undone. */
	struct journal_entry *entries = cluster->journal.items;
	size_t count = cluster->journal.count;
	if (count > 1)
		qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0, end; i < count; i = end) {
		int sum = 0;
		for (end = i; end < count && compare_entries(&entries[i], &entries[end]) == 0; end++)
			sum += entries[end].sign;
		for (; sum > 0; sum--)
			cluster_vacate(cluster, entries[i].pod_class, entries[i].node, entries[i].occupancy);
		for (; sum < 0; sum++)
			cluster_occupy(cluster, entries[i].pod_class, entries[i].node, entries[i].occupancy);
	}
	cluster->journal.count = 0;
	cluster->freed = freed;
	cluster->vacant.sign = 0;
}
