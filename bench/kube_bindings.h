/* Counting bindings in a watch of pods: when each pod was first seen with a node. What changes of a bound pod later (marks,
 * conditions, a second telling of the same) is no binding. */
#ifndef BENCH_KUBE_BINDINGS_H
#define BENCH_KUBE_BINDINGS_H

#include "base/strings.h"

#include <stdbool.h>
#include <stddef.h>

struct bindings {
	struct binding_seen *seen; /* pods that have a node, by uid */
	struct buffer line;        /* what was read of the last one */
	size_t count;
	double first, last; /* when the first and the last one were seen */
};

/* A pod that was bound before counting began: it is not counted. */
void bindings_known(struct bindings *bindings, const char *uid);
/* A pod that was seen with a node, in a list or by a watch. */
void bindings_saw(struct bindings *bindings, const char *uid, double now);
/* The next piece of the watch, which may end anywhere in a line; `now` is when it came. */
void bindings_feed(struct bindings *bindings, const char *text, size_t length, double now);
void bindings_free(struct bindings *bindings);

#endif
