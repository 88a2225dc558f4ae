/* The time that a queue grants the groups in it before others may evict them. Private to the engine.
 *
 * A group that has run for less keeps its minimum; what it has beyond may be taken at any time. Preemption asks the queue
 * of the victim and then those above it. Reclaim asks first the queue that is a sibling of one of the beneficiary's, so
 * that what a part of the tree grants counts only among its siblings; see docs/queues.md. */
#ifndef ENGINE_EVICT_RUNTIME_H
#define ENGINE_EVICT_RUNTIME_H

#include "engine/evict/internal.h"

/* Before units are listed. */
void runtime_begin_attempt(struct evict_attempt *attempt);
/* Whether the unit must stay at the time the room is asked for. Notes when the first of those ends. */
bool runtime_protects_unit(struct evict_attempt *attempt, const struct victim_unit *unit);
/* In a trial that found room: which of the units that leave is protected longest today. */
void runtime_note_waited(struct evict_attempt *attempt);
/* After a refusal for which units were protected: when would it fit? Says so on the group. */
void runtime_explain_refusal(struct cycle_run *run, int group, enum cycle_action action, bool grow);

#endif
