/* What the files of the explanation share. Nothing outside src/engine includes this. */
#ifndef ENGINE_EXPLAIN_INTERNAL_H
#define ENGINE_EXPLAIN_INTERNAL_H

#include "engine/cluster/internal.h"

/* selector.c: "; no node has the label x" for a node selector that cannot match, "" when nothing is to be said. In the
 * arena. Looks at no more than 2000 nodes for a word that was meant. */
const char *explain_missing_label(const struct cluster *cluster, const struct shape *shape, struct arena *arena);

#endif
