/* Victims: what a running group can give up, in the order in which it hurts least. Private to the engine. */
#ifndef ENGINE_EVICT_VICTIMS_H
#define ENGINE_EVICT_VICTIMS_H

#include "engine/cycle/cycle.h"

enum unit_extent { UNIT_POD, UNIT_CHILD, UNIT_GANG };

/* Pods that go together: an orphan or surplus pod, a surplus child, or what is left of the gang. */
struct victim_unit {
	int group;
	int sequence; /* order within the group; later units assume the earlier ones are gone */
	enum unit_extent extent;
	int tree;  /* UNIT_CHILD: the child */
	int *pods; /* indices in the group's gang */
	int pod_count;
	bool fresh;    /* bound in this very cycle, and so is all that has to go before it */
	bool reserved; /* does not run yet: a reservation that is taken back */
	int32_t priority;
	int64_t creation; /* both of the group */
	const struct cycle_group *of;
	int64_t amounts[CYCLE_RESOURCES]; /* what it counts for; this and the next two are filled by the victim index */
	int64_t core[CYCLE_RESOURCES];    /* the part of it that counts as what cannot be evicted */
	uint32_t age;
};

struct victim_list {
	struct victim_unit *items; /* in the arena */
	size_t count, capacity;
};

/* Appends the units of one group. `whole` allows the last unit, the gang itself. */
void victims_list_group(const struct cycle *cycle, int group, bool whole, struct arena *arena,
                        struct victim_list *list);
/* The members that a semi-preemptible group does not give up: what is left when all surplus has gone, or all of them
 * while it is below its minimum. Depends on nothing but who is a member, and stays the same when surplus goes. One flag
 * per pod, given by the caller. */
void victims_mark_core(const struct gang *gang, bool *core);
/* Appends one unit; the list grows in the arena. */
void victims_add(struct victim_list *list, const struct victim_unit *unit, struct arena *arena);
/* Cheapest first: what was bound in this cycle; pods, children, gangs; lower priority; younger. */
int victims_compare(const struct victim_unit *a, const struct victim_unit *b);
void victims_sort(struct victim_list *list);

#endif
