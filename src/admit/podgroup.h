/* PodGroup scheduling.run.ai/v2alpha2: decode, default, validate, and the one tree every later phase reads. */
#ifndef ADMIT_PODGROUP_H
#define ADMIT_PODGROUP_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

enum preemptibility { PREEMPTIBILITY_UNSET, PREEMPTIBLE, NON_PREEMPTIBLE, SEMI_PREEMPTIBLE };

/* A constraint as written, topology already inherited from the nearest ancestor. NULL = not given; topology is only
 * set together with a level. */
struct constraint_spec {
	const char *topology;
	const char *required; /* level: node-label key or alias */
	const char *preferred;
};

/* One node of the gang tree. Index 0 is the root (the PodGroup); the nodes stand in preorder, so a parent comes before
 * its children and a subtree is one range; children of a parent keep the order of the spec. subGroupSets appear as
 * anonymous parents (name "") at the place of their first member. A PodGroup without subGroups is a root that is itself
 * a leaf. */
struct tree_node {
	const char *name; /* "" for the root and anonymous parents */
	int parent;       /* -1 for the root */
	int child_count;  /* 0 = leaf */
	int minimum;      /* leaf: pods; parent: direct children that must be satisfied (nil resolved to all) */
	int expected;     /* leaf: pods it will have when all have come; 0 when nobody knows */
	struct constraint_spec constraint;
	const char *path; /* where it was written, for messages: spec.subGroups[3] */
};

struct podgroup {
	const char *namespace_, *name, *uid;
	const char *queue, *priority_class; /* NULL when unset */
	enum preemptibility preemptibility;
	bool mark_unschedulable;  /* default true */
	int scheduling_backoff;   /* default -1 */
	int64_t creation_seconds; /* INT64_MIN when unset */
	bool has_staleness_grace, has_preemption_delay;
	int64_t staleness_grace_ns, preemption_delay_ns;
	enum { DISRUPT_USUAL, DISRUPT_WHOLE, DISRUPT_SINGLE } disruption; /* KINDS_DISRUPTION */
	bool never_preempts;                                              /* KINDS_PREEMPTION */
	bool starts_whole;                                                /* KINDS_STARTS_WHOLE */
	struct tree_node *tree;
	size_t tree_count;
	int *leaves; /* indices of the named leaves, sorted by name */
	size_t leaf_count;
};

/* Decodes and validates; adds every problem found. Returns 0 when the object can be used (warnings allowed), -1 when it
 * has errors (then *out is unusable). Strings live in the arena or in the document. */
int podgroup_decode(const struct val *object, struct arena *arena, struct podgroup *out, struct problems *problems);
/* Weighs what decoding found about minimums as KAI-Scheduler does: minMember on a subgroup with children is an error of a
 * new object and a warning about one that is changed, a minSubGroup above the number of children a warning. What can be
 * used stays what podgroup_decode says. */
void podgroup_judge_as_kai(struct problems *problems, bool is_new);
/* Index of the leaf with that name, -1 if there is none. NULL or "" finds the root when it is a leaf. */
int podgroup_leaf(const struct podgroup *group, const char *name);
/* Fewest pods that satisfy the tree below `node` (10 in the two-level example of the minSubGroup document). */
int64_t podgroup_minimum_pods(const struct podgroup *group, int node);

#endif
