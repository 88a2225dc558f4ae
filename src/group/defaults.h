/* What kinds of workloads get when they say nothing themselves, from a ConfigMap of the cluster. */
#ifndef GROUP_DEFAULTS_H
#define GROUP_DEFAULTS_H

#include "base/problems.h"
#include "group/group.h"

#define GROUP_DEFAULTS_NAMESPACE "kube-system"
#define GROUP_DEFAULTS_NAME "platoon-grouping-defaults"

/* Sets in *options what the ConfigMap decides (switches, defaults of kinds); the rest stays. NULL: there is none, and the
 * usual is set. data.types is a JSON list of {typeName, group, priorityName, preemptibility}. Texts go into the arena. A
 * value that cannot be used is a warning, and what is usual is set instead; `problems` may be NULL. */
void group_defaults_read(const struct val *config_map, struct arena *arena, struct group_options *options,
                         struct problems *problems);

#endif
