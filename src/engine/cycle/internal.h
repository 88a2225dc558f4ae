/* What the files of the cycle share. Nothing outside src/engine includes this. */
#ifndef ENGINE_CYCLE_INTERNAL_H
#define ENGINE_CYCLE_INTERNAL_H

#include "engine/cycle/cycle.h"
#include "engine/share/share.h"

struct victim_index;
struct queue_census;
struct evict_budgets;

/* Sets of groups that a decision needs for a moment: emptied at once, however many groups there are. */
enum cycle_mark {
	MARK_MOVED,
	MARK_MUST_MOVE,
	MARK_SEEN,
	MARK_LOST,
	MARK_RESERVED,
	MARK_GUARDED,
	MARK_ASKED,
	MARK_GROWING,
	MARK_COUNT
};

struct cycle_run {
	struct cycle *cycle;
	struct share_queue *shares; /* parallel to cycle->queues */
	struct share_claim claim;
	struct arena *scratch;                         /* of one search; reset before the next */
	struct arena *decision;                        /* of one decision that makes room; NULL while allocating */
	const int64_t (*amounts)[CYCLE_RESOURCES];     /* by pod class: what one pod counts for */
	const struct queue_census *census;             /* by queue + 1; NULL until somebody asks */
	struct victim_index *victim_index;             /* what could be given up; NULL until somebody asks */
	struct evict_budgets *budgets;                 /* made with it; NULL: nothing is guarded */
	int explained_runtimes;                        /* in this action */
	uint64_t move_steps;                           /* that searches for moves took in this action */
	const bool *move_from;                         /* by node: what defragmentation may move; NULL for others */
	int most_moves;                                /* of one decision; 0: MOST_MOVES */
	uint64_t victim_steps;                         /* that choosing the best victims took in it */
	uint64_t exchange_steps;                       /* and trying to save some of them by moves */
	uint64_t lost_steps;                           /* of searches for a place that gave up in it */
	uint64_t state;                                /* see make_room.c; 0: nobody asked yet */
	bool knows_runtimes, grants_runtimes;          /* whether any queue has a minimum runtime for this action */
	uint32_t *marks[MARK_COUNT], mark[MARK_COUNT]; /* by group; see cycle_has_mark */
};

static inline bool cycle_has_mark(const struct cycle_run *run, enum cycle_mark which, int group)
{
	return run->marks[which][group] == run->mark[which];
}

static inline void cycle_mark(struct cycle_run *run, enum cycle_mark which, int group)
{
	run->marks[which][group] = run->mark[which];
}

static inline void cycle_clear_mark(struct cycle_run *run, enum cycle_mark which)
{
	run->mark[which]++;
}

/* Makes run->shares, in the arena of the cycle, from what is settled and what the groups of this cycle hold and ask for. */
void cycle_open_accounts(struct cycle_run *run);

/* Whether the pod runs or is reserved. */
bool cycle_is_member(const struct gang_pod *pod);
/* What one pod of each class counts for against queues; kept by the cluster, valid until a class is added. */
const int64_t (*cycle_pod_class_amounts(struct cluster *cluster))[CYCLE_RESOURCES];
/* Adds what one pod of the class counts for. */
void cycle_add_pod(const struct cycle_run *run, int pod_class, int64_t amounts[CYCLE_RESOURCES]);
/* What pods count for against queues, and how much of it cannot be evicted later: all of a non-preemptible group, the
 * core of a semi-preemptible one (see victims_mark_core). */
struct cycle_cost {
	int64_t amounts[CYCLE_RESOURCES], core[CYCLE_RESOURCES];
};
/* Of a placement. The core of a group may change with it as a whole: what was surplus may become part of the core. */
void cycle_cost_of_placement(const struct cycle_run *run, struct cycle_group *group, const struct placement *placement,
                             struct cycle_cost *cost);
/* What of the core goes with these reserved members; the array is given by the caller. */
void cycle_core_of_pods(const struct cycle_run *run, struct cycle_group *group, const int *pods, int count,
                        int64_t core[CYCLE_RESOURCES]);
/* Adds what the pods count for that are still to come, if the group starts only with room for them. */
void cycle_add_coming(const struct cycle_run *run, const struct cycle_group *group, const struct placement *placement,
                      struct cycle_cost *cost);
/* Adds (sign 1) or takes off (sign -1) a cost in a queue and all above it. */
void cycle_charge(struct cycle_run *run, int queue, const struct cycle_cost *cost, int sign);
/* Whether limits, and for the core quotas, of the queue and all above it allow the cost. */
bool cycle_queue_has_room(const struct cycle_run *run, int queue, const struct cycle_cost *cost);
/* False, and a reason on the group, when they do not. */
bool cycle_queue_allows(struct cycle_run *run, struct cycle_group *group, const struct cycle_cost *cost);
/* "8 GPUs", "4 CPU", "16Gi memory". In the arena. */
const char *cycle_amount_text(struct arena *arena, int resource, int64_t amount);
/* The least that completing the minimum of the group costs. Resets the scratch arena. */
void cycle_find_least(struct cycle_run *run, const struct cycle_group *group, struct cycle_cost *cost);
/* Whether its queues do not allow even the least that the minimum of the group costs, whatever room there is; the reason is
 * added then, and `least` says what it costs. Resets the scratch arena. */
bool cycle_queue_forbids(struct cycle_run *run, struct cycle_group *group, struct cycle_cost *least);
/* Whether its queues leave room for the least that the minimum, or with `grow` one pod more, counts for. Resets the scratch arena. */
bool cycle_queue_has_room_for_least(struct cycle_run *run, const struct cycle_group *group, bool grow);
/* The limits and quotas that would have to be raised for the cost, each to the least that allows it, as they read behind "would
 * fit with "; "" when none. In the arena of the cycle. */
const char *cycle_find_raises(struct cycle_run *run, const struct cycle_group *group, const struct cycle_cost *cost);
/* Whether the same minimum can be reached by different amounts: some of several children, or of different pods. */
bool cycle_has_choice(const struct gang *gang);
/* What limits, and for protected pods quotas, leave of each resource. False when the gang has no choice of pods or
 * children that could make use of knowing it. */
bool cycle_find_allowance(const struct cycle_run *run, const struct cycle_group *group, bool is_protected,
                          struct place_allowance *allowance);
/* Writes down that a pod has to leave. The caller has changed its state and the cluster. */
void cycle_evict(struct cycle *cycle, struct cycle_eviction eviction);

/* make_room.c: what the actions with a method run. Tries to make room for every group that waits, in the order of queues. */
void cycle_make_room(struct cycle *cycle, enum cycle_action action);

/* surplus.c: whether pods of a group whose minimum is met still wait, and a word on why. */
bool surplus_conclude(struct cycle *cycle, struct cycle_group *group);

#endif
