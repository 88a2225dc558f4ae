/* Whether so many more pods could be enough, by counting. Private to the engine.
 *
 * Moves make no resources: what is lost must cover what the cluster lacks for the group that waits, whatever moves. And each pod
 * that leaves its node frees room for so many pods of the group at most. */
#ifndef ENGINE_EVICT_EXCHANGE_BOUND_H
#define ENGINE_EVICT_EXCHANGE_BOUND_H

#include "engine/evict/losses.h"

enum { BOUND_RESOURCES = 4 };

struct exchange_bound {
	const struct evict_attempt *attempt;
	int count, resource[BOUND_RESOURCES]; /* those of which there is not enough */
	int64_t lack[BOUND_RESOURCES];        /* what losses must free of each */
	int64_t gained[BOUND_RESOURCES];      /* by those that are chosen */
	int64_t each[BOUND_RESOURCES];        /* a lost pod gives at most so much of it */
	int shape;                     /* of all pods that wait, -1: they have several, or it cannot be counted */
	int64_t needed;                /* slots of that shape */
	int64_t slots_each;            /* a pod that leaves makes at most so many of them */
	int children, child_pods;      /* that are needed, where all of them are alike; 0: they are not */
	struct gang_level child_level; /* each within one domain of it */
};

/* For the group that waits, in the cluster as it is. */
void exchange_bound_open(struct exchange_bound *bound, const struct evict_attempt *attempt);
/* These are what there is to choose from. */
void exchange_bound_begin(struct exchange_bound *bound, const struct loss *const *order, size_t count);
/* A loss is chosen (sign 1), or given back (-1). */
void exchange_bound_take(struct exchange_bound *bound, const struct loss *loss, int sign);
/* Whether what is lost covers what the cluster lacks. */
bool exchange_bound_is_covered(const struct exchange_bound *bound);
/* Whether so many more pods could be enough; without a move so far, one of them is to move. */
/* It looks at every domain, of which it tells the number. */
bool exchange_bound_allows(const struct exchange_bound *bound, int pods, bool moved, int *domains);

#endif
