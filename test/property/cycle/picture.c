/* Pods of all groups at one moment, and simple questions about them. */
#include "inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool scene_fail(struct scene *scene, enum cycle_failure failure, const char *format, ...)
{
	va_list args;
	/* What is merely wasteful is kept back: something worse may follow. */
	bool mild = failure == CYCLE_FRESH || failure == CYCLE_STILL || failure == CYCLE_CORE;
	struct result *result = mild ? &scene->mild : scene->result;
	if (mild && result->failure)
		return true;
	char *text = result->text;
	size_t size = sizeof(result->text);
	int used = snprintf(text, size, "%s: ", cycle_action_name(scene->action));
	va_start(args, format);
	vsnprintf(text + used, size - (size_t)used, format, args);
	va_end(args);
	result->failure = (int)failure;
	return mild;
}

void picture_take(const struct cycle_fixture *fixture, struct picture *picture)
{
	memset(picture, 0, sizeof(*picture));
	picture->evictions = fixture->cycle.eviction_count;
	for (size_t g = 0; g < fixture->cycle.group_count; g++) {
		const struct gang *gang = &fixture->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			picture->pods[g][p] =
				(struct spot){gang->pods[p].state, gang->pods[p].node,
			                      gang->pods[p].held && gang->pods[p].state == MEMBER_RESERVED};
	}
}

bool picture_is_member(const struct spot *spot)
{
	return spot->state == MEMBER_RUNNING || spot->state == MEMBER_RESERVED;
}

void picture_satisfied(const struct cycle_fixture *fixture, const struct picture *picture, int group, int *members,
                       bool *satisfied)
{
	const struct gang *gang = &fixture->cycle.groups[group].gang;
	int count[INSTANCE_TREE] = {0};
	for (size_t p = 0; p < gang->pod_count; p++)
		count[gang->pods[p].leaf] += picture_is_member(&picture->pods[group][p]);
	for (size_t i = gang->tree_count; i-- > 0;) {
		satisfied[i] = count[i] >= gang->tree[i].minimum;
		if (i > 0)
			count[gang->tree[i].parent] += satisfied[i];
	}
	if (members)
		memcpy(members, count, sizeof(count));
}

bool picture_is_useful(const struct cycle_fixture *fixture, const struct picture *picture, int group, int pod)
{
	const struct gang *gang = &fixture->cycle.groups[group].gang;
	bool satisfied[INSTANCE_TREE];
	picture_satisfied(fixture, picture, group, NULL, satisfied);
	for (int at = gang->pods[pod].leaf; at >= 0; at = gang->tree[at].parent)
		if (!satisfied[at])
			return false;
	return true;
}

static bool is_within(const struct cycle_fixture *fixture, int queue, int above)
{
	while (queue >= 0 && queue != above)
		queue = fixture->cycle.queues[queue].parent;
	return queue == above;
}

/* Which pods cannot be evicted: all, none, or what is left when a semi-preemptible group has given up its surplus. That
 * is the engine's own notion, applied to the picture; that units never contain one of them is checked by `CYCLE_PROTECTED`
 * and by what is left. */
static void find_core(const struct cycle_fixture *fixture, const struct picture *picture, int group, bool *core)
{
	struct cycle_group copy;
	struct gang_pod pods[INSTANCE_PODS];
	picture_recall(fixture, picture, group, &copy, pods);
	for (size_t p = 0; p < copy.gang.pod_count; p++)
		core[p] = copy.preempt == CYCLE_NON_PREEMPTIBLE;
	if (copy.preempt == CYCLE_SEMI_PREEMPTIBLE)
		victims_mark_core(&copy.gang, core);
}

void picture_charge(const struct cycle_fixture *fixture, const struct picture *picture, int queue,
                    int64_t allocated[CYCLE_RESOURCES], int64_t protected_[CYCLE_RESOURCES])
{
	const struct cycle_case *world = fixture->world;
	memset(allocated, 0, sizeof(int64_t) * CYCLE_RESOURCES);
	memset(protected_, 0, sizeof(int64_t) * CYCLE_RESOURCES);
	for (int g = 0; g < world->group_count; g++) {
		if (!is_within(fixture, world->groups[g].queue, queue))
			continue;
		bool core[INSTANCE_PODS] = {0};
		find_core(fixture, picture, g, core);
		for (int p = 0; p < world->groups[g].pod_count; p++) {
			if (!picture_is_member(&picture->pods[g][p]))
				continue;
			const struct w_pod_class *pod_class =
				&world->base.pod_classes[world->groups[g].pods[p].pod_class];
			for (int r = 0; r < world->base.resource_count; r++) {
				int64_t amount =
					pod_class->request[r] * (r == CYCLE_GPU ? 1000 : built_resource_unit(r));
				allocated[r] += amount;
				protected_[r] += core[p] ? amount : 0;
			}
		}
	}
}
