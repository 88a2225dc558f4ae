/* Nothing is left undone: when the cycles have come to rest, no group waits that had a right to a place. */
#include "inspect.h"

#include <string.h>

/* Below its minimum, and could reach it. */
static bool is_waiting(const struct cycle_fixture *fixture, int number)
{
	const struct cycle_group *group = &fixture->cycle.groups[number];
	bool satisfied[INSTANCE_TREE], reachable[INSTANCE_TREE];
	gang_satisfied(&group->gang, NULL, satisfied);
	gang_reachable(&group->gang, NULL, reachable);
	return !satisfied[0] && reachable[0];
}

static void set_unit(struct cycle_fixture *fixture, const struct victim_unit *unit, bool running)
{
	struct gang *gang = &fixture->cycle.groups[unit->group].gang;
	for (int i = 0; i < unit->pod_count; i++) {
		struct gang_pod *pod = &gang->pods[unit->pods[i]];
		if (running)
			cluster_occupy(fixture->cycle.cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
		else
			cluster_vacate(fixture->cycle.cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
		pod->state = running ? MEMBER_RUNNING : MEMBER_GONE;
	}
}

/* Whether the queue and those above it allow the placement in the present state. */
static bool queues_allow(const struct cycle_fixture *fixture, int number, const struct placement *placement,
                         const struct picture *before)
{
	const struct cycle_group *group = &fixture->cycle.groups[number];
	struct picture picture;
	picture_take(fixture, &picture);
	for (size_t i = 0; i < placement->choice_count; i++)
		picture.pods[number][placement->choices[i].pod] =
			(struct spot){.state = MEMBER_RUNNING, .node = placement->choices[i].node};
	for (int q = group->queue; q >= 0; q = fixture->cycle.queues[q].parent) {
		const struct cycle_queue *queue = &fixture->cycle.queues[q];
		int64_t is[CYCLE_RESOURCES], keeps[CYCLE_RESOURCES];
		picture_charge(fixture, &picture, q, is, keeps);
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			if ((queue->limit[r] >= 0 && is[r] > queue->limit[r]) ||
			    (queue->quota[r] >= 0 && group->preempt != CYCLE_PREEMPTIBLE && keeps[r] > queue->quota[r]))
				return false;
	}
	return !before || picture_is_swap(fixture, before, &picture, number);
}

/* `before`: the state before others were evicted for it, NULL when nobody was. */
static bool would_fit(struct cycle_fixture *fixture, int number, const struct picture *before)
{
	struct placement placement;
	struct place_options options = {0};
	return engine_place(fixture->cycle.cluster, &fixture->cycle.groups[number].gang, &options, fixture->arena,
	                    &placement) == PLACE_PLACED &&
	       queues_allow(fixture, number, &placement, before);
}

/* Whether any number of units, the cheapest first, makes room for the group. */
static bool could_evict(struct cycle_fixture *fixture, int number)
{
	struct victim_list list = {0};
	struct picture before;
	bool result = false;
	picture_take(fixture, &before);
	picture_lower_units(fixture, &before, number, &list);
	size_t gone = 0;
	while (gone < list.count && !result) {
		set_unit(fixture, &list.items[gone++], false);
		result = would_fit(fixture, number, &before);
	}
	while (gone > 0)
		set_unit(fixture, &list.items[--gone], true);
	return result;
}

/* The gang that resources are held for when gangs have waited too long: nobody else has a right to them. */
static int most_starved(const struct cycle_fixture *fixture)
{
	int best = -1;
	for (int g = 0; g < fixture->world->group_count; g++)
		if (fixture->world->groups[g].pod_count > 1 && is_waiting(fixture, g) &&
		    (best < 0 || fixture->world->groups[g].priority > fixture->world->groups[best].priority))
			best = g;
	return best;
}

bool inspect_rest(struct scene *scene)
{
	struct cycle_fixture *fixture = scene->fixture;
	int starved = fixture->world->starved ? most_starved(fixture) : -1;
	for (int g = 0; g < fixture->world->group_count; g++) {
		if (!is_waiting(fixture, g) || (starved >= 0 && g != starved))
			continue;
		scene->tally->waiting++;
		scene->action = ACTION_ALLOCATE;
		if (would_fit(fixture, g, NULL))
			return scene_fail(scene, CYCLE_IDLE, "g%d waits though it fits", g);
		scene->action = ACTION_PREEMPT;
		if (could_evict(fixture, g))
			return scene_fail(scene, CYCLE_IDLE, "g%d waits though it could evict others of its queue", g);
	}
	return true;
}
