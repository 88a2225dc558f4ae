/* Volume choices: which PersistentVolume each claim of decided pods gets, or that one is to be provisioned.
 *
 * A decision says on which node a pod goes; it is made only where volumes for all claims of the gang exist together. This
 * turns it into what is written to the API server. Pure: nothing is changed, the same input gives the same choices. */
#ifndef SCHEDULE_VOLUME_CHOICE_H
#define SCHEDULE_VOLUME_CHOICE_H

#include "admit/pod.h"
#include "base/arena.h"

struct volume_book; /* the volumes, claims and classes there are: admit/volume_book.h */

/* A pod and the node that was decided for it. Borrowed during the call. */
struct volume_pod {
	const struct pod_spec *pod;
	const char *node;
	const struct labels *labels; /* of the node */
};

/* One claim that is not bound yet. Texts are borrowed from the pods and the book. */
struct volume_choice {
	size_t pod; /* index of the first pod given that names the claim */
	const char *namespace_, *claim;
	const char *volume; /* PersistentVolume to bind it to; NULL: one is to be provisioned for `node` */
	const char *node;
	/* The store shows the choice already (the volume's claimRef with the uid of the claim, or the annotation
	 * selected-node): nothing is to be written, only the binding to be waited for. */
	bool written;
};

struct volume_choices {
	struct volume_choice *items; /* in the arena; in the order of the pods and of the claims in their specs */
	size_t count;
	/* When there is no way to serve all of them (a volume was taken since): the pod, and why, in words for people.
	 * NULL when all is well; otherwise `items` is empty. */
	const char *problem;
	size_t problem_pod;
};

/* The choices for all pods of one turn together, also those of several gangs, so that no volume is chosen twice: of the
 * volumes that fit, the smallest. A claim that several pods name is there once. Claims that are bound are left out, and so
 * are pods without claims. What was written shows up in the book as claimRef or selected-node, and is then kept: a choice
 * that is still under way is never given to another claim. */
struct volume_choices volume_choices_find(const struct volume_book *book, const struct volume_pod *pods, size_t count,
                                          struct arena *arena);

#endif
