/* Full clusters with queues and groups. */
#include "crowded.h"

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

static void begin(struct crowded *bench, int nodes, int queues, int groups)
{
	memset(bench, 0, sizeof(*bench));
	bench_cluster_create(&bench->bench, nodes, BENCH_EMPTY);
	struct cycle *cycle = &bench->cycle;
	cycle->cluster = bench->bench.cluster;
	cycle->arena = arena_create();
	cycle->queue_count = (size_t)queues;
	cycle->queues = arena_array(cycle->arena, struct cycle_queue, (size_t)queues);
	cycle->groups = arena_array(cycle->arena, struct cycle_group, (size_t)groups);
	bench->waiting = -1;
}

static struct cycle_group *add_group(struct crowded *bench, struct gang gang, int queue, int priority)
{
	struct cycle *cycle = &bench->cycle;
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
                                        .root_required = BENCH_NO_LEVEL,
                                        .parent_required = BENCH_NO_LEVEL,
                                        .segment_required = BENCH_NO_LEVEL,
                                        .root_preferred = BENCH_NO_LEVEL};

/* One running pod with a device of the node. */
static struct cycle_group *add_single(struct crowded *bench, int queue, int node)
{
	struct gang gang = bench_cluster_gang(&bench->bench, &single);
	gang.pods[0].state = MEMBER_RUNNING;
	gang.pods[0].node = node;
	cluster_occupy(bench->bench.cluster, gang.pods[0].pod_class, node, OCCUPY_RUNNING);
	return add_group(bench, gang, queue, LOW);
}

void crowded_gang(struct crowded *bench, int nodes, enum evict_kind kind, bool same_queue)
{
	struct gang_plan plan = single;
	plan.name = "wide";
	plan.gpus = BENCH_GPUS;
	plan.pods = kind == EVICT_RACK ? BENCH_RACK_NODES : nodes / 2;
	if (kind == EVICT_SEGMENTS) {
		plan.segments = nodes / 2 / BENCH_RACK_NODES;
		plan.pods = BENCH_RACK_NODES;
		plan.segment_required = BENCH_RACK;
	}
	if (kind == EVICT_RACK || kind == EVICT_TOO_FAR)
		plan.root_required = BENCH_RACK;
	begin(bench, nodes, 2, nodes * BENCH_GPUS + 1);
	make_queue(&bench->cycle.queues[0], "lent", same_queue ? (int64_t)nodes * BENCH_GPUS : 0);
	make_queue(&bench->cycle.queues[1], "owner", (int64_t)nodes * BENCH_GPUS);
	for (int node = 0; node < nodes; node++)
		for (int gpu = 0; gpu < BENCH_GPUS; gpu++) {
			struct cycle_group *group = add_single(bench, 0, node);
			/* every second node, and one more */
			if (kind == EVICT_TOO_MANY && gpu == 0 && (node % 2 == 0 || node == 1))
				group->preempt = CYCLE_NON_PREEMPTIBLE;
		}
	bench->waiting = (int)bench->cycle.group_count;
	add_group(bench, bench_cluster_gang(&bench->bench, &plan), same_queue ? 0 : 1, HIGH);
}

static int crowd_pods(int group)
{
	return 1 + group % 4;
}

void crowded_crowd(struct crowded *bench, int nodes, int queues, int groups, enum evict_fill fill)
{
	int devices = nodes * BENCH_GPUS;
	begin(bench, nodes, queues, groups + devices);
	for (int q = 0; q < queues; q++)
		make_queue(&bench->cycle.queues[q], "queue", devices / queues);
	for (int i = 0; fill != EVICT_IDLE && i < devices; i++)
		add_single(bench, fill == EVICT_BALANCED ? i % queues : i % queues / 2 * 2 + 1, i / BENCH_GPUS);
	for (int i = 0; i < groups; i++) {
		struct gang_plan plan = single;
		plan.pods = crowd_pods(i);
		add_group(bench, bench_cluster_gang(&bench->bench, &plan), i % queues, LOW);
	}
}

int crowded_served(int queues, int groups, enum evict_fill fill)
{
	int pods = 0;
	for (int i = 0; i < groups; i++)
		if (fill == EVICT_IDLE || (fill == EVICT_LOPSIDED && i % queues % 2 == 0))
			pods += crowd_pods(i);
	return pods;
}

int crowded_wanted(const struct crowded *bench)
{
	return bench->waiting < 0 ? 0 : (int)bench->cycle.groups[bench->waiting].gang.pod_count;
}

void crowded_destroy(struct crowded *bench)
{
	for (size_t g = 0; g < bench->cycle.group_count; g++)
		bench_cluster_free_gang(&bench->cycle.groups[g].gang);
	arena_destroy(bench->cycle.arena);
	bench_cluster_destroy(&bench->bench);
}
