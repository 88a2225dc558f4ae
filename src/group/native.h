/* Groups of Kubernetes itself, which pods name in spec.schedulingGroup. Private to the room. */
#ifndef GROUP_NATIVE_H
#define GROUP_NATIVE_H

#include "group/internal.h"

/* The PodGroup of scheduling.k8s.io that the pod names, NULL for none. */
const char *group_native_name(const struct val *pod);
/* The group of such a pod, without its marks but the one that says which PodGroup was read. */
enum group_verdict group_native(struct grouping *grouping);

#endif
