/* Kinds of a cluster that commands follow: rows of the registry, as types to mirror. */
#ifndef CLI_FOLLOWED_H
#define CLI_FOLLOWED_H

#include "loop/settings.h"
#include "remote/remote.h"

struct followed {
	struct remote_follow *items; /* in the arena, with room for `more` */
	size_t count;
	size_t deciding; /* the first ones: what a decision rests on */
};

/* Everything that `run` reads, in the order in which it is to be listed. */
struct followed followed_by_run(struct arena *arena, size_t more, const struct settings *settings);
/* What a plan of the cluster rests on, and with `owners` what pods are grouped by. Whoever looks on may not be allowed to
 * see everything: only nodes and pods are waited for. */
struct followed followed_by_viewers(struct arena *arena, bool owners, const struct settings *settings);

#endif
