/* One decision that makes room: who had to go, by which right, and what came of it. */
#include "inspect.h"

#include <string.h>

static bool check_victim(struct scene *scene, const struct cycle_eviction *eviction, const struct picture *before,
                         const struct picture *after)
{
	const struct cycle *cycle = &scene->fixture->cycle;
	const struct cycle_group *victim = &cycle->groups[eviction->group];
	const struct spot *was = &before->pods[eviction->group][eviction->pod];
	const struct spot *is = &after->pods[eviction->group][eviction->pod];
	int g = eviction->group, p = eviction->pod;
	if (was->state != MEMBER_RUNNING || was->node != eviction->node)
		return scene_fail(scene, CYCLE_UNEXPLAINED, "g%d-p%d is evicted from node %d but was in state %d on %d",
		                  g, p, eviction->node, was->state, was->node);
	if (eviction->moved && is->state == MEMBER_RESERVED && is->node == was->node)
		scene_fail(scene, CYCLE_STILL, "g%d-p%d is moved to where it is", g, p);
	if (eviction->moved && is->state != MEMBER_RESERVED)
		return scene_fail(scene, CYCLE_MOVE, "g%d-p%d is moved from %d, but in state %d on %d", g, p, was->node,
		                  is->state, is->node);
	if (scene->action == ACTION_RELEASE_STALE)
		return true;
	if (scene->start.pods[g][p].state != MEMBER_RUNNING)
		scene_fail(scene, CYCLE_FRESH, "g%d-p%d was bound in this very cycle and is %s", g, p,
		           eviction->moved ? "moved" : "evicted");
	const struct cycle_group *by = &cycle->groups[eviction->by];
	if (eviction->group == eviction->by)
		return scene_fail(scene, CYCLE_RULES, "g%d evicts its own pod p%d", g, p);
	if (victim->preempt == CYCLE_NON_PREEMPTIBLE)
		return scene_fail(scene, CYCLE_PROTECTED, "non-preemptible g%d-p%d is %s", g, p,
		                  eviction->moved ? "moved" : "evicted");
	if (scene->action == ACTION_CONSOLIDATE && !eviction->moved)
		return scene_fail(scene, CYCLE_MOVE, "g%d-p%d loses its place", g, p);
	if (scene->action == ACTION_CONSOLIDATE && by->preempt != CYCLE_PREEMPTIBLE)
		return scene_fail(scene, CYCLE_RULES, "g%d is not preemptible", eviction->by);
	if (scene->action == ACTION_PREEMPT && (victim->queue != by->queue || victim->priority >= by->priority))
		return scene_fail(scene, CYCLE_RULES, "g%d of queue q%d and priority %d evicts g%d of q%d and %d",
		                  eviction->by, by->queue, by->priority, g, victim->queue, victim->priority);
	if (scene->action == ACTION_RECLAIM && victim->queue == by->queue)
		return scene_fail(scene, CYCLE_RULES, "g%d evicts g%d of its own queue q%d", eviction->by, g,
		                  by->queue);
	if (cycle->now < by->evict_after)
		return scene_fail(scene, CYCLE_RULES, "g%d may not evict yet", eviction->by);
	return true;
}

static bool is_victim(const struct decision *decision, int group)
{
	for (size_t i = 0; i < decision->count; i++)
		if (decision->evictions[i].group == group)
			return true;
	return false;
}

static bool check_remains(struct scene *scene, int group, const struct picture *before, const struct picture *after)
{
	const struct cycle_fixture *fixture = scene->fixture;
	const struct cycle_group *victim = &fixture->cycle.groups[group];
	bool was[INSTANCE_TREE], is[INSTANCE_TREE];
	picture_satisfied(fixture, before, group, NULL, was);
	picture_satisfied(fixture, after, group, NULL, is);
	int left = 0, ran = 0; /* a reservation may be taken back, whoever has it */
	for (size_t p = 0; p < victim->gang.pod_count; p++) {
		left += picture_is_member(&after->pods[group][p]);
		ran += before->pods[group][p].state == MEMBER_RUNNING;
	}
	if (victim->preempt == CYCLE_SEMI_PREEMPTIBLE && was[0] && !is[0] && ran &&
	    scene->action != ACTION_RELEASE_STALE)
		return scene_fail(scene, CYCLE_PROTECTED, "semi-preemptible g%d falls below its minimum", group);
	if (was[0] && !is[0] && left > 0)
		return scene_fail(scene, CYCLE_MINIMUM, "g%d keeps %d pods, less than its minimum", group, left);
	for (size_t p = 0; p < victim->gang.pod_count && is[0]; p++)
		if (picture_is_member(&after->pods[group][p]) && !picture_is_useful(fixture, after, group, (int)p) &&
		    picture_is_useful(fixture, before, group, (int)p))
			return scene_fail(scene, CYCLE_MINIMUM, "g%d-p%zu stays in a subgroup below its minimum", group,
			                  p);
	return true;
}

/* The time that queues grant, straight from the rule: for a reclaim the first queue below the one in which both sides
 * meet is asked, for a preemption the victim's own; and then those above. */
static int64_t granted(const struct cycle *cycle, const struct cycle_group *victim, int claimant, bool reclaim)
{
	int queue = victim->queue;
	for (int at = victim->queue; reclaim && at >= 0; at = cycle->queues[at].parent) {
		bool shared = false;
		for (int up = claimant; up >= 0; up = cycle->queues[up].parent)
			shared |= up == at;
		if (shared)
			break;
		queue = at;
	}
	for (; queue >= 0; queue = cycle->queues[queue].parent)
		if (cycle->queues[queue].has_runtime[reclaim])
			return reclaim ? cycle->queues[queue].reclaim_runtime : cycle->queues[queue].preempt_runtime;
	return 0;
}

/* A group that has not run long enough keeps, unmoved, as much as it needs. */
static bool check_runtime(struct scene *scene, const struct decision *decision, int group, const struct picture *before)
{
	const struct cycle *cycle = &scene->fixture->cycle;
	const struct cycle_group *victim = &cycle->groups[group];
	bool reclaim = scene->action == ACTION_RECLAIM, is[INSTANCE_TREE];
	if ((!reclaim && scene->action != ACTION_PREEMPT) || !victim->has_started)
		return true;
	int64_t time = granted(cycle, victim, cycle->groups[decision->by].queue, reclaim);
	if (victim->started + time <= cycle->now)
		return true;
	struct picture left = *before;
	for (size_t i = 0; i < decision->count; i++)
		if (decision->evictions[i].group == group)
			left.pods[group][decision->evictions[i].pod].state = MEMBER_GONE;
	picture_satisfied(scene->fixture, &left, group, NULL, is);
	scene->tally->young++;
	if (is[0])
		return true;
	return scene_fail(scene, CYCLE_PROTECTED, "g%d has run for %lld of %lld seconds and falls below its minimum",
	                  group, (long long)((cycle->now - victim->started) / CLOCK_SECOND),
	                  (long long)(time / CLOCK_SECOND));
}

static bool check_gain(struct scene *scene, const struct decision *decision, const struct picture *before,
                       const struct picture *after)
{
	const struct cycle_fixture *fixture = scene->fixture;
	int by = decision->by, gained = 0;
	bool was[INSTANCE_TREE], is[INSTANCE_TREE];
	picture_satisfied(fixture, before, by, NULL, was);
	picture_satisfied(fixture, after, by, NULL, is);
	for (int p = 0; p < fixture->world->groups[by].pod_count; p++) {
		bool new = picture_is_member(&after->pods[by][p]) && !picture_is_member(&before->pods[by][p]);
		gained += new;
		if (new && !picture_is_useful(fixture, after, by, p))
			return scene_fail(scene, CYCLE_NO_GAIN, "g%d-p%d gets a place below a minimum", by, p);
	}
	if (!is[0] || gained == 0)
		return scene_fail(scene, CYCLE_NO_GAIN, "evictions for g%d, which gets %d places and %s its minimum",
		                  by, gained, is[0] ? "has" : "misses");
	return true;
}

/* A reclaiming queue ends within its fair share of everything it asked for. */
static bool check_share(struct scene *scene, const struct decision *decision, const struct picture *before,
                        const struct picture *after)
{
	const struct cycle_fixture *fixture = scene->fixture;
	int queue = fixture->cycle.groups[decision->by].queue;
	int64_t was[CYCLE_RESOURCES], is[CYCLE_RESOURCES], ignored[CYCLE_RESOURCES];
	picture_charge(fixture, before, queue, was, ignored);
	picture_charge(fixture, after, queue, is, ignored);
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (is[r] > was[r] && is[r] > fixture->cycle.queues[queue].fair[r])
			return scene_fail(scene, CYCLE_SHARE,
			                  "queue q%d reclaims up to %lld of %s, its fair share is %lld", queue,
			                  (long long)is[r], built_resource_name(r),
			                  (long long)fixture->cycle.queues[queue].fair[r]);
	return true;
}

bool inspect_whole(struct scene *scene, const struct decision *decisions, const struct picture *before,
                   const struct picture *after)
{
	for (size_t i = 0; i < decisions->count; i++)
		if (!check_victim(scene, &decisions->evictions[i], before, after))
			return false;
	for (int g = 0; g < scene->fixture->world->group_count; g++)
		if (!check_remains(scene, g, before, after))
			return false;
	return true;
}

bool inspect_decision(struct scene *scene, const struct decision *decision, const struct picture *before,
                      const struct picture *after)
{
	for (size_t i = 0; i < decision->count; i++) {
		if (!check_victim(scene, &decision->evictions[i], before, after))
			return false;
		scene->tally->evicted[scene->action] += !decision->evictions[i].moved;
		scene->tally->moved[scene->action] += decision->evictions[i].moved;
	}
	for (int g = 0; g < scene->fixture->world->group_count; g++)
		if (is_victim(decision, g) &&
		    (!check_remains(scene, g, before, after) || !check_runtime(scene, decision, g, before)))
			return false;
	if (decision->by < 0)
		return true;
	if (!check_gain(scene, decision, before, after) || !inspect_queues(scene, before, after))
		return false;
	if (scene->action == ACTION_RECLAIM && !check_share(scene, decision, before, after))
		return false;
	if (scene->action == ACTION_PREEMPT && !picture_is_swap(scene->fixture, before, after, decision->by))
		return scene_fail(scene, CYCLE_SHARE, "g%d lifts its queue above what it may hold", decision->by);
	return inspect_necessity(scene, decision, before, after);
}
