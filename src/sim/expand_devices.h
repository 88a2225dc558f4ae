/* Claims for devices among objects that no controller has seen: those that pods get from templates. */
#ifndef SIM_EXPAND_DEVICES_H
#define SIM_EXPAND_DEVICES_H

#include "object/manifest.h"

/* Adds the claims that pods are to get from the templates among the objects, and says in the status of the pods that they have
 * them, as the resource claim controller would. Pods that are bound, or whose template is not there, stay as they are. */
void expand_devices(struct manifests *objects, struct problems *problems);

#endif
