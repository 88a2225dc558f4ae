/* Owns the question whether a group could be placed if nothing else ran. */
#include "engine/cycle/outlook.h"

#include "base/hash.h"
#include "engine/cycle/refusal_cache.h"
#include "engine/cycle/refusals.h"
#include "engine/place/rules.h"

#include <string.h>

/* What else is asked about a gang has smaller numbers: see refusals_question. */
enum { QUESTION_HOPELESS = 100, QUESTION_NEVER = 101 };

/* Asks once per look of a gang until nodes change. */
static bool is_refused_when_empty(struct cycle *cycle, const struct gang *gang, bool grow, uint64_t budget,
                                  uint64_t question, struct arena *scratch)
{
	int known = refusal_cache_is_hopeless(cycle, question);
	if (known >= 0)
		return known;
	const struct refusal *refusal = refusals_find(cycle->refusals, question);
	if (refusal)
		return refusal->placement.outcome == PLACE_IMPOSSIBLE;
	struct place_options options = {.budget = budget, .empty_cluster = true};
	struct placement placement;
	enum place_outcome outcome = grow ? engine_grow(cycle->cluster, gang, &options, scratch, &placement)
	                                  : engine_place(cycle->cluster, gang, &options, scratch, &placement);
	refusals_add(cycle->refusals, question, &placement);
	refusal_cache_store_hopeless(cycle, question, outcome == PLACE_IMPOSSIBLE);
	return outcome == PLACE_IMPOSSIBLE;
}

bool outlook_is_hopeless(struct cycle *cycle, const struct cycle_group *group, struct arena *scratch)
{
	enum { STEPS = 20000 };
	const struct gang *gang = &group->gang;
	if (cycle->always_search || rules_concern_gang(cycle->cluster, gang))
		return false;
	arena_reset(scratch);
	return is_refused_when_empty(cycle, gang, gang_root_satisfied(gang), STEPS,
	                             hash_mix(refusals_hash_gang(gang), QUESTION_HOPELESS), scratch);
}

bool outlook_is_never(struct cycle *cycle, const struct cycle_group *group, struct arena *scratch)
{
	if (rules_need_others(cycle->cluster, &group->gang))
		return false;
	arena_reset(scratch);
	struct gang gang = group->gang;
	gang.pods = arena_array(scratch, struct gang_pod, gang.pod_count);
	memcpy(gang.pods, group->gang.pods, gang.pod_count * sizeof(*gang.pods));
	for (size_t p = 0; p < gang.pod_count; p++)
		if (gang.pods[p].state == MEMBER_RUNNING || gang.pods[p].state == MEMBER_RESERVED)
			gang.pods[p].state = MEMBER_WAITING;
	return is_refused_when_empty(cycle, &gang, false, cycle->budget,
	                             hash_mix(refusals_hash_gang(&gang), QUESTION_NEVER), scratch);
}
