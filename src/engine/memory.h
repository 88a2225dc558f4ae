/* Refusals that outlast a cycle. Private to the engine.
 *
 * What was proved impossible stays so while the cluster only becomes fuller: a search that took long is not repeated for every
 * change beside it. That holds for gangs without rules about other pods, because a new pod may be just what an affinity
 * waits for; and while nothing is reserved or on its way out. A search that
 * gave up at its budget has proved nothing: in a fuller cluster it takes another way, and may find a place. So it is asked
 * again after MEMORY_GAVE_UP: what it finds is found that much later than without a memory, and not more than one such
 * search is made in that time, however many changes there are. What a cycle tried counts as there when the refusal is
 * remembered, so the next one begins by making sure that it is. */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include "engine/cycle.h"

/* Nanoseconds. A second is no delay for a gang that is hard to place, and a search of the default budget, which may take
 * a tenth of that, no load. */
#define MEMORY_GAVE_UP INT64_C(1000000000)

/* Before the first action: forgets everything unless the cluster is at least as full as it was. */
void memory_begin(struct cycle *cycle);
/* Something was bound for good within this cycle. */
void memory_bound(struct cycle *cycle, const struct gang *gang, const struct placement *placement);
/* Something was reserved, evicted or held: what is found from here on is true for this cycle only. */
void memory_disturb(struct cycle *cycle);

/* Whether a question about the empty cluster was answered before, and how. Such answers hold until a node changes, whatever
 * runs. */
bool memory_knows_empty(const struct cycle *cycle, uint64_t question, enum place_outcome *outcome);
void memory_keep_empty(struct cycle *cycle, uint64_t question, enum place_outcome outcome);

struct refusal;
/* The remembered refusal, NULL when the question has to be asked. One that is to be asked again later is noted in the cycle. */
const struct refusal *memory_find(struct cycle *cycle, const struct gang *gang, uint64_t question);
/* After it was explained. Only what was costly to find is kept. */
void memory_keep(struct cycle *cycle, const struct gang *gang, uint64_t question, const struct refusal *refusal);

#endif
