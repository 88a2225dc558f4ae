/* Owns what later cycles need to know of a group and only a cycle can know, as annotations of the PodGroup: since when it is
 * below its minimum, with how many pods it met a minimum that was raised, and when it last lost pods to others. A restart goes
 * on with them. */
#include "schedule/scheduler_internal.h"
#include "loop/writes.h"

#include <stdio.h>
#include <string.h>

#define STALE_SINCE "kai.scheduler/stale-podgroup-timestamp"
#define LAST_EVICTION "kai.scheduler/last-eviction-timestamp"

static bool is_below_minimum(const struct cycle_group *group)
{
	bool running = false;
	for (size_t i = 0; i < group->gang.pod_count && !running; i++)
		running = group->gang.pods[i].state == MEMBER_RUNNING;
	return running && group->grace >= 0 && !group->completing && !gang_root_satisfied(&group->gang);
}

bool scheduler_is_stale(const struct cycle_group *group)
{
	return is_below_minimum(group) && !cycle_has_grown(group);
}

static bool lost_pods(const struct cycle *cycle, size_t index)
{
	for (size_t i = 0; i < cycle->eviction_count; i++)
		if (cycle->evictions[i].group == (int)index &&
		    (cycle->evictions[i].by >= 0 || cycle->evictions[i].moved))
			return true;
	return false;
}

void scheduler_write_times(const struct scheduler_turn *turn, size_t index, const struct store_object *object)
{
	const struct cycle *cycle = &turn->plan->snapshot->cycle;
	const struct val *annotations = val_path(object->root, "metadata", "annotations", NULL);
	bool stale = scheduler_is_stale(&cycle->groups[index]), marked = val_get(annotations, STALE_SINCE);
	bool lost = lost_pods(cycle, index);
	const struct cycle_group *group = &cycle->groups[index];
	int met = is_below_minimum(group) && !stale ? group->met : 0;
	const char *before = val_str(val_get(annotations, MET_MINIMUM), NULL);
	char pods[16];
	(void)snprintf(pods, sizeof(pods), "%d", met);
	bool same = met ? before && strcmp(before, pods) == 0 : !before;
	if (stale == marked && !lost && same)
		return;
	char now[32];
	clock_print_rfc3339(turn->now_seconds, now);
	struct build *build = build_create();
	struct node *body = build_map(build), *metadata = build_map(build), *changes = build_map(build);
	if (stale != marked)
		build_put(build, changes, STALE_SINCE, stale ? build_string(build, now) : build_null(build));
	if (lost)
		build_put_string(build, changes, LAST_EVICTION, now);
	if (!same)
		build_put(build, changes, MET_MINIMUM, met ? build_string(build, pods) : build_null(build));
	build_put(build, metadata, "annotations", changes);
	build_put(build, body, "metadata", metadata);
	if (writes_patch(turn->store, object, STORE_MAIN, build, body) < 0)
		scheduler_unwritten(turn, index);
	build_destroy(build);
}
