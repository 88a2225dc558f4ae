/* A gang: the tree of minimums and constraints, and its pods. Plain data, filled by the caller, which owns it. */
#ifndef ENGINE_GANG_GANG_H
#define ENGINE_GANG_GANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena;

struct gang_level { /* topology -1: no constraint */
	int topology;
	int level;
};
#define GANG_NO_LEVEL ((struct gang_level){.topology = -1, .level = -1})

/* Index 0 is the root; a parent stands before its children; siblings are in the order of the spec. */
struct gang_node {
	const char *name; /* "" for the root and for anonymous parents */
	int parent;       /* -1 for the root */
	int child_count;  /* 0 = leaf */
	int minimum;      /* leaf: pods; parent: direct children that must reach their minimum */
	int expected;     /* leaf: pods it will have when all have come; 0 when nobody knows */
	struct gang_level required;
	struct gang_level preferred;
};

enum member_state {
	MEMBER_WAITING,  /* may be placed now */
	MEMBER_GATED,    /* exists, but must not be placed yet */
	MEMBER_BLOCKED,  /* exists, and must not be placed for a reason that nodes cannot cure */
	MEMBER_RUNNING,  /* bound to `node` and counted in the cluster as running */
	MEMBER_RESERVED, /* reserved on `node` and counted in the cluster as reserved */
	MEMBER_GONE,     /* leaving or finished: not a member for counting */
	MEMBER_COMING,   /* does not exist yet: see gang_add_coming */
};

/* What disruption budgets ask about a pod. */
enum pod_health {
	HEALTH_READY,
	HEALTH_UNREADY,  /* it runs, and is not ready */
	HEALTH_STARTING, /* bound; nothing of it runs yet */
};

struct gang_pod {
	const char *name;
	int pod_class; /* from cluster_add_pod_class */
	int leaf;      /* index of its leaf in the tree */
	enum member_state state;
	int node;       /* for RUNNING and RESERVED */
	int nominated;  /* preferred node while WAITING, -1 for none */
	bool held;      /* RESERVED since an earlier cycle, so that others may take it back; set by cycle_begin */
	uint8_t health; /* enum pod_health, of those that are RUNNING */
};

/* Pods of one leaf are used in array order: earlier ones are placed first. */
struct gang {
	const char *namespace_;
	const char *name;
	const char *title; /* for people, with the namespace; NULL when that is "namespace/name" */
	struct gang_node *tree;
	size_t tree_count;
	struct gang_pod *pods;
	size_t pod_count;
	bool starts_whole; /* the first pods start only where all expected ones have room */
	int coming_class; /* of pods to come to leaves that have none: number of their pod class and 1; 0: like the others */
};

/* What people call it, with its namespace: "default/job/train". No longer than a name may be: pods may name anything. */
const char *gang_title(const struct gang *gang, struct arena *arena);
/* Members per tree node that run or are reserved (leaf: pods; parent: satisfied children), and whether each node has
 * reached its minimum. Arrays of tree_count given by the caller; either may be NULL. */
void gang_satisfied(const struct gang *gang, int *members, bool *satisfied);
/* The same question with WAITING members counted in: could the existing pods reach the minimum at all? */
void gang_reachable(const struct gang *gang, int *members, bool *reachable);
/* Whether the root has reached its minimum, and whether it could with the WAITING members. */
bool gang_root_satisfied(const struct gang *gang);
bool gang_root_reachable(const struct gang *gang);
/* Whether it is BLOCKED members that keep it from that: with them as WAITING ones it could. */
bool gang_root_blocked(const struct gang *gang);
bool gang_has_blocked(const struct gang *gang);

/* Beyond this many pods that are still to come nobody looks ahead. */
#define GANG_MOST_COMING 65536
/* How many pods of each leaf are still to come: those it is expected to have, less those that exist. An array of tree_count
 * given by the caller; the sum of them. Only leaves that some level confines count, where the gang does not start whole:
 * others can grow wherever there is room. */
int64_t gang_coming(const struct gang *gang, int *coming);
/* The gang with those pods as COMING ones behind its own, each like one that its leaf has already, or else its siblings, or
 * anybody. In the arena, sharing the tree; false, and nothing in `out`, when none are to come or too many. */
bool gang_add_coming(const struct gang *gang, struct arena *arena, struct gang *out);
/* gang_reachable with the COMING members counted in. */
void gang_reachable_later(const struct gang *gang, int *members, bool *reachable);
/* Fewest pods that satisfy the subtree of every node; an array of tree_count given by the caller. And of one node. Both cost
 * a sort of the children. */
void gang_minimums(const struct gang *gang, int64_t *fewest);
int64_t gang_minimum_pods(const struct gang *gang, int node);

#endif
