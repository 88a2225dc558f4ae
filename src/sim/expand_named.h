/* Pods among objects that name their group themselves, one of Kubernetes or of another scheduler: the PodGroups that the
 * grouping controller would make. */
#ifndef SIM_EXPAND_NAMED_H
#define SIM_EXPAND_NAMED_H

#include "loop/settings.h"
#include "sim/expand.h"

/* Adds a PodGroup for every group, or tree of groups, that our pods among the first `given` objects name, and replaces those pods by ones with its marks. A
 * pod whose group is missing or wrong stays as it is, with a warning whose path is its source. */
void expand_named_groups(struct manifests *objects, size_t given, const struct settings *settings,
                         struct problems *problems);

/* Tells what is lost of groups of other schedulers, and what is wrong with them and with the pods that name them. */
void expand_judge_named(const struct manifests *objects, const struct settings *settings, struct arena *arena,
                        expand_tell *to, void *context);

#endif
