/* What the metadata of every object says. `root` is the whole object. */
#ifndef OBJECT_METADATA_H
#define OBJECT_METADATA_H

#include "object/doc.h"

/* Whether it has been deleted, and is there until its finalizers or its grace period have ended. */
bool metadata_is_leaving(const struct val *root);
/* The reference of the owner that controls it, NULL when none does. */
const struct val *metadata_controller(const struct val *root);

#endif
