/* Owns the place of the group for which room is made while it is tried, and what becomes of it. */
#include "engine/evict/own_place.h"

#include "engine/cycle/moved_places.h"

#include <string.h>

void own_place_count(struct evict_attempt *attempt)
{
	struct cycle_group *own = evict_beneficiary(attempt);
	cycle_cost_of_placement(attempt->run, own, &attempt->placement, &attempt->cost);
	cycle_add_coming(attempt->run, own, &attempt->placement, &attempt->cost);
}

static void set_coming(struct evict_attempt *attempt, bool occupied)
{
	struct cluster *cluster = attempt->cycle->cluster;
	for (size_t i = 0; i < attempt->placement.coming_count; i++) {
		const struct place_coming *coming = &attempt->placement.coming[i];
		if (occupied)
			cluster_occupy(cluster, coming->pod_class, coming->node, OCCUPY_RESERVED);
		else
			cluster_vacate(cluster, coming->pod_class, coming->node, OCCUPY_RESERVED);
	}
}

void own_place_take(struct evict_attempt *attempt)
{
	struct placement *placement = &attempt->placement;
	struct arena *arena = attempt->scratch;
	struct place_choice *choices = arena_array(arena, struct place_choice, placement->choice_count);
	struct place_coming *coming = arena_array(arena, struct place_coming, placement->coming_count);
	if (placement->choice_count)
		memcpy(choices, placement->choices, placement->choice_count * sizeof(*choices));
	if (placement->coming_count)
		memcpy(coming, placement->coming, placement->coming_count * sizeof(*coming));
	placement->choices = choices;
	placement->coming = coming;
	engine_commit(attempt->cycle->cluster, &evict_beneficiary(attempt)->gang, placement);
	set_coming(attempt, true);
}

void own_place_undo(struct evict_attempt *attempt)
{
	struct gang *gang = &evict_beneficiary(attempt)->gang;
	set_coming(attempt, false);
	for (size_t i = 0; i < attempt->placement.choice_count; i++) {
		struct gang_pod *pod = &gang->pods[attempt->placement.choices[i].pod];
		cluster_vacate(attempt->cycle->cluster, pod->pod_class, pod->node, OCCUPY_RESERVED);
		pod->state = MEMBER_WAITING;
	}
}

void own_place_settle(struct evict_attempt *attempt)
{
	struct cycle_group *own = evict_beneficiary(attempt);
	struct cycle_cost coming = {0};
	cycle_charge(attempt->run, own->queue, &attempt->cost, 1);
	cycle_add_coming(attempt->run, own, &attempt->placement, &coming);
	cycle_charge(attempt->run, own->queue, &coming, -1); /* who is held for is charged with what is held */
	set_coming(attempt, false);
	moved_places_hold(attempt->run, own, &attempt->placement);
}
