/* What was refused in this cycle, so that the same question is not asked again. What outlasts the cycle is in
 * refusal_cache.h. Private to the engine.
 *
 * Groups that look alike to the search (the same tree, the same classes of pods in the same states) get the same answer
 * as long as nothing in the cluster changes. Tentative changes that were undone do not count as such. */
#ifndef ENGINE_CYCLE_REFUSALS_H
#define ENGINE_CYCLE_REFUSALS_H

#include "engine/cycle/cycle.h"

struct refusals;

/* Everything lives in the arena; there is nothing to free. */
struct refusals *refusals_create(struct arena *arena);
/* Something was bound, reserved or evicted for good: no answer counts any more. */
void refusals_invalidate(struct refusals *refusals);

/* A number for everything the search sees of a gang; groups that look alike have the same one. */
uint64_t refusals_hash_gang(const struct gang *gang);

/* The question a group asks: what the search sees of it, and `what` is asked for. Groups that look alike ask the same one,
 * unless places are kept for one of them. */
uint64_t refusals_question(const struct cycle *cycle, const struct cycle_group *group, uint64_t what);

/* One question: a look, and what else the answer depends on (the action, the queue, ...) mixed into it. */
struct refusal {
	struct placement placement; /* as engine_place gave it; its choices are empty */
	bool explained;
	struct reasons reasons; /* with a mark in place of the name of the group */
};
/* The refusal of that question in the present state of the cluster, NULL when it was not asked. */
struct refusal *refusals_find(const struct refusals *refusals, uint64_t question);
/* Writes it down; `placement` NULL when only the fact counts. Valid until the next one is added for this question. */
struct refusal *refusals_add(struct refusals *refusals, uint64_t question, const struct placement *placement);

/* The refusal of an earlier cycle from the refusal cache, as one of this cycle; NULL when there is none. */
struct refusal *refusals_load_cached(struct cycle *cycle, const struct gang *gang, uint64_t question);

/* Adds the reasons of the refusal to the group: the search for reasons runs once for groups that look alike. */
void refusals_explain(struct refusal *refusal, struct cycle *cycle, struct cycle_group *group);

#endif
