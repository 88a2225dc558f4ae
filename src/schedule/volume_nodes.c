/* Owns nodes in the order of a label's values, one order per label that volumes ask for. */
#include "schedule/volume_nodes.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct label_order {
	char *key;
	int *nodes; /* those that have the label, by its value */
	size_t count;
};

struct volume_nodes {
	const struct cluster *cluster;
	VEC(struct label_order) orders;
};

struct volume_nodes *volume_nodes_create(const struct cluster *cluster)
{
	struct volume_nodes *nodes = base_calloc(1, sizeof(*nodes));
	nodes->cluster = cluster;
	return nodes;
}

void volume_nodes_destroy(struct volume_nodes *nodes)
{
	if (!nodes)
		return;
	for (size_t i = 0; i < nodes->orders.count; i++) {
		free(nodes->orders.items[i].key);
		free(nodes->orders.items[i].nodes);
	}
	vec_free(&nodes->orders);
	free(nodes);
}

static const char *value_of(const struct volume_nodes *nodes, int node, const char *key)
{
	return labels_get(cluster_node_labels(nodes->cluster, node), key);
}

struct sorting {
	const struct volume_nodes *nodes;
	const char *key;
};

static int compare_values(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	int a = *(const int *)left, b = *(const int *)right;
	int order = strcmp(value_of(sorting->nodes, a, sorting->key), value_of(sorting->nodes, b, sorting->key));
	return order ? order : (a > b) - (a < b);
}

static const struct label_order *order_by(struct volume_nodes *nodes, const char *key)
{
	for (size_t i = 0; i < nodes->orders.count; i++)
		if (strcmp(nodes->orders.items[i].key, key) == 0)
			return &nodes->orders.items[i];
	int count = cluster_node_count(nodes->cluster);
	struct label_order order = {.key = base_strdup(key), .nodes = base_calloc((size_t)count, sizeof(int))};
	for (int n = 0; n < count; n++)
		if (value_of(nodes, n, key))
			order.nodes[order.count++] = n;
	struct sorting sorting = {nodes, key};
	if (order.count > 1)
		qsort_r(order.nodes, order.count, sizeof(int), compare_values, &sorting);
	vec_push(&nodes->orders, order);
	return &nodes->orders.items[nodes->orders.count - 1];
}

static void mark_if_match(const struct volume_nodes *nodes, const struct selector *selector, int node, bool *mask)
{
	if (!mask[node] && selector_matches(selector, cluster_node_labels(nodes->cluster, node),
	                                    cluster_node_name(nodes->cluster, node)))
		mask[node] = true;
}

static void mark_value(struct volume_nodes *nodes, const struct selector *selector, const char *key, const char *value,
                       bool *mask)
{
	const struct label_order *order = order_by(nodes, key);
	size_t low = 0, high = order->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(value_of(nodes, order->nodes[middle], key), value) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < order->count && strcmp(value_of(nodes, order->nodes[low], key), value) == 0; low++)
		mark_if_match(nodes, selector, order->nodes[low], mask);
}

/* Marks the nodes that the selector matches: through the values of one of its labels where it names some. */
static void mark_selected(struct volume_nodes *nodes, const struct selector *selector, bool *mask)
{
	for (size_t i = 0; i < selector->count; i++) {
		const struct match *match = &selector->items[i];
		if (match->op != MATCH_IN)
			continue;
		for (size_t v = 0; v < match->value_count; v++) {
			int node = match->field_name ? cluster_find_node(nodes->cluster, match->values[v]) : -1;
			if (!match->field_name)
				mark_value(nodes, selector, match->key, match->values[v], mask);
			else if (node >= 0)
				mark_if_match(nodes, selector, node, mask);
		}
		return;
	}
	for (int n = 0; n < cluster_node_count(nodes->cluster); n++)
		mark_if_match(nodes, selector, n, mask);
}

int *volume_nodes_reached(struct volume_nodes *nodes, const struct volume_spec *volume, size_t *count)
{
	int total = cluster_node_count(nodes->cluster);
	bool *mask = base_calloc((size_t)total, sizeof(*mask));
	for (size_t t = 0; t < volume->term_count; t++)
		if (volume->terms[t].selector.count)
			mark_selected(nodes, &volume->terms[t].selector, mask);
	*count = 0;
	for (int n = 0; n < total; n++)
		*count += mask[n] || !volume->has_terms;
	int *list = base_calloc(*count, sizeof(*list));
	*count = 0;
	for (int n = 0; n < total; n++)
		if (mask[n] || !volume->has_terms)
			list[(*count)++] = n;
	free(mask);
	return list;
}

/* Where the driver says that so much can be made. */
static void mark_capacity(struct volume_nodes *nodes, const struct volume_book *book, const char *class_, int64_t size,
                          bool *mask)
{
	for (const struct book_entry *at = volume_book_next(book, BOOK_CAPACITY, class_, NULL); at;
	     at = volume_book_next(book, BOOK_CAPACITY, class_, at)) {
		const struct storage_capacity_spec *capacity = volume_book_spec(at);
		if (capacity->has_topology && capacity->largest >= size)
			mark_selected(nodes, &capacity->topology, mask);
	}
}

void volume_nodes_for_new(struct volume_nodes *nodes, const struct volume_book *book,
                          const struct storage_class_spec *class_, bool has_size, int64_t size, bool *made)
{
	int total = cluster_node_count(nodes->cluster);
	memset(made, class_ && class_->provisioner != NULL, (size_t)total * sizeof(*made));
	if (!class_ || !class_->provisioner)
		return;
	bool *mask = base_calloc((size_t)total, sizeof(*mask));
	for (size_t t = 0; t < class_->term_count; t++)
		if (class_->terms[t].selector.count)
			mark_selected(nodes, &class_->terms[t].selector, mask);
	for (int n = 0; class_->term_count && n < total; n++)
		made[n] = mask[n];
	const struct csi_driver_spec *driver = volume_book_find(book, BOOK_DRIVER, "", class_->provisioner);
	if (has_size && driver && driver->storage_capacity) {
		memset(mask, 0, (size_t)total * sizeof(*mask));
		mark_capacity(nodes, book, class_->name, size, mask);
		for (int n = 0; n < total; n++)
			made[n] &= mask[n];
	}
	free(mask);
}
