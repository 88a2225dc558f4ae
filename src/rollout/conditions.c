/* Owns reasons and messages of the conditions. They are read by people and by programs: do not change them lightly. */
#include "rollout/conditions.h"

static bool all_pods_ready(const struct condition_facts *facts)
{
	return facts->pods_ready >= facts->pods_desired;
}

/* Between two steps of an update all pods may be ready for a moment: that is not the end of it. */
static bool is_complete(const struct condition_facts *facts)
{
	return all_pods_ready(facts) && !facts->is_updating;
}

/* A group that lost a pod is not scaling: only growth beyond what was once complete is, and an update that makes larger
 * instances is none. */
static const char *ready_reason(const struct condition_facts *facts)
{
	if (is_complete(facts))
		return "AllReplicasReady";
	if (facts->pods_ready <= 0)
		return "DeploymentInProgress";
	if (facts->is_updating)
		return "PartialDeployment";
	if (facts->complete_at > 0 && facts->complete_at < facts->pods_desired)
		return "ScalingInProgress";
	return "PartialDeployment";
}

static const char *minimum_reason(const struct condition_facts *facts)
{
	if (facts->segments_ready >= facts->segments_total)
		return "AllSegmentsReady";
	if (!facts->is_minimum_met)
		return "NoSegmentsReady";
	return facts->complete_at > 0 ? "MinimumMet" : "MinimumSegmentReady";
}

void condition_segments(const struct condition_facts *facts, struct arena *arena,
                        struct condition_text conditions[CONDITION_SLOTS])
{
	bool is_available = facts->is_minimum_met || facts->segments_ready >= facts->segments_total;
	conditions[CONDITION_READY] = (struct condition_text){
		.type = "Ready",
		.is_true = is_complete(facts),
		.reason = ready_reason(facts),
		.message = arena_printf(arena, "%lld/%lld pods ready", (long long)facts->pods_ready,
	                                (long long)facts->pods_desired),
	};
	conditions[CONDITION_MINIMUM_SEGMENTS] = (struct condition_text){
		.type = "MinimumSegmentsAvailable",
		.is_true = is_available,
		.reason = minimum_reason(facts),
		.message = arena_printf(arena, "%lld/%lld segments ready (%lld/%lld pods)",
	                                (long long)facts->segments_ready, (long long)facts->segments_total,
	                                (long long)facts->pods_ready, (long long)facts->pods_desired),
	};
	conditions[CONDITION_MINIMUM_REPLICAS] = conditions[CONDITION_MINIMUM_SEGMENTS];
	conditions[CONDITION_MINIMUM_REPLICAS].type = "MinimumReplicasAvailable";
}

struct condition_text condition_roles(bool is_ready)
{
	return (struct condition_text){
		.type = "Ready",
		.is_true = is_ready,
		.reason = is_ready ? "AllRolesReady" : "RoleNotReady",
		.message = is_ready ? "All roles are ready" : "Not all role ready",
	};
}

int64_t condition_complete_at(const struct condition_facts *facts)
{
	return all_pods_ready(facts) && facts->pods_desired > 0 ? facts->pods_desired : facts->complete_at;
}
