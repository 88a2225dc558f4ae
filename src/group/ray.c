/* RayCluster, and RayJob and RayService, which make one: the head beside one subgroup per worker group. */
#include "group/internal.h"

#include <string.h>

#define LABEL_GROUP "ray.io/group"
#define LABEL_PRIORITY "ray.io/priority-class-name"
#define HEAD "headgroup"

struct worker_group {
	const char *name, *path;
	const struct val *spec;
	int64_t replicas, minimum; /* pods */
	struct group_constraint constraint;
};

/* The cluster that owns the pod, else the one its owner names, else the one the owner describes. */
static const struct val *find_cluster_spec(struct grouping *grouping)
{
	const struct group_owner *top = &grouping->subject.id;
	if (strcmp(top->kind, "RayCluster") == 0)
		return val_get(top->object, "spec");
	for (size_t i = 0; i < grouping->owners->count; i++)
		if (strcmp(grouping->owners->items[i].kind, "RayCluster") == 0 && grouping->owners->items[i].object)
			return val_get(grouping->owners->items[i].object, "spec");
	const struct val *status = val_get(top->object, "status");
	const char *names[] = {
		val_str(val_get(status, "rayClusterName"), ""),
		val_str(val_path(status, "activeServiceStatus", "rayClusterName", NULL), ""),
		val_str(val_path(status, "pendingServiceStatus", "rayClusterName", NULL), ""),
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct val *cluster =
			group_get(grouping, top->api_version, "RayCluster", grouping->namespace_, names[i]);
		if (cluster)
			return val_get(cluster, "spec");
	}
	const struct val *described = val_path(top->object, "spec", "rayClusterSpec", NULL);
	return described ? described : val_path(top->object, "spec", "rayClusterConfig", NULL);
}

static bool read_counts(struct grouping *grouping, struct worker_group *group, bool autoscaling)
{
	struct arena *arena = grouping->arena;
	int64_t replicas = 0, minimum = 0, hosts = 1;
	if (field_int(grouping, val_get(group->spec, "replicas"), arena_printf(arena, "%s.replicas", group->path),
	              &replicas) == FIELD_WRONG ||
	    field_int(grouping, val_get(group->spec, "minReplicas"), arena_printf(arena, "%s.minReplicas", group->path),
	              &minimum) == FIELD_WRONG ||
	    field_int(grouping, val_get(group->spec, "numOfHosts"), arena_printf(arena, "%s.numOfHosts", group->path),
	              &hosts) == FIELD_WRONG)
		return false;
	if (minimum > replicas) {
		group_warn(grouping, GROUP_ABOUT_REPLICAS_BELOW_MINIMUM,
		           arena_printf(arena, "%s.replicas", group->path), "raise replicas or lower minReplicas",
		           "%lld replicas are below minReplicas %lld", (long long)replicas, (long long)minimum);
		return false;
	}
	/* An autoscaler may start with no workers and add them while the head runs. */
	if (minimum == 0 && !autoscaling)
		minimum = replicas;
	group->replicas = replicas * hosts;
	group->minimum = minimum * hosts;
	return true;
}

static bool read_group(struct grouping *grouping, const struct val *spec, size_t index, bool autoscaling,
                       struct worker_group *out)
{
	struct arena *arena = grouping->arena;
	*out = (struct worker_group){.spec = spec, .path = arena_printf(arena, "spec.workerGroupSpecs[%zu]", index)};
	if (field_kind(grouping, spec, VAL_MAP, out->path) != FIELD_GIVEN)
		return false;
	out->name = val_str(val_get(spec, "groupName"), "");
	if (!*out->name)
		out->name = arena_printf(arena, "worker-group-%zu", index);
	if (val_bool(val_get(spec, "suspended"), false))
		return true;
	if (val_bool(val_get(spec, "suspend"), false))
		group_warn(grouping, GROUP_ABOUT_SUSPENDED, arena_printf(arena, "%s.suspend", out->path),
		           "resume the group, or set its replicas to 0 while it is suspended",
		           "a suspended worker group has no pods, but the cluster waits for all of its groups");
	return read_counts(grouping, out, autoscaling) &&
	       group_template_constraint(grouping, val_path(spec, "template", "metadata", "annotations", NULL),
	                                 arena_printf(arena, "%s.template", out->path), &out->constraint);
}

static void add_group(struct grouping *grouping, const struct worker_group *group, bool member)
{
	struct segment_ask ask = {
		.template_ = val_get(group->spec, "template"),
		.path = arena_printf(grouping->arena, "%s.template", group->path),
		.member = member,
	};
	struct segments segments;
	int leaf = tree_add(grouping, group->name, GROUP_UNSET, group->minimum);
	grouping->out->subgroups[leaf].constraint = group->constraint;
	tree_expect(grouping, leaf, group->replicas);
	if (segments_wanted(grouping, &ask, &segments))
		segments_add(grouping, &segments, leaf, group->replicas, group->minimum, member, group->path);
	else if (member)
		tree_join(grouping, leaf);
}

static bool add_head(struct grouping *grouping, const struct val *spec, const char *mine)
{
	struct group_constraint constraint;
	const struct val *annotations = val_path(spec, "headGroupSpec", "template", "metadata", "annotations", NULL);
	bool good = group_template_constraint(grouping, annotations, "spec.headGroupSpec.template", &constraint);
	int head = tree_add(grouping, HEAD, GROUP_UNSET, 1);
	tree_expect(grouping, head, 1);
	grouping->out->subgroups[head].constraint = constraint;
	if (mine && strcmp(mine, HEAD) == 0)
		tree_join(grouping, head);
	return good;
}

static bool add_groups(struct grouping *grouping, const struct val *spec)
{
	const struct val *list = val_get(spec, "workerGroupSpecs"), *item;
	const char *mine = group_pod_label(grouping, LABEL_GROUP);
	bool autoscaling = val_bool(val_get(spec, "enableInTreeAutoscaling"), false);
	bool good = add_head(grouping, spec, mine), found = mine && strcmp(mine, HEAD) == 0;
	if (field_kind(grouping, list, VAL_LIST, "spec.workerGroupSpecs") == FIELD_WRONG)
		return false;
	if (!tree_has_room(grouping, (int64_t)val_count(list), "spec.workerGroupSpecs"))
		return false;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		struct worker_group group;
		if (!read_group(grouping, item, index, autoscaling, &group)) {
			good = false;
			continue;
		}
		bool member = mine && !found && strcmp(mine, group.name) == 0;
		if (group.minimum == 0 && group.replicas == 0)
			continue;
		found = found || member;
		add_group(grouping, &group, member);
	}
	if (good && !found)
		tree_leaf_unknown(grouping, LABEL_GROUP);
	return good;
}

/* A group written before there were subgroups stays flat, so that running pods keep theirs. */
static void keep_flat(struct grouping *grouping)
{
	struct group_result *out = grouping->out;
	const struct val *stored = group_stored(grouping, out->name);
	if (!stored || val_count(val_path(stored, "spec", "subGroups", NULL)) > 0)
		return;
	out->min_member = tree_pods(grouping, group_minimum(out), "spec");
	out->subgroup_count = 0;
	out->segment = grouping->leaf = GROUP_UNSET;
}

/* The pod that submits a RayJob is made by a Job when the cluster runs: a group that waited for it would never start. */
static bool is_submitter(const struct grouping *grouping)
{
	const struct group_owner *nearest = grouping->owners->items;
	return grouping->owners->count > 1 && nearest->object && strcmp(nearest->kind, "Job") == 0 &&
	       !group_pod_label(grouping, LABEL_GROUP);
}

static enum group_verdict group_submitter(struct grouping *grouping)
{
	struct arena *arena = grouping->arena;
	const struct group_owner *job = grouping->owners->items;
	struct subject above = grouping->subject;
	grouping->subject = (struct subject){
		.id = *job,
		.labels = meta_merge(arena, meta_labels(arena, job->object, "labels"), above.labels),
		.annotations = meta_labels(arena, job->object, "annotations"),
	};
	return family_job(grouping);
}

enum group_verdict family_ray(struct grouping *grouping)
{
	if (is_submitter(grouping))
		return group_submitter(grouping);
	group_inherit(grouping, CLASS_TRAIN);
	const char *class = meta_get(&grouping->subject.labels, LABEL_PRIORITY);
	if (class)
		grouping->out->priority_class = class;
	const struct val *spec = find_cluster_spec(grouping);
	if (val_kind(spec) != VAL_MAP) {
		group_warn(grouping, GROUP_ABOUT_OBJECT_NOT_FOUND, "status",
		           "wait until the operator has made the RayCluster",
		           "the RayCluster of %s %s is not there yet", grouping->subject.id.kind,
		           grouping->subject.id.name);
		return GROUP_REFUSED;
	}
	if (!add_groups(grouping, spec))
		return GROUP_REFUSED;
	keep_flat(grouping);
	return GROUP_WANTED;
}
