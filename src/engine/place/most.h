/* The largest surplus of a gang, where not all of it fits. Private to the engine. */
#ifndef ENGINE_PLACE_MOST_H
#define ENGINE_PLACE_MOST_H

#include "engine/place/place.h"

/* As much of the waiting surplus as fits together: the parts share it as evenly as that allows. Finds the largest number for up to
 * 64 pods in up to 8 leaves, as long as few ways to share it have to be tried. PLACE_IMPOSSIBLE says that nothing was found, not that
 * nothing fits. */
enum place_outcome engine_grow_most(struct cluster *cluster, const struct gang *gang,
                                    const struct place_options *options, struct arena *arena, struct placement *out);

/* Of a gang of which nothing is placed yet, and of which not everything fits: puts the minimum, which `out` has placed, where the
 * largest surplus can follow. False, and `out` is left alone, when nothing was found, and where levels are preferred: they are
 * worth more than surplus. */
bool most_place_minimum(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                        struct arena *arena, struct placement *out);

#endif
