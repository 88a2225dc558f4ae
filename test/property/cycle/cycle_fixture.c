/* Builds the engine's view of a case and plays the rest of the world. */
#include "cycle_fixture.h"

#include "../random.h"

#include <string.h>

static void make_queues(struct cycle_fixture *fixture)
{
	const struct cycle_case *world = fixture->world;
	struct arena *arena = fixture->built.arena;
	fixture->cycle.queue_count = (size_t)world->queue_count;
	fixture->cycle.queues = arena_array(arena, struct cycle_queue, CASE_QUEUES);
	for (int q = 0; q < world->queue_count; q++) {
		const struct c_queue *from = &world->queues[q];
		struct cycle_queue *queue = &fixture->cycle.queues[q];
		*queue = (struct cycle_queue){.name = arena_printf(arena, "q%d", q),
		                              .parent = from->parent,
		                              .priority = from->priority};
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			int64_t unit = r == CYCLE_GPU ? 1000 : built_resource_unit(r);
			queue->quota[r] = from->quota[r] < 0 ? -1 : from->quota[r] * unit;
			queue->limit[r] = from->limit[r] < 0 ? -1 : from->limit[r] * unit;
			queue->weight[r] = from->weight[r] * 1000;
		}
		queue->has_runtime[0] = from->preempt_runtime >= 0;
		queue->has_runtime[1] = from->reclaim_runtime >= 0;
		queue->preempt_runtime = from->preempt_runtime * CLOCK_SECOND;
		queue->reclaim_runtime = from->reclaim_runtime * CLOCK_SECOND;
	}
}

static void make_group(struct cycle_fixture *fixture, int number)
{
	static const enum cycle_preempt preempts[] = {[C_PREEMPTIBLE] = CYCLE_PREEMPTIBLE,
	                                              [C_NON_PREEMPTIBLE] = CYCLE_NON_PREEMPTIBLE,
	                                              [C_SEMI_PREEMPTIBLE] = CYCLE_SEMI_PREEMPTIBLE};
	const struct c_group *from = &fixture->world->groups[number];
	struct cycle_group *group = &fixture->cycle.groups[number];
	struct arena *arena = fixture->built.arena;
	struct instance instance;
	case_instance(fixture->world, number, &instance);
	built_gang(&fixture->built, &instance, arena_printf(arena, "g%d", number), &group->gang);
	group->queue = from->queue;
	group->queue_name = fixture->cycle.queues[from->queue].name;
	group->priority = from->priority;
	group->preempt = preempts[from->preempt];
	group->creation = number;
	group->grace = from->grace < 0 ? -1 : from->grace * CLOCK_SECOND;
	group->evict_after = fixture->cycle.now + from->delay * CLOCK_SECOND;
	group->was_running = arena_array(arena, bool, INSTANCE_PODS);
	for (size_t p = 0; p < group->gang.pod_count && from->age >= 0; p++)
		group->has_started |= group->gang.pods[p].state == MEMBER_RUNNING;
	group->started = fixture->cycle.now - from->age * CLOCK_SECOND;
}

static void occupy_members(struct cycle_fixture *fixture)
{
	for (size_t g = 0; g < fixture->cycle.group_count; g++) {
		const struct gang *gang = &fixture->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			if (gang->pods[p].state == MEMBER_RUNNING)
				cluster_occupy(fixture->cycle.cluster, gang->pods[p].pod_class, gang->pods[p].node,
				               OCCUPY_RUNNING);
	}
}

static void vacate_leavers(struct cycle_fixture *fixture)
{
	const struct instance *base = &fixture->world->base;
	for (int i = 0; i < base->other_count && !fixture->leavers_left; i++)
		if (base->others[i].occupancy == W_RELEASING)
			cluster_vacate(fixture->cycle.cluster, fixture->built.pod_classes[base->others[i].pod_class],
			               fixture->built.to_engine[base->others[i].node], OCCUPY_RELEASING);
	fixture->leavers_left = true;
}

/* Everything but the members on their nodes. */
static void make_fixture(struct cycle_fixture *fixture, const struct cycle_case *world)
{
	*fixture = (struct cycle_fixture){.world = world, .arena = arena_create(), .retry_at = INT64_MAX};
	built_create(&fixture->built, &world->base);
	fixture->cycle.cluster = fixture->built.cluster;
	fixture->cycle.arena = fixture->arena;
	make_queues(fixture);
	if (world->starved) {
		fixture->cycle.now = 1000 * CLOCK_SECOND;
		fixture->cycle.starvation_after = 500 * CLOCK_SECOND;
	}
	fixture->cycle.group_count = (size_t)world->group_count;
	fixture->cycle.groups = arena_array(fixture->built.arena, struct cycle_group, CASE_GROUPS);
	for (int g = 0; g < world->group_count; g++)
		make_group(fixture, g);
}

void cycle_fixture_create(struct cycle_fixture *fixture, const struct cycle_case *world)
{
	make_fixture(fixture, world);
	occupy_members(fixture);
}

void cycle_fixture_copy(struct cycle_fixture *fixture, const struct cycle_fixture *from)
{
	make_fixture(fixture, from->world);
	fixture->cycle.now = from->cycle.now;
	for (size_t g = 0; g < fixture->cycle.group_count; g++) {
		struct cycle_group *group = &fixture->cycle.groups[g];
		const struct cycle_group *before = &from->cycle.groups[g];
		memcpy(group->gang.pods, before->gang.pods, sizeof(*group->gang.pods) * group->gang.pod_count);
		group->has_stale_since = before->has_stale_since;
		group->stale_since = before->stale_since;
		group->has_started = before->has_started;
		group->started = before->started;
	}
	for (size_t g = 0; g < fixture->cycle.group_count; g++) {
		struct gang *gang = &fixture->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			if (gang->pods[p].state == MEMBER_RESERVED) {
				gang->pods[p].state = MEMBER_WAITING;
				gang->pods[p].nominated = gang->pods[p].node;
			}
	}
	occupy_members(fixture);
	fixture->leaver_count = from->leaver_count;
	memcpy(fixture->leavers, from->leavers, sizeof(fixture->leavers));
	for (int i = 0; i < fixture->leaver_count; i++) {
		const struct leaver *leaver = &fixture->leavers[i];
		cluster_occupy(fixture->cycle.cluster,
		               fixture->cycle.groups[leaver->group].gang.pods[leaver->pod].pod_class, leaver->node,
		               OCCUPY_RELEASING);
	}
	if (from->leavers_left)
		vacate_leavers(fixture);
}

void cycle_fixture_destroy(struct cycle_fixture *fixture)
{
	arena_destroy(fixture->arena);
	built_destroy(&fixture->built);
}

void cycle_fixture_begin(struct cycle_fixture *fixture)
{
	struct cycle *cycle = &fixture->cycle;
	arena_reset(fixture->arena);
	cycle->evictions = NULL;
	cycle->eviction_count = cycle->eviction_capacity = 0;
	cycle_begin(cycle);
	for (size_t g = 0; g < cycle->group_count; g++)
		cycle->groups[g].reasons = (struct reasons){0};
}

static void finish_leaver(struct cycle_fixture *fixture, const struct leaver *leaver)
{
	struct cycle_group *group = &fixture->cycle.groups[leaver->group];
	struct gang_pod *pod = &group->gang.pods[leaver->pod];
	cluster_vacate(fixture->cycle.cluster, pod->pod_class, leaver->node, OCCUPY_RELEASING);
	if (leaver->moved)
		return;
	pod->state = MEMBER_WAITING;
	pod->node = -1;
	group->has_stale_since = false;
}

/* What was bound in this cycle runs from now on, and what has nothing left does not run. */
static void start_groups(struct cycle *cycle)
{
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct cycle_group *group = &cycle->groups[g];
		bool runs = false, ran = false;
		for (size_t p = 0; p < group->gang.pod_count; p++) {
			runs |= group->gang.pods[p].state == MEMBER_RUNNING;
			ran |= group->was_running[p];
		}
		if (!runs || !ran) {
			group->has_started = runs;
			group->started = cycle->now;
		}
	}
}

bool cycle_fixture_settle(struct cycle_fixture *fixture)
{
	struct cycle *cycle = &fixture->cycle;
	start_groups(cycle);
	fixture->retry_at = cycle->retry_at < fixture->retry_at ? cycle->retry_at : fixture->retry_at;
	struct random random = {.state = fixture->world->base.seed * 1000 + fixture->days++};
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		fixture->leavers[fixture->leaver_count++] =
			(struct leaver){eviction->group, eviction->pod, eviction->node, eviction->moved};
	}
	cycle->eviction_count = 0;
	bool busy = fixture->leaver_count > 0 || !fixture->leavers_left;
	int left = 0;
	for (int i = 0; i < fixture->leaver_count; i++) {
		if (fixture->world->slow && random_chance(&random, 50))
			fixture->leavers[left++] = fixture->leavers[i];
		else
			finish_leaver(fixture, &fixture->leavers[i]);
	}
	fixture->leaver_count = left;
	if (!fixture->world->slow || random_chance(&random, 50))
		vacate_leavers(fixture);
	return busy;
}

bool cycle_fixture_wait(struct cycle_fixture *fixture)
{
	struct cycle *cycle = &fixture->cycle;
	int64_t next = INT64_MAX;
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct cycle_group *group = &cycle->groups[g];
		bool satisfied[INSTANCE_TREE];
		size_t running = 0;
		gang_satisfied(&group->gang, NULL, satisfied);
		for (size_t p = 0; p < group->gang.pod_count; p++)
			running += group->gang.pods[p].state == MEMBER_RUNNING;
		bool stale = !satisfied[0] && running > 0 && group->grace >= 0;
		if (stale && !group->has_stale_since) {
			group->has_stale_since = true;
			group->stale_since = cycle->now;
		}
		int64_t grace = group->grace > 0 ? group->grace : 1; /* the clock has to move for every timer */
		if (stale && group->stale_since + grace > cycle->now && group->stale_since + grace < next)
			next = group->stale_since + grace;
		if (group->evict_after > cycle->now && group->evict_after < next)
			next = group->evict_after;
	}
	if (fixture->retry_at > cycle->now && fixture->retry_at < next)
		next = fixture->retry_at;
	fixture->retry_at = INT64_MAX;
	if (next == INT64_MAX)
		return false;
	cycle->now = next;
	return true;
}

uint64_t cycle_fixture_fingerprint(const struct cycle_fixture *fixture)
{
	const struct cycle *cycle = &fixture->cycle;
	uint64_t sum = cycle->eviction_count;
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		sum = sum * 1000003 + (uint64_t)eviction->group * 64 + (uint64_t)eviction->pod;
		sum = sum * 1000003 + (uint64_t)eviction->node * 4096 + (uint64_t)(eviction->by + 1) * 16 +
		      (uint64_t)eviction->action * 2 + eviction->moved;
	}
	for (size_t g = 0; g < cycle->group_count; g++) {
		const struct gang *gang = &cycle->groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++) {
			const struct gang_pod *pod = &gang->pods[p];
			bool placed = pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
			sum = sum * 1000003 + (uint64_t)pod->state * 65599 + (uint64_t)(placed ? pod->node + 1 : 0);
		}
	}
	return sum;
}
