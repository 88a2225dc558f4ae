/* Explanations: why a gang is not placed, in numbers, and the smallest change that would help. */
#ifndef ENGINE_EXPLAIN_EXPLAIN_H
#define ENGINE_EXPLAIN_EXPLAIN_H

#include "engine/place/place.h"

enum reason_code {
	REASON_NOT_READY,        /* the existing pods cannot reach a minimum */
	REASON_DOMAIN,           /* no domain at the level is big enough: best one named with have of need */
	REASON_RESOURCE,         /* a resource is short: have of need */
	REASON_NODES,            /* nodes excluded per cause */
	REASON_PINNED,           /* running members hold the gang in a domain that is full or already violate a level */
	REASON_COMBINATION,      /* every part fits alone, no combination does */
	REASON_BUDGET,           /* search budget exhausted */
	REASON_RELAXATION,       /* a change that would make it fit, tried */
	REASON_HELD_BY,          /* who is on the nodes that would have to be free */
	REASON_QUEUE_POSITION,   /* how the queue stands, and the group in it */
	REASON_NO_CHANGE,        /* no change of one kind alone would */
	REASON_UNSUPPORTED,      /* set by callers: pods ask for what is not served */
	REASON_MISSING_OBJECT,   /* set by callers: pods name an object that does not exist */
	REASON_OBJECT_NOT_READY, /* set by callers: pods name an object that cannot be used now */
	REASON_NOT_GROUPED,      /* set by callers: the workload above the pods cannot be read */
	REASON_TOPOLOGY_UNKNOWN, /* set by callers: topology or level does not exist */
	REASON_QUEUE_LIMIT,      /* set by the cycle */
	REASON_QUEUE_QUOTA,
	REASON_QUEUE_UNKNOWN,
	REASON_SUBGROUP_UNKNOWN,
	REASON_SURPLUS,           /* minimum met; some surplus does not fit */
	REASON_BACKOFF,           /* schedulingBackoff: not tried again */
	REASON_GAVE_WAY,          /* its pods were taken for another group in this cycle */
	REASON_HELD,              /* resources are held for it until running work ends */
	REASON_KEPT,              /* it would fit where places are kept for pods that were moved */
	REASON_MIN_RUNTIME,       /* fits when running groups have had the time their queue grants */
	REASON_DISRUPTION_BUDGET, /* running pods would have to leave that a disruption budget guards */
	REASON_CLAIM_IN_USE,      /* another pod uses a claim that one pod may use at a time */
};

/* What a queue refused. Resources are numbered as those of the cycle. */
#define REASON_RESOURCES 3
struct reason_quota {
	int queue, resource;                       /* the queue that does not allow it, and for which resource */
	int64_t used;                              /* of the resource, in that queue */
	int64_t asked[REASON_RESOURCES];           /* for what is missing to the minimum */
	int64_t asked_protected[REASON_RESOURCES]; /* the part of it that could not be evicted later */
};

struct reason {
	enum reason_code code;
	const char *message; /* one sentence for people */
	const char *change;  /* of REASON_RELAXATION the kind of change, see advice.h; otherwise NULL */
	const char *level;   /* node-label key, NULL when none */
	const char *domain;  /* path of the best domain, NULL when none */
	int64_t have, need;  /* both 0 when they say nothing */
	const int *nodes;    /* of a change that takes room: on which nodes; as long as no node comes or goes */
	size_t node_count;
	const struct reason_quota
		*quota; /* of REASON_QUEUE_LIMIT and REASON_QUEUE_QUOTA, in the arena of the reason; or NULL */
};

struct reasons {
	struct reason *items; /* in the arena; most important first */
	size_t count, capacity;
};

const char *reason_code_name(enum reason_code code); /* "InsufficientDomain", ... stable, for JSON */
/* Appends; the list grows in the arena, the texts are not copied. */
void reason_add(struct reasons *reasons, struct arena *arena, struct reason reason);
/* Why engine_place refused with `placement`: appends reasons, the most important first, with texts in the arena. They are true of
 * every gang that looks alike to the search: its name is not among them. The cluster must not have changed since. Changes
 * that would help are looked for with so many trials per kind; 0: they are not. */
void engine_explain(struct cluster *cluster, const struct gang *gang, const struct placement *placement, int trials,
                    struct arena *arena, struct reasons *out);

#endif
