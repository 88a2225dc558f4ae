/* The best set of victims where there are few to choose from. Private to the engine.
 *
 * In this order: fewest violations of disruption budgets; no worse loss than needed (pods before children before gangs, lower
 * priority first); for a reclaim, as many pods as leave every queue what it is entitled to, if any set does; fewest pods that
 * leave or move; the younger ones. A gang counts with all of its pods, though some may keep their place where the rest of it
 * moves. Sets in which some are lost so that others can move are asked last (see exchange.h). */
#ifndef ENGINE_EVICT_FEWEST_H
#define ENGINE_EVICT_FEWEST_H

#include "engine/evict/internal.h"

enum fewest_outcome {
	FEWEST_MADE,    /* decided, and proved to be the best */
	FEWEST_NONE,    /* proved: no set makes room */
	FEWEST_GAVE_UP, /* too many pods, or too many steps */
};

/* With all units listed and nothing lifted; the same is true afterwards unless it was decided. */
enum fewest_outcome fewest_try(struct evict_attempt *attempt);

#endif
