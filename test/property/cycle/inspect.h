/* Judges what one action did, from the states before and after it and from the list of evictions. */
#ifndef CYCLE_INSPECT_H
#define CYCLE_INSPECT_H

#include "../runner.h"
#include "engine/evict/victims.h"
#include "cycle_fixture.h"

enum cycle_failure {
	CYCLE_FINE,
	CYCLE_PROTECTED,   /* somebody was evicted who must not be */
	CYCLE_FRESH,       /* a pod that was bound in the same cycle is evicted */
	CYCLE_STILL,       /* a pod is moved to where it is */
	CYCLE_CORE,        /* the minimum of a semi-preemptible group is moved */
	CYCLE_RULES,       /* wrong queue, wrong priority, too early */
	CYCLE_MINIMUM,     /* a group was left between nothing and its minimum */
	CYCLE_MOVE,        /* a moved pod without a new place */
	CYCLE_NO_GAIN,     /* evictions for a group that got nothing */
	CYCLE_UNNEEDED,    /* a victim could have stayed */
	CYCLE_UNEXPLAINED, /* states changed without an entry */
	CYCLE_VERIFY,      /* a group breaks its own rules */
	CYCLE_OVERCOMMIT,  /* a node has to hold more than it can */
	CYCLE_LIMIT,       /* a queue above its limit, or protected pods above its quota */
	CYCLE_SHARE,       /* reclaim that the shares do not allow */
	CYCLE_BOOKS,       /* the free columns do not add up */
	CYCLE_RESTLESS,    /* no end of changes */
	CYCLE_DIFFERENT,   /* the same state gave another decision */
	CYCLE_IDLE,        /* nothing happened though something should */
	CYCLE_CRASH,
};

struct cycle_tally {
	uint64_t cycles, longest, decisions[ACTION_COUNT], evicted[ACTION_COUNT], moved[ACTION_COUNT];
	uint64_t bound, reserved, whole_gangs, children, single_pods, returns_tried, waiting, muddled, young;
};

struct spot {
	enum member_state state;
	int node;
	bool held; /* a reservation of an earlier cycle that nobody has touched */
};

/* The pods of all groups at one moment. */
struct picture {
	struct spot pods[CASE_GROUPS][INSTANCE_PODS];
	size_t evictions;
};

/* Everything a check needs to know. */
struct scene {
	struct cycle_fixture *fixture;
	enum cycle_action action;
	struct result *result;
	struct cycle_tally *tally;
	struct picture start; /* of the cycle */
	struct result mild;   /* wasteful, but not wrong */
	bool trace;           /* tell what happens */
};

void picture_take(const struct cycle_fixture *fixture, struct picture *picture);
bool picture_is_member(const struct spot *spot);
/* Members per tree node and whether each has reached its minimum; `members` may be NULL. */
void picture_satisfied(const struct cycle_fixture *fixture, const struct picture *picture, int group, int *members,
                       bool *satisfied);
/* Whether the pod and everything above it counts. */
bool picture_is_useful(const struct cycle_fixture *fixture, const struct picture *picture, int group, int pod);
/* What members use of a queue and everything below it. */
void picture_charge(const struct cycle_fixture *fixture, const struct picture *picture, int queue,
                    int64_t allocated[CYCLE_RESOURCES], int64_t protected_[CYCLE_RESOURCES]);

/* The group with its pods as they are in the picture. */
void picture_recall(const struct cycle_fixture *fixture, const struct picture *picture, int group,
                    struct cycle_group *copy, struct gang_pod *pods);
/* What groups of lower priority in the queue of the group can give up, the cheapest first. */
void picture_lower_units(const struct cycle_fixture *fixture, const struct picture *picture, int number,
                         struct victim_list *list);
/* Whether a preemption by the group stays a swap: its queue, and each above it, is within its entitlement of what the
 * group got; or holds no more of it than before, and every unit that went did so while the queue was above it. */
bool picture_is_swap(const struct cycle_fixture *fixture, const struct picture *before, const struct picture *after,
                     int by);

/* Fills the result. True only for failures after which the checks go on. */
bool scene_fail(struct scene *scene, enum cycle_failure failure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* inspect.c: all of it, after one action. */
bool inspect_action(struct scene *scene, const struct picture *before);
/* decision.c: one decision of an action that makes room. */
struct decision {
	const struct cycle_eviction *evictions;
	size_t count;
	int by;
};
/* Victims and their remains only, for several decisions at once. */
bool inspect_whole(struct scene *scene, const struct decision *decisions, const struct picture *before,
                   const struct picture *after);
bool inspect_decision(struct scene *scene, const struct decision *decision, const struct picture *before,
                      const struct picture *after);
/* necessity.c: none of the victims could have stayed. */
bool inspect_necessity(struct scene *scene, const struct decision *decision, const struct picture *before,
                       const struct picture *after);
/* idle.c: when nothing changes any more, nobody waits who had a right to a place. */
bool inspect_rest(struct scene *scene);
/* inspect.c: limits, and quotas of what is protected. */
bool inspect_queues(struct scene *scene, const struct picture *before, const struct picture *after);

#endif
