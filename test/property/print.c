/* Prints an instance in a few lines: what differs from the ordinary is said, the rest is left out. */
#include "print.h"

static void print_amounts(FILE *file, const struct instance *instance, const int *amounts)
{
	for (int r = 0; r < instance->resource_count; r++)
		fprintf(file, "%s%d", r ? "/" : " ", amounts[r]);
}

static void print_node(FILE *file, const struct instance *instance, int number)
{
	const struct w_node *node = &instance->nodes[number];
	fprintf(file, "  n%d:", number);
	print_amounts(file, instance, node->capacity);
	for (int key = 1; key < INSTANCE_KEYS; key++)
		if (node->label[key] >= 0)
			fprintf(file, " key%d=%d", key, node->label[key]);
	if (node->pods < 110)
		fprintf(file, " pods=%d", node->pods);
	if (node->colour >= 0)
		fprintf(file, " colour=%d", node->colour);
	fprintf(file, "%s%s%s\n", node->unschedulable ? " unschedulable" : "", node->tainted ? " tainted" : "",
	        node->not_ready ? " not-ready" : "");
}

static void print_pod_class(FILE *file, const struct instance *instance, int number)
{
	static const char *const selections[] = {"selector", "in", "not-in"};
	const struct w_pod_class *pod_class = &instance->pod_classes[number];
	fprintf(file, "  k%d:", number);
	print_amounts(file, instance, pod_class->request);
	if (pod_class->app >= 0)
		fprintf(file, " app=%d", pod_class->app);
	if (pod_class->colour >= 0)
		fprintf(file, " colour %s %d", selections[pod_class->selection], pod_class->colour);
	if (pod_class->port >= 0)
		fprintf(file, " port=%d", pod_class->port);
	if (pod_class->affinity.key != KEY_NONE)
		fprintf(file, " affinity(key %d app %d)", pod_class->affinity.key, pod_class->affinity.app);
	if (pod_class->anti.key != KEY_NONE)
		fprintf(file, " anti-affinity(key %d app %d)", pod_class->anti.key, pod_class->anti.app);
	if (pod_class->spread.key != KEY_NONE)
		fprintf(file, " spread(key %d app %d skew %d min-domains %d%s%s)", pod_class->spread.key,
		        pod_class->spread.app, pod_class->spread.max_skew, pod_class->spread.min_domains,
		        pod_class->spread.ignore_node_affinity ? " ignore-affinity" : "",
		        pod_class->spread.honor_taints ? " honor-taints" : "");
	fprintf(file, "%s\n", pod_class->tolerates ? " tolerates" : "");
}

static void print_level(FILE *file, const char *name, struct w_level level)
{
	if (level.topology >= 0)
		fprintf(file, " %s=%d.%d", name, level.topology, level.level);
}

static void print_tree(FILE *file, const struct instance *instance)
{
	static const char *const states[] = {"waiting", "gated", "running", "reserved", "gone"};
	for (int i = 0; i < instance->tree_count; i++) {
		const struct w_tree *node = &instance->tree[i];
		fprintf(file, "  s%d: parent %d, minimum %d of %s", i, node->parent, node->minimum,
		        instance_child_count(instance, i) ? "children" : "pods");
		print_level(file, "required", node->required);
		print_level(file, "preferred", node->preferred);
		fputs("\n", file);
	}
	for (int i = 0; i < instance->pod_count; i++) {
		const struct w_pod *pod = &instance->pods[i];
		fprintf(file, "  p%d: k%d in s%d %s", i, pod->pod_class, pod->leaf, states[pod->state]);
		if (pod->node >= 0)
			fprintf(file, " on n%d", pod->node);
		if (pod->nominated >= 0)
			fprintf(file, " nominated n%d", pod->nominated);
		fputs("\n", file);
	}
}

void print_instance(const struct instance *instance, FILE *file)
{
	static const char *const occupancies[] = {"running", "releasing", "reserved"};
	fputs("  topologies:", file);
	for (int i = 0; i < instance->topology_count; i++)
		for (int level = 0; level < instance->topologies[i].level_count; level++)
			fprintf(file, " %d.%d=key%d", i, level, instance_level_key(instance, i, level));
	fprintf(file, "%s; key0 is the host name%s%s%s\n", instance->topology_count ? "" : " none",
	        instance->use_releasing ? ", releasing counts as free" : "",
	        instance->depth_first ? ", tree in depth-first order" : "",
	        instance->warm_up ? ", caches filled before" : "");
	for (int i = 0; i < instance->node_count; i++)
		print_node(file, instance, i);
	for (int i = 0; i < instance->pod_class_count; i++)
		print_pod_class(file, instance, i);
	for (int i = 0; i < instance->other_count; i++)
		fprintf(file, "  other: k%d %s on n%d%s\n", instance->others[i].pod_class,
		        occupancies[instance->others[i].occupancy], instance->others[i].node,
		        instance->others[i].foreign ? " (other namespace)" : "");
	print_tree(file, instance);
}
