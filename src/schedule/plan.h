/* Plan: what one or more scheduling cycles decide, and the JSON contract in which it leaves the process.
 *
 * A plan borrows from its snapshot, which must outlive it, and is allocated in the arena of the cycle. */
#ifndef SCHEDULE_PLAN_H
#define SCHEDULE_PLAN_H

#include "schedule/snapshot.h"
#include "object/build.h"

struct plan_binding { /* also a reservation */
	const char *namespace_, *pod, *node;
	size_t group;  /* in the groups of the plan */
	size_t member; /* in the pods of its gang */
};

struct plan_eviction {
	const char *namespace_, *pod, *node;
	const char *
		by; /* group for which it is evicted, "namespace/name"; "" for a stale gang, "defragment" for no group */
	const char *action;   /* action that decided it */
	bool moved;           /* it has a reservation elsewhere in the same plan */
	bool fewest;          /* it is proved that no better choice of victims exists */
	bool guarded;         /* one PodDisruptionBudget covers it, and none is violated by what goes with it */
	const char *violates; /* PodDisruptionBudget that does not allow it, "namespace/name"; NULL for none */
};

struct plan_reason {
	const char *code; /* stable name */
	const char *message;
	const char *change;         /* of code WouldFit the kind of change, otherwise NULL */
	const char *level, *domain; /* NULL when they say nothing */
	int64_t have, need;         /* both 0 when they say nothing */
};

struct plan_subgroup {
	const char *name;
	int tree;                /* index in the gang's tree */
	int64_t placed, minimum; /* pods */
};

struct plan_group {
	size_t index; /* in the groups of the snapshot */
	const char *namespace_, *name, *state;
	const char *proved;                  /* what the refusal is proof of: "now", "ever", NULL: nothing */
	int64_t placed;                      /* pods bound or reserved now, or running */
	int64_t minimum;                     /* fewest pods that satisfy the tree */
	int64_t waiting;                     /* pods that exist and are neither placed nor leaving */
	int64_t *node_placed, *node_minimum; /* the same two numbers for every node of the gang's tree */
	struct plan_subgroup *sub_groups;    /* named ones, in the order of the spec */
	size_t sub_group_count;
	struct plan_reason *reasons;
	size_t reason_count;
	const struct plan_binding **bindings; /* those of the plan that are of this group, in the order of the gang */
	size_t binding_count;
};

struct plan {
	const struct snapshot *snapshot;
	struct plan_binding *bindings, *reservations; /* by namespace, then pod */
	size_t binding_count, reservation_count;
	struct plan_eviction *evictions;
	size_t eviction_count;
	struct plan_group *groups; /* those the cycle looked at: all groups of a snapshot, in its order */
	size_t group_count;
	size_t *order; /* indices of groups by namespace, then name: the order of all output */
};

/* Runs the actions in the given order once and describes the result: bindings are those since the snapshot was taken. May
 * be called again on the same snapshot: the next cycle continues where the last one stopped. */
struct plan *plan_run(struct snapshot *snapshot, const enum cycle_action *actions, size_t action_count);
/* What people call the group, with its namespace: "default/job/train", "default/chat". */
const char *plan_group_title(const struct plan *plan, const struct plan_group *group, struct arena *arena);
/* All reasons of a group in one text: what conditions say. "" for none. */
const char *plan_group_message(const struct plan_group *group, struct arena *arena);
/* The reasons of a group as a list. */
struct node *plan_write_reasons(const struct plan_group *group, struct build *build);
/* The document of the contract; the node belongs to `build`. */
struct node *plan_write(const struct plan *plan, struct build *build);

#endif
