/* Owns what is said about groups whose minimum is met while more of their pods wait. */
#include "engine/cycle/internal.h"
#include "engine/cluster/internal.h"
#include "engine/cycle/moved_places.h"
#include "engine/cycle/refusals.h"

/* Why one more pod finds no place. Told for groups without parts: of several parts any may grow next. */
static void explain_next(struct cycle *cycle, struct cycle_group *group)
{
	enum { STEPS = 20000, QUESTION = 200 };
	uint64_t question = hash_mix(refusals_hash_gang(&group->gang), QUESTION);
	struct gang_node leaf = group->gang.tree[0];
	struct cycle_group larger = *group;
	larger.gang.tree = &leaf;
	leaf.minimum = 1;
	for (size_t p = 0; p < group->gang.pod_count; p++)
		leaf.minimum += cycle_is_member(&group->gang.pods[p]);
	struct refusal *refusal = refusals_find(cycle->refusals, question);
	if (!refusal) {
		struct place_options options = {.budget = STEPS};
		struct placement placement;
		struct arena *scratch = arena_create();
		engine_place(cycle->cluster, &larger.gang, &options, scratch, &placement);
		arena_destroy(scratch);
		refusal = refusals_add(cycle->refusals, question, &placement);
	}
	int trials = cycle->trials;
	cycle->trials = 0; /* its minimum is met: nothing has to be changed */
	if (refusal->placement.outcome == PLACE_IMPOSSIBLE)
		refusals_explain(refusal, cycle, &larger);
	cycle->trials = trials;
	group->reasons = larger.reasons;
}

bool surplus_conclude(struct cycle *cycle, struct cycle_group *group)
{
	size_t waiting = 0, gated = 0, blocked = 0;
	for (size_t p = 0; p < group->gang.pod_count; p++) {
		waiting += group->gang.pods[p].state == MEMBER_WAITING;
		gated += group->gang.pods[p].state == MEMBER_GATED;
		blocked += group->gang.pods[p].state == MEMBER_BLOCKED;
	}
	size_t all = waiting + gated + blocked;
	if (all == 0 || group->reasons.count)
		return all > 0;
	struct arena *arena = cycle->arena;
	const char *more =
		blocked ? arena_printf(arena, "; %zu more %s blocked", blocked, blocked == 1 ? "is" : "are") : "";
	if (gated)
		more = arena_printf(arena, "; %zu more %s gated%s", gated, gated == 1 ? "is" : "are", more);
	if (waiting)
		more = arena_printf(arena, "; %zu more pod%s for room%s", waiting, waiting == 1 ? " waits" : "s wait",
		                    more);
	reason_add(&group->reasons, arena,
	           (struct reason){.code = REASON_SURPLUS,
	                           .message = arena_printf(arena, "the minimum is met%s", more),
	                           .need = (int64_t)all});
	if (cycle->silent)
		return true;
	if (waiting && group->gang.tree_count == 1)
		explain_next(cycle, group);
	else if (waiting)
		moved_places_explain(cycle, &group->gang, true, &group->reasons);
	return true;
}
