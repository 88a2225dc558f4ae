/* The table of actions: a cycle is a list of them, and everything that depends on which one it is stands in its row.
 *
 * A line of CYCLE_ACTIONS gives the name and what it does in words; help, completion, messages, JSON, labels of metrics and
 * docs/reference/actions.md take them from here. The struct action_<row> beside the function says how it behaves; both stand in
 * <row>.c, here or in evict/. See "An action" in CONTRIBUTING.md. */
#ifndef ENGINE_CYCLE_ACTIONS_H
#define ENGINE_CYCLE_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct cycle;
struct evict_method;

/* In the order in which a cycle runs them: constant, row, name as users write it, what it does. */
#define CYCLE_ACTIONS(ROW)                                                                                             \
	ROW(ALLOCATE, allocate, "allocate", "places what fits: minimums first, then surplus")                          \
	ROW(CONSOLIDATE, consolidate, "consolidate",                                                                   \
	    "moves preemptible pods to make a hole, each to a new place in the same plan")                             \
	ROW(RECLAIM, reclaim, "reclaim", "takes back what other queues use above their share")                         \
	ROW(PREEMPT, preempt, "preempt", "lets higher priority in the same queue pass")                                \
	ROW(RELEASE_STALE, release_stale, "stalegangeviction",                                                         \
	    "releases gangs that have been below their minimum for too long")                                          \
	ROW(DEFRAGMENT, defragment, "defragment", "moves preemptible pods so that more whole racks are free")

#define CYCLE_ACTION_CONSTANT(constant, row, name, description) ACTION_##constant,
enum cycle_action { CYCLE_ACTIONS(CYCLE_ACTION_CONSTANT) ACTION_COUNT };

/* The names as one literal, a blank before each, for tables that are filled at compile time. */
#define CYCLE_ACTION_NAME(constant, row, name, description) " " name
#define CYCLE_ACTION_NAMES CYCLE_ACTIONS(CYCLE_ACTION_NAME)

/* How an action behaves. */
struct action_row {
	/* Decides for all groups of the cycle; what it changes is complete in itself. */
	void (*run)(struct cycle *cycle, enum cycle_action action);
	/* How it takes from others for a group that waits; NULL when it does not. */
	const struct evict_method *method;
	bool opt_in;           /* only where somebody asks for it */
	bool serves_waiting;   /* for groups that wait; the others look after what runs */
	bool evicts;           /* pods may have to leave: they are counted by the action */
	bool evicts_protected; /* also those that are not preemptible, if their group asked for it */
	/* Why a pod leaves for another group, as half a sentence: "x leaves node for y: ..."; NULL without a method. */
	const char *why;
};

#define CYCLE_ACTION_ROW(constant, row, name, description) extern const struct action_row action_##row;
CYCLE_ACTIONS(CYCLE_ACTION_ROW)

/* All of these take any action below ACTION_COUNT; what they return is constant and never NULL. */
const struct action_row *cycle_action_row(enum cycle_action action);
const char *cycle_action_name(enum cycle_action action);        /* "allocate", "consolidate", ... */
const char *cycle_action_description(enum cycle_action action); /* half a sentence: "places what fits: ..." */

/* By name, of which `length` bytes count; -1 when unknown. */
int cycle_action_parse(const char *text, size_t length, enum cycle_action *action);
/* All actions of every cycle, without those somebody has to ask for; or only those that serve groups which wait. In the order
 * of a cycle. Returns how many. */
size_t cycle_action_list_all(enum cycle_action list[ACTION_COUNT]);
size_t cycle_action_list_serving(enum cycle_action list[ACTION_COUNT]);
/* The names of all of them with a separator in between; in the arena. */
const char *cycle_action_join_names(struct arena *arena, const char *separator);

#endif
