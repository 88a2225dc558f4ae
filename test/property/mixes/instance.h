/* Racks with free GPUs, and a gang that needs some of its children, each within one rack, of two or three kinds. */
#ifndef PROPERTY_MIXES_INSTANCE_H
#define PROPERTY_MIXES_INSTANCE_H

#include <stdbool.h>

enum { MIX_RACKS = 16, MIX_NODES = 8, MIX_GPUS = 8, MIX_MOST_KINDS = 3, MIX_LEAVES = 2, MIX_CHILDREN = 24 };

struct mix_leaf {
	int pods, gpus; /* gpus: of one pod */
};

/* A child of the kind: one leaf, or a subgroup of two. */
struct mix_child {
	struct mix_leaf leaves[MIX_LEAVES];
	int leaf_count;
	int copies;
};

struct mix_instance {
	int racks, nodes;                /* nodes: per rack */
	int taken[MIX_RACKS][MIX_NODES]; /* GPUs in use */
	struct mix_child kinds[MIX_MOST_KINDS];
	int kind_count;
	int need;   /* children */
	bool zone;  /* the gang as a whole is bound to the one zone there is */
	bool forms; /* every other child of a kind asks for the same with another tree */
};

enum mix_verdict { MIX_FITS, MIX_DOES_NOT_FIT, MIX_UNKNOWN };

/* Whether the children fit, by counting: written apart from the engine, and without its shortcuts. Unknown where that would
 * take too long. */
enum mix_verdict mix_judge(const struct mix_instance *instance);

#endif
