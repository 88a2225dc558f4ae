/* Property test of slots: random changes of a cluster of several spans, after which the slots of shapes, counted in one go or
 * brought up to date, are those that counting node by node gives, and so are their sums.
 *
 * PLATOON_PROPERTY_SEED is the seed of the first instance, PLATOON_PROPERTY_COUNT their number. */
#include "base/random.h"
#include "engine/cluster/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = 300, MOST_NODES = 200, CHANGES = 60, CLASSES = 12, PODS = 400 };

static const char *const levels[] = {"zone", "rack", "kubernetes.io/hostname"};

struct pod {
	int pod_class, node;
	enum occupancy occupancy;
};

struct instance {
	struct random random;
	struct cluster *cluster;
	struct pod pods[PODS];
	int pod_count, nodes_made;
};

static void make_node(struct instance *instance, struct cluster_node *node, char names[4][24],
                      struct resource_amount amounts[4], struct label labels[4])
{
	struct random *random = &instance->random;
	int number = instance->nodes_made++, gpus = random_chance(random, 80) ? 8 : random_range(random, 0, 4);
	snprintf(names[0], 24, "z%d", random_range(random, 0, 2));
	snprintf(names[1], 24, "r%d", random_range(random, 0, 19));
	snprintf(names[2], 24, "n%04d", number);
	size_t count = 0;
	labels[count++] = (struct label){levels[2], names[2]};
	if (random_chance(random, 97))
		labels[count++] = (struct label){levels[0], names[0]};
	if (random_chance(random, 97))
		labels[count++] = (struct label){levels[1], names[1]};
	if (random_chance(random, 20))
		labels[count++] = (struct label){"disk", "ssd"};
	amounts[0] = (struct resource_amount){"cpu", 1000 * random_range(random, 15, 16)};
	amounts[1] = (struct resource_amount){"memory", INT64_C(1) << (random_chance(random, 90) ? 36 : 52)};
	amounts[2] = (struct resource_amount){"gpu", gpus};
	amounts[3] = (struct resource_amount){"pods", 20};
	*node = (struct cluster_node){.name = names[2],
	                              .labels = {labels, count},
	                              .allocatable = amounts,
	                              .allocatable_count = 4,
	                              .ready = true};
	labels_sort(&node->labels);
}

static void open_cluster(struct instance *instance)
{
	struct cluster_node node;
	char names[4][24];
	struct resource_amount amounts[4];
	struct label labels[4];
	instance->cluster = cluster_create();
	cluster_add_topology(instance->cluster, "t", levels, 3);
	cluster_add_topology(instance->cluster, "racks", levels + 1, 1);
	for (int n = random_range(&instance->random, 1, MOST_NODES); n > 0; n--) {
		make_node(instance, &node, names, amounts, labels);
		cluster_add_node(instance->cluster, &node);
	}
	cluster_seal(instance->cluster);
}

/* Sizes of which some divide what nodes have, and some are more than most of them have. */
static int random_class(struct instance *instance)
{
	struct random *random = &instance->random;
	int number = random_range(random, 1, CLASSES);
	struct pod_rules rules = {.node_label = number % 6 == 0 ? "disk" : NULL};
	struct resource_amount requests[] = {{"pods", 1},
	                                     {"cpu", 500 * (number % 5)},
	                                     {"memory", (INT64_C(1) << 32) * (number % 3)},
	                                     {"gpu", number % 4}};
	struct pod_input input = {.namespace_ = "default", .requests = requests, .request_count = 4, .rules = &rules};
	return cluster_add_pod_class(instance->cluster, &input);
}

static void change_pods(struct instance *instance)
{
	struct random *random = &instance->random;
	for (int i = random_range(random, 1, random_chance(random, 30) ? 150 : 3); i > 0; i--) {
		int at = random_range(random, 0, PODS - 1);
		if (at < instance->pod_count) {
			struct pod *pod = &instance->pods[at];
			cluster_vacate(instance->cluster, pod->pod_class, pod->node, pod->occupancy);
			*pod = instance->pods[--instance->pod_count];
			continue;
		}
		struct pod pod = {.pod_class = random_class(instance),
		                  .node = random_range(random, 0, cluster_node_count(instance->cluster) - 1),
		                  .occupancy = random_chance(random, 30) ? OCCUPY_RELEASING : OCCUPY_RUNNING};
		cluster_occupy(instance->cluster, pod.pod_class, pod.node, pod.occupancy);
		instance->pods[instance->pod_count++] = pod;
	}
}

/* Nodes go, with what runs there, and others come. */
static void change_nodes(struct instance *instance)
{
	struct cluster *cluster = instance->cluster;
	int before = cluster_node_count(cluster), kept = 0;
	bool *out = calloc((size_t)before, sizeof(bool));
	int32_t *moved = calloc((size_t)before, sizeof(int32_t));
	struct cluster_node node;
	char names[4][24];
	struct resource_amount amounts[4];
	struct label labels[4];
	if (!out || !moved)
		abort();
	int gone = random_range(&instance->random, 0, before - 1);
	out[gone] = before > 1;
	for (int p = 0; p < instance->pod_count; p++) {
		if (out[instance->pods[p].node])
			cluster_vacate(cluster, instance->pods[p].pod_class, gone, instance->pods[p].occupancy);
		else
			instance->pods[kept++] = instance->pods[p];
	}
	instance->pod_count = kept;
	make_node(instance, &node, names, amounts, labels);
	cluster_change_nodes(cluster, &node, 1, out, moved);
	for (int p = 0; p < kept; p++)
		instance->pods[p].node = moved[instance->pods[p].node];
	free(out);
	free(moved);
}

static void change_amount(struct instance *instance)
{
	struct cluster *cluster = instance->cluster;
	int gpus = cluster_find_resource(cluster, "gpu"), most = random_chance(&instance->random, 50) ? 8 : 2;
	int node = random_range(&instance->random, 0, cluster_node_count(cluster) - 1);
	if (random_chance(&instance->random, 50))
		cluster_set_amount(cluster, gpus, node, random_range(&instance->random, 0, most));
	else
		cluster_hold_amount(cluster, gpus, node, random_range(&instance->random, 0, 2));
}

static bool check_sums(const struct cluster *cluster, const struct slots *slots)
{
	bool right = true;
	for (int t = 0; t < cluster->topology_count; t++)
		for (int l = 0; l < cluster->topologies[t].level_count; l++)
			for (int d = 0; slots->sums[t][l] && d < cluster->topologies[t].domain_count[l]; d++) {
				int64_t sum = 0;
				for (int n = 0; n < cluster->node_count; n++)
					sum += cluster->topologies[t].node_domain[l][n] == d ? slots->node[n] : 0;
				right &= sum == slots->sums[t][l][d];
			}
	return right;
}

static bool check_slots(struct instance *instance)
{
	struct cluster *cluster = instance->cluster;
	int pod_class = random_class(instance), shape = cluster->pod_classes.items[pod_class].shape;
	int view = random_range(&instance->random, 0, VIEW_COUNT - 1), open = 0;
	const struct slots *slots = slots_get(cluster, shape, view);
	int64_t total = 0;
	bool right = true;
	for (int n = 0; n < cluster->node_count; n++) {
		int32_t slot = slots_count_on_node(cluster, &cluster->shapes.items[shape], n, view);
		right &= slots->node[n] == slot;
		total += slot;
		open += slot > 0;
	}
	return right && slots->total == total && slots->open == open && check_sums(cluster, slots);
}

static bool run(uint64_t seed)
{
	struct instance instance = {.random = {seed}};
	bool right = true;
	open_cluster(&instance);
	for (int i = 0; i < CHANGES && right; i++) {
		int what = random_range(&instance.random, 0, 9);
		if (what == 0)
			change_nodes(&instance);
		else if (what == 1)
			change_amount(&instance);
		else
			change_pods(&instance);
		right = check_slots(&instance);
	}
	cluster_destroy(instance.cluster);
	if (!right)
		printf("seed %" PRIu64 ": slots differ from those counted node by node\n", seed);
	return right;
}

static uint64_t setting(const char *name, uint64_t usual)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 10) : usual;
}

int main(void)
{
	uint64_t first = setting("PLATOON_PROPERTY_SEED", 1), count = setting("PLATOON_PROPERTY_COUNT", DEFAULT_COUNT);
	int failed = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		failed += !run(seed);
	printf("%d passed, %d failed\n", (int)count - failed, failed);
	return failed > 0;
}
