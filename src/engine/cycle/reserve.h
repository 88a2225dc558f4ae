/* Reservations over cycles. Private to the engine.
 *
 * A reservation made in an earlier cycle comes back as the nominated node of a waiting pod. It holds its resources
 * against everybody else until the whole group can be bound, or until it no longer makes sense. */
#ifndef ENGINE_CYCLE_RESERVE_H
#define ENGINE_CYCLE_RESERVE_H

#include "engine/cycle/internal.h"

/* Turns nominations of whole groups back into reservations, before the first action of a cycle. */
void reserve_restore(struct cycle *cycle);
/* Binds groups whose reservations rest on free resources by now. */
void reserve_bind(struct cycle *cycle);
/* A gang that waits for reserved pods starts as a whole: what this cycle bound before another action moved a part of it
 * becomes a reservation too. One whose reservations were made in this cycle and wait for nobody is bound. */
void reserve_whole_gangs(struct cycle *cycle);

/* What is kept free for a gang that has waited too long. */
struct reserve_hold {
	int group; /* -1: nothing is held */
	struct reserve_amount {
		int resource, node;
		int64_t amount;
	} * items;
	size_t count;
};

/* Fills `hold`, in the arena of the cycle: holds free resources where the gang would fit once running work has ended, so that smaller work does not flow past it
 * for ever. Smaller work may still use everything else. */
void reserve_hold_for(struct cycle *cycle, int group, struct reserve_hold *hold);
/* Gives back what is held; a no-op when nothing is. */
void reserve_release(struct cycle *cycle, struct reserve_hold *hold);

#endif
