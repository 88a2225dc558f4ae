/* Losses together with moves: what moves may save somebody who would be lost. Private to the engine.
 *
 * A pod that moves is no loss, so a set is worth what the worst of its losses is, and counts with all that leave or move. Sets
 * without a loss are consolidation's; those without a move are fewest.h's, which is asked first. Tried in the same order, each
 * with one search for the group that waits and all that moves at once (see joint.h). Steps are counted. */
#ifndef ENGINE_EVICT_EXCHANGE_H
#define ENGINE_EVICT_EXCHANGE_H

#include "engine/evict/fewest.h"
#include "engine/evict/losses.h"

/* What is to be beaten: the best set of losses alone. */
struct exchange_limit {
	bool exists;   /* there is one */
	bool doubtful; /* others may be better */
	int64_t violations;
	int tier, pods;
	bool undercuts; /* it takes a queue below what it is entitled to */
};

/* With nothing lifted; `listed`: all that may go, from which the losses were made. FEWEST_NONE: proved that nothing is better.
 * Nothing is lifted afterwards unless it was decided; the units of the attempt are lost. */
enum fewest_outcome exchange_try(struct evict_attempt *attempt, struct losses *losses,
                                 const struct victim_unit *const *listed, size_t listed_count,
                                 const struct exchange_limit *limit);

#endif
