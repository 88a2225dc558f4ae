/* Makes a failing instance smaller while it still fails. */
#ifndef PROPERTY_SHRINK_H
#define PROPERTY_SHRINK_H

#include "instance.h"

/* `still_fails` decides; it must not change the instance. */
void shrink_instance(struct instance *instance, bool (*still_fails)(const struct instance *, void *), void *context);

#endif
