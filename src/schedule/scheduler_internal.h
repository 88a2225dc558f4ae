/* What the files of the scheduler share. */
#ifndef SCHEDULE_SCHEDULER_INTERNAL_H
#define SCHEDULE_SCHEDULER_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
#include "loop/beside.h"
#include "schedule/events.h"
#include "schedule/live.h"
#include "schedule/metrics.h"
#include "schedule/scheduler.h"
#include "schedule/scheduler_claims.h"

/* A write whose answer is awaited. */
struct attempt {
	struct scheduler *scheduler;
	size_t place; /* among those under way */
	bool assumed; /* the state has been told */
	enum live_guess guess;
	char *namespace_, *pod, *node;
	const char *what;    /* "allocate", "reclaim" ... */
	char *why;           /* of an eviction */
	int code;            /* of the answer; below 300 when it was carried out */
	char *message;       /* of a refusal */
	int64_t retry_after; /* seconds that were asked for with it, 0 for none */
	uint64_t version;    /* of the pod afterwards, 0 when it is gone */
};

/* A pod whose binding was refused, or its eviction, until one is accepted or the pod is gone. */
struct refusal {
	char *key;
	const char *namespace_, *pod; /* behind the key */
	char *uid;
	char *message;
	bool eviction;
	unsigned times; /* in a row */
	int64_t until;  /* nanoseconds: it is not tried again before */
	UT_hash_handle hh;
};

/* What was last written about a queue. */
struct queue_told {
	int64_t allocated[CYCLE_RESOURCES], allocated_protected[CYCLE_RESOURCES], requested[CYCLE_RESOURCES],
		fair[CYCLE_RESOURCES];
	int64_t written; /* nanoseconds: when; 0 for never */
};

struct scheduler {
	struct scheduler_options options;
	struct live *live;
	struct live_watch *watch;
	struct events *events;
	struct metrics metrics;
	struct {
		int64_t hour, moved; /* the hour of the clock, and pods moved in it */
		int64_t tried_at;    /* nanoseconds: when it was tried last */
		bool now;            /* in this cycle */
	} defragment;
	VEC(struct attempt *) under_way, answered;
	struct refusal *refusals;
	VEC(struct claim_wait *) claim_waits; /* gangs whose claims are to be bound first */
	struct claim_pause *claim_pauses;
	struct queue_told *queues;
	size_t queue_count, queues_of; /* queues_of: number of the rebuild they belong to */
	int64_t last;                  /* nanoseconds: when the last cycle was */
	int64_t changed_at;            /* nanoseconds: when the first change since then was seen; 0 for none */
	int64_t due;                   /* nanoseconds: when time alone may change a decision; INT64_MAX for never */
	unsigned failures;     /* writes that were refused in a row, save bindings: the next cycle waits longer */
	bool unwritten;        /* the last cycle could not write all it has to tell */
	bool withheld;         /* a group is to be called scheduled when its bindings are answered */
	struct beside *beside; /* NULL: every cycle is decided within its turn */
	struct plan *plan;     /* of the last cycle, valid until live_finish */
	int64_t plan_due;      /* when time alone may change what it says */
	struct metrics_waiting waiting; /* in it */
	struct {
		struct cycle_queue *queues;
		size_t queue_count, remembered;
	} seen;        /* what is told about the last cycle while the next one is being decided */
	bool deciding; /* beside the loop: the state is left alone */
	struct scheduler_turn
		*turn;  /* decisions that are being written, in its own arena; NULL: none. The state is left alone */
	size_t left;    /* of what may be written in this step */
	unsigned reads; /* steps in a row that did not read all that changed */
	bool started, decided;
	bool again; /* a decision was not carried out, because it rested on something that has changed */
};

/* One cycle whose decisions are to be written, in slices: it goes on where the last step ended. */
struct scheduler_turn {
	struct scheduler *scheduler;
	struct store *store;
	const struct logger *logger;
	const struct plan *plan;
	struct arena *arena;
	int64_t now_seconds;
	const struct claim_choices *choices; /* for claims of pods that are about to be bound; NULL: there are none */
	size_t stage, next, pod;             /* the stage, its next group or eviction, and the next pod of that group */
	enum live_news news;                 /* of that group */
	bool known;                          /* its pods so far were told already what there is to tell */
	bool kept;                           /* what is moved has its new place */
};

/* What counts against a slice. */
#define SCHEDULER_SLICE 6000
#define SCHEDULER_COST_GLANCE 1
#define SCHEDULER_COST_LOOK 3
#define SCHEDULER_COST_WRITE 24

void scheduler_begin_slice(struct scheduler *scheduler);
void scheduler_spend(struct scheduler *scheduler, size_t cost);

/* The stages return true when they are through, false when the slice is used up.
 *
 * scheduler_write.c: evictions and bindings. They are assumed to hold until they are answered and seen. */
bool scheduler_write_evictions(struct scheduler_turn *turn);
bool scheduler_write_releases(struct scheduler_turn *turn);
bool scheduler_write_bindings(struct scheduler_turn *turn);
/* Which parts of the gang reach their minimum with what is bound and what is to be bound now, by node of its tree; in the
 * arena. Members of `left_out` do not count. A pod for which a later decision found only a reservation would leave the others
 * alone: then they wait for it. */
const bool *scheduler_parts_that_start(const struct scheduler_turn *turn, size_t index, const bool *left_out);
/* Whether every part that the pod is in starts without those left out, if it starts with them. */
bool scheduler_starts_anyway(const struct gang *gang, size_t pod, const bool *with, const bool *without);
/* scheduler_claims_pods.c: between the decision and the binding nodes change. NULL when the node takes the pod. */
const char *scheduler_node_objection(const struct store_object *node, struct store_object *pod, struct arena *arena);
/* Submits the binding of one pod. */
void scheduler_bind(struct scheduler *scheduler, const char *namespace_, const char *name, const char *node);
/* After live_finish: makes the state believe what was written. */
void scheduler_assume(const struct scheduler_turn *turn);
/* Looks at the answers that came since. False when there are more than fit into a step. */
bool scheduler_read_answers(struct scheduler *scheduler, int64_t now);
void scheduler_forget_attempts(struct scheduler *scheduler);

/* scheduler_refused.c: bindings and evictions that were refused. NULL when the binding of the pod was not. */
const struct refusal *scheduler_refused_find(const struct scheduler *scheduler, const char *namespace_,
                                             const char *pod);
/* When the eviction of the pod may be tried again, nanoseconds; 0 when it was not refused. */
int64_t scheduler_refused_until(const struct scheduler *scheduler, const char *namespace_, const char *pod);
/* Notes it, and when it is tried again. */
void scheduler_refused_add(struct scheduler *scheduler, const struct attempt *attempt, const struct store_object *pod,
                           int64_t now);
/* Writes the last refusal into the condition of the pod and an event, if that is new. */
void scheduler_refused_record(struct scheduler *scheduler, const struct store_object *pod, int64_t now_seconds);
void scheduler_refused_forget(struct scheduler *scheduler, const char *namespace_, const char *pod);
void scheduler_refused_free(struct scheduler *scheduler);

/* Numbers that change all the time are written at most so often. */
#define SCHEDULER_NUMBERS_NS CLOCK_SECOND
/* Whether numbers that were last written at `last` (0: never) wait; then a cycle comes when their time has come. */
bool scheduler_numbers_wait(const struct scheduler_turn *turn, int64_t last);

/* Something about the group could not be written: the next cycle looks at it again, after a pause. */
void scheduler_unwritten(const struct scheduler_turn *turn, size_t group);

/* scheduler_status.c: what is told about the groups of this cycle, their pods and the queues; a stage as well. */
bool scheduler_write_status(struct scheduler_turn *turn);

/* scheduler_group.c: the status of one PodGroup. True when it says already what it should. */
bool scheduler_mark_group(const struct scheduler_turn *turn, const struct plan_group *group, const char *message);
/* Quantities of queues and groups. */
struct node *scheduler_amounts(struct build *build, struct arena *arena, const int64_t amounts[CYCLE_RESOURCES]);

/* scheduler_conditions.c: status.schedulingConditions, if what they say has changed; taken away when `placed`. */
void scheduler_put_conditions(const struct scheduler_turn *turn, const struct plan_group *group,
                              const struct store_object *object, bool placed, const char *message, struct build *build,
                              struct node *status);
/* What the event NotReady says of a group: which leaves wait for how many pods. */
const char *scheduler_not_ready_text(const struct scheduler_turn *turn, size_t index);

/* scheduler_places.c: notes on the PodGroup which places are kept for pods of it that this cycle moves or an earlier one
 * did. -1 when that could not be written: then they must stay where they are. */
int scheduler_write_places(const struct scheduler_turn *turn, size_t index, const struct store_object *object);

/* scheduler_usage.c: writes on queues what they used in the past, now and then; and when that is due, INT64_MAX for never. */
void scheduler_keep_usage(const struct scheduler_turn *turn);
int64_t scheduler_usage_due(const struct scheduler *scheduler);

/* scheduler_defragment.c: before a cycle, whether it defragments; after it, what that used up; and when it is due again,
 * nanoseconds, INT64_MAX for never. */
void scheduler_defragment_begin(struct scheduler *scheduler, int64_t now);
void scheduler_defragment_end(struct scheduler *scheduler, const struct plan *plan);
int64_t scheduler_defragment_due(const struct scheduler *scheduler, int64_t now);

/* scheduler_times.c: whether the group is below its minimum with pods running, and may be released for that. */
bool scheduler_is_stale(const struct cycle_group *group);
/* Notes on the PodGroup since when it is stale and when it last lost pods. */
void scheduler_write_times(const struct scheduler_turn *turn, size_t index, const struct store_object *object);

#endif
