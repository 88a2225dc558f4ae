/* Several groups as one question: the one that waits, and those whose pods have to leave. Private to the engine.
 *
 * The trees of all of them stand side by side below one root, so that one search answers whether everybody has a place
 * at the same time. Asked one after the other, the first might take what only the second could use. */
#ifndef ENGINE_EVICT_JOINT_H
#define ENGINE_EVICT_JOINT_H

#include "engine/evict/internal.h"

struct joint {
	struct gang gang;
	int *group, *pod; /* by pod of it: the group, and the number there */
};

/* With units lifted: the beneficiary's minimum (or one more pod of it) and every pod that is to move. All in the arena; valid while
 * the groups keep their trees. One more pod is asked for of groups without parts only: of others it is a choice which. */
void joint_build(const struct evict_attempt *attempt, struct arena *arena, struct joint *joint);

#endif
