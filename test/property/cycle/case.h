/* One random world of the cycle tests: a cluster, a tree of queues, and groups that run or wait. Plain numbers without
 * pointers, so that copying is assignment and shrinking is editing. */
#ifndef CYCLE_CASE_H
#define CYCLE_CASE_H

#include "../instance.h"

enum { CASE_QUEUES = 6, CASE_GROUPS = 12 };

struct c_queue {
	int parent; /* -1 at the top; parents stand before their children */
	int priority;
	int quota[INSTANCE_RESOURCES], limit[INSTANCE_RESOURCES]; /* in units of the instance; -1: none */
	int weight[INSTANCE_RESOURCES];
	int preempt_runtime, reclaim_runtime; /* seconds; -1: what those above say */
};

enum c_preempt { C_PREEMPTIBLE, C_NON_PREEMPTIBLE, C_SEMI_PREEMPTIBLE };

/* Older groups stand before younger ones. */
struct c_group {
	int queue, priority;
	enum c_preempt preempt;
	int grace; /* seconds below the minimum that are tolerated, -1 for ever */
	int delay; /* seconds before it may cause evictions */
	int age;   /* seconds it has run at the beginning; -1: not known */
	int tree_count, pod_count;
	struct w_tree tree[INSTANCE_TREE]; /* in preorder */
	struct w_pod pods[INSTANCE_PODS];  /* in the order of their leaves */
};

struct cycle_case {
	struct instance
		base; /* nodes, topologies, pod classes and pods of nobody; its own tree and pods are not used */
	int queue_count, group_count;
	bool apart;   /* every action is a cycle of its own, so that nothing is bound and given up in one */
	bool slow;    /* pods take several cycles to leave */
	bool starved; /* gangs have waited long enough for resources to be held for them */
	struct c_queue queues[CASE_QUEUES];
	struct c_group groups[CASE_GROUPS];
};

void case_generate(uint64_t seed, struct cycle_case *world);
/* The base with the tree and the pods of one group. */
void case_instance(const struct cycle_case *world, int group, struct instance *instance);
/* Units of a resource that stay in use on a node once everything has left that leaves, by the state the case begins
 * with; with `leaving` also what leaves. Resource INSTANCE_RESOURCES is the number of pods. */
int case_used(const struct cycle_case *world, int node, int resource, bool leaving);
/* Whether the rules of two pods allow them on these nodes at the same time: ports and anti-affinity, both ways. */
bool case_tolerate(const struct instance *base, int pod_class, int node, int other_pod_class, int other_node);

#endif
