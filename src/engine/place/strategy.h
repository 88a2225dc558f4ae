/* The placement strategy: in which order nodes are taken where constraints, preferences and topology leave a choice.
 * Binpack fills as few nodes as possible and keeps others whole; spread takes the emptiest node for every pod. One for
 * pods that ask for GPUs, and one for the others. */
#ifndef ENGINE_PLACE_STRATEGY_H
#define ENGINE_PLACE_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>

enum node_order { ORDER_BINPACK, ORDER_SPREAD };

struct strategy { /* zero: binpack for all */
	enum node_order gpu, cpu;
};

/* "binpack", "spread", or per sort of pod such as "gpu=spread" or "gpu=spread,cpu=binpack"; what is not named is binpack.
 * -1 when malformed; then *out is unchanged. */
int strategy_parse(const char *text, struct strategy *out);
/* The shortest text that is read as this strategy. */
const char *strategy_name(struct strategy strategy);

struct cluster;
/* For all later decisions about the cluster. */
void cluster_set_strategy(struct cluster *cluster, struct strategy strategy);
/* For those about pods of one pool, NULL for pods without one. The text is borrowed. */
void cluster_set_pool_strategy(struct cluster *cluster, const char *pool, struct strategy strategy);
/* Pods that request no GPUs take nodes without GPUs first. Whatever the pods prefer themselves comes before. */
void cluster_set_spare_gpus(struct cluster *cluster, bool spare);

#endif
