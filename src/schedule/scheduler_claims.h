/* Claims of a decided gang: written together, waited for, and taken back together when one of them fails.
 *
 * A gang whose pods have claims that are not bound yet is not bound at once. What was chosen for the claims is written, all of
 * it at once: a volume gets a reference to its claim, a claim that is to be provisioned for gets the node of its pod. The
 * pods keep their places meanwhile. When every claim is bound the pods are; when one fails, or the deadline passes, nothing of
 * the gang is bound, what was written and not used is taken back, and the gang is decided again after a pause.
 *
 * Nothing here has to survive: after a restart what was written is found in the store, kept by the next decision, and waited
 * for anew. */
#ifndef SCHEDULE_SCHEDULER_CLAIMS_H
#define SCHEDULE_SCHEDULER_CLAIMS_H

#include "schedule/plan.h"

struct scheduler;
struct scheduler_turn;

/* Before the gangs of a turn are bound: chooses volumes for the claims of all of them together. */
void scheduler_claims_choose(struct scheduler_turn *turn);
/* Instead of binding these pods of one gang. True: their claims have to be bound first, and that is under way, or it failed a
 * moment ago and is tried again later; or others of the gang without which they are too few wait for theirs. False: nothing
 * stands in the way. */
bool scheduler_claims_begin(const struct scheduler_turn *turn, const struct plan_group *group,
                            const struct plan_binding **bindings, size_t count);
/* Between the decisions of a cycle and their writing: binds gangs whose claims are all bound, so that none of them is
 * below a minimum that it was decided with. */
void scheduler_claims_finish(const struct scheduler_turn *turn);
/* After live_finish: the pods whose claims are waited for keep their places. */
void scheduler_claims_assume(struct scheduler *scheduler);
/* Looks at the claims that are waited for. */
void scheduler_claims_check(struct scheduler *scheduler, int64_t now);
/* Whether the pod waits for its claims. Then it is not there to be evicted: its gang gives up its places, and what was written
 * for its claims is taken back. */
bool scheduler_claims_give_way(struct scheduler *scheduler, const char *namespace_, const char *pod);
/* When time alone changes something, in nanoseconds; INT64_MAX for never. */
int64_t scheduler_claims_due(const struct scheduler *scheduler);

/* What a gang hears about its claims; `failed`: they were not bound in time, or not at all. NULL when there is nothing. In the
 * arena. */
const char *scheduler_claims_message(const struct scheduler *scheduler, const char *namespace_, const char *group,
                                     struct arena *arena, bool *failed);
/* Gangs whose claims are waited for now. */
size_t scheduler_claims_waiting(const struct scheduler *scheduler);
void scheduler_claims_free(struct scheduler *scheduler);

#endif
