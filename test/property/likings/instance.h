/* A small cluster in spines and blocks, pods that are there, and one gang whose pods prefer things. Plain numbers. */
#ifndef PROPERTY_LIKINGS_INSTANCE_H
#define PROPERTY_LIKINGS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LIKINGS_NODES = 8,
	LIKINGS_PODS = 6,
	LIKINGS_KINDS = 2,
	LIKINGS_WISHES = 3,
	LIKINGS_JUDGED = 40000, /* placements that are tried */
};

/* Domains that a wish may speak of. */
enum { LIKINGS_SPINE, LIKINGS_BLOCK, LIKINGS_HOST, LIKINGS_KEYS };

struct likings_wish {
	int key, app, weight; /* weight 0: none; negative: apart */
};

struct likings_kind { /* pods of app number = kind number */
	int size;
	int colour, colour_weight; /* of nodes; weight 0: none */
	struct likings_wish wishes[LIKINGS_WISHES];
	int spread_key; /* over the pods of its own app; -1: none */
};

struct likings_instance {
	int nodes;
	int capacity[LIKINGS_NODES], domain[LIKINGS_NODES][LIKINGS_KEYS], colour[LIKINGS_NODES];
	bool tainted[LIKINGS_NODES];
	int there[LIKINGS_NODES][LIKINGS_KINDS]; /* pods of an app that take nothing */
	struct likings_kind kinds[LIKINGS_KINDS];
	int pods, kind[LIKINGS_PODS];
	int level; /* of the gang: all in one spine or block; -1: anywhere */
};

/* Pods that count for a placement: node of each. The weights of terms count for every pod they select. */
int64_t likings_sum(const struct likings_instance *instance, const int *node);
/* The same with terms that count once, however many they select, and without spreads. */
int64_t likings_sum_once(const struct likings_instance *instance, const int *node);
/* The largest sum of all placements; false when there are too many of them, or none. */
bool likings_judge(const struct likings_instance *instance, int64_t *best);

#endif
