/* What the files of this folder share: one attempt to make a group fit by evicting or moving others. */
#ifndef ENGINE_EVICT_INTERNAL_H
#define ENGINE_EVICT_INTERNAL_H

#include "engine/evict/evict.h"
#include "engine/place/bias.h"
#include "engine/place/place.h"
#include "engine/evict/victim_index.h"
#include "engine/evict/victims.h"

#define MOST_MOVES 16 /* pods that one consolidation moves at most */

struct moves;

struct evict_attempt {
	struct cycle_run *run;
	struct cycle *cycle;
	int group;
	enum cycle_action action;
	const struct evict_method *method; /* of the action */
	bool grow;                         /* the minimum is met: room for one unit of surplus */
	struct arena *scratch;
	const struct victim_unit **units; /* of the victim index */
	size_t unit_count, unit_capacity;
	size_t movable_from; /* units from here on may be moved, but not lost */
	const struct victim_unit *
		*deferred; /* not among the units: disruption budgets do not allow them beside those */
	size_t deferred_count, deferred_capacity;
	bool with_deferred;                  /* they are listed now, and nothing more is to come */
	bool spares_budgets;                 /* nothing may be violated */
	bool violating;                      /* the decision violates one */
	const struct cycle_budget *violated; /* all else agreed then, but this one would have been */
	struct unit_source *sources;         /* reclaim: queues that have more, a heap */
	size_t source_count;
	const int *unopened; /* and those that were not looked at */
	size_t unopened_count;
	size_t applied; /* units[0 .. applied) are off their nodes */
	bool *kept;     /* per applied unit: returned after all */
	struct place_bias bias;
	size_t scored; /* units that the scores of nodes have counted */
	struct placement placement;
	const struct moves *planned;             /* places of all that move, found before; NULL: to be found */
	const bool *moving;                      /* by unit, where places are planned: it moves; NULL: all do */
	bool proved_fewest;                      /* no better set of units makes room */
	bool all_go;                             /* none of the units that are listed may stay after all */
	bool ruled;                              /* rules between pods have a say in it */
	int64_t claimed[CYCLE_RESOURCES];        /* what the claim was begun with */
	struct cycle_cost cost;                  /* of the placement */
	size_t depth;                            /* of the beneficiary's queue */
	int64_t (*held_before)[CYCLE_RESOURCES]; /* by the queue and those above it, before anything was lifted */
	/* Minimum runtimes, see runtime.h: */
	int64_t at;                           /* who has run long enough is judged at this time */
	int64_t first_end;                    /* the first protection that ends after it */
	int64_t *granted;                     /* by queue, NULL when none grants anything */
	bool *above;                          /* by queue: the beneficiary's own, and those above it */
	bool trial, agreed;                   /* decide nothing, only say whether it could be */
	const struct cycle_group *waited_for; /* trial: who is protected longest of those that would leave */
	int64_t waited_until;
	size_t waited_count;
};

static inline struct cycle_group *evict_beneficiary(const struct evict_attempt *attempt)
{
	return &attempt->cycle->groups[attempt->group];
}

/* Where places are planned for all that moves: whether the unit is among them, or lost. */
static inline bool evict_is_to_move(const struct evict_attempt *attempt, size_t unit)
{
	return !attempt->moving || attempt->moving[unit];
}

/* Whether a unit that is off its node has a new place. */
static inline bool evict_has_moved(const struct evict_attempt *attempt, size_t unit)
{
	return attempt->planned ? evict_is_to_move(attempt, unit)
	                        : cycle_has_mark(attempt->run, MARK_MOVED, attempt->units[unit]->group);
}

/* ---- evict.c ---- */

/* Whether there would be room at a later time, if nothing else changed. Decides nothing. */
bool evict_would_fit_at(struct evict_attempt *attempt, int64_t at);
/* Takes the first `count` units off their nodes and accounts, and puts all others back. */
void evict_lift_prefix(struct evict_attempt *attempt, size_t count);
/* With more than `low` and at most `count` units: the shortest prefix that lets the group fit; where everybody must find a
 * new place, longer ones too. True when it was decided; otherwise everything is where it was. */
bool evict_try_prefixes(struct evict_attempt *attempt, size_t low, size_t count);

/* Whether the group can be placed now, within the allowance (NULL: none); whatever else is to be asked. In so many steps. */
enum place_outcome evict_ask_place(struct evict_attempt *attempt, uint64_t budget,
                                   const struct place_allowance *allowance, struct placement *placement);
/* With exactly the units that are listed: places, asks everybody, and commits. False when that is not to be had, with nothing
 * lifted. */
bool evict_decide_units(struct evict_attempt *attempt);

/* With the units of one set lifted, attempt->placement found, and a new place for each of them that moves: asks everybody and commits.
 * False when somebody is against it; then the units are still lifted. */
bool evict_decide_moves(struct evict_attempt *attempt, const struct moves *moves);

/* What is as large as the number of groups is made for the first who has somebody to ask. */
void evict_open_index(struct cycle_run *run);
static inline size_t evict_most_moves(const struct cycle_run *run)
{
	return run->most_moves ? (size_t)run->most_moves : MOST_MOVES;
}

/* ---- units.c ---- */

void evict_append_unit(struct evict_attempt *attempt, const struct victim_unit *unit);
/* Whether room is held for pods that the group is still to get. They belong where it is now: it is not moved meanwhile. */
bool evict_awaits_pods(const struct evict_attempt *attempt, int group);
/* Whether a unit may be moved for nobody's loss: its group does not stay, and all pods that it declares are there. Those to come
 * belong where it is.
 * The marks are to be cleared before the first is asked about. */
bool evict_may_move(struct evict_attempt *attempt, const struct victim_unit *unit);
/* Whether the one that waits has to stand beside such pods: those are not moved for it. */
bool evict_is_wanted_near(const struct evict_attempt *attempt, const struct victim_unit *unit);
/* Whether the unit, or one that goes before it, exceeds a disruption budget beside those listed so far: then it is put aside.
 * To be asked before every append. */
bool evict_defer_guarded(struct evict_attempt *attempt, const struct victim_unit *unit);
/* The next unit of a queue, from position *at on, that has run long enough to go; NULL after the last. */
const struct victim_unit *evict_next_unit(struct evict_attempt *attempt, int queue, size_t *at);
/* The accounts of the queues follow what is lifted and returned, so that limits are asked with the victims gone. */
void evict_charge_unit(struct evict_attempt *attempt, const struct victim_unit *unit, int sign);
/* Puts units that left (or those that moved) back on the accounts (sign 1) or off them (-1). */
void evict_charge_left(struct evict_attempt *attempt, bool moved, int sign);

/* ---- rights.c ---- */

/* Whether what is asked for cannot be evicted later. */
bool evict_gain_is_protected(const struct evict_attempt *attempt);
/* Before anything is lifted: what the beneficiary's queue, and those above it, hold. */
void evict_remember_held(struct evict_attempt *attempt);
/* Whether limits, quotas and the method allow what was found, with the victims so far off the accounts. */
bool evict_queue_allows(const struct evict_attempt *attempt);
/* What the queues leave to a gang that has a choice; see cycle_find_allowance. */
bool evict_find_allowance(const struct evict_attempt *attempt, struct place_allowance *allowance);

/* ---- moves.c ---- */

struct moved_pod {
	int group, pod, node, from;
};

struct moves {
	struct moved_pod *items;
	size_t count;
};

/* Finds new places for the units that left, group by group: all pods of a group or none. Without `optional` only for
 * those who must not be lost. False when somebody found no place who needs one. */
bool moves_find_places(struct evict_attempt *attempt, bool optional, struct moves *moves);
void moves_undo(struct evict_attempt *attempt, const struct moves *moves);
/* Moving pods creates no resources: whether what is free in the whole cluster covers the least the group could ask for. */
bool moves_could_help(struct evict_attempt *attempt);

#endif
