/* Pods among objects that name a group of Kubernetes itself: their PodGroups, as the grouping controller would make them. */
#ifndef SIM_EXPAND_NATIVE_H
#define SIM_EXPAND_NATIVE_H

#include "base/problems.h"
#include "loop/settings.h"
#include "object/manifest.h"

/* Adds a PodGroup for every tree of groups that our pods name, and replaces those pods by ones with its marks. A pod whose
 * tree is missing or wrong stays as it is, with a warning whose path is its source. */
void expand_native_groups(struct manifests *objects, const struct settings *settings, struct problems *problems);

#endif
