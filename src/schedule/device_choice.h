/* Device choices: which devices the claims of decided pods get.
 *
 * A decision says on which node a pod goes; it is made only where there are devices for all claims of the pods there. This
 * says which, for what is written to the API server. */
#ifndef SCHEDULE_DEVICE_CHOICE_H
#define SCHEDULE_DEVICE_CHOICE_H

#include "schedule/device_columns.h"

/* A pod and the number of the node that was decided for it. Borrowed during the call. */
struct device_pod {
	const struct pod_spec *pod;
	int node;
};

/* A claim that is to be written before its pod is bound. Texts are borrowed from the book and the pods. */
struct device_choice {
	size_t pod; /* index of the pod given that names it */
	const char *namespace_, *claim;
	struct device_result *results; /* in the order of its requests */
	size_t result_count;
	bool allocated; /* it was before: only the pod is to be added */
};

struct device_choices {
	struct device_choice *items; /* in the arena; in the order of the pods and of their claims */
	size_t count;
	/* When there is no way to serve all of them (a device was taken since): the pod, and why, in words for people. NULL
	 * when all is well; otherwise `items` is empty. */
	const char *problem;
	size_t problem_pod;
};

/* Whether a device, by "driver/pool/device", was given to a claim though the store does not show it yet. */
typedef bool device_is_given(const void *context, const char *key);

/* For all pods of one turn together, so that no device is chosen twice; of the devices that serve, those that serve the fewest
 * others. Claims that are allocated and reserved for their pod are left out. */
struct device_choices device_choices_find(struct device_columns *columns, const struct device_pod *pods, size_t count,
                                          device_is_given *given, const void *context, struct arena *arena);

#endif
