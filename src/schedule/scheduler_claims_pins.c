/* Owns nodes that were selected for claims and are of no use any more. What an earlier process, or another scheduler, wrote
 * before it ended pins the claim: its pod can go to that node only. When that is gone, or taken, a gang could wait for ever
 * beside nodes that would do. */
#include "schedule/scheduler_claims_internal.h"

#include <string.h>

static bool names_claim(const struct snapshot_pod *pod, const char *namespace_, const char *claim)
{
	for (size_t i = 0; i < pod->spec->claim_count && strcmp(pod->namespace_, namespace_) == 0; i++)
		if (strcmp(pod->spec->claims[i], claim) == 0)
			return true;
	return false;
}

/* Whether pods of others wait for it where it is, or are there. */
static bool is_wanted_elsewhere(const struct snapshot *snapshot, int group, const char *claim)
{
	const char *namespace_ = snapshot->groups[group].namespace_;
	for (size_t i = 0; i < snapshot->pod_count; i++)
		if (snapshot->pods[i].spec && snapshot->pods[i].group != group && !snapshot->pods[i].gone &&
		    names_claim(&snapshot->pods[i], namespace_, claim))
			return true;
	return false;
}

/* Whether it is proved that there is no placement with the nodes that are selected, and nothing of the gang is anywhere. */
static bool is_stuck(const struct scheduler_turn *turn, const struct plan_group *planned)
{
	const struct cycle_group *group = &turn->plan->snapshot->cycle.groups[planned->index];
	bool failed;
	if ((group->state != GROUP_WAITING && group->state != GROUP_NEVER) || group->proof == PROOF_NONE ||
	    scheduler_claims_message(turn->scheduler, planned->namespace_, planned->name, turn->arena, &failed))
		return false;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (group->gang.pods[p].state == MEMBER_RUNNING || group->gang.pods[p].state == MEMBER_RESERVED)
			return false;
	return true;
}

void claims_unpin(const struct scheduler_turn *turn)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	for (size_t g = 0; g < turn->plan->group_count; g++) {
		const struct plan_group *planned = &turn->plan->groups[g];
		const struct gang *gang = &snapshot->cycle.groups[planned->index].gang;
		if (!is_stuck(turn, planned))
			continue;
		for (size_t p = 0; p < gang->pod_count; p++) {
			const struct snapshot_pod *pod = &snapshot->pods[snapshot->groups[planned->index].members[p]];
			for (size_t c = 0; c < pod->spec->claim_count && gang->pods[p].state == MEMBER_WAITING; c++)
				if (claims_is_pinned(turn->scheduler, pod->namespace_, pod->spec->claims[c]) &&
				    !is_wanted_elsewhere(snapshot, (int)planned->index, pod->spec->claims[c]))
					claims_free(turn->scheduler, pod->namespace_, pod->spec->claims[c]);
		}
	}
}
