/* Turns an instance into a sealed cluster and a gang. */
#include "build.h"

#include <string.h>

static const char *const resource_names[] = {"nvidia.com/gpu", "cpu", "memory", "pods"};
static const int64_t resource_units[] = {1, 1000, INT64_C(1) << 30, 1};
/* Ascending by name, as decoders deliver them. */
static const int resource_order[] = {1, 2, 0, 3};

const char *built_resource_name(int resource)
{
	return resource_names[resource];
}

int64_t built_resource_unit(int resource)
{
	return resource_units[resource];
}

const char *built_key_name(const struct instance *instance, int key)
{
	static const char *const names[INSTANCE_KEYS] = {"kubernetes.io/hostname", "example.com/a-zone",
	                                                 "example.com/a-block",    "example.com/a-rack",
	                                                 "example.com/b-zone",     "example.com/b-block",
	                                                 "example.com/b-rack"};
	(void)instance;
	return names[key];
}

static void add_topologies(struct built *built, const struct instance *instance)
{
	static const char *const names[INSTANCE_TOPOLOGIES] = {"first", "second"};
	for (int i = 0; i < instance->topology_count && i < INSTANCE_TOPOLOGIES; i++) {
		const char *levels[INSTANCE_LEVELS] = {0};
		for (int level = 0; level < instance->topologies[i].level_count; level++)
			levels[level] = built_key_name(instance, instance_level_key(instance, i, level));
		cluster_add_topology(built->cluster, names[i], levels, (size_t)instance->topologies[i].level_count);
	}
}

static void add_label(struct labels *labels, const char *key, const char *value)
{
	labels->items[labels->count++] = (struct label){key, value};
}

static void add_node(struct built *built, const struct instance *instance, int number)
{
	static const struct taint taint = {"dedicated", "other", TAINT_NO_SCHEDULE};
	const struct w_node *from = &instance->nodes[number];
	struct arena *arena = built->arena;
	struct cluster_node node = {.name = arena_printf(arena, "n%d", number),
	                            .labels.items = arena_array(arena, struct label, INSTANCE_KEYS + 1),
	                            .unschedulable = from->unschedulable,
	                            .ready = !from->not_ready,
	                            .taints = &taint,
	                            .taint_count = from->tainted};
	for (int key = 0; key < INSTANCE_KEYS; key++)
		if (from->label[key] >= 0)
			add_label(&node.labels, built_key_name(instance, key),
			          key == KEY_HOST ? node.name : arena_printf(arena, "v%d", from->label[key]));
	if (from->colour >= 0)
		add_label(&node.labels, "colour", from->colour ? "red" : "blue");
	labels_sort(&node.labels);
	struct resource_amount *amounts = arena_array(arena, struct resource_amount, INSTANCE_RESOURCES + 1);
	for (size_t i = 0; i < sizeof(resource_order) / sizeof(resource_order[0]); i++) {
		int r = resource_order[i];
		int amount = r == INSTANCE_RESOURCES        ? from->pods
		             : r < instance->resource_count ? from->capacity[r]
		                                            : 0;
		if (amount > 0)
			amounts[node.allocatable_count++] =
				(struct resource_amount){resource_names[r], amount * resource_units[r]};
	}
	node.allocatable = amounts;
	cluster_add_node(built->cluster, &node);
}

static struct selector one_match(struct arena *arena, const char *key, enum match_op op, const char *value)
{
	struct match *match = arena_new(arena, struct match);
	match->key = key;
	match->op = op;
	match->values = arena_array(arena, const char *, 1);
	match->values[0] = value;
	match->value_count = 1;
	return (struct selector){match, 1};
}

static const char *app_name(int app)
{
	return app ? "a1" : "a0";
}

static struct pod_term *make_term(struct built *built, const struct instance *instance, struct w_term term)
{
	struct pod_term *out = arena_new(built->arena, struct pod_term);
	out->selector = one_match(built->arena, "app", MATCH_IN, app_name(term.app));
	out->topology_key = built_key_name(instance, term.key);
	return out;
}

static struct spread_term *make_spread(struct built *built, const struct instance *instance,
                                       const struct w_spread *from)
{
	struct spread_term *out = arena_new(built->arena, struct spread_term);
	out->selector = one_match(built->arena, "app", MATCH_IN, app_name(from->app));
	out->topology_key = built_key_name(instance, from->key);
	out->max_skew = from->max_skew;
	out->min_domains = from->min_domains;
	out->required = true;
	out->ignore_node_affinity = from->ignore_node_affinity;
	out->honor_taints = from->honor_taints;
	return out;
}

static void make_colour(struct built *built, const struct w_pod_class *pod_class, struct pod_rules *rules)
{
	if (pod_class->colour < 0)
		return;
	const char *colour = pod_class->colour ? "red" : "blue";
	if (pod_class->selection == SELECT_LABEL) {
		rules->node_selector = one_match(built->arena, "colour", MATCH_IN, colour);
		return;
	}
	rules->has_node_terms = true;
	rules->node_terms = arena_new(built->arena, struct node_term);
	rules->node_term_count = 1;
	rules->node_terms->selector =
		one_match(built->arena, "colour", pod_class->selection == SELECT_IN ? MATCH_IN : MATCH_NOT_IN, colour);
}

static struct pod_rules *make_rules(struct built *built, const struct instance *instance,
                                    const struct w_pod_class *pod_class)
{
	static struct toleration toleration = {.key = "dedicated", .exists = true, .any_effect = true};
	static struct host_port ports[] = {{"", "TCP", 8000}, {"", "TCP", 8001}};
	struct pod_rules *rules = arena_new(built->arena, struct pod_rules);
	make_colour(built, pod_class, rules);
	if (pod_class->tolerates) {
		rules->tolerations = &toleration;
		rules->toleration_count = 1;
	}
	if (pod_class->port >= 0) {
		rules->ports = &ports[pod_class->port];
		rules->port_count = 1;
	}
	if (pod_class->affinity.key != KEY_NONE) {
		rules->affinity = make_term(built, instance, pod_class->affinity);
		rules->affinity_count = 1;
	}
	if (pod_class->anti.key != KEY_NONE) {
		rules->anti_affinity = make_term(built, instance, pod_class->anti);
		rules->anti_affinity_count = 1;
	}
	if (pod_class->spread.key != KEY_NONE) {
		rules->spread = make_spread(built, instance, &pod_class->spread);
		rules->spread_count = 1;
	}
	return rules;
}

static int make_pod_class(struct built *built, const struct instance *instance, int number, const char *namespace_)
{
	const struct w_pod_class *pod_class = &instance->pod_classes[number];
	struct resource_amount requests[INSTANCE_RESOURCES + 1];
	struct label label = {"app", pod_class->app >= 0 ? app_name(pod_class->app) : ""};
	struct pod_input input = {.namespace_ = namespace_,
	                          .labels = {&label, pod_class->app >= 0},
	                          .requests = requests,
	                          .rules = make_rules(built, instance, pod_class)};
	for (size_t i = 0; i < sizeof(resource_order) / sizeof(resource_order[0]); i++) {
		int r = resource_order[i];
		int amount = r == INSTANCE_RESOURCES ? 1 : r < instance->resource_count ? pod_class->request[r] : 0;
		if (amount > 0)
			requests[input.request_count++] =
				(struct resource_amount){resource_names[r], amount * resource_units[r]};
	}
	return cluster_add_pod_class(built->cluster, &input);
}

static struct gang_level make_level(struct w_level level)
{
	return (struct gang_level){level.topology, level.level};
}

static int number_subtree(const struct instance *instance, int node, int next, int *numbers)
{
	numbers[node] = next++;
	for (int child = node + 1; child < instance->tree_count; child++)
		if (instance->tree[child].parent == node)
			next = number_subtree(instance, child, next, numbers);
	return next;
}

static void number_tree(struct built *built, const struct instance *instance)
{
	for (int i = 0; i < instance->tree_count; i++)
		built->tree_to_engine[i] = i;
	if (instance->depth_first)
		number_subtree(instance, 0, 0, built->tree_to_engine);
}

void built_gang(struct built *built, const struct instance *instance, const char *name, struct gang *gang)
{
	static const enum member_state states[] = {[W_WAITING] = MEMBER_WAITING,
	                                           [W_GATED] = MEMBER_GATED,
	                                           [W_MEMBER_RUNNING] = MEMBER_RUNNING,
	                                           [W_MEMBER_RESERVED] = MEMBER_RESERVED,
	                                           [W_GONE] = MEMBER_GONE};
	gang->namespace_ = "default";
	gang->name = name;
	gang->tree_count = (size_t)instance->tree_count;
	gang->pod_count = (size_t)instance->pod_count;
	gang->tree = arena_array(built->arena, struct gang_node, gang->tree_count);
	gang->pods = arena_array(built->arena, struct gang_pod, gang->pod_count);
	number_tree(built, instance);
	for (int i = 0; i < instance->tree_count; i++) {
		const struct w_tree *from = &instance->tree[i];
		gang->tree[built->tree_to_engine[i]] =
			(struct gang_node){.name = i ? arena_printf(built->arena, "s%d", i) : "",
		                           .parent = from->parent < 0 ? -1 : built->tree_to_engine[from->parent],
		                           .child_count = instance_child_count(instance, i),
		                           .minimum = from->minimum,
		                           .required = make_level(from->required),
		                           .preferred = make_level(from->preferred)};
	}
	for (int i = 0; i < instance->pod_count; i++) {
		const struct w_pod *from = &instance->pods[i];
		gang->pods[i] =
			(struct gang_pod){.name = arena_printf(built->arena, "p%d", i),
		                          .pod_class = built->pod_classes[from->pod_class],
		                          .leaf = built->tree_to_engine[from->leaf],
		                          .state = states[from->state],
		                          .node = from->node < 0 ? -1 : built->to_engine[from->node],
		                          .nominated = from->nominated < 0 ? -1 : built->to_engine[from->nominated]};
	}
}

static void occupy(struct built *built, const struct instance *instance)
{
	static const enum occupancy occupancies[] = {
		[W_RUNNING] = OCCUPY_RUNNING, [W_RELEASING] = OCCUPY_RELEASING, [W_RESERVED] = OCCUPY_RESERVED};
	for (int i = 0; i < instance->other_count; i++) {
		const struct w_other *other = &instance->others[i];
		int pod_class = other->foreign ? built->foreign_pod_classes[other->pod_class]
		                               : built->pod_classes[other->pod_class];
		cluster_occupy(built->cluster, pod_class, built->to_engine[other->node], occupancies[other->occupancy]);
	}
	for (int i = 0; i < instance->pod_count; i++) {
		const struct w_pod *pod = &instance->pods[i];
		if (instance_is_member(pod))
			cluster_occupy(built->cluster, built->pod_classes[pod->pod_class], built->to_engine[pod->node],
			               pod->state == W_MEMBER_RUNNING ? OCCUPY_RUNNING : OCCUPY_RESERVED);
	}
}

void built_create(struct built *built, const struct instance *instance)
{
	memset(built, 0, sizeof(*built));
	built->arena = arena_create();
	built->cluster = cluster_create();
	add_topologies(built, instance);
	for (int node = 0; node < instance->node_count; node++)
		add_node(built, instance, node);
	cluster_seal(built->cluster);
	for (int node = 0; node < instance->node_count; node++) {
		int number = cluster_find_node(built->cluster, arena_printf(built->arena, "n%d", node));
		built->to_engine[node] = number;
		if (number >= 0 && number < INSTANCE_NODES)
			built->from_engine[number] = node;
	}
	for (int pod_class = 0; pod_class < instance->pod_class_count; pod_class++) {
		built->pod_classes[pod_class] = make_pod_class(built, instance, pod_class, "default");
		built->foreign_pod_classes[pod_class] = make_pod_class(built, instance, pod_class, "elsewhere");
	}
	built_gang(built, instance, "gang", &built->gang);
	occupy(built, instance);
}

void built_destroy(struct built *built)
{
	cluster_destroy(built->cluster);
	arena_destroy(built->arena);
}
