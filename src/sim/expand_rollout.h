/* What controllers make of workloads that nobody places yet: pods, claims and groups, in the order in which a cluster would get
 * them. A RoleBasedGroup makes its next segment when the one before it is ready, so what comes up is started in between. */
#ifndef SIM_EXPAND_ROLLOUT_H
#define SIM_EXPAND_ROLLOUT_H

#include "loop/settings.h"
#include "object/manifest.h"
#include "sim/simulate.h"

/* Runs what makes pods and groups until it rests. False when that was too much. */
bool expand_run(struct simulation *simulation);

/* Adds a copy of the object. */
void expand_add_copy(struct manifests *objects, const struct val *object, const char *source,
                     struct problems *problems);

/* Runs the workloads of the simulation and adds the pods, PodGroups and Topologies that they make. With nodes among the objects a
 * pod is started only when it fits beside all that came before it, else each is; of what is not made because
 * something else does not come up there is a warning. False when it was too much. */
bool expand_roll_out(struct simulation *simulation, const char *source, const struct settings *settings,
                     struct manifests *objects, struct problems *problems);

#endif
