/* Preemption is a swap: what a queue may give up for a group of its own. */
#include "inspect.h"

#include "engine/evict/victims.h"

#include <string.h>

/* The larger of quota and fair share, within the limit; -1 without end. */
static int64_t entitlement(const struct cycle_queue *queue, int resource)
{
	int64_t quota = queue->quota[resource], fair = queue->fair[resource], limit = queue->limit[resource];
	int64_t most = quota < 0 ? -1 : quota > fair ? quota : fair;
	return limit >= 0 && (most < 0 || most > limit) ? limit : most;
}

void picture_recall(const struct cycle_fixture *fixture, const struct picture *picture, int group,
                    struct cycle_group *copy, struct gang_pod *pods)
{
	*copy = fixture->cycle.groups[group];
	if (copy->gang.pod_count)
		memcpy(pods, copy->gang.pods, sizeof(*pods) * copy->gang.pod_count);
	for (size_t p = 0; p < copy->gang.pod_count; p++) {
		pods[p].state = picture->pods[group][p].state;
		pods[p].node = picture->pods[group][p].node;
	}
	copy->gang.pods = pods;
}

void picture_lower_units(const struct cycle_fixture *fixture, const struct picture *picture, int number,
                         struct victim_list *list)
{
	static struct gang_pod pods[CASE_GROUPS][INSTANCE_PODS];
	struct cycle_group groups[CASE_GROUPS];
	struct cycle then = {.groups = groups, .group_count = fixture->cycle.group_count};
	for (size_t g = 0; g < then.group_count; g++)
		picture_recall(fixture, picture, (int)g, &groups[g], pods[g]);
	for (size_t g = 0; g < then.group_count; g++)
		if (groups[g].queue == groups[number].queue && groups[g].priority < groups[number].priority &&
		    groups[g].preempt != CYCLE_NON_PREEMPTIBLE)
			victims_list_group(&then, (int)g, groups[g].preempt == CYCLE_PREEMPTIBLE, fixture->arena, list);
	victims_sort(list);
}

/* How much was lost of the most expensive unit that lost anything; 0 when nothing of the resource was. What is listed as the rest
 * of a gang may have lost one of its children only. */
static int64_t last_lost(const struct cycle_fixture *fixture, const struct victim_list *units,
                         const struct picture *after, int resource)
{
	const struct cycle_case *world = fixture->world;
	for (size_t i = units->count; i-- > 0;) {
		const struct victim_unit *unit = &units->items[i];
		int64_t amount = 0;
		for (int k = 0; k < unit->pod_count; k++) {
			int pod_class = world->groups[unit->group].pods[unit->pods[k]].pod_class;
			if (!picture_is_member(&after->pods[unit->group][unit->pods[k]]))
				amount += world->base.pod_classes[pod_class].request[resource];
		}
		if (amount > 0)
			return amount * (resource == CYCLE_GPU ? 1000 : built_resource_unit(resource));
	}
	return 0;
}

bool picture_is_swap(const struct cycle_fixture *fixture, const struct picture *before, const struct picture *after,
                     int by)
{
	const struct cycle_case *world = fixture->world;
	int64_t asked[CYCLE_RESOURCES] = {0};
	struct victim_list units = {0};
	for (int p = 0; p < world->groups[by].pod_count; p++)
		for (int r = 0; r < world->base.resource_count; r++)
			if (picture_is_member(&after->pods[by][p]) && !picture_is_member(&before->pods[by][p]))
				asked[r] += world->base.pod_classes[world->groups[by].pods[p].pod_class].request[r] *
				            (r == CYCLE_GPU ? 1000 : built_resource_unit(r));
	picture_lower_units(fixture, before, by, &units);
	for (int q = world->groups[by].queue; q >= 0; q = world->queues[q].parent) {
		int64_t was[CYCLE_RESOURCES], is[CYCLE_RESOURCES], ignored[CYCLE_RESOURCES];
		picture_charge(fixture, before, q, was, ignored);
		picture_charge(fixture, after, q, is, ignored);
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			int64_t most = entitlement(&fixture->cycle.queues[q], r);
			if (asked[r] <= 0 || most < 0 || is[r] <= most)
				continue;
			int64_t last = last_lost(fixture, &units, after, r);
			if (is[r] > was[r] || (last > 0 && is[r] - asked[r] + last <= most))
				return false;
		}
	}
	return true;
}
