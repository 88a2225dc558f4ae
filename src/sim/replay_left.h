/* What is left of a gang in a replay. Pods that leave for good are not needed any more: a service that was made smaller is
 * whole, and a job of which some pods have ended does not wait for them. So the minimum of a leaf is at most what is there
 * or still to come. */
#ifndef SIM_REPLAY_LEFT_H
#define SIM_REPLAY_LEFT_H

#include "admit/podgroup.h"
#include "object/build.h"

struct left_gang {
	struct podgroup group;
	int64_t *pods;     /* by number in the tree: there or to come; NULL when the cluster would refuse the group */
	bool lower, dirty; /* some minimum is lower than the object says; and the store has not seen that yet */
};

void left_read(struct left_gang *left, const struct val *object, struct arena *arena);
/* Number of the leaf a pod with that subgroup belongs to, one more being expected in it; -1 when it fits nowhere. */
int left_expect(struct left_gang *left, const char *subgroup);
/* One of them has gone for good. */
void left_take(struct left_gang *left, int leaf);
/* The spec of the object with the minimums as they are now. */
struct node *left_spec(const struct left_gang *left, const struct val *spec, struct build *build);

#endif
