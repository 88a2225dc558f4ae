/* Owns what random runs are made of: a cluster, and a stream of changes of its workloads. */
#include "sim/faults_run.h"
#include "kinds/names.h"

#include <string.h>

static int pick(struct fault_run *run, int low, int high)
{
	return random_range(&run->random, low, high);
}

static bool chance(struct fault_run *run, int percent)
{
	return random_chance(&run->random, percent);
}

/* ---- cluster ---- */

static void print_nodes(struct fault_run *run, struct buffer *out)
{
	const struct fault_options *options = &run->options;
	int zones = options->zones ? options->zones : pick(run, 1, 2);
	int racks = options->zones ? options->racks : pick(run, 1, 2);
	int nodes = options->zones ? options->nodes : pick(run, 1, 3);
	int gpus = options->gpus >= 0 ? options->gpus : 2 * pick(run, 0, 2);
	int cpus = 2 * pick(run, 1, 4);
	for (int zone = 0; zone < zones; zone++)
		for (int rack = 0; rack < racks; rack++)
			for (int node = 0; node < nodes; node++)
				buffer_printf(out,
				              "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d%d%d, labels: "
				              "{zone: z%d,\n"
				              " rack: r%d, kubernetes.io/hostname: n%d%d%d}}, status: {allocatable: "
				              "{cpu: %d,\n"
				              " memory: 64Gi, pods: %d, nvidia.com/gpu: %d}}}\n",
				              zone, rack, node, zone, rack, zone, rack, node, cpus,
				              pick(run, 0, 4) ? 20 : 4, gpus);
	faults_trace(run, "cluster of %dx%dx%d nodes with %d CPUs and %d GPUs", zones, racks, nodes, cpus, gpus);
}

static void print_queue(struct fault_run *run, struct buffer *out, const char *name, int parent)
{
	int quota = pick(run, -1, 6), limit = chance(run, 20) ? quota + pick(run, 1, 6) : -1;
	if (quota < 0)
		limit = -1;
	buffer_printf(out, "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: %s}, spec: {", name);
	if (parent >= 0)
		buffer_printf(out, "parentQueue: q%d, ", parent);
	buffer_printf(out,
	              "resources: {cpu: {quota: %d, limit: %d, overQuotaWeight: %d},\n"
	              " gpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1, "
	              "overQuotaWeight: 1}}}}\n",
	              quota < 0 ? -1 : 1000 * quota, limit < 0 ? -1 : 1000 * limit, pick(run, 1, 3));
}

void faults_make_cluster(struct fault_run *run)
{
	static const int values[] = {20, 50, 75, 120};
	struct buffer out = {0};
	buffer_puts(&out,
	            "{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, spec: {levels: "
	            "[\n {nodeLabel: zone}, {nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}}\n");
	for (int i = 0; i < 4; i++)
		buffer_printf(
			&out,
			"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p%d}, value: "
			"%d}\n",
			values[i], values[i]);
	print_nodes(run, &out);
	run->queue_count = pick(run, 1, 3);
	bool nested = run->queue_count > 1 && chance(run, 30);
	for (int i = 0; i < run->queue_count; i++) {
		char name[16];
		snprintf(name, sizeof(name), "q%d", i);
		print_queue(run, &out, name, nested && i > 0 ? 0 : -1);
	}
	/* A parent has no pods of its own. */
	run->first_queue = nested ? 1 : 0;
	faults_apply(run, out.text);
	buffer_free(&out);
}

/* ---- groups ---- */

static void print_constraint(struct fault_run *run, struct buffer *out, int percent)
{
	static const char *const levels[] = {"zone", "rack", "kubernetes.io/hostname"};
	if (!chance(run, percent))
		return;
	int level = pick(run, 0, 2);
	bool prefer = chance(run, 30);
	buffer_printf(out, ", topologyConstraint: {topology: cluster, %s: %s}",
	              prefer ? "preferredTopologyLevel" : "requiredTopologyLevel", levels[level]);
}

static void add_leaf(struct fault_run *run, struct fault_group *group, const char *name, int minimum)
{
	int index = group->leaf_count++;
	snprintf(group->leaves[index], sizeof(group->leaves[index]), "%s", name);
	group->wanted[index] = minimum + (chance(run, 40) ? pick(run, 1, 2) : 0);
	if (minimum > 0 && chance(run, 5))
		group->wanted[index] = minimum - 1; /* a gang that never becomes complete */
}

static void print_leaf(struct fault_run *run, struct fault_group *group, struct buffer *out, const char *parent,
                       int *printed)
{
	char name[16];
	int minimum = chance(run, 10) ? 0 : pick(run, 1, 2);
	snprintf(name, sizeof(name), "l%d", group->leaf_count);
	buffer_printf(out, "%s{name: %s, minMember: %d", *printed ? ", " : "", name, minimum);
	if (parent)
		buffer_printf(out, ", parent: %s", parent);
	print_constraint(run, out, 30);
	buffer_puts(out, "}");
	*printed += 1;
	add_leaf(run, group, name, minimum);
}

/* One or two levels of subgroups. */
static void print_tree(struct fault_run *run, struct fault_group *group, struct buffer *out)
{
	int children = pick(run, 2, 3), printed = 0;
	if (chance(run, 40))
		buffer_printf(out, ", minSubGroup: %d", pick(run, 1, children));
	buffer_puts(out, ", subGroups: [");
	for (int i = 0; i < children; i++) {
		if (chance(run, 75) || group->leaf_count + 2 > FAULT_LEAVES - children) {
			print_leaf(run, group, out, NULL, &printed);
			continue;
		}
		char name[16];
		snprintf(name, sizeof(name), "b%d", i);
		buffer_printf(out, "%s{name: %s", printed ? ", " : "", name);
		if (chance(run, 40))
			buffer_printf(out, ", minSubGroup: %d", pick(run, 1, 2));
		print_constraint(run, out, 40);
		buffer_puts(out, "}");
		printed++;
		print_leaf(run, group, out, name, &printed);
		print_leaf(run, group, out, name, &printed);
	}
	buffer_puts(out, "]");
}

static void print_group_spec(struct fault_run *run, struct fault_group *group, struct buffer *out)
{
	static const char *const preempt[] = {"preemptible", "non-preemptible", "semi-preemptible"};
	static const int priorities[] = {20, 50, 75, 120};
	buffer_printf(out, "queue: q%d", pick(run, run->first_queue, run->queue_count - 1));
	if (chance(run, 60))
		buffer_printf(out, ", priorityClassName: p%d", priorities[pick(run, 0, 3)]);
	if (chance(run, 40))
		buffer_printf(out, ", preemptibility: %s", preempt[pick(run, 0, 2)]);
	if (chance(run, 20))
		buffer_printf(out, ", stalenessGracePeriod: %ds", pick(run, 0, 60));
	if (chance(run, 10))
		buffer_printf(out, ", preemptionDelay: %ds", pick(run, 1, 60));
	print_constraint(run, out, 30);
	if (chance(run, 50)) {
		int minimum = pick(run, 1, 4);
		buffer_printf(out, ", minMember: %d", minimum);
		add_leaf(run, group, "", minimum);
	} else {
		print_tree(run, group, out);
	}
}

static void print_pod(const struct fault_group *group, struct buffer *out, int leaf, const char *name)
{
	buffer_printf(out,
	              "---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default,\n"
	              " annotations: {pod-group-name: %s%s",
	              name, group->name, group->run_seconds ? ", platoon.dev/run-seconds: " : "");
	if (group->run_seconds)
		buffer_printf(out, "\"%d\"", group->run_seconds);
	buffer_printf(out, "}, labels: {gang: %s", group->name);
	if (group->leaves[leaf][0])
		buffer_printf(out, ", kai.scheduler/subgroup-name: %s", group->leaves[leaf]);
	buffer_printf(
		out,
		"}}, spec: {schedulerName: platoon, terminationGracePeriodSeconds: 2, containers: [{name: c, image: "
		"i,\n resources: {requests: {cpu: %d, nvidia.com/gpu: %d}}}]",
		group->cpu, group->gpu);
	faults_print_volumes(group, name, out);
	faults_print_devices(group, out);
	buffer_puts(out, "}}\n");
}

/* ---- owners ---- */

/* Pods of one leaf that are there, finished ones included: a Job does not replace what succeeded. */
static int count_pods(struct fault_run *run, const struct fault_group *group, int leaf)
{
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(run->simulation->store, "", "v1", "pods")};
	int count = 0;
	if (store_list(run->simulation->store, &request, &list, run->arena, &error) < 0)
		return group->wanted[leaf];
	for (size_t i = 0; i < list.count; i++) {
		const struct val *root = list.items[i]->root, *metadata = val_get(root, "metadata");
		bool ours = strcmp(val_str(val_path(metadata, "annotations", "pod-group-name", NULL), ""),
		                   group->name) == 0 &&
		            strcmp(val_str(val_path(metadata, "labels", "kai.scheduler/subgroup-name", NULL), ""),
		                   group->leaves[leaf]) == 0;
		bool lost = strcmp(val_str(val_path(root, "status", "phase", NULL), ""), "Failed") == 0 ||
		            val_get(metadata, "deletionTimestamp");
		count += ours && !lost;
	}
	store_list_clear(&list);
	return count;
}

static bool exists(struct fault_run *run, const char *name)
{
	const struct store_type *pods = store_type_find(run->simulation->store, "", "pods");
	return store_peek(run->simulation->store, pods, "default", name);
}

static int create_pods(struct fault_run *run, struct fault_group *group, int leaf, int count)
{
	struct buffer out = {0};
	int created = 0;
	for (int serial = 0; created < count; serial++) {
		char name[32];
		snprintf(name, sizeof(name), "%s%s%s-%d", group->name, group->leaves[leaf][0] ? "-" : "",
		         group->leaves[leaf], group->same_names ? serial : group->serial++);
		if (group->same_names && exists(run, name))
			continue;
		faults_print_claim(run, group, name, &out);
		print_pod(group, &out, leaf, name);
		created++;
	}
	if (created > 0)
		faults_apply(run, out.text);
	buffer_free(&out);
	return created;
}

static int replace_missing(struct fault_run *run, struct fault_group *group)
{
	int created = 0;
	for (int leaf = 0; group->alive && leaf < group->leaf_count; leaf++)
		created += create_pods(run, group, leaf, group->wanted[leaf] - count_pods(run, group, leaf));
	return created;
}

int faults_replace_missing(struct fault_run *run)
{
	int created = 0;
	for (int i = 0; i < run->group_count; i++)
		created += replace_missing(run, &run->groups[i]);
	return created;
}

/* ---- changes ---- */

static void create_group(struct fault_run *run)
{
	if (run->group_count == FAULT_GROUPS)
		return;
	struct fault_group *group = &run->groups[run->group_count];
	struct buffer out = {0};
	*group = (struct fault_group){.alive = true, .cpu = pick(run, 1, 2), .same_names = chance(run, 40)};
	group->gpu = chance(run, 20) ? 1 : 0;
	group->run_seconds = chance(run, 15) ? pick(run, 1, 100) : 0;
	snprintf(group->name, sizeof(group->name), "g%d", run->group_count++);
	buffer_printf(&out,
	              "{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: %s, namespace: "
	              "default}, spec: {",
	              group->name);
	size_t start = out.length;
	print_group_spec(run, group, &out);
	faults_trace(run, "group %s: %s; pods of %d CPUs, %d GPUs", group->name, out.text + start, group->cpu,
	             group->gpu);
	buffer_puts(&out, "}}");
	faults_apply(run, out.text);
	buffer_free(&out);
	faults_choose_claims(run, group);
	faults_choose_devices(run, group);
	/* The rest comes with a later change. */
	if (chance(run, 80)) {
		int created = replace_missing(run, group);
		faults_trace(run, "  with %d pods", created);
	}
}

static struct fault_group *pick_group(struct fault_run *run)
{
	if (run->group_count == 0)
		return NULL;
	struct fault_group *group = &run->groups[pick(run, 0, run->group_count - 1)];
	return group->alive ? group : NULL;
}

/* Name of a random pod, NULL when there is none. */
static const char *pick_pod(struct fault_run *run)
{
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(run->simulation->store, "", "v1", "pods")};
	const char *name = NULL;
	if (store_list(run->simulation->store, &request, &list, run->arena, &error) == 0 && list.count > 0)
		name = arena_strdup(run->arena, list.items[pick(run, 0, (int)list.count - 1)]->name);
	store_list_clear(&list);
	return name;
}

static void delete_pod(struct fault_run *run)
{
	struct store_error error = {0};
	const char *name = pick_pod(run);
	struct simulation_target target = {"v1", "Pod", "default", name};
	if (!name)
		return;
	faults_trace(run, "a user deletes pod %s", name);
	simulation_delete(run->simulation, &target, chance(run, 30) ? 0 : -1, run->arena, &error);
}

static void fail_pod(struct fault_run *run)
{
	struct store_error error = {0};
	const char *name = pick_pod(run);
	struct simulation_target target = {"v1", "Pod", "default", name};
	if (!name)
		return;
	faults_trace(run, "pod %s fails", name);
	struct build *build = build_create();
	struct node *body = build_map(build), *status = build_map(build);
	build_put_string(build, status, "phase", "Failed");
	build_put(build, body, "status", status);
	struct doc *doc = build_finish(build, body);
	simulation_patch(run->simulation, &target, STORE_PATCH_MERGE, STORE_STATUS, doc_root(doc), run->arena, &error);
	doc_destroy(doc);
	build_destroy(build);
}

static void delete_group(struct fault_run *run)
{
	struct fault_group *group = pick_group(run);
	struct store_error error = {0};
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(run->simulation->store, "", "v1", "pods")};
	if (!group)
		return;
	struct simulation_target target = {KINDS_API_POD_GROUP, "PodGroup", "default", group->name};
	faults_trace(run, "group %s is deleted with its pods", group->name);
	group->alive = false;
	simulation_delete(run->simulation, &target, -1, run->arena, &error);
	if (store_list(run->simulation->store, &request, &list, run->arena, &error) < 0)
		return;
	for (size_t i = 0; i < list.count; i++) {
		struct simulation_target pod = {"v1", "Pod", "default", list.items[i]->name};
		if (strcmp(val_str(val_path(list.items[i]->root, "metadata", "annotations", "pod-group-name", NULL),
		                   ""),
		           group->name) == 0)
			simulation_delete(run->simulation, &pod, -1, run->arena, &error);
	}
	store_list_clear(&list);
}

static void resize_group(struct fault_run *run)
{
	struct fault_group *group = pick_group(run);
	if (!group)
		return;
	int leaf = pick(run, 0, group->leaf_count - 1);
	group->wanted[leaf] += pick(run, 1, 2);
	int created = replace_missing(run, group);
	faults_trace(run, "group %s grows; %d pods created", group->name, created);
}

static void create_single(struct fault_run *run)
{
	static const int priorities[] = {20, 50, 75, 120};
	struct buffer out = {0};
	buffer_printf(&out,
	              "{apiVersion: v1, kind: Pod, metadata: {name: s%d, namespace: default, labels: "
	              "{kai.scheduler/queue: q%d}},\n spec: {schedulerName: platoon, terminationGracePeriodSeconds: 2, "
	              "priorityClassName: p%d,\n containers: [{name: c, image: i, resources: {requests: {cpu: %d}}}]}}",
	              run->single_count++, pick(run, run->first_queue, run->queue_count - 1),
	              priorities[pick(run, 0, 3)], pick(run, 1, 3));
	faults_trace(run, "pod s%d without a group", run->single_count - 1);
	faults_apply(run, out.text);
	buffer_free(&out);
}

static void change_queue(struct fault_run *run)
{
	struct buffer out = {0};
	int queue = pick(run, run->first_queue, run->queue_count - 1);
	char name[16];
	snprintf(name, sizeof(name), "q%d", queue);
	print_queue(run, &out, name, run->first_queue > 0 ? 0 : -1);
	faults_trace(run, "queue %s gets other quotas", name);
	faults_apply(run, out.text);
	buffer_free(&out);
}

void faults_change(struct fault_run *run)
{
	int created, what = pick(run, 0, 99);
	if (what < 35)
		create_group(run);
	else if (what < 45)
		faults_change_workload(run);
	else if (what < 52)
		delete_pod(run);
	else if (what < 58)
		fail_pod(run);
	else if (what < 66)
		delete_group(run);
	else if (what < 74)
		resize_group(run);
	else if (what < 82)
		create_single(run);
	else if (what < 86)
		change_queue(run);
	else if ((created = faults_replace_missing(run)) > 0)
		faults_trace(run, "owners create %d pods that are missing", created);
	else
		faults_trace(run, "nothing");
}
