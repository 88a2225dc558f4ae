/* Refusals that outlast a cycle. Private to the engine.
 *
 * What was refused stays refused while the cluster only becomes fuller: a search that took long is not repeated for every
 * change beside it. That holds for gangs without rules about other pods, because a new pod may be just what an affinity
 * waits for; and while nothing is reserved or on its way out. What a cycle tried counts as there when the refusal is
 * remembered, so the next one begins by making sure that it is. */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include "engine/cycle.h"

/* Before the first action: forgets everything unless the cluster is at least as full as it was. */
void memory_begin(struct cycle *cycle);
/* Something was bound for good within this cycle. */
void memory_bound(struct cycle *cycle, const struct gang *gang, const struct placement *placement);
/* Something was reserved, evicted or held: what is found from here on is true for this cycle only. */
void memory_disturb(struct cycle *cycle);

struct refusal;
/* The remembered refusal, NULL when the question has to be asked. */
const struct refusal *memory_find(const struct cycle *cycle, const struct gang *gang, uint64_t question);
/* After it was explained. Only what was costly to find is kept. */
void memory_keep(struct cycle *cycle, const struct gang *gang, uint64_t question, const struct refusal *refusal);

#endif
