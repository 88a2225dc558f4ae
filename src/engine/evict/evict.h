/* Making room: evict or move running pods so that one waiting group fits. Private to the engine. */
#ifndef ENGINE_EVICT_EVICT_H
#define ENGINE_EVICT_EVICT_H

#include "engine/cycle/internal.h"

struct evict_attempt;
struct victim_unit;

/* Which minimum runtime of a queue protects the groups in it; see runtime.h. */
enum evict_runtime { EVICT_RUNTIME_NONE, EVICT_RUNTIME_PREEMPT, EVICT_RUNTIME_RECLAIM };

/* How an action takes from others: whose units may go, and by which right. Hooks that are NULL have nothing to say. */
struct evict_method {
	bool moves_only;       /* everybody who leaves gets a new place, pod by pod: whose they are does not matter */
	bool by_priority;      /* not for groups that never preempt */
	bool preemptible_only; /* only for groups that may be evicted again themselves */
	bool returns_moved;    /* when others are moved, more victims may stay: it is asked again */
	bool violates_budgets; /* where nothing else makes room, and the cycle allows it */
	enum evict_runtime runtime;
	/* Whether there is any group to ask, before the units of all of them are listed. Asked for everybody who waits, so it
	 * reads the census and walks over nothing. NULL: there is. */
	bool (*has_candidates)(const struct evict_attempt *attempt);
	/* Before anything is listed: whether it makes sense to begin. */
	bool (*begin)(struct evict_attempt *attempt);
	/* Lists what may go, the cheapest first; with list_more as it is asked for, up to so many units. */
	void (*list)(struct evict_attempt *attempt);
	void (*list_more)(struct evict_attempt *attempt, size_t count);
	/* Adds to the list what is not on it and may go as well, so that the best set of all can be chosen; nothing where there is
	 * too much. NULL: others choose. */
	void (*list_all)(struct evict_attempt *attempt);
	/* Whether it may move pods of the queue, to save others whom it would take. Goes with list_all. */
	bool (*disturbs)(const struct evict_attempt *attempt, int queue);
	/* Whether the queue of the unit holds less than it is entitled to now, with all that was chosen off its account: what does
	 * not do that is better. NULL: that is no question. */
	bool (*undercuts)(const struct evict_attempt *attempt, const struct victim_unit *unit);
	bool may_move_others; /* what is not listed so can be moved at least: no proof that there is no room */
	/* Tries prefixes of the list. True when the group has its place. NULL: the shortest that does. */
	bool (*try_units)(struct evict_attempt *attempt);
	/* Whether the right covers what was found, beside limits and quotas. */
	bool (*allows)(const struct evict_attempt *attempt);
	/* What it leaves of a resource to a gang that has a choice: lowers `left`. */
	void (*narrow)(const struct evict_attempt *attempt, int resource, int64_t *left);
	/* Whether the victims that are left in the end are justified. */
	bool (*justifies)(struct evict_attempt *attempt);
};

/* Tries to make room for the minimum of a group (`grow`: for one more unit of its surplus) by the method of the action,
 * which must have one. Either everything needed happens (victims leave or move, the group is reserved, queues are charged,
 * evictions recorded) or nothing does. */
bool evict_for_group(struct cycle_run *run, int group, enum cycle_action action, bool grow);

#endif
