/* Owns the JSON contract of an explanation. Fields that say nothing are null, never absent. */
#include "view/why.h"

#include <string.h>

static struct node *write_domains(struct build *build, const struct cluster *cluster, int node)
{
	struct node *map = build_map(build);
	for (int topology = 0; topology < cluster_topology_count(cluster); topology++) {
		for (int level = 0; level < cluster_level_count(cluster, topology); level++) {
			int domain = cluster_node_domain(cluster, topology, level, node);
			if (domain >= 0)
				build_put_string(build, map, cluster_level_label(cluster, topology, level),
				                 cluster_domain_name(cluster, topology, level, domain));
		}
	}
	return map;
}

static const char *member_state(enum member_state state, bool ran)
{
	switch (state) {
	case MEMBER_RUNNING:
		return ran ? "Running" : "Placed";
	case MEMBER_RESERVED:
		return "Reserved";
	case MEMBER_GATED:
		return "Gated";
	case MEMBER_BLOCKED:
		return "Blocked";
	case MEMBER_GONE:
		return "Gone";
	case MEMBER_WAITING:
	case MEMBER_COMING: /* never in a snapshot */
		break;
	}
	return "Waiting";
}

static struct node *write_pod(struct build *build, const struct cluster *cluster, const struct gang_pod *pod, bool ran)
{
	bool placed = pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
	struct node *item = build_map(build);
	build_put_string(build, item, "name", pod->name);
	build_put_string(build, item, "state", member_state(pod->state, ran));
	build_put_string(build, item, "node", placed ? cluster_node_name(cluster, pod->node) : NULL);
	build_put(build, item, "domains", placed ? write_domains(build, cluster, pod->node) : NULL);
	return item;
}

/* The tree in the order of the spec; the first part is the group itself. Pods are listed by leaf. */
static struct node *write_parts(struct build *build, const struct why *why)
{
	const struct snapshot *snapshot = why->plan->snapshot;
	const struct plan_group *planned = &why->plan->groups[why->group];
	const struct gang *gang = &snapshot->cycle.groups[why->group].gang;
	const bool *ran = snapshot->groups[why->group].ran;
	struct node *list = build_list(build);
	size_t pod = 0;
	for (size_t n = 0; n < gang->tree_count; n++) {
		const struct gang_node *node = &gang->tree[n];
		struct node *item = build_map(build), *pods = build_list(build);
		build_put_string(build, item, "name", n == 0 ? planned->name : node->name);
		build_put_string(build, item, "parent", node->parent > 0 ? gang->tree[node->parent].name : NULL);
		build_put_int(build, item, "placed", planned->node_placed[n]);
		build_put_int(build, item, "minimum", planned->node_minimum[n]);
		for (; pod < gang->pod_count && gang->pods[pod].leaf == (int)n; pod++)
			build_append(build, pods,
			             write_pod(build, snapshot->cycle.cluster, &gang->pods[pod], ran[pod]));
		build_put(build, item, "pods", pods);
		build_append(build, list, item);
	}
	return list;
}

static struct node *write_closest(struct build *build, const struct plan_reason *reason)
{
	if (!reason)
		return NULL;
	struct node *item = build_map(build);
	build_put_string(build, item, "level", reason->level);
	build_put_string(build, item, "domain", reason->domain);
	build_put_int(build, item, "have", reason->have);
	build_put_int(build, item, "need", reason->need);
	return item;
}

/* Each of them alone would help; the first asks for least. */
static struct node *write_changes(struct build *build, const struct plan_group *group)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < group->reason_count; i++)
		if (strcmp(group->reasons[i].code, "WouldFit") == 0)
			build_append(build, list, build_string(build, group->reasons[i].message));
	return list;
}

static struct node *write_groups(struct build *build, const struct why *why)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < why->group_count; i++) {
		const struct plan_group *group = &why->plan->groups[why->groups[i]];
		struct node *item = build_map(build);
		build_put_string(build, item, "namespace", group->namespace_);
		build_put_string(build, item, "name", group->name);
		build_put_string(build, item, "state", group->state);
		build_put_int(build, item, "placed", group->placed);
		build_put_int(build, item, "minimum", group->minimum);
		build_put_int(build, item, "waiting", group->waiting);
		build_put(build, item, "reasons", plan_write_reasons(group, build));
		build_append(build, list, item);
	}
	return list;
}

static void put_group(struct build *build, struct node *root, const struct why *why)
{
	const struct plan_group *group = &why->plan->groups[why->group];
	build_put_string(build, root, "podGroup", group->name);
	build_put_int(build, root, "placed", group->placed);
	build_put_int(build, root, "minimum", group->minimum);
	build_put_int(build, root, "waiting", group->waiting);
	build_put(build, root, "reasons", plan_write_reasons(group, build));
	build_put(build, root, "closest", write_closest(build, why->closest));
	build_put_string(build, root, "missing", why->missing ? why->missing->message : NULL);
	build_put(build, root, "changes", write_changes(build, group));
	build_put(build, root, "parts", write_parts(build, why));
}

static struct node *write_limit(struct build *build, int64_t amount)
{
	return amount < 0 ? build_null(build) : build_int(build, amount);
}

static struct node *write_resources(const struct cycle *cycle, const struct cycle_queue *queue, struct build *build)
{
	static const char *const names[CYCLE_RESOURCES] = {"gpuMilli", "cpuMilli", "memoryBytes"};
	struct node *resources = build_map(build);
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		struct node *item = build_map(build);
		build_put_int(build, item, "allocated", queue->allocated[r]);
		build_put_int(build, item, "fairShare", queue->fair[r]);
		build_put(build, item, "quota", write_limit(build, queue->quota[r]));
		build_put(build, item, "limit", write_limit(build, queue->limit[r]));
		if (cycle->past_factor)
			build_put_int(build, item, "pastUsePerBillion", queue->used[r]);
		build_put(build, resources, names[r], item);
	}
	return resources;
}

static void put_queue(struct build *build, struct node *root, const struct why *why)
{
	const struct cycle *cycle = &why->plan->snapshot->cycle;
	struct node *groups = build_list(build), *pools = build_list(build);
	bool several = false;
	for (size_t q = 0; q < cycle->queue_count; q++) {
		if (cycle->queues[q].first != why->queue)
			continue;
		struct node *pool = build_map(build);
		build_put_string(build, pool, "nodePool", cycle->queues[q].pool_name);
		build_put(build, pool, "resources", write_resources(cycle, &cycle->queues[q], build));
		build_append(build, pools, pool);
		several |= (int)q != why->queue;
	}
	build_put(build, root, "resources", write_resources(cycle, &cycle->queues[why->queue], build));
	if (several)
		build_put(build, root, "pools", pools);
	for (size_t i = 0; i < why->plan->group_count; i++) {
		size_t index = why->plan->order[i];
		const struct plan_group *group = &why->plan->groups[index];
		if (!why_concerns_queue(why, index))
			continue;
		struct node *item = build_map(build);
		build_put_string(build, item, "namespace", group->namespace_);
		build_put_string(build, item, "name", group->name);
		build_put_string(build, item, "state", group->state);
		build_put(build, item, "reasons", plan_write_reasons(group, build));
		build_append(build, groups, item);
	}
	build_put(build, root, "groups", groups);
}

struct node *why_write(const struct why *why, struct build *build)
{
	static const char *const kinds[] = {
		[WHY_POD_GROUP] = "PodGroup", [WHY_POD] = "Pod", [WHY_QUEUE] = "Queue", [WHY_WORKLOAD] = NULL};
	struct node *root = build_map(build);
	build_put_string(build, root, "kind", why->subject.workload ? why->subject.workload : kinds[why->subject.kind]);
	build_put_string(build, root, "namespace", why->subject.namespace_[0] ? why->subject.namespace_ : NULL);
	build_put_string(build, root, "name", why->subject.name);
	build_put_string(build, root, "state", why->state);
	build_put_string(build, root, "summary", why->summary);
	build_put_string(build, root, "message", why->message);
	if (why->group >= 0)
		put_group(build, root, why);
	if (why->queue >= 0)
		put_queue(build, root, why);
	if (why->subject.kind == WHY_WORKLOAD)
		build_put(build, root, "groups", write_groups(build, why));
	return root;
}
