/* Places kept for pods that were moved. Private to the engine.
 *
 * A pod that is moved leaves its node at once and waits for its owner to create it again. Until then its new place is
 * occupied as a reservation that only its group may use: a waiting pod of the same leaf is nominated for it, and the
 * group's own searches see it as free. Nobody else does, or what was moved would be without a place: the surplus of the
 * group it made room for would take it, and be preempted for it, without end. */
#ifndef ENGINE_CYCLE_MOVED_PLACES_H
#define ENGINE_CYCLE_MOVED_PLACES_H

#include "engine/cycle/internal.h"

/* More pods that are to come get no room held: the list must fit into an annotation. */
#define PLACES_MOST_HELD 1000

/* Before reservations are restored: finds out which places still count, and nominates waiting pods for them. */
void moved_places_nominate(struct cycle *cycle);
/* Whether that nominated pods of the group. */
bool moved_places_nominated(const struct cycle_group *group);
/* The nominations that moved_places_nominate gave to pods of the group are taken back. False when there are none. */
bool moved_places_withdraw(struct cycle_group *group);
/* After reservations were restored: occupies what is left. */
void moved_places_occupy(struct cycle *cycle);
/* After the last action: frees it all. Which places were kept is still to be seen. */
void moved_places_release(struct cycle *cycle);

/* Around a search of the group: frees what its own waiting pods may use, and occupies again what they did not. The
 * accounts of its queues follow. */
void moved_places_lift(struct cycle_run *run, struct cycle_group *group);
void moved_places_restore(struct cycle_run *run, struct cycle_group *group);
/* After a placement of the group was committed, between lift and restore: holds the room that it found for pods that are
 * still to come, for a time, if the queue has room for them. All of them, or none. */
void moved_places_hold(struct cycle_run *run, struct cycle_group *group, const struct placement *placement);
/* Whether the answer to a question of the group depends on places that only it may use. */
bool moved_places_concern(const struct cycle_group *group);

/* Adds a reason if the gang would find a place, or one for its next pod, were it not for places kept for others. */
void moved_places_explain(struct cycle *cycle, const struct gang *gang, bool grow, struct reasons *reasons);

#endif
