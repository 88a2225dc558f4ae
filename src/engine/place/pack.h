/* What the two ways of putting pods onto nodes share. Private to pack*.c. */
#ifndef ENGINE_PLACE_PACK_H
#define ENGINE_PLACE_PACK_H

#include "engine/place/solver.h"

struct pack_unit { /* equal pods of one leaf */
	int want;
	int shape;
	int count;
	bool apart; /* it wishes to be spread: nodes that the gang uses come no sooner than others */
	const struct confine *at;
	int64_t room;  /* nodes in the confinement, for ordering */
	int64_t slots; /* of the shape in the whole cluster, for ordering */
};

/* Whether the node is in every domain of the confinement. */
bool pack_is_inside(const struct solver *solver, const struct confine *at, int node);
/* The smallest of the confinements, as a range of positions in its topology; returns that topology. */
int pack_narrowest(const struct solver *solver, const struct confine *at, int *first, int *end);
/* Puts copies of the unit's shape on a node: resources, and the slots of every shape of the gang there. */
void pack_take(struct solver *solver, const struct pack_unit *unit, int node, int copies);

/* Puts one pod of the unit where a single one goes by the scores of its shape; false when there is no room. */
bool pack_one(struct solver *solver, const struct pack_unit *unit);
/* What counting does not say of a finished placement: rules between pods, and volumes. */
bool pack_is_valid(const struct solver *solver);

/* ---- pack_exhaust.c ---- */

/* Tries all ways to put the units onto nodes, in `budget` steps at most. When placed, `assigned` says where. */
enum verdict pack_exhaust(struct solver *solver, const struct pack_unit *units, int count, uint64_t budget);

#endif
