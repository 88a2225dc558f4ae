/* A case in a few lines, and as a scenario. The scenario runs until nothing changes; what it expects beyond the rules
 * that hold for every scenario has to be filled in by hand. */
#include "write.h"

#include "../build.h"
#include "../save.h"

static const char *const preempt_names[] = {"preemptible", "non-preemptible", "semi-preemptible"};

static void print_group(const struct cycle_case *world, int number)
{
	const struct c_group *group = &world->groups[number];
	printf("  g%d queue q%d priority %d %s", number, group->queue, group->priority, preempt_names[group->preempt]);
	if (group->age >= 0)
		printf(" age %ds", group->age);
	if (group->delay)
		printf(" delay %ds", group->delay);
	if (group->grace != 60)
		printf(" grace %ds", group->grace);
	printf(":");
	for (int i = 0; i < group->tree_count; i++) {
		const struct w_tree *node = &group->tree[i];
		printf(" s%d(min %d", i, node->minimum);
		if (i)
			printf(" in s%d", node->parent);
		if (node->required.topology >= 0)
			printf(" required level %d", node->required.level);
		if (node->preferred.topology >= 0)
			printf(" preferred level %d", node->preferred.level);
		for (int p = 0; p < group->pod_count; p++) {
			const struct w_pod *pod = &group->pods[p];
			if (pod->leaf != i)
				continue;
			printf(" p%d:k%d", p, pod->pod_class);
			if (instance_is_member(pod))
				printf("@n%d", pod->node);
			else if (pod->state == W_GATED)
				printf(" gated");
		}
		printf(")");
	}
	printf("\n");
}

void case_print(const void *given)
{
	const struct cycle_case *world = given;
	const struct instance *base = &world->base;
	printf("%s%s%s", world->apart ? "  one action at a time\n" : "", world->slow ? "  slow\n" : "",
	       world->starved ? "  starved\n" : "");
	for (int n = 0; n < base->node_count; n++) {
		const struct w_node *node = &base->nodes[n];
		printf("  n%d: %d GPU", n, node->capacity[0]);
		if (base->resource_count > 1)
			printf(" %d CPU", node->capacity[1]);
		for (int level = 0; base->topology_count && level < base->topologies[0].level_count; level++)
			printf(" level%d=%d", level, node->label[instance_level_key(base, 0, level)]);
		printf("%s%s\n", node->unschedulable ? " unschedulable" : "", node->pods < 110 ? " few pods" : "");
	}
	for (int k = 0; k < base->pod_class_count; k++) {
		const struct w_pod_class *pod_class = &base->pod_classes[k];
		printf("  k%d: %d GPU", k, pod_class->request[0]);
		if (base->resource_count > 1)
			printf(" %d CPU", pod_class->request[1]);
		if (pod_class->anti.key != KEY_NONE)
			printf(" not beside a%d per %d", pod_class->anti.app, pod_class->anti.key);
		if (pod_class->app >= 0)
			printf(" a%d", pod_class->app);
		if (pod_class->port >= 0)
			printf(" port %d", pod_class->port);
		if (pod_class->colour >= 0)
			printf(" colour %d", pod_class->colour);
		printf("\n");
	}
	for (int i = 0; i < base->other_count; i++)
		printf("  other k%d@n%d%s\n", base->others[i].pod_class, base->others[i].node,
		       base->others[i].occupancy == W_RELEASING ? " leaving" : "");
	for (int q = 0; q < world->queue_count; q++) {
		const struct c_queue *queue = &world->queues[q];
		printf("  q%d in %d priority %d: quota %d/%d limit %d/%d weight %d/%d runtimes %d/%d\n", q,
		       queue->parent, queue->priority, queue->quota[0], queue->quota[1], queue->limit[0],
		       queue->limit[1], queue->weight[0], queue->weight[1], queue->preempt_runtime,
		       queue->reclaim_runtime);
	}
	for (int g = 0; g < world->group_count; g++)
		print_group(world, g);
}

static void write_queue(struct writer *writer, const struct cycle_case *world, int number)
{
	static const char *const names[] = {"gpu", "cpu", "memory"};
	static const int units[] = {1, 1000, 1000};
	const struct c_queue *queue = &world->queues[number];
	save_object(
		writer,
		"{\"apiVersion\": \"scheduling.run.ai/v2\", \"kind\": \"Queue\", \"metadata\": {\"name\": \"q%d\"}, "
		"\"spec\": {\"priority\": %d, ",
		number, queue->priority);
	if (queue->parent >= 0)
		fprintf(writer->file, "\"parentQueue\": \"q%d\", ", queue->parent);
	if (queue->preempt_runtime >= 0)
		fprintf(writer->file, "\"preemptMinRuntime\": \"%ds\", ", queue->preempt_runtime);
	if (queue->reclaim_runtime >= 0)
		fprintf(writer->file, "\"reclaimMinRuntime\": \"%ds\", ", queue->reclaim_runtime);
	for (int r = 0; r < INSTANCE_RESOURCES; r++)
		fprintf(writer->file, "%s\"%s\": {\"quota\": %d, \"limit\": %d, \"overQuotaWeight\": %d}",
		        r ? ", " : "\"resources\": {", names[r], queue->quota[r] < 0 ? -1 : queue->quota[r] * units[r],
		        queue->limit[r] < 0 ? -1 : queue->limit[r] * units[r], queue->weight[r]);
	fputs("}}}", writer->file);
}

static void write_priorities(struct writer *writer, const struct cycle_case *world)
{
	for (int g = 0; g < world->group_count; g++) {
		bool known = false;
		for (int before = 0; before < g; before++)
			known |= world->groups[before].priority == world->groups[g].priority;
		if (!known)
			save_object(
				writer,
				"{\"apiVersion\": \"scheduling.k8s.io/v1\", \"kind\": \"PriorityClass\", \"metadata\": "
				"{\"name\": \"p%d\"}, \"value\": %d}",
				world->groups[g].priority, world->groups[g].priority);
	}
}

static void write_group(struct writer *writer, const struct cycle_case *world, int number)
{
	const struct c_group *group = &world->groups[number];
	struct instance instance;
	char name[16], spec[300], grace[64] = "", delay[64] = "";
	snprintf(name, sizeof(name), "g%d", number);
	if (group->grace != (group->preempt == C_NON_PREEMPTIBLE ? -1 : 60))
		snprintf(grace, sizeof(grace), ", \"stalenessGracePeriod\": \"%ds\"", group->grace);
	if (group->delay)
		snprintf(delay, sizeof(delay), ", \"preemptionDelay\": \"%ds\"", group->delay);
	snprintf(spec, sizeof(spec),
	         "\"queue\": \"q%d\", \"priorityClassName\": \"p%d\", \"preemptibility\": \"%s\"%s%s", group->queue,
	         group->priority, preempt_names[group->preempt], grace, delay);
	case_instance(world, number, &instance);
	save_gang(writer, &instance, name, spec);
}

int case_save(const void *given, const struct result *result, const char *path)
{
	const struct cycle_case *world = given;
	struct writer writer = {.file = fopen(path, "w")};
	if (!writer.file)
		return -1;
	save_title(writer.file, &world->base, "cycle", result->text);
	fputs("\",\n \"objects\": [", writer.file);
	write_priorities(&writer, world);
	for (int q = 0; q < world->queue_count; q++)
		write_queue(&writer, world, q);
	save_cluster(&writer, &world->base);
	for (int g = 0; g < world->group_count; g++)
		write_group(&writer, world, g);
	if (world->starved)
		fputs("],\n \"run\": {\"starvationAfter\": \"1s\"", writer.file);
	fputs(world->starved ? "}" : "]", writer.file);
	fputs(",\n \"expect\": {\"groups\": {\"default/g0\": {}}}\n}}\n", writer.file);
	int broken = ferror(writer.file);
	return fclose(writer.file) || broken ? -1 : 0;
}
