/* Refusals that outlast a cycle. Those of one cycle are in refusals.h, and this is asked where they know nothing.
 *
 * What was proved impossible stays so while the cluster only becomes fuller: it is not asked again for every change beside
 * it. That holds for gangs without rules about other pods, because a new pod may be just what an affinity waits for; and
 * while nothing is reserved or on its way out. What a cycle tried counts as there when the refusal is remembered, so the
 * next one begins by making sure that it is.
 *
 * A search that gave up at its budget has proved nothing: in a fuller cluster it takes another way, and may find a place. In
 * the same cluster it would give up again, so it is not asked before something changed, and then after a
 * pause that grows with the steps it took: not more than one such search is made in that time, however many changes there are. What was proved with little effort is asked again
 * as soon, for the sake of the numbers in its reasons; a costly proof is not. */
#ifndef ENGINE_CYCLE_REFUSAL_CACHE_H
#define ENGINE_CYCLE_REFUSAL_CACHE_H

#include "base/clock.h"
#include "engine/cycle/cycle.h"

/* Nanoseconds. A second is no delay for a gang that is hard to place. A search that gave up after many steps waits for longer:
 * so much for each of them, which is ten times what a step takes, but not for ever. */
#define REFUSAL_CACHE_RETRY CLOCK_SECOND
#define REFUSAL_CACHE_STEP_PAUSE INT64_C(20000)
#define REFUSAL_CACHE_LONGEST (600 * CLOCK_SECOND)

/* ---- for the caller of cycles ---- */

/* Belongs to one cluster, and to a caller that keeps its state over cycles: when the cluster is built anew it is cleared.
 * `costly`: what took fewer steps to prove is asked again after REFUSAL_CACHE_RETRY. Freed with refusal_cache_destroy. */
#define REFUSAL_CACHE_STEPS 1000
struct refusal_cache *refusal_cache_create(uint64_t costly);
size_t refusal_cache_hits(const struct refusal_cache *cache); /* questions that were not asked again; NULL: 0 */
void refusal_cache_clear(struct refusal_cache *cache);        /* NULL is a no-op */
void refusal_cache_destroy(struct refusal_cache *cache);      /* NULL is a no-op */

/* ---- for the cycle: no-ops, and no answers, when cycle->refusal_cache is NULL ---- */

/* Before the first action: forgets everything unless the cluster is at least as full as it was. */
void refusal_cache_begin(struct cycle *cycle);
/* Something was bound for good within this cycle. */
void refusal_cache_note_bound(struct cycle *cycle, const struct gang *gang, const struct placement *placement);
/* Something was reserved, evicted or held: what is found from here on is true for this cycle only. */
void refusal_cache_disturb(struct cycle *cycle);

struct refusal;
/* The remembered refusal, NULL when the question has to be asked. One that is to be asked again later is noted in the cycle. */
const struct refusal *refusal_cache_find(struct cycle *cycle, const struct gang *gang, uint64_t question);
/* After it was explained. */
void refusal_cache_store(struct cycle *cycle, const struct gang *gang, uint64_t question,
                         const struct refusal *refusal);

/* Whether the question had no answer even in the empty cluster, which only changes of nodes can change. 1: it had none, 0: it
 * had one, -1: it was not asked. */
int refusal_cache_is_hopeless(const struct cycle *cycle, uint64_t question);
void refusal_cache_store_hopeless(struct cycle *cycle, uint64_t question, bool hopeless);

/* Whether moves were looked for in vain with this question when everything they depend on was as it is: `state` sums that up.
 * And to note it. */
bool refusal_cache_moves_in_vain(struct cycle *cycle, uint64_t question, uint64_t state);
void refusal_cache_store_in_vain(struct cycle *cycle, uint64_t question, uint64_t state);
/* Whether a search for moves that took so many steps is to be noted; with 0, whether any was. */
bool refusal_cache_minds_moves(const struct cycle *cycle, uint64_t steps);

/* Making room for a gang whose search ends without an answer takes several such searches, and leads nowhere: it is left alone
 * for a pause as above, whatever comes and goes meanwhile, save nodes. Whether that is so, which is noted in the cycle as
 * something to be asked again; and to begin it after so many steps of searches that gave up. */
bool refusal_cache_room_waits(struct cycle *cycle, uint64_t question);
void refusal_cache_put_room_off(struct cycle *cycle, uint64_t question, uint64_t steps);

#endif
