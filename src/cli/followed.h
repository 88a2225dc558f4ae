/* Kinds of a cluster that more than one command follows. */
#ifndef CLI_FOLLOWED_H
#define CLI_FOLLOWED_H

#include "remote/remote.h"

/* Workloads above pods, what they make that is no pod, and the defaults of kinds: what pods are grouped and placed by.
 * Versions of one type stand beside each other. */
extern const struct remote_follow followed_owners[];
extern const size_t followed_owner_count;

#endif
