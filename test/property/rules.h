/* The rules of placement, written down a second time: short, slow, and independent of the engine. */
#ifndef PROPERTY_RULES_H
#define PROPERTY_RULES_H

#include "instance.h"

/* Where every pod of the gang stands: members where they run, `fresh` ones where a placement puts them, others -1. */
struct positions {
	const struct instance *instance;
	int node[INSTANCE_PODS];
	bool fresh[INSTANCE_PODS];
	bool use_releasing;
};

void positions_begin(struct positions *positions, const struct instance *instance);

/* Whether a pod of this class may run on the node at all: taints, readiness, node selector. */
bool rules_node_allows(const struct instance *instance, int pod_class, int node);
/* Whether a waiting pod can join the node beside everything already there: resources, ports, anti-affinity in both
 * directions, and the required levels it stands below. All of these only get harder when more pods are added. */
bool rules_fits(const struct positions *positions, int pod, int node);
/* Rules that look at the finished placement: affinity and spread of the fresh pods. */
bool rules_complete(const struct positions *positions);
/* Per tree node: minimum reached by members and fresh pods; with `optimistic` every waiting pod from `undecided` on
 * counts as well. `satisfied` has room for INSTANCE_TREE. */
void rules_satisfied(const struct positions *positions, int undecided, bool optimistic, bool *satisfied);
int rules_leaf_members(const struct positions *positions, int leaf);
/* Preference cost of members and fresh pods per tree node; -1 where there is no preference or no member. */
void rules_preference_cost(const struct positions *positions, int *cost);
/* How many resources of the node are used by members, fresh pods and others; resource INSTANCE_RESOURCES is the pod count. */
int rules_used(const struct positions *positions, int node, int resource, bool count_releasing);

#endif
