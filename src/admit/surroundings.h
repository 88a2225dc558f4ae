/* What stands around pods: nodes, claims and groups that were given with them. Judged against a picture of a cluster, before
 * anything is submitted; an API server takes such pods, since what is missing may come later. */
#ifndef ADMIT_SURROUNDINGS_H
#define ADMIT_SURROUNDINGS_H

#include "base/problems.h"
#include "object/manifest.h"

/* Borrows the manifests. Without nodes among them nothing is missing. */
struct surroundings;
struct surroundings *surroundings_create(const struct manifests *all);
void surroundings_destroy(struct surroundings *around); /* NULL is a no-op */

/* Warns of what the pod names and is not there, with the nearest that is: labels of nodes, resources, amounts that no node has,
 * claims, its PodGroup. The pod may be one that a workload would make. */
void surroundings_judge(const struct surroundings *around, const struct val *pod, struct problems *problems);

#endif
