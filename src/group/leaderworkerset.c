/* LeaderWorkerSet: one group per replica, of a leader and its workers. The leader has index 0, workers count from 1.
 *
 * Its own field subGroupSize makes segments as well, and needs no topology: it is part of the workload's meaning. */
#include "group/internal.h"

#include <string.h>

#define LABEL_NAME "leaderworkerset.sigs.k8s.io/name"
#define LABEL_WORKER_INDEX "leaderworkerset.sigs.k8s.io/worker-index"
#define LABEL_GROUP_INDEX "leaderworkerset.sigs.k8s.io/group-index"
#define KEY_EXCLUSIVE "leaderworkerset.sigs.k8s.io/exclusive-topology"
#define KEY_GROUP_SIZE "leaderworkerset.sigs.k8s.io/size"
#define GROUP_SUFFIX "-group-" /* of a PodGroup, before the index of its replica */
#define PATH_SUBGROUP_SIZE "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"

struct set {
	const struct val *spec, *template_;
	int64_t size;     /* pods of a group, the leader among them */
	bool leader;      /* the pod is the leader */
	bool leader_only; /* workers are made when the leader is ready, or has a node: nobody waits for them yet */
	bool excluded;    /* the leader is outside of the segments */
	struct segments segments;
};

static bool read_size(struct grouping *grouping, struct set *set)
{
	static const char path[] = "spec.leaderWorkerTemplate.size";
	enum field given = field_int(grouping, val_get(set->template_, "size"), path, &set->size);
	if (given == FIELD_WRONG)
		return false;
	if (given == FIELD_GIVEN && set->size > 0)
		return true;
	group_warn(grouping, GROUP_ABOUT_SIZE_MISSING, path, "write the number of pods of a group, 1 or more",
	           "the size of a group is missing");
	return false;
}

/* Whether what the one pod asks of a node is what the other does, as far as templates say. */
static bool ask_alike(const struct val *a, const struct val *b)
{
	static const char *const about_nodes[] = {"nodeSelector", "affinity", "tolerations"};
	const struct val *of_a = val_get(a, "containers"), *of_b = val_get(b, "containers");
	for (size_t i = 0; i < sizeof(about_nodes) / sizeof(*about_nodes); i++)
		if (!val_equal(val_get(a, about_nodes[i]), val_get(b, about_nodes[i])))
			return false;
	for (size_t i = 0; i < val_count(of_a) || i < val_count(of_b); i++)
		if (!val_equal(val_get(val_item(of_a, i), "resources"), val_get(val_item(of_b, i), "resources")))
			return false;
	return true;
}

/* Whether the pods have volumes or devices of their own, which are known when the pods are there. */
static bool has_claims(const struct val *spec)
{
	const struct val *volume;
	for (struct val_iter it = val_iter(val_get(spec, "volumes")); val_next(&it, NULL, &volume);)
		if (val_get(volume, "persistentVolumeClaim") || val_get(volume, "ephemeral"))
			return true;
	return val_count(val_get(spec, "resourceClaims")) > 0;
}

/* While there is only a leader, its workers are what their template says. */
static void expect_workers(struct grouping *grouping, const struct set *set)
{
	const struct val *leader = val_path(set->template_, "leaderTemplate", "spec", NULL);
	const struct val *workers = val_get(set->template_, "workerTemplate");
	bool alike = val_kind(leader) != VAL_MAP || ask_alike(leader, val_get(workers, "spec"));
	grouping->out->starts_whole = set->size > 1 && (alike || !has_claims(val_get(workers, "spec")));
	grouping->out->coming = grouping->out->starts_whole && !alike ? workers : NULL;
}

static bool read_policy(struct grouping *grouping, struct set *set)
{
	const char *policy = "LeaderCreated";
	if (field_text(grouping, val_get(set->spec, "startupPolicy"), "spec.startupPolicy", &policy) == FIELD_WRONG)
		return false;
	const char *index = group_pod_label(grouping, LABEL_WORKER_INDEX);
	set->leader = index && strcmp(index, "0") == 0;
	bool created = strcmp(policy, "LeaderCreated") == 0;
	/* With a domain of its own for each replica the controller makes the workers when it sees where the leader is. */
	if (created && !meta_get(&grouping->subject.annotations, KEY_EXCLUSIVE))
		return true;
	if (!created && strcmp(policy, "LeaderReady") != 0) {
		group_warn(grouping, GROUP_ABOUT_UNKNOWN_STARTUP_POLICY, "spec.startupPolicy",
		           "write LeaderCreated or LeaderReady", "\"%s\" is no startup policy", policy);
		return false;
	}
	const char *size = meta_get(&grouping->pod_annotations, KEY_GROUP_SIZE);
	int64_t own;
	if (size && meta_parse_int(size, &own) && own > 0)
		set->size = own;
	expect_workers(grouping, set);
	set->leader_only = set->leader && !*val_str(val_path(grouping->pod, "spec", "nodeName", NULL), "");
	return true;
}

static int64_t segment_of(const struct set *set, int64_t index)
{
	if (index == 0)
		return 0;
	bool leader_is_extra = (set->size - 1) % set->segments.size == 0;
	return leader_is_extra ? (index - 1) / set->segments.size : index / set->segments.size;
}

static bool segments_fit(struct grouping *grouping, struct set *set, const char *path)
{
	const char *type = val_str(val_path(set->template_, "subGroupPolicy", "subGroupPolicyType", NULL), "");
	set->excluded = strcmp(type, "LeaderExcluded") == 0;
	int64_t size = set->segments.size;
	if (size <= 1 || size > set->size) {
		group_warn(grouping, GROUP_ABOUT_SEGMENT_SIZE, path, "write a number from 2 to the size of a group",
		           "segments of %lld do not fit into groups of %lld pods; they are grouped without segments",
		           (long long)size, (long long)set->size);
		return false;
	}
	if (set->excluded && (set->size - 1) % size != 0) {
		group_warn(grouping, GROUP_ABOUT_SEGMENT_SIZE, path,
		           "choose a size that divides the number of workers, or the type LeaderWorker",
		           "%lld workers cannot be cut into segments of %lld when the leader is excluded; they are "
		           "grouped "
		           "without segments",
		           (long long)(set->size - 1), (long long)size);
		return false;
	}
	return tree_has_room(grouping, set->size / size + 4, path);
}

static bool read_segments(struct grouping *grouping, struct set *set)
{
	struct segment_ask ask = {
		.template_ = val_get(set->template_, "workerTemplate"),
		.path = "spec.leaderWorkerTemplate.workerTemplate",
		.index_label = LABEL_WORKER_INDEX,
		.root_too = true,
		.member = !set->leader,
	};
	const struct val *own = val_path(set->template_, "subGroupPolicy", "subGroupSize", NULL);
	enum field given = field_int(grouping, own, PATH_SUBGROUP_SIZE, &set->segments.size);
	if (given == FIELD_WRONG)
		return false;
	if (given == FIELD_ABSENT)
		return segments_wanted(grouping, &ask, &set->segments) &&
		       segments_fit(grouping, set, "metadata.annotations[kai.scheduler/segment-size]");
	set->segments.index_label = LABEL_WORKER_INDEX;
	set->segments.constraint = segments_constraint(grouping, &ask);
	const struct group_constraint *constraint = &set->segments.constraint;
	if (!constraint->topology && (constraint->required || constraint->preferred)) {
		group_warn(grouping, GROUP_ABOUT_SEGMENT_TOPOLOGY_MISSING,
		           "spec.leaderWorkerTemplate.workerTemplate.metadata.annotations[" KEY_TOPOLOGY "]",
		           "add the annotation " KEY_TOPOLOGY " with the name of a Topology, there or on the workload",
		           "a level for segments is given but no Topology is named; the level is ignored");
	}
	if (!constraint->topology || (!constraint->required && !constraint->preferred))
		set->segments.constraint = (struct group_constraint){0};
	return segments_fit(grouping, set, PATH_SUBGROUP_SIZE);
}

static void add_plain(struct grouping *grouping, const struct set *set)
{
	int leader = tree_add(grouping, "leader", GROUP_UNSET, 1);
	int workers = GROUP_UNSET;
	tree_expect(grouping, leader, 1);
	if (set->size > 1) {
		workers = tree_add(grouping, "workers", GROUP_UNSET, set->leader_only ? 0 : set->size - 1);
		tree_expect(grouping, workers, set->size - 1);
		grouping->out->subgroups[workers].constraint =
			group_template_level(grouping, val_get(set->template_, "workerTemplate"));
	}
	if (set->leader)
		tree_join(grouping, leader);
	else if (workers >= 0)
		tree_join(grouping, workers);
	else
		tree_leaf_unknown(grouping, LABEL_WORKER_INDEX);
}

static void join_segment(struct grouping *grouping, const struct set *set, int first, int64_t count, int leader,
                         int workers)
{
	int64_t index = 0;
	if (!set->leader && !segments_pod_index(grouping, set->segments.index_label, &index))
		return;
	int64_t segment = segment_of(set, index);
	if (set->leader || (index == 0 && leader >= 0)) {
		tree_join(grouping, leader);
		grouping->out->segment = set->excluded ? GROUP_UNSET : 0;
	} else if (index >= set->size || segment >= count) {
		group_warn_pod(
			grouping, GROUP_ABOUT_INDEX_BEYOND,
			arena_printf(grouping->arena, "metadata.labels[%s]", set->segments.index_label),
			"correct the index, or raise the size of the group",
			"index %lld lies beyond a group of %lld pods: the pod joins no subgroup and stays pending",
			(long long)index, (long long)set->size);
	} else {
		tree_join(grouping, segment == 0 && workers >= 0 ? workers : first + (int)segment);
		grouping->out->segment = (int)segment;
	}
}

/* With the leader inside, the first segment is a parent: the leader beside the first workers. */
static void add_segmented(struct grouping *grouping, const struct set *set)
{
	int64_t count = segment_of(set, set->size - 1) + 1, size = set->segments.size, placed = 1;
	int leader = GROUP_UNSET, workers = GROUP_UNSET;
	if (set->excluded)
		leader = tree_add(grouping, "leader", GROUP_UNSET, 1);
	if (leader >= 0)
		tree_expect(grouping, leader, 1);
	int first = (int)grouping->out->subgroup_count;
	bool leader_is_extra = (set->size - 1) % size == 0;
	int64_t first_workers = leader_is_extra ? size : size - 1;
	for (int64_t i = 0; i < count; i++) {
		int64_t pods = i == 0 ? first_workers : size;
		pods = pods > set->size - placed ? set->size - placed : pods;
		int added = tree_add_numbered(grouping, "segment", i, GROUP_UNSET, set->leader_only ? 0 : pods);
		grouping->out->subgroups[added].constraint = set->segments.constraint;
		tree_expect(grouping, added, pods);
		placed += pods;
	}
	if (!set->excluded) {
		leader = tree_add(grouping, "leader", first, 1);
		workers = tree_add(grouping, "workers", first, set->leader_only ? 0 : first_workers);
		tree_expect(grouping, leader, 1);
		tree_expect(grouping, workers, first_workers);
	}
	join_segment(grouping, set, first, count, leader, workers);
}

enum group_verdict family_leader_worker_set(struct grouping *grouping)
{
	struct set set = {.spec = val_get(grouping->subject.id.object, "spec")};
	set.template_ = val_get(set.spec, "leaderWorkerTemplate");
	group_inherit(grouping, CLASS_TRAIN);
	if (!read_size(grouping, &set) || !read_policy(grouping, &set))
		return GROUP_REFUSED;
	const char *group = group_pod_label(grouping, LABEL_GROUP_INDEX);
	int64_t index;
	if (group && meta_parse_int(group, &index))
		grouping->out->name =
			arena_printf(grouping->arena, "%s" GROUP_SUFFIX "%lld", grouping->out->name, (long long)index);
	if (read_segments(grouping, &set))
		add_segmented(grouping, &set);
	else
		add_plain(grouping, &set);
	return GROUP_WANTED;
}

/* The text behind the last such suffix, NULL when there is none. */
static const char *replica_of(const char *group_name)
{
	const char *found = NULL;
	for (const char *at = group_name; (at = strstr(at, GROUP_SUFFIX)); found = at)
		at += strlen(GROUP_SUFFIX);
	return found;
}

/* During an update there may be more replicas than the set asks for: those have pods. */
static bool has_pods(const struct group_source *source, const char *namespace_, const char *set, const char *replica)
{
	size_t cursor = 0;
	const struct val *pod;
	while ((pod = source->next_pod(source->context, namespace_, LABEL_NAME, set, &cursor)))
		if (text_equal(val_str(val_path(pod, "metadata", "labels", LABEL_GROUP_INDEX, NULL), ""), replica))
			return true;
	return false;
}

bool group_is_left_over(const struct val *pod_group, const struct group_source *source)
{
	const char *namespace_ = meta_text(pod_group, "namespace"), *replica = replica_of(meta_text(pod_group, "name"));
	const struct val *owner = val_item(val_path(pod_group, "metadata", "ownerReferences", NULL), 0);
	const char *api_version = val_str(val_get(owner, "apiVersion"), ""),
		   *kind = val_str(val_get(owner, "kind"), ""), *name = val_str(val_get(owner, "name"), "");
	int64_t index, replicas = 1;
	if (!replica || !meta_parse_int(replica, &index) || kind_family(api_version, kind) != family_leader_worker_set)
		return false;
	const struct val *set = source->get(source->context, api_version, kind, namespace_, name);
	if (!set || !text_equal(meta_text(set, "uid"), val_str(val_get(owner, "uid"), "")))
		return false;
	val_int(val_path(set, "spec", "replicas", NULL), &replicas);
	return index >= replicas && !has_pods(source, namespace_, name, replica);
}
