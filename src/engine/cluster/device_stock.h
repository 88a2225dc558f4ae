/* Device stock: the devices of each node, for claims of which counting alone does not say whether all get theirs.
 *
 * A claim that is not allocated yet is a unit of the column of its sort, which pods request (cluster_mark_claims); a device is
 * the unit of the column of its place on its node, which whoever has it takes. So what is free, and who asks for it, is
 * what the columns of the cluster say, in every view of it; the stock says what the devices and the claims are. How often a shape
 * fits a node is then found by a search (device_fit.h), remembered by all that it depends on. */
#ifndef ENGINE_CLUSTER_DEVICE_STOCK_H
#define ENGINE_CLUSTER_DEVICE_STOCK_H

#include "engine/cluster/device_fit.h"

struct cluster;

struct stock_claim {
	int resource; /* its column */
	struct fit_claim claim;
	const char *const *requests; /* their names, for people */
};

struct stock_node {
	const struct fit_device *devices;
	const int *places; /* by device: which of the stock's columns is its own */
	size_t device_count;
	const int64_t *counters; /* what there is of each if nobody has a device */
	const char *const *counter_names;
	size_t counter_count;
	int content; /* the same for nodes whose devices and counters are the same */
};

struct device_stock {
	const int *columns; /* by place */
	size_t column_count;
	const struct stock_claim *claims; /* by the number that cluster_mark_claims was given */
	size_t claim_count;
	const struct stock_node *nodes; /* by number of the node */
	const char *const *attributes;  /* their names, for people */
	size_t attribute_count;
};

/* Units of the resource are claims of that number. Before pod classes ask for it. */
void cluster_mark_claims(struct cluster *cluster, int resource, int number);
/* Borrowed until the next call; NULL for none: counting is exact. What was counted before is counted again. */
void cluster_set_device_stock(struct cluster *cluster, const struct device_stock *stock);
/* How many claims of one sort the devices of a node serve if nobody has one; no less than that when it is not known. */
int64_t device_stock_capacity(const struct device_stock *stock, const struct stock_node *node, int claim);

#endif
