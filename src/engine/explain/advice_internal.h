/* What the files that look for advice share. Nothing outside this folder includes this. */
#ifndef ENGINE_EXPLAIN_ADVICE_INTERNAL_H
#define ENGINE_EXPLAIN_ADVICE_INTERNAL_H

#include "engine/cluster/internal.h"
#include "engine/explain/advice.h"

struct advisor {
	struct cluster *cluster;
	const struct gang *gang;
	struct place_options options;
	struct advice_hint hint;
	int view;
	int trials;  /* left for the kind that is looked for */
	int *shapes; /* of the waiting pods, each once */
	size_t shape_count;
	struct arena *arena;   /* the answer */
	struct arena *lists;   /* of the kind that is looked for */
	struct arena *scratch; /* of one trial */
	struct advices *out;
};

/* What a kind of change consists of: parts, of which part i can be had most[i] times. */
struct change {
	size_t count;
	const int *most;
	int *now; /* what is tried */
	bool (*fits)(struct advisor *advisor, struct change *change);
	const void *context;
};

/* Whether the gang would fit into the cluster; false when no trial is left. */
bool advisor_fits(struct advisor *advisor, struct cluster *cluster, const struct gang *gang);
/* The smallest change that fits, in change->now. False when all of it does not help, or the trials are spent. */
bool advisor_find_smallest(struct advisor *advisor, struct change *change);
/* Appends advice with the parts of the change that are needed; items[i] stands for part i. */
struct advice *advisor_add(struct advisor *advisor, enum advice_kind kind, const struct change *change,
                           const int *items);

/* advice_nodes.c */
void advisor_try_room(struct advisor *advisor);
void advisor_try_cordons(struct advisor *advisor);
void advisor_try_readiness(struct advisor *advisor);
void advisor_try_taints(struct advisor *advisor);
/* advice_more.c */
void advisor_try_more_nodes(struct advisor *advisor);

#endif
