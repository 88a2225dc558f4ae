/* Full clusters with queues and groups. */
#include "evict_world.h"

#include <stdlib.h>
#include <string.h>

enum { LOW = 50, HIGH = 75 };

static void make_queue(struct cycle_queue *queue, const char *name, int64_t gpus)
{
	*queue = (struct cycle_queue){.name = name, .parent = -1, .priority = 100};
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		queue->quota[r] = -1;
		queue->limit[r] = -1;
		queue->weight[r] = 1000;
	}
	queue->quota[CYCLE_GPU] = gpus * 1000;
}

static void begin(struct evict_world *world, int nodes, int queues, int groups)
{
	memset(world, 0, sizeof(*world));
	world_create(&world->world, nodes, WORLD_EMPTY);
	struct cycle *cycle = &world->cycle;
	cycle->cluster = world->world.cluster;
	cycle->arena = arena_create();
	cycle->queue_count = (size_t)queues;
	cycle->queues = arena_array(cycle->arena, struct cycle_queue, (size_t)queues);
	cycle->groups = arena_array(cycle->arena, struct cycle_group, (size_t)groups);
	world->waiting = -1;
}

static struct cycle_group *add_group(struct evict_world *world, struct gang gang, int queue, int priority)
{
	struct cycle *cycle = &world->cycle;
	struct cycle_group *group = &cycle->groups[cycle->group_count];
	*group = (struct cycle_group){.gang = gang,
	                              .queue = queue,
	                              .queue_name = cycle->queues[queue].name,
	                              .priority = priority,
	                              .creation = (int64_t)cycle->group_count,
	                              .grace = -1};
	cycle->group_count++;
	group->was_running = arena_array(cycle->arena, bool, gang.pod_count);
	return group;
}

static const struct gang_plan single = {.name = "single",
                                        .pods = 1,
                                        .gpus = 1,
                                        .root_required = WORLD_NO_LEVEL,
                                        .parent_required = WORLD_NO_LEVEL,
                                        .segment_required = WORLD_NO_LEVEL,
                                        .root_preferred = WORLD_NO_LEVEL};

/* One running pod with a device of the node. */
static struct cycle_group *add_single(struct evict_world *world, int queue, int node)
{
	struct gang gang = world_gang(&world->world, &single);
	gang.pods[0].state = MEMBER_RUNNING;
	gang.pods[0].node = node;
	cluster_occupy(world->world.cluster, gang.pods[0].pod_class, node, OCCUPY_RUNNING);
	return add_group(world, gang, queue, LOW);
}

void evict_world_gang(struct evict_world *world, int nodes, enum evict_kind kind, bool same_queue)
{
	struct gang_plan plan = single;
	plan.name = "wide";
	plan.gpus = WORLD_GPUS;
	plan.pods = kind == EVICT_RACK ? WORLD_RACK_NODES : nodes / 2;
	if (kind == EVICT_SEGMENTS) {
		plan.segments = nodes / 2 / WORLD_RACK_NODES;
		plan.pods = WORLD_RACK_NODES;
		plan.segment_required = WORLD_RACK;
	}
	if (kind == EVICT_RACK || kind == EVICT_TOO_FAR)
		plan.root_required = WORLD_RACK;
	begin(world, nodes, 2, nodes * WORLD_GPUS + 1);
	make_queue(&world->cycle.queues[0], "lent", same_queue ? (int64_t)nodes * WORLD_GPUS : 0);
	make_queue(&world->cycle.queues[1], "owner", (int64_t)nodes * WORLD_GPUS);
	for (int node = 0; node < nodes; node++)
		for (int gpu = 0; gpu < WORLD_GPUS; gpu++) {
			struct cycle_group *group = add_single(world, 0, node);
			/* every second node, and one more */
			if (kind == EVICT_TOO_MANY && gpu == 0 && (node % 2 == 0 || node == 1))
				group->preempt = CYCLE_NON_PREEMPTIBLE;
		}
	world->waiting = (int)world->cycle.group_count;
	add_group(world, world_gang(&world->world, &plan), same_queue ? 0 : 1, HIGH);
}

static int crowd_pods(int group)
{
	return 1 + group % 4;
}

void evict_world_crowd(struct evict_world *world, int nodes, int queues, int groups, enum evict_fill fill)
{
	int devices = nodes * WORLD_GPUS;
	begin(world, nodes, queues, groups + devices);
	for (int q = 0; q < queues; q++)
		make_queue(&world->cycle.queues[q], "queue", devices / queues);
	for (int i = 0; fill != EVICT_IDLE && i < devices; i++)
		add_single(world, fill == EVICT_BALANCED ? i % queues : i % queues / 2 * 2 + 1, i / WORLD_GPUS);
	for (int i = 0; i < groups; i++) {
		struct gang_plan plan = single;
		plan.pods = crowd_pods(i);
		add_group(world, world_gang(&world->world, &plan), i % queues, LOW);
	}
}

int evict_world_served(int queues, int groups, enum evict_fill fill)
{
	int pods = 0;
	for (int i = 0; i < groups; i++)
		if (fill == EVICT_IDLE || (fill == EVICT_LOPSIDED && i % queues % 2 == 0))
			pods += crowd_pods(i);
	return pods;
}

int evict_world_wanted(const struct evict_world *world)
{
	return world->waiting < 0 ? 0 : (int)world->cycle.groups[world->waiting].gang.pod_count;
}

void evict_world_destroy(struct evict_world *world)
{
	for (size_t g = 0; g < world->cycle.group_count; g++)
		world_free_gang(&world->cycle.groups[g].gang);
	arena_destroy(world->cycle.arena);
	world_destroy(&world->world);
}
