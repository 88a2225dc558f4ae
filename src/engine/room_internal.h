/* What making room (room.c) and finding new places for victims (room_moves.c) share. */
#ifndef ENGINE_ROOM_INTERNAL_H
#define ENGINE_ROOM_INTERNAL_H

#include "engine/room.h"
#include "engine/solver.h"
#include "engine/victims.h"

#define MOST_MOVES 16 /* pods that one consolidation moves at most */

struct room {
	struct cycle_run *run;
	struct cycle *cycle;
	int group;
	enum cycle_action action;
	bool grow; /* the minimum is met: room for one unit of surplus */
	struct arena *scratch;
	struct victim_list units;
	size_t movable_from; /* units from here on may be moved, but not lost */
	size_t applied;      /* units[0 .. applied) are off their nodes */
	bool *kept;          /* per applied unit: returned after all */
	struct place_bias bias;
	struct placement placement;
	int64_t request[CYCLE_RESOURCES];        /* what the placement asks of the queue */
	int64_t (*held_before)[CYCLE_RESOURCES]; /* by the queue and those above it, before anything was lifted */
};

static inline struct cycle_group *beneficiary(const struct room *room)
{
	return &room->cycle->groups[room->group];
}

struct moved_pod {
	int group, pod, node, from;
};

struct moves {
	struct moved_pod *items;
	size_t count;
};

/* Finds new places for the units that left, group by group: all pods of a group or none. Without `optional` only for
 * those who must not be lost. False when somebody found no place who needs one. */
bool moves_find(struct room *room, bool optional, bool *moved_group, struct moves *moves);
void moves_undo(struct room *room, const bool *moved_group, const struct moves *moves);

#endif
