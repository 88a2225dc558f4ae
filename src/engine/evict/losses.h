/* What running groups can lose, in every way that leaves the rest of use. Private to the engine.
 *
 * The units of victims.h stand in one order, the youngest first. A loss is one of them or one like it: any pod above the
 * minimum of its part, any child above that of its parent, or the whole gang. Which of them go together is kept here while a set
 * is put together. */
#ifndef ENGINE_EVICT_LOSSES_H
#define ENGINE_EVICT_LOSSES_H

#include "engine/evict/internal.h"

enum { LOSS_NONE = -1 };

struct loss {
	struct victim_unit unit; /* of several pods only as a child or a gang */
	int pods;                /* of it; 0: its group never ran, so nobody leaves */
	int tier;           /* equal for equally bad ones, from 0 for the least bad; LOSS_NONE for what only moves */
	int group;          /* number of its group among those that lose, -1: it is not among them */
	const int *singles; /* what it consists of: numbers in losses.singles */
	int single_count;
};

struct losses {
	struct loss *items; /* cheapest first */
	size_t count;
	struct victim_unit *singles; /* every pod of them on its own, and the units of groups that never ran */
	size_t single_count;
	struct losing_group *groups;
	size_t group_count;
};

/* Of the groups of the units, which are those that an attempt may take. In the arena of the decision. False when there are more
 * pods than `most`. */
bool losses_list(const struct evict_attempt *attempt, const struct victim_unit *const *units, size_t count, size_t most,
                 struct losses *losses);
/* The number of a pod of a group among the singles, -1: it is none of them. The group's own number goes to `among`, -1 when it
 * loses nothing. */
int losses_find_single(const struct losses *losses, int group, int pod, int *among);
/* Whether the loss can be added to those that were taken, and each of them leaves the rest of use. */
bool losses_may_take(const struct losses *losses, const struct loss *loss);
/* Takes the loss (sign 1) or gives it back (-1). */
void losses_take(struct losses *losses, const struct loss *loss, int sign);
/* Appends the units of the loss to those of the attempt, as everybody else lists them: of a gang or a child first what is above
 * its minimum, for rights look at each on its own. `listed`: all that may go. */
void losses_append(struct evict_attempt *attempt, const struct victim_unit *const *listed, size_t count,
                   const struct loss *loss);
/* Counts the pods of a unit that was put together by hand: what they are worth, and whether any of them ran. */
void losses_measure(const struct evict_attempt *attempt, struct victim_unit *unit);

#endif
