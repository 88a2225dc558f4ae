/* Builds the engine's view of a case and plays the rest of the world. */
#include "cycle_fixture.h"

#include "../random.h"

#include <string.h>

static void make_queues(struct stage *stage)
{
	const struct cycle_case *world = stage->world;
	struct arena *arena = stage->built.arena;
	stage->cycle.queue_count = (size_t)world->queue_count;
	stage->cycle.queues = arena_array(arena, struct cycle_queue, CASE_QUEUES);
	for (int q = 0; q < world->queue_count; q++) {
		const struct c_queue *from = &world->queues[q];
		struct cycle_queue *queue = &stage->cycle.queues[q];
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
		queue->preempt_runtime = from->preempt_runtime * STAGE_SECOND;
		queue->reclaim_runtime = from->reclaim_runtime * STAGE_SECOND;
	}
}

static void make_group(struct stage *stage, int number)
{
	static const enum cycle_preempt preempts[] = {[C_PREEMPTIBLE] = CYCLE_PREEMPTIBLE,
	                                              [C_NON_PREEMPTIBLE] = CYCLE_NON_PREEMPTIBLE,
	                                              [C_SEMI_PREEMPTIBLE] = CYCLE_SEMI_PREEMPTIBLE};
	const struct c_group *from = &stage->world->groups[number];
	struct cycle_group *group = &stage->cycle.groups[number];
	struct arena *arena = stage->built.arena;
	struct instance instance;
	case_instance(stage->world, number, &instance);
	built_gang(&stage->built, &instance, arena_printf(arena, "g%d", number), &group->gang);
	group->queue = from->queue;
	group->queue_name = stage->cycle.queues[from->queue].name;
	group->priority = from->priority;
	group->preempt = preempts[from->preempt];
	group->creation = number;
	group->grace = from->grace < 0 ? -1 : from->grace * STAGE_SECOND;
	group->evict_after = stage->cycle.now + from->delay * STAGE_SECOND;
	group->was_running = arena_array(arena, bool, INSTANCE_PODS);
	for (size_t p = 0; p < group->gang.pod_count && from->age >= 0; p++)
		group->has_started |= group->gang.pods[p].state == MEMBER_RUNNING;
	group->started = stage->cycle.now - from->age * STAGE_SECOND;
}

static void occupy_members(struct stage *stage)
{
	for (size_t g = 0; g < stage->cycle.group_count; g++) {
		const struct gang *gang = &stage->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			if (gang->pods[p].state == MEMBER_RUNNING)
				cluster_occupy(stage->cycle.cluster, gang->pods[p].kind, gang->pods[p].node,
				               OCCUPY_RUNNING);
	}
}

static void vacate_leavers(struct stage *stage)
{
	const struct instance *base = &stage->world->base;
	for (int i = 0; i < base->other_count && !stage->leavers_left; i++)
		if (base->others[i].occupancy == W_RELEASING)
			cluster_vacate(stage->cycle.cluster, stage->built.kinds[base->others[i].kind],
			               stage->built.to_engine[base->others[i].node], OCCUPY_RELEASING);
	stage->leavers_left = true;
}

/* Everything but the members on their nodes. */
static void make_stage(struct stage *stage, const struct cycle_case *world)
{
	*stage = (struct stage){.world = world, .arena = arena_create(), .retry_at = INT64_MAX};
	built_create(&stage->built, &world->base);
	stage->cycle.cluster = stage->built.cluster;
	stage->cycle.arena = stage->arena;
	make_queues(stage);
	if (world->starved) {
		stage->cycle.now = 1000 * STAGE_SECOND;
		stage->cycle.starvation_after = 500 * STAGE_SECOND;
	}
	stage->cycle.group_count = (size_t)world->group_count;
	stage->cycle.groups = arena_array(stage->built.arena, struct cycle_group, CASE_GROUPS);
	for (int g = 0; g < world->group_count; g++)
		make_group(stage, g);
}

void stage_create(struct stage *stage, const struct cycle_case *world)
{
	make_stage(stage, world);
	occupy_members(stage);
}

void stage_copy(struct stage *stage, const struct stage *from)
{
	make_stage(stage, from->world);
	stage->cycle.now = from->cycle.now;
	for (size_t g = 0; g < stage->cycle.group_count; g++) {
		struct cycle_group *group = &stage->cycle.groups[g];
		const struct cycle_group *before = &from->cycle.groups[g];
		memcpy(group->gang.pods, before->gang.pods, sizeof(*group->gang.pods) * group->gang.pod_count);
		group->has_stale_since = before->has_stale_since;
		group->stale_since = before->stale_since;
		group->has_started = before->has_started;
		group->started = before->started;
	}
	for (size_t g = 0; g < stage->cycle.group_count; g++) {
		struct gang *gang = &stage->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			if (gang->pods[p].state == MEMBER_RESERVED) {
				gang->pods[p].state = MEMBER_WAITING;
				gang->pods[p].nominated = gang->pods[p].node;
			}
	}
	occupy_members(stage);
	stage->leaver_count = from->leaver_count;
	memcpy(stage->leavers, from->leavers, sizeof(stage->leavers));
	for (int i = 0; i < stage->leaver_count; i++) {
		const struct leaver *leaver = &stage->leavers[i];
		cluster_occupy(stage->cycle.cluster, stage->cycle.groups[leaver->group].gang.pods[leaver->pod].kind,
		               leaver->node, OCCUPY_RELEASING);
	}
	if (from->leavers_left)
		vacate_leavers(stage);
}

void stage_destroy(struct stage *stage)
{
	arena_destroy(stage->arena);
	built_destroy(&stage->built);
}

void stage_begin(struct stage *stage)
{
	struct cycle *cycle = &stage->cycle;
	arena_reset(stage->arena);
	cycle->evictions = NULL;
	cycle->eviction_count = cycle->eviction_capacity = 0;
	cycle_begin(cycle);
	for (size_t g = 0; g < cycle->group_count; g++)
		cycle->groups[g].reasons = (struct reasons){0};
}

static void finish_leaver(struct stage *stage, const struct leaver *leaver)
{
	struct cycle_group *group = &stage->cycle.groups[leaver->group];
	struct gang_pod *pod = &group->gang.pods[leaver->pod];
	cluster_vacate(stage->cycle.cluster, pod->kind, leaver->node, OCCUPY_RELEASING);
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

bool stage_settle(struct stage *stage)
{
	struct cycle *cycle = &stage->cycle;
	start_groups(cycle);
	stage->retry_at = cycle->retry_at < stage->retry_at ? cycle->retry_at : stage->retry_at;
	struct random random = {.state = stage->world->base.seed * 1000 + stage->days++};
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		stage->leavers[stage->leaver_count++] =
			(struct leaver){eviction->group, eviction->pod, eviction->node, eviction->moved};
	}
	cycle->eviction_count = 0;
	bool busy = stage->leaver_count > 0 || !stage->leavers_left;
	int left = 0;
	for (int i = 0; i < stage->leaver_count; i++) {
		if (stage->world->slow && random_chance(&random, 50))
			stage->leavers[left++] = stage->leavers[i];
		else
			finish_leaver(stage, &stage->leavers[i]);
	}
	stage->leaver_count = left;
	if (!stage->world->slow || random_chance(&random, 50))
		vacate_leavers(stage);
	return busy;
}

bool stage_wait(struct stage *stage)
{
	struct cycle *cycle = &stage->cycle;
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
	if (stage->retry_at > cycle->now && stage->retry_at < next)
		next = stage->retry_at;
	stage->retry_at = INT64_MAX;
	if (next == INT64_MAX)
		return false;
	cycle->now = next;
	return true;
}

uint64_t stage_fingerprint(const struct stage *stage)
{
	const struct cycle *cycle = &stage->cycle;
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
