/* Random instances. Each draws a few features (missing labels, running members, inter-pod rules, ...) so that most
 * instances combine two or three of them and a failure has few possible causes. */
#include "generate.h"

#include "random.h"
#include "rules.h"

#include <assert.h>
#include <string.h>

struct features {
	bool rigid, one_shape, uniform, missing_labels, bad_nodes, colours, running, loose_pins, gated, interactions,
		spread;
	bool required, preferred, surplus, partial, tight;
};

static struct features draw_features(struct random *random)
{
	struct features features = {
		.rigid = random_chance(random, 40),
		.one_shape = random_chance(random, 12),
		.uniform = random_chance(random, 35),
		.missing_labels = random_chance(random, 15),
		.bad_nodes = random_chance(random, 25),
		.colours = random_chance(random, 20),
		.running = random_chance(random, 35),
		.loose_pins = random_chance(random, 15),
		.gated = random_chance(random, 12),
		.interactions = random_chance(random, 30),
		.spread = random_chance(random, 12),
		.required = random_chance(random, 80),
		.preferred = random_chance(random, 45),
		.surplus = random_chance(random, 60),
		.partial = random_chance(random, 60),
		.tight = random_chance(random, 70),
	};
	return features;
}

static void draw_topologies(struct random *random, struct instance *instance)
{
	int roll = random_range(random, 0, 19);
	instance->topology_count = roll == 0 ? 0 : roll < 15 ? 1 : 2;
	for (int i = 0; i < instance->topology_count; i++) {
		instance->topologies[i].level_count = random_range(random, 1, INSTANCE_LEVELS);
		instance->topologies[i].host_level = random_chance(random, 40);
	}
}

/* Labels of a domain tree. Some trees reuse a value below different parents: two racks called r0 are different
 * domains, but one domain for a rule that names the label. */
static void draw_labels(struct random *random, struct instance *instance, bool missing)
{
	for (int topology = 0; topology < instance->topology_count; topology++) {
		bool reuse = random_chance(random, 30);
		int width = random_range(random, 2, 3);
		for (int node = 0; node < instance->node_count; node++) {
			int parent = 0;
			for (int level = 0; level < instance->topologies[topology].level_count; level++) {
				int key = instance_level_key(instance, topology, level);
				if (key == KEY_HOST)
					continue;
				int value = random_range(random, 0, level == 0 ? width - 1 : 1);
				parent = reuse ? value : parent * 3 + value;
				instance->nodes[node].label[key] = missing && random_chance(random, 20) ? -1 : parent;
			}
		}
	}
}

static void draw_nodes(struct random *random, struct instance *instance, const struct features *features)
{
	instance->resource_count = random_range(random, 1, INSTANCE_RESOURCES);
	instance->node_count = random_range(random, random_chance(random, 60) ? 5 : 2, INSTANCE_NODES);
	bool even = random_chance(random, 50);
	int common = random_range(random, 2, 8);
	for (int i = 0; i < instance->node_count; i++) {
		struct w_node *node = &instance->nodes[i];
		for (int key = 0; key < INSTANCE_KEYS; key++)
			node->label[key] = -1;
		node->label[KEY_HOST] = i;
		for (int r = 0; r < instance->resource_count; r++)
			node->capacity[r] = even && random_chance(random, 80) ? common : random_range(random, 0, 8);
		node->pods = random_chance(random, 85) ? 110 : random_range(random, 0, 3);
		node->colour = features->colours ? random_range(random, -1, 1) : -1;
		if (features->bad_nodes) {
			node->unschedulable = random_chance(random, 15);
			node->tainted = random_chance(random, 25);
			node->not_ready = !features->spread && random_chance(random, 8);
		}
	}
	draw_labels(random, instance, features->missing_labels);
}

/* A key that rules can use: the host name or a level. `everywhere` asks for one that no node lacks, because whether a
 * pod on a node without the label counts as "the first of its kind" is nobody's promise. */
static int draw_key(struct random *random, const struct instance *instance, bool everywhere)
{
	if (instance->topology_count == 0 || random_chance(random, 40))
		return KEY_HOST;
	int topology = random_range(random, 0, instance->topology_count - 1);
	int key = instance_level_key(instance, topology,
	                             random_range(random, 0, instance->topologies[topology].level_count - 1));
	for (int node = 0; everywhere && node < instance->node_count; node++)
		if (instance->nodes[node].label[key] < 0)
			return KEY_HOST;
	return key;
}

static void draw_rules(struct random *random, const struct instance *instance, struct w_pod_class *pod_class)
{
	if (random_chance(random, 40))
		pod_class->anti = (struct w_term){draw_key(random, instance, false), random_range(random, 0, 1)};
	if (random_chance(random, 30))
		pod_class->affinity = (struct w_term){draw_key(random, instance, true), random_range(random, 0, 1)};
	if (random_chance(random, 20))
		pod_class->port = random_range(random, 0, 1);
}

static void draw_spread(struct random *random, const struct instance *instance, struct w_pod_class *pod_class)
{
	bool closed = false;
	for (int node = 0; node < instance->node_count; node++)
		closed |= instance->nodes[node].unschedulable;
	pod_class->spread = (struct w_spread){
		.key = draw_key(random, instance, false),
		.app = random_chance(random, 80) && pod_class->app >= 0 ? pod_class->app : random_range(random, 0, 1),
		.max_skew = random_range(random, 1, 2),
		.min_domains = random_chance(random, 15) ? random_range(random, 2, 4) : 0,
		.ignore_node_affinity = random_chance(random, 25),
		.honor_taints = !closed && random_chance(random, 25),
	};
}

static struct w_pod_class plain_pod_class(void)
{
	return (struct w_pod_class){.colour = -1,
	                            .app = -1,
	                            .port = -1,
	                            .affinity.key = KEY_NONE,
	                            .anti.key = KEY_NONE,
	                            .spread.key = KEY_NONE};
}

/* The last class is plain: releasing pods use it, so that nothing depends on the rules of a pod that is leaving. */
static void draw_pod_classes(struct random *random, struct instance *instance, const struct features *features)
{
	instance->pod_class_count = (features->one_shape ? 1 : random_range(random, 1, 4)) + 1;
	for (int i = 0; i < instance->pod_class_count; i++) {
		struct w_pod_class *pod_class = &instance->pod_classes[i];
		*pod_class = plain_pod_class();
		for (int r = 0; r < instance->resource_count; r++)
			pod_class->request[r] =
				random_chance(random, r == 0 ? 90 : 60) ? random_range(random, 1, 4) : 0;
		if (i == instance->pod_class_count - 1)
			return;
		if (features->colours && random_chance(random, 60)) {
			pod_class->colour = random_range(random, 0, 1);
			pod_class->selection = (enum w_selection)random_range(random, 0, 2);
		}
		pod_class->tolerates = random_chance(random, 30);
		if (features->interactions || features->spread)
			pod_class->app = random_range(random, -1, 1);
		if (features->interactions && random_chance(random, 70))
			draw_rules(random, instance, pod_class);
		if (features->spread && random_chance(random, 60))
			draw_spread(random, instance, pod_class);
	}
}

static int used_by_others(const struct instance *instance, int node, int resource)
{
	struct positions positions;
	positions_begin(&positions, instance);
	return rules_used(&positions, node, resource, true);
}

static bool room_for(const struct instance *instance, int pod_class, int node)
{
	for (int r = 0; r < instance->resource_count; r++)
		if (used_by_others(instance, node, r) + instance->pod_classes[pod_class].request[r] >
		    instance->nodes[node].capacity[r])
			return false;
	return used_by_others(instance, node, INSTANCE_RESOURCES) < instance->nodes[node].pods;
}

static void draw_others(struct random *random, struct instance *instance)
{
	int wanted = random_chance(random, 40) ? 0 : random_range(random, 1, INSTANCE_OTHERS);
	instance->use_releasing = random_chance(random, 30);
	for (int i = 0; i < wanted; i++) {
		struct w_other other = {.pod_class = random_range(random, 0, instance->pod_class_count - 1),
		                        .node = random_range(random, 0, instance->node_count - 1),
		                        .occupancy = random_chance(random, 10) ? W_RESERVED : W_RUNNING,
		                        .foreign = random_chance(random, 10)};
		if (random_chance(random, 30)) {
			other.occupancy = W_RELEASING;
			other.pod_class = instance->pod_class_count - 1;
		}
		if (room_for(instance, other.pod_class, other.node))
			instance->others[instance->other_count++] = other;
	}
}

static struct w_level draw_level(struct random *random, const struct instance *instance)
{
	int topology = random_range(random, 0, instance->topology_count - 1);
	return (struct w_level){topology, random_range(random, 0, instance->topologies[topology].level_count - 1)};
}

static void draw_constraints(struct random *random, struct instance *instance, struct w_tree *node,
                             const struct features *features)
{
	node->required = node->preferred = W_NO_LEVEL;
	if (instance->topology_count == 0)
		return;
	if (features->required && random_chance(random, 40))
		node->required = draw_level(random, instance);
	if (!features->preferred || !random_chance(random, 50))
		return;
	node->preferred = draw_level(random, instance);
	if (node->required.topology >= 0) { /* at the required level or below it */
		node->preferred.topology = node->required.topology;
		node->preferred.level = random_range(random, node->required.level,
		                                     instance->topologies[node->required.topology].level_count - 1);
	}
}

/* Breadth first: each node gets its children before the next node of its level does. Siblings of a uniform tree carry
 * the same constraints, as segments do. */
static void draw_tree(struct random *random, struct instance *instance, const struct features *features)
{
	int depth[INSTANCE_TREE] = {0};
	instance->tree[0] = (struct w_tree){.parent = -1};
	instance->tree_count = 1;
	draw_constraints(random, instance, &instance->tree[0], features);
	if (features->one_shape)
		return;
	for (int node = 0; node < instance->tree_count; node++) {
		if (depth[node] == 3 || !random_chance(random, node == 0 ? 75 : 40))
			continue;
		int children = random_range(random, depth[node] == 0 ? 2 : 1, 3);
		int first = instance->tree_count;
		for (int i = 0; i < children && instance->tree_count < INSTANCE_TREE; i++) {
			int child = instance->tree_count++;
			instance->tree[child] = (struct w_tree){.parent = node};
			depth[child] = depth[node] + 1;
			draw_constraints(random, instance, &instance->tree[child], features);
			if (features->uniform) {
				instance->tree[child].required = instance->tree[first].required;
				instance->tree[child].preferred = instance->tree[first].preferred;
			}
		}
	}
}

static enum w_state draw_state(struct random *random, const struct features *features)
{
	if (features->gated && random_chance(random, 25))
		return random_chance(random, 70) ? W_GATED : W_GONE;
	if (features->running && random_chance(random, 35))
		return random_chance(random, 85) ? W_MEMBER_RUNNING : W_MEMBER_RESERVED;
	return W_WAITING;
}

/* A running member stands where the rules allow it; with loose pins sometimes where only the room does. */
static void draw_position(struct random *random, struct instance *instance, struct w_pod *pod, bool loose)
{
	struct positions positions;
	bool free_choice = loose && random_chance(random, 40);
	positions_begin(&positions, instance); /* `pod` is the last one and does not count as a member yet */
	int start = random_range(random, 0, instance->node_count - 1);
	for (int i = 0; i < instance->node_count; i++) {
		int node = (start + i) % instance->node_count;
		if (!room_for(instance, pod->pod_class, node))
			continue;
		if (free_choice || rules_fits(&positions, instance->pod_count - 1, node)) {
			pod->node = node;
			return;
		}
	}
}

static void draw_pods(struct random *random, struct instance *instance, const struct features *features)
{
	int leaves[INSTANCE_TREE], leaf_count = 0, leaf_pod_class[INSTANCE_TREE];
	int pod_class = random_range(random, 0, instance->pod_class_count - 2);
	for (int node = 0; node < instance->tree_count; node++) {
		leaf_pod_class[node] =
			features->uniform ? pod_class : random_range(random, 0, instance->pod_class_count - 2);
		if (instance_child_count(instance, node) == 0)
			leaves[leaf_count++] = node;
	}
	assert(leaf_count > 0); /* a tree has a root, and one without children is a leaf */
	bool mixed = random_chance(random, 40);
	int wanted = random_range(random, random_chance(random, 70) ? 5 : 1, INSTANCE_PODS);
	for (int i = 0; i < wanted; i++) {
		struct w_pod *pod = &instance->pods[instance->pod_count++];
		int leaf = leaves[features->uniform || i < leaf_count ? i % leaf_count
		                                                      : random_range(random, 0, leaf_count - 1)];
		*pod = (struct w_pod){.pod_class = mixed ? random_range(random, 0, instance->pod_class_count - 2)
		                                         : leaf_pod_class[leaf],
		                      .leaf = leaf,
		                      .node = -1,
		                      .nominated = random_chance(random, 5)
		                                           ? random_range(random, 0, instance->node_count - 1)
		                                           : -1};
		enum w_state state = draw_state(random, features);
		if (state == W_MEMBER_RUNNING || state == W_MEMBER_RESERVED) {
			draw_position(random, instance, pod, features->loose_pins);
			if (pod->node < 0)
				state = W_WAITING;
		}
		pod->state = state;
	}
}

static void draw_minimums(struct random *random, struct instance *instance, const struct features *features)
{
	for (int node = 0; node < instance->tree_count; node++) {
		bool leaf = instance_child_count(instance, node) == 0;
		int have = instance_child_count(instance, node);
		for (int pod = 0; leaf && pod < instance->pod_count; pod++)
			have += instance->pods[pod].leaf == node && instance->pods[pod].state != W_GATED &&
			        instance->pods[pod].state != W_GONE;
		struct w_tree *entry = &instance->tree[node];
		entry->minimum = have;
		bool elastic = leaf ? features->surplus : features->partial;
		if (!features->rigid && elastic && random_chance(random, 60))
			entry->minimum = random_range(random, random_chance(random, 85) && have > 0 ? 1 : 0, have);
		if (!features->rigid && leaf && random_chance(random, 2))
			entry->minimum++; /* more than exist */
	}
}

/* Makes room a matter of single units: a random placement that obeys every other rule is drawn, and the nodes get what
 * it needs, now and then a little more or less. Most such instances have few solutions, or just none. */
static void tighten(struct random *random, struct instance *instance)
{
	struct positions positions;
	for (int node = 0; node < instance->node_count; node++)
		for (int r = 0; r < instance->resource_count; r++)
			instance->nodes[node].capacity[r] = 1000;
	positions_begin(&positions, instance);
	for (int pod = 0; pod < instance->pod_count; pod++) {
		int start = random_range(random, 0, instance->node_count - 1);
		for (int i = 0; instance->pods[pod].state == W_WAITING && i < instance->node_count; i++) {
			int node = (start + i) % instance->node_count;
			if (!rules_fits(&positions, pod, node))
				continue;
			positions.node[pod] = node;
			break;
		}
	}
	bool short_somewhere = random_chance(random, 50);
	for (int node = 0; node < instance->node_count; node++)
		for (int r = 0; r < instance->resource_count; r++) {
			int used = rules_used(&positions, node, r, true);
			int least = used_by_others(instance, node, r);
			int change = random_chance(random, 60) ? 0 : random_range(random, short_somewhere ? -1 : 0, 2);
			instance->nodes[node].capacity[r] = used + change < least ? least : used + change;
		}
}

void generate_instance(uint64_t seed, struct instance *instance)
{
	struct random random = {.state = seed * 0x2545f4914f6cdd1dULL + 0x632be59bd9b4e019ULL};
	memset(instance, 0, sizeof(*instance));
	instance->seed = seed;
	struct features features = draw_features(&random);
	draw_topologies(&random, instance);
	draw_nodes(&random, instance, &features);
	draw_pod_classes(&random, instance, &features);
	draw_others(&random, instance);
	draw_tree(&random, instance, &features);
	draw_pods(&random, instance, &features);
	draw_minimums(&random, instance, &features);
	if (features.tight)
		tighten(&random, instance);
	instance->warm_up = random_chance(&random, 50);
	instance->depth_first = random_chance(&random, 50);
}
