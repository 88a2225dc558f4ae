/* Admission: the verdict on one object, given the others that exist. */
#ifndef ADMIT_ADMIT_H
#define ADMIT_ADMIT_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/manifest.h"

/* Validates one object by its kind against the rules of that kind and against the other objects (Topology and level
 * existence, duplicate names, Queue parents and cycles, two Topologies that use one label in conflicting order = a
 * warning). `all` may contain the object itself. Unknown kinds: no problem, they are not ours. */
void admit_object(const struct manifest *object, const struct manifests *all, struct problems *problems);
/* Whether Platoon validates this kind at all. */
bool admit_knows(const struct manifest *object);

#endif
