/* What the controller that groups pods tells the scheduler about pods without a PodGroup: between the two rooms, so that
 * neither has to know the other. */
#ifndef LOOP_POD_GROUPING_H
#define LOOP_POD_GROUPING_H

#include "api/store.h"
#include "group/group.h"

struct pod_grouping {
	void *context;
	/* Whether a pod is not to be looked at yet, because its group is not known. Asked when it changes, and again for
	 * those that are held when the store has changed. */
	bool (*holds)(void *context, const struct store_object *pod);
	/* The terms of a pod that is a group of its own, in the arena. False: nobody knows more than the pod says. */
	bool (*terms)(void *context, const struct store_object *pod, struct arena *arena, struct group_terms *out);
	/* The next pod whose terms have changed since they were asked for; false when there is none. The texts are borrowed
	 * until the next call. */
	bool (*changed)(void *context, const char **namespace_, const char **name);
};

#endif
