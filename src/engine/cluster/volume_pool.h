/* Volume pool: volumes and who may take them, for claims of which counting alone does not say whether all get one.
 *
 * Each size of claims alike that is asked for is an *ask*, and has a column of the cluster: what pods request of it says how
 * many claims they have. Columns count what each node reaches, which is never too strict; the pool says which volumes these
 * are, so that a placement can be checked by a matching of claims and volumes. */
#ifndef ENGINE_CLUSTER_VOLUME_POOL_H
#define ENGINE_CLUSTER_VOLUME_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct cluster;

struct pool_volume {
	const int *nodes; /* that reach it, ascending */
	size_t node_count;
};

struct pool_ask {
	int resource; /* its column */
	int larger;   /* the ask of the next larger size of claims alike, whose claims count here too; -1 for none */
	const int *volumes; /* that can serve it, by number; smallest first */
	size_t volume_count;
	const bool *takes; /* by volume: it is one of them */
	const bool *make;  /* by node: a new volume can be made there */
	bool shared;       /* one claim that several pods name: they get the same volume */
	bool one_node;     /* a new volume for it serves one node only */
};

struct volume_pool {
	const struct pool_volume *volumes;
	size_t volume_count;
	/* The volumes that a node reaches, smallest first: reach[first[node]] .. reach[first[node + 1] - 1]. */
	const size_t *first;
	const int *reach;
	const struct pool_ask *asks;
	size_t ask_count;
};

/* Borrowed until the next call; NULL for none: counting is exact. */
void cluster_set_volume_pool(struct cluster *cluster, const struct volume_pool *pool);

#endif
