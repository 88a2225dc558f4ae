/* A fragmented cluster of one resource, and a group that waits for a hole in it. */
#ifndef PROPERTY_MOVES_INSTANCE_H
#define PROPERTY_MOVES_INSTANCE_H

#include <stdbool.h>

enum { MOVES_LEVELS = 4, MOVES_NODES = 32, MOVES_GROUPS = 40, MOVES_MEMBERS = 4, MOVES_ASKED = 3 };

struct moves_group {
	int size;  /* of one pod */
	int level; /* that it must keep together, -1: none */
	int count, node[MOVES_MEMBERS];
	bool stays; /* must not be evicted, and so not be moved */
};

struct moves_instance {
	int levels, nodes;
	int domain[MOVES_NODES][MOVES_LEVELS]; /* outermost first; numbers within the whole cluster */
	int capacity[MOVES_NODES];
	int group_count;
	struct moves_group groups[MOVES_GROUPS];
	/* The group that waits: so many children of so many pods, each child within one domain of a level, and all together in one
	 * domain of another. */
	int children, pods, size;
	int child_level, root_level; /* -1: none */
};

/* Whether the two nodes are in one domain of the level; every node is for level -1. */
bool moves_together(const struct moves_instance *instance, int level, int a, int b);
/* Whether the group that waits fits as it is. */
bool moves_fit(const struct moves_instance *instance);
/* The fewest pods that have to move so that it fits, 0 when it fits as it is; -1 when MOVES_ASKED are not enough. By trying
 * all sets and all new places. */
int moves_judge(const struct moves_instance *instance);

#endif
