/* Which children of a parent go together into which domains, by counting. Private to the engine.
 *
 * For children of one to MIX_KINDS kinds that must each be in one domain of the same level, the search over single children
 * repeats itself: every order in which the same numbers of each kind come into the same domains is another branch. Here
 * each domain says once which mixes of kinds it holds, found by searching in that domain alone, and a table over the
 * domains says what they hold together. That decides parents which the search gives up on. */
#ifndef ENGINE_PLACE_MIXES_H
#define ENGINE_PLACE_MIXES_H

#include "engine/place/solver.h"

enum { MIX_KINDS = 8 };

struct mix_place {
	int want, domain;
};

/* As many children as the want needs, each with its domain; in the arena of the solver. */
struct mix_plan {
	struct mix_place *places;
	int count;
};

/* VERDICT_IMPOSSIBLE: proved that the children the want needs have no room inside `at`. VERDICT_PLACED: the plan has a
 * domain for each; they fit, unless what is outside these domains (an allowance) says otherwise. VERDICT_EXHAUSTED: not
 * decided, or the children are not of the sort that is counted here. Changes nothing but the steps. */
enum verdict mixes_solve(struct solver *solver, int want, const struct confine *at, struct mix_plan *plan);

#endif
