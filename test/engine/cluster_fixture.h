/* Small clusters for table tests of victims, evictions and cycles, written as text.
 *
 *   nodes   "n1:4 n2:4/r1 n3:4/r2"   devices, and the rack when there is a topology of racks
 *   tree    "2"  "2@rack"  "1(2 2)"  minimum; children in brackets; a required level; "1/4" is expected to have 4 pods
 *   pods    "n1 n1 | n2 -"           one word per pod, leaves separated by |: where it runs, - waits, ! is gated, # is blocked;
 *                                    afterwards also ~n2 for a reservation, x for a pod that had to leave, and at the end
 *                                    +n2 for room that is held for a pod to come
 *
 * Every pod asks for the devices its group says. Words that do not fit the cluster fail the test at once. */
#ifndef TEST_ENGINE_CLUSTER_FIXTURE_H
#define TEST_ENGINE_CLUSTER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/cycle/cycle.h"

enum { FIXTURE_QUEUES = 6, FIXTURE_GROUPS = 12, FIXTURE_BUDGETS = 3 };

struct fixture_queue {
	const char *name, *parent; /* NULL: at the top */
	int quota, limit, weight;  /* devices; -1: unlimited, none */
	int priority;
	int preempt_runtime, reclaim_runtime; /* seconds; 0: not set, -1: none, whatever those above say */
};

struct fixture_group {
	const char *name, *queue, *tree, *pods;
	const char *after; /* the pods after the actions; NULL: as before */
	int priority;
	enum cycle_preempt preempt;
	int devices; /* of one pod; 0: one */
	int grace,
		stale; /* seconds that are tolerated below the minimum, seconds it has been there; grace 0: for ever */
	int met;       /* pods with which it met a minimum that was raised */
	int delay;     /* seconds before it may cause evictions */
	int since;     /* the second from which it has run; 0: not known */
	const char *says; /* a part of one of its reasons */
	bool stays;       /* nobody moves it */
	bool starts_whole;
	bool resettles;  /* with a grace that is not its own */
	const char *app; /* label of its pods, by which budgets select them; NULL: none */
	enum pod_health health;
};

struct fixture_budget {
	const char *app; /* the pods it covers, and its name; "*" for all */
	int allowed;
	bool guards_unready;
};

struct cluster_fixture {
	struct arena *arena;
	struct cycle cycle;
};

/* Queues may be left out: then there is one, "q", without any bounds. Lists end with a NULL name. */
void cluster_fixture_create(struct cluster_fixture *fixture, const char *nodes, const struct fixture_queue *queues,
                            const struct fixture_group *groups);
void cluster_fixture_destroy(struct cluster_fixture *fixture);
/* Runs the actions, given by their names ("allocate reclaim"), as one cycle at the given second. */
void cluster_fixture_run(struct cluster_fixture *fixture, const char *actions, int second);
/* The pods of a group as text. */
const char *cluster_fixture_pods(const struct cluster_fixture *fixture, int number);

struct fixture_case {
	const char *title, *nodes, *actions;
	struct fixture_queue queues[FIXTURE_QUEUES];
	struct fixture_group groups[FIXTURE_GROUPS];
	int second; /* when it happens */
	struct fixture_budget budgets[FIXTURE_BUDGETS];
	bool never_violate;
	int violations;        /* evictions that violate a budget */
	const char *placement; /* the strategy; NULL: binpack */
};

/* The cluster of a case, with its budgets; nothing is run. */
void cluster_fixture_open(struct cluster_fixture *fixture, const struct fixture_case *given);
/* Runs the case, compares the pods of every group with `after`, and checks that the books of the nodes add up. */
void cluster_fixture_check(const struct fixture_case *given);

#endif
