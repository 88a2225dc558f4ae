/* The `given` half of a grouping case: a workload, the pod that is grouped, its owners, and other objects. Shared by the
 * case runner and the fuzz target. */
#ifndef TEST_GROUP_GIVEN_H
#define TEST_GROUP_GIVEN_H

#include "group/group.h"

struct given {
	const struct val *workload, *pod, *objects;
	struct group_owners owners;
	struct group_options options;
	struct group_source source; /* answers from objects and workload */
};

/* `out` must stay where it is: the source points to it. */
void given_read(const struct val *given, struct arena *arena, struct given *out);

#endif
