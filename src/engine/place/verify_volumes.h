/* The check that claims of pods on nodes have volumes, for engine_verify. Private to the engine. */
#ifndef ENGINE_PLACE_VERIFY_VOLUMES_H
#define ENGINE_PLACE_VERIFY_VOLUMES_H

#include "engine/cluster/internal.h"
#include "engine/gang/gang.h"

/* NULL when all have, or when counting is exact; otherwise a text in the arena. */
const char *verify_volumes(const struct cluster *cluster, struct arena *arena);

/* The same for what pods of a node attach, where the gang added to it: every shared resource counts once per node. */
const char *verify_attached(const struct cluster *cluster, const struct gang *gang, struct arena *arena);

#endif
