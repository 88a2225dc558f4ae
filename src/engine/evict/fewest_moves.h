/* The smallest set of pods whose move makes room. Private to the engine.
 *
 * Sets of one pod first, then of two, and so on; within a size those that hurt least. Each set is one question to the
 * search (see joint.h), so what it finds is complete, and when all smaller sets were asked it is proved to be the smallest.
 * Pods and nodes that are alike are tried once. Steps are counted: each size may use half of what is left. */
#ifndef ENGINE_EVICT_FEWEST_MOVES_H
#define ENGINE_EVICT_FEWEST_MOVES_H

#include "engine/evict/fewest.h"

/* With all units listed, each a single pod, and nothing lifted; the same is true afterwards unless it was decided.
 * FEWEST_NONE: proved that no moves of the listed or deferred pods make room. */
enum fewest_outcome fewest_moves_try(struct evict_attempt *attempt);

#endif
