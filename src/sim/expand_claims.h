/* Claims that a cluster would make or complete by itself, for commands that look ahead. */
#ifndef SIM_EXPAND_CLAIMS_H
#define SIM_EXPAND_CLAIMS_H

#include "base/problems.h"
#include "object/manifest.h"

/* Adds the claims of generic ephemeral volumes of pods that have no node yet, where they are not among the objects, and gives
 * claims without a class the default class among the objects, as kube-controller-manager does. */
void expand_claims(struct manifests *objects, struct problems *problems);

#endif
