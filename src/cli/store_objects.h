/* The objects of a store in this process as manifests: what decisions rest on, and the workloads above pods. */
#ifndef CLI_STORE_OBJECTS_H
#define CLI_STORE_OBJECTS_H

#include "api/store.h"
#include "base/problems.h"
#include "base/vec.h"
#include "loop/settings.h"
#include "object/manifest.h"

#define STORE_OBJECTS_SOURCE "cluster" /* where these manifests say that they come from */

struct store_objects {
	struct store *store;
	struct arena *arena;          /* of the caller */
	VEC(struct store_list) lists; /* of each kind that a decision rests on: they hold the objects */
};

/* Every object that a decision rests on, as coming from STORE_OBJECTS_SOURCE. Valid until store_objects_release. */
void store_objects_read(struct store_objects *objects, struct manifests *into, struct problems *problems);
/* The workloads above the pods of `all` that have no PodGroup, those above these, and the defaults of kinds: what single pods
 * are placed by. */
void store_objects_read_above(const struct store_objects *objects, const struct settings *settings,
                              const struct manifests *all, struct manifests *into, struct problems *problems);
void store_objects_release(struct store_objects *objects);

#endif
