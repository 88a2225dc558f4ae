/* Groups of Kubernetes itself, which pods name in spec.schedulingGroup. Private to the room. */
#ifndef GROUP_NATIVE_H
#define GROUP_NATIVE_H

#include "group/internal.h"

/* The group of such a pod, without its marks but the one that says which PodGroup was read. */
enum group_verdict group_native(struct grouping *grouping);

#endif
