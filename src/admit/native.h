/* Groups of Kubernetes itself (PodGroup and CompositePodGroup of scheduling.k8s.io): the rules of its API server for one
 * object, and what of it is not served here. Their tree is read in the room `group`. */
#ifndef ADMIT_NATIVE_H
#define ADMIT_NATIVE_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

#include <stdbool.h>

/* Adds every problem of a PodGroup, or of a CompositePodGroup. */
void native_judge(const struct val *object, bool composite, struct arena *arena, struct problems *problems);
/* Adds every change that is not allowed: all but that of the minimum of a gang. */
void native_judge_change(const struct val *object, const struct val *old, struct problems *problems);

#endif
