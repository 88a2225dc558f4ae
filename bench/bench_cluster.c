/* Clusters and gangs of the benchmark. */
#include "bench_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_labels[BENCH_LEVELS] = {"topology.kubernetes.io/zone", "example.com/block",
                                                       "example.com/rack", "kubernetes.io/hostname"};

const char *bench_cluster_state_name(enum bench_state state)
{
	static const char *const names[BENCH_STATES] = {"empty", "half (racks)", "half (nodes)", "fragmented"};
	return names[state];
}

uint64_t bench_cluster_random(struct bench_cluster *bench)
{
	uint64_t value = bench->random += 0x9e3779b97f4a7c15ULL;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

static int block_count(const struct bench_cluster *bench)
{
	enum { BLOCK = BENCH_RACK_NODES * BENCH_BLOCK_RACKS };
	return (bench->nodes + BLOCK - 1) / BLOCK;
}

static void add_node(struct bench_cluster *bench, int number)
{
	static const struct resource_amount allocatable[] = {{"cpu", 128000},
	                                                     {"memory", INT64_C(1) << 40},
	                                                     {"nvidia.com/gpu", BENCH_GPUS},
	                                                     {"pods", 110}};
	char zone[16], block[16], rack[16], host[16];
	int block_number = number / (BENCH_RACK_NODES * BENCH_BLOCK_RACKS);
	int blocks_per_zone = (block_count(bench) + bench->zones - 1) / bench->zones;
	snprintf(zone, sizeof(zone), "z%02d", block_number / blocks_per_zone);
	snprintf(block, sizeof(block), "b%03d", block_number);
	snprintf(rack, sizeof(rack), "r%04d", number / BENCH_RACK_NODES);
	snprintf(host, sizeof(host), "n%06d", number);
	struct label labels[] = {{level_labels[BENCH_ZONE], zone},
	                         {level_labels[BENCH_BLOCK], block},
	                         {level_labels[BENCH_RACK], rack},
	                         {level_labels[BENCH_HOST], host}};
	struct cluster_node node = {
		.name = host, .labels = {labels, 4}, .allocatable = allocatable, .allocatable_count = 4, .ready = true};
	labels_sort(&node.labels);
	cluster_add_node(bench->cluster, &node);
}

static int gpu_pod_class(struct bench_cluster *bench, int gpus)
{
	struct resource_amount requests[] = {{"cpu", 4000 * gpus},
	                                     {"memory", (INT64_C(16) << 30) * gpus},
	                                     {"nvidia.com/gpu", gpus},
	                                     {"pods", 1}};
	struct pod_input input = {.namespace_ = "default", .requests = requests, .request_count = 4};
	return cluster_add_pod_class(bench->cluster, &input);
}

static void fill(struct bench_cluster *bench, enum bench_state state)
{
	bool second = false;
	for (int node = 0; node < bench->nodes; node++) {
		int used = 0, unit = state == BENCH_HALF_RACKS ? BENCH_RACK_NODES : 1;
		if (node % (2 * unit) == 0)
			second = bench_cluster_random(bench) % 2;
		if (state == BENCH_HALF_RACKS || state == BENCH_HALF_NODES)
			used = (node / unit % 2 == 1) == second ? BENCH_GPUS : 0;
		if (state == BENCH_FRAGMENTED)
			used = (int)(bench_cluster_random(bench) % (BENCH_GPUS + 1));
		bench->used[node] = used;
		if (used > 0)
			cluster_occupy(bench->cluster, bench->fillers[used], node, OCCUPY_RUNNING);
	}
}

void bench_cluster_create(struct bench_cluster *bench, int nodes, enum bench_state state)
{
	memset(bench, 0, sizeof(*bench));
	bench->nodes = nodes;
	bench->zones = nodes >= 16384 ? 8 : 2;
	bench->random = 42;
	bench->used = calloc((size_t)nodes, sizeof(int));
	if (!bench->used)
		abort();
	bench->cluster = cluster_create();
	cluster_add_topology(bench->cluster, "cluster", level_labels, BENCH_LEVELS);
	for (int node = 0; node < nodes; node++)
		add_node(bench, node);
	cluster_seal(bench->cluster);
	for (int gpus = 1; gpus <= BENCH_GPUS; gpus++)
		bench->fillers[gpus] = gpu_pod_class(bench, gpus);
	fill(bench, state);
}

void bench_cluster_destroy(struct bench_cluster *bench)
{
	cluster_destroy(bench->cluster);
	free(bench->used);
}

/* ---- gangs ---- */

int plan_pod_count(const struct gang_plan *plan)
{
	int leaves = (plan->parents ? plan->parents : 1) * (plan->segments ? plan->segments : 1);
	return leaves * plan->pods + plan->longer;
}

static struct gang_level level_at(int level)
{
	return level == BENCH_NO_LEVEL ? GANG_NO_LEVEL : (struct gang_level){.topology = 0, .level = level};
}

static int add_tree_node(struct gang *gang, int parent, int children, int minimum, int required)
{
	int number = (int)gang->tree_count++;
	gang->tree[number] = (struct gang_node){.name = "",
	                                        .parent = parent,
	                                        .child_count = children,
	                                        .minimum = minimum,
	                                        .required = level_at(required),
	                                        .preferred = GANG_NO_LEVEL};
	return number;
}

static void add_pods(struct gang *gang, int leaf, int pod_class, int count)
{
	for (int i = 0; i < count; i++)
		gang->pods[gang->pod_count++] = (struct gang_pod){.name = "pod",
		                                                  .pod_class = pod_class,
		                                                  .leaf = leaf,
		                                                  .state = MEMBER_WAITING,
		                                                  .node = -1,
		                                                  .nominated = -1};
}

struct gang bench_cluster_gang(struct bench_cluster *bench, const struct gang_plan *plan)
{
	struct gang gang = {.namespace_ = "default", .name = plan->name};
	int pod_class = gpu_pod_class(bench, plan->gpus);
	size_t parents = (size_t)plan->parents, segments = (size_t)plan->segments;
	gang.tree = calloc(1 + parents + (parents ? parents : 1) * segments, sizeof(*gang.tree));
	gang.pods = calloc((size_t)plan_pod_count(plan), sizeof(*gang.pods));
	if (!gang.tree || !gang.pods)
		abort();
	int children = plan->parents ? plan->parents : plan->segments;
	int root = add_tree_node(&gang, -1, children, children ? children : plan->pods, plan->root_required);
	gang.tree[root].preferred = level_at(plan->root_preferred);
	if (!children)
		add_pods(&gang, root, pod_class, plan->pods);
	for (int p = 0; p < plan->parents; p++) /* breadth first: all parents, then all segments */
		add_tree_node(&gang, root, plan->segments, plan->segments, plan->parent_required);
	int leaves = (plan->parents ? plan->parents : 1) * plan->segments;
	for (int s = 0; s < leaves; s++) {
		int pods = plan->pods + (s == leaves - 1 ? plan->longer : 0);
		int leaf = add_tree_node(&gang, plan->parents ? 1 + s / plan->segments : root, 0, pods,
		                         plan->segment_required);
		add_pods(&gang, leaf, pod_class, pods);
	}
	return gang;
}

void bench_cluster_free_gang(struct gang *gang)
{
	free(gang->tree);
	free(gang->pods);
}

bool bench_cluster_fits(const struct bench_cluster *bench, const struct gang_plan *plan)
{
	if (plan->impossible)
		return false;
	int64_t pods = 0, segments = 0, parents = 0, in_zone = 0, in_rack = 0;
	for (int node = 0; node < bench->nodes; node++) {
		in_rack += (BENCH_GPUS - bench->used[node]) / plan->gpus;
		if ((node + 1) % BENCH_RACK_NODES != 0)
			continue;
		pods += in_rack;
		in_zone += in_rack / plan->pods;
		in_rack = 0;
		if (node + 1 < bench->nodes && cluster_node_domain(bench->cluster, 0, BENCH_ZONE, node) ==
		                                       cluster_node_domain(bench->cluster, 0, BENCH_ZONE, node + 1))
			continue;
		segments += in_zone;
		if (plan->parents)
			parents += in_zone / plan->segments;
		in_zone = 0;
	}
	if (plan->parents)
		return parents >= plan->parents;
	return plan->segments ? segments >= plan->segments : pods >= plan->pods;
}
