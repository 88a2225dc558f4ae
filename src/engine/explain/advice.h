/* Advice: changes of the cluster or of a gang with which a refused gang would fit.
 *
 * Each was tried: with it the search found a placement. Each is the smallest of its kind: with any part of it left out the
 * search found none, and where the trials allowed to look at all smaller changes, no other change of the kind has fewer parts. */
#ifndef ENGINE_EXPLAIN_ADVICE_H
#define ENGINE_EXPLAIN_ADVICE_H

#include "engine/place/place.h"

enum advice_kind {
	ADVICE_ROOM,       /* nodes on which everything but the gang itself ends */
	ADVICE_UNCORDON,   /* nodes that are cordoned */
	ADVICE_READY,      /* nodes that are not ready */
	ADVICE_TOLERATE,   /* taints that the pods of the gang would tolerate */
	ADVICE_LEVELS,     /* required levels that would be larger, or none */
	ADVICE_MINIMUM,    /* a minimum that would be lower */
	ADVICE_MORE_NODES, /* more nodes like one that is there, in the same domains */
	ADVICE_KINDS
};

struct advice {
	enum advice_kind kind;
	int *items; /* nodes; of ADVICE_LEVELS and ADVICE_MINIMUM tree nodes; of ADVICE_MORE_NODES the one node they are like */
	int *steps; /* of ADVICE_LEVELS by how many levels each is larger; of others 1 */
	size_t count;
	int amount;                  /* of ADVICE_MINIMUM the lower minimum, of ADVICE_MORE_NODES how many */
	const struct taint **taints; /* of ADVICE_TOLERATE in place of items; they belong to the cluster */
};

struct advices {
	struct advice *items; /* in the arena, in the order of the kinds */
	size_t count;
	bool complete; /* every kind was looked for to the end: what is not there does not help alone */
};

/* The domain to look at first: what is changed there is preferred. topology -1: none. */
struct advice_hint {
	int topology, level, domain;
};

/* What would help a gang that engine_place proved to have no place, with at most so many searches per kind. Leaves the cluster
 * as it was. */
void engine_advise(struct cluster *cluster, const struct gang *gang, bool use_releasing, struct advice_hint hint,
                   int trials, struct arena *arena, struct advices *out);

/* Stable, for JSON: "room", "uncordon", ... */
const char *advice_kind_name(enum advice_kind kind);
/* "2 free 8-GPU nodes in rack r1 (n3, n4)": what follows on "would fit with ". In the arena. */
const char *advice_text(const struct cluster *cluster, const struct gang *gang, const struct advice *advice,
                        struct arena *arena);

#endif
