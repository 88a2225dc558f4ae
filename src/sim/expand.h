/* Expansion: the pods, claims and PodGroups that workloads would get, for commands that look ahead. The controllers of the
 * embedded cluster and the one of RoleBasedGroups run on the workloads alone, in memory. */
#ifndef SIM_EXPAND_H
#define SIM_EXPAND_H

#include "base/problems.h"
#include "loop/settings.h"
#include "object/manifest.h"

/* Adds pods, claims and PodGroups of the workloads among the objects to them, made at `now_ns`, and claims of pods. Workloads of which something is
 * among the objects already (a pod, a ReplicaSet, a Job) are left alone, and so are those that belong to another one.
 * A RoleBasedGroup is rolled out as far as its pods find places on the nodes among the objects, or in full where there are none.
 * What is refused is a problem with its source as path. A ConfigMap with the defaults of kinds among the objects counts
 * instead of what the settings say. */
void expand_workloads(struct manifests *objects, int64_t now_ns, const struct settings *settings,
                      struct problems *problems);

/* Told of something wrong with a workload that was given, or `of_group` with the PodGroup that it would get. Its texts are in
 * the arena of the one who asked. */
typedef void expand_tell(void *context, const struct manifest *workload, const struct problem *problem, bool of_group);
/* Tells what is lost of groups of other schedulers, and judges the workloads among the objects by what a cluster would make of them: whether their pods can be grouped (an error if
 * not), and whether their PodGroups can be placed beside the Topologies and Queues that were given. Pods of other schedulers
 * are left out, and the objects stay as they are. */
void expand_judge(const struct manifests *objects, const struct settings *settings, struct arena *arena,
                  expand_tell *to, void *context);

#endif
