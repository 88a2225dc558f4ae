/* A cluster of one resource that is nearly full, and a group that others have to make room for. */
#ifndef PROPERTY_VICTIMS_INSTANCE_H
#define PROPERTY_VICTIMS_INSTANCE_H

#include <stdbool.h>

enum {
	VICTIMS_NODES = 10,
	VICTIMS_GANGS = 10,
	VICTIMS_CHILDREN = 3,
	VICTIMS_PODS = 15,
	VICTIMS_BUDGETS = 2,
	VICTIMS_QUEUES = 3,
	VICTIMS_MOVES = 3 /* pods that the judge moves at most */
};

/* A gang that runs: children with pods, of which so many are needed. One without parts has one child, and all of it is needed. */
struct victims_gang {
	int size;            /* of one pod */
	int children, needs; /* children that must reach their minimum */
	bool flat;
	int minimum[VICTIMS_CHILDREN], count[VICTIMS_CHILDREN]; /* pods */
	int node[VICTIMS_CHILDREN][VICTIMS_PODS];
	int priority, app, queue; /* app: the budget that covers it, -1 for none. For a reclaim the queue is 1 or 2 */
	bool stays;               /* must not be evicted, and so not be moved */
	bool together;            /* its pods are in one rack */
};

struct victims_instance {
	bool reclaim; /* by the right of a queue; else by priority */
	int quota
		[VICTIMS_QUEUES]; /* of a reclaim: what the others are entitled to. With any, all gangs are without parts */
	int nodes, capacity[VICTIMS_NODES], rack[VICTIMS_NODES];
	int gang_count;
	struct victims_gang gangs[VICTIMS_GANGS];
	int allowed[VICTIMS_BUDGETS]; /* that may leave; -1: no budget */
	/* Who waits: so many children of so many pods, each child within one rack or node, or anywhere. */
	int children, pods, size;
	int level; /* VICTIMS_ANYWHERE, ... */
};

enum { VICTIMS_ANYWHERE, VICTIMS_RACK, VICTIMS_NODE };

struct victims_cost {
	int violations;
	int extent;     /* -1 nobody is lost, 0 surplus pods, 1 a child, 2 a gang: the worst of them */
	int priority;   /* the highest among those */
	bool undercuts; /* some queue is left with less than it is entitled to */
	int pods;
};

/* Whether the group that waits fits as it is. */
bool victims_fit(const struct victims_instance *instance);
/* The best sets of pods to lose and of pods to move, by trying all of them. False when none makes room. */
bool victims_judge(const struct victims_instance *instance, struct victims_cost *best);
/* What they cost: a bit per pod, numbered gang by gang, child by child. False when it leaves a part of a gang that is of no use. */
bool victims_cost_of(const struct victims_instance *instance, unsigned lost, unsigned moved, struct victims_cost *cost);
/* Without a look at the queues: what undercuts one is worse than what does not, but of sets of that many pods any will do. */
int victims_compare_costs(const struct victims_cost *a, const struct victims_cost *b);

#endif
