/* JobSet: a parent per replicated job, below it a leaf per replica. */
#include "group/internal.h"

#include <string.h>

#define LABEL_JOB_NAME "jobset.sigs.k8s.io/replicatedjob-name"
#define LABEL_JOB_INDEX "jobset.sigs.k8s.io/job-index"
#define KEY_EXCLUSIVE "alpha.jobset.sigs.k8s.io/exclusive-topology"
#define KEY_NODE_SELECTOR                                                                                              \
	"alpha.jobset.sigs.k8s.io/node-selector" /* the user labels the nodes: nobody waits for a leader */
#define LABEL_COMPLETION_INDEX "batch.kubernetes.io/job-completion-index"

struct replicated {
	const char *name, *path;
	const struct val *template_; /* of the Job */
	int64_t replicas, pods;      /* Jobs, pods each */
	int64_t minimum;
	bool led; /* the first pod of a Job has to have a node before the others can be created */
	struct group_constraint constraint;
};

/* Each Job gets a domain of its own: where its first pod is, there the others are told to go. */
static bool is_led(const struct grouping *grouping, const struct replicated *job)
{
	const struct val *own = val_path(job->template_, "metadata", "annotations", NULL);
	const struct labels *all = &grouping->subject.annotations;
	return (val_get(own, KEY_EXCLUSIVE) || meta_get(all, KEY_EXCLUSIVE)) && !val_get(own, KEY_NODE_SELECTOR) &&
	       !meta_get(all, KEY_NODE_SELECTOR);
}

static bool read_minimum(struct grouping *grouping, struct replicated *job)
{
	const char *path = arena_printf(grouping->arena, "%s.template.metadata", job->path);
	const struct val *text = val_path(job->template_, "metadata", "annotations", KEY_MIN_MEMBER, NULL);
	job->minimum = job->pods;
	enum field asked = group_min_member(grouping, meta_scalar(grouping->arena, text), path, 1, &job->minimum);
	if (asked == FIELD_GIVEN && job->minimum > job->pods)
		group_warn(grouping, GROUP_ABOUT_REPLICAS_BELOW_MINIMUM,
		           arena_printf(grouping->arena, "%s.annotations[" KEY_MIN_MEMBER "]", path),
		           "lower it, or raise the parallelism", "a Job of %lld pods can never reach a minimum of %lld",
		           (long long)job->pods, (long long)job->minimum);
	job->led = is_led(grouping, job);
	if (job->led)
		job->minimum = 1;
	return asked != FIELD_WRONG;
}

static bool read_job(struct grouping *grouping, const struct val *item, size_t index, struct replicated *out)
{
	struct arena *arena = grouping->arena;
	out->path = arena_printf(arena, "spec.replicatedJobs[%zu]", index);
	if (field_kind(grouping, item, VAL_MAP, out->path) != FIELD_GIVEN)
		return false;
	out->name = val_str(val_get(item, "name"), "");
	if (!*out->name) {
		group_warn(grouping, GROUP_ABOUT_WRONG_FIELD_TYPE, arena_printf(arena, "%s.name", out->path),
		           "give it a name", "the replicated job has no name");
		return false;
	}
	out->template_ = val_get(item, "template");
	out->replicas = out->pods = 1;
	if (field_int(grouping, val_get(item, "replicas"), arena_printf(arena, "%s.replicas", out->path),
	              &out->replicas) == FIELD_WRONG ||
	    field_int(grouping, val_path(out->template_, "spec", "parallelism", NULL),
	              arena_printf(arena, "%s.template.spec.parallelism", out->path), &out->pods) == FIELD_WRONG)
		return false;
	group_template_constraint(grouping, val_path(out->template_, "metadata", "annotations", NULL),
	                          arena_printf(arena, "%s.template", out->path), &out->constraint);
	return read_minimum(grouping, out);
}

/* The replica the pod belongs to, -1 when its index is no number of this job. */
static int64_t pod_replica(struct grouping *grouping, const struct replicated *job)
{
	const char *text = group_pod_label(grouping, LABEL_JOB_INDEX);
	int64_t index;
	if (!text || !meta_parse_int(text, &index) || index < 0) {
		group_warn_pod(grouping, GROUP_ABOUT_INDEX_NOT_A_NUMBER, "metadata.labels[" LABEL_JOB_INDEX "]",
		               "set the label to the index of the Job (the JobSet controller does that)",
		               "\"%s\" is no index from 0 on: the pod joins no subgroup and stays pending",
		               text ? text : "");
		return -1;
	}
	if (index < job->replicas)
		return index;
	group_warn_pod(grouping, GROUP_ABOUT_INDEX_BEYOND, "metadata.labels[" LABEL_JOB_INDEX "]",
	               "wait until the Job is removed, or raise the replicas",
	               "Job %lld lies beyond the %lld replicas of %s: the pod joins no subgroup and stays pending",
	               (long long)index, (long long)job->replicas, job->name);
	return -1;
}

static void add_job(struct grouping *grouping, const struct replicated *job, bool member)
{
	/* The Jobs of a JobSet are Indexed unless they say otherwise. */
	const char *mode = val_str(val_path(job->template_, "spec", "completionMode", NULL), "Indexed");
	struct segment_ask ask = {
		.template_ = val_path(job->template_, "spec", "template", NULL),
		.path = arena_printf(grouping->arena, "%s.template.spec.template", job->path),
		.index_label = text_equal(mode, "Indexed") ? LABEL_COMPLETION_INDEX : NULL,
		.member = member,
	};
	struct segments segments;
	bool has_segments = segments_wanted(grouping, &ask, &segments);
	if (!tree_has_room(grouping, job->replicas + 1, job->path)) {
		/* Still a gang, only without a place for each replica. */
		int64_t pods = job->minimum > INT32_MAX / job->replicas ? INT32_MAX : job->minimum * job->replicas;
		int leaf = tree_add(grouping, job->name, GROUP_UNSET, pods);
		tree_expect(grouping, leaf,
		            job->pods > INT32_MAX / job->replicas ? INT32_MAX : job->pods * job->replicas);
		if (member)
			tree_join(grouping, leaf);
		return;
	}
	int parent = tree_add(grouping, job->name, GROUP_UNSET, GROUP_UNSET);
	tree_expect(grouping, parent, job->pods);
	grouping->out->subgroups[parent].constraint = group_template_level(grouping, ask.template_);
	int first = (int)grouping->out->subgroup_count;
	const char *leaf_name = arena_printf(grouping->arena, "%s-replica", job->name);
	int64_t mine = member ? pod_replica(grouping, job) : -1;
	/* For the marks of a pod only its own replica. */
	int64_t from = grouping->marks_only ? mine : 0, behind = grouping->marks_only ? mine + 1 : job->replicas;
	grouping->left_out += from < 0 ? job->replicas : job->replicas - (behind - from);
	for (int64_t i = from; i >= 0 && i < behind; i++) {
		int leaf = tree_add_numbered(grouping, leaf_name, i, parent, job->minimum);
		grouping->out->subgroups[leaf].constraint = job->constraint;
		if (i == mine)
			tree_join(grouping, leaf);
	}
	for (int64_t i = from; has_segments && i >= 0 && i < behind; i++)
		segments_add(grouping, &segments, first + (int)(i - from), job->pods, job->minimum, i == mine,
		             job->path);
	for (size_t i = (size_t)first; job->led && i < grouping->out->subgroup_count; i++)
		if (grouping->out->subgroups[i].min_member > 1)
			grouping->out->subgroups[i].min_member = 1;
}

/* Only as many children as the user asks for, or one when the JobSet starts its jobs one after the other. */
static bool set_minimum(struct grouping *grouping, const struct val *spec, int64_t children)
{
	int64_t minimum = children;
	const char *text = meta_get(&grouping->subject.annotations, KEY_MIN_MEMBER);
	enum field asked = group_min_member(grouping, text, "metadata", 1, &minimum);
	if (asked == FIELD_WRONG)
		return false;
	const char *order = "AnyOrder";
	if (field_text(grouping, val_path(spec, "startupPolicy", "startupPolicyOrder", NULL),
	               "spec.startupPolicy.startupPolicyOrder", &order) == FIELD_WRONG)
		return false;
	if (asked == FIELD_ABSENT && strcmp(order, "InOrder") == 0)
		minimum = 1;
	if (minimum < children)
		grouping->out->min_sub_group = (int)minimum;
	else if (grouping->options->kai_minimums)
		grouping->out->min_sub_group = (int)children;
	return true;
}

/* Groups written before there were subgroups stay flat, so that running pods keep theirs. */
static bool is_flat(struct grouping *grouping, const char *pod_job)
{
	const char *whole = grouping->out->name;
	const struct val *stored = group_stored(grouping, whole);
	if (!stored && pod_job) {
		grouping->out->name = arena_printf(grouping->arena, "%s-%s", whole, pod_job);
		stored = group_stored(grouping, grouping->out->name);
	}
	if (stored && val_count(val_path(stored, "spec", "subGroups", NULL)) == 0)
		return true;
	grouping->out->name = whole;
	return false;
}

static enum group_verdict build_flat(struct grouping *grouping)
{
	int64_t minimum = 1;
	const char *text = meta_get(&grouping->subject.annotations, KEY_MIN_MEMBER);
	if (group_min_member(grouping, text, "metadata", 1, &minimum) == FIELD_WRONG)
		return GROUP_REFUSED;
	grouping->out->min_member = (int)minimum;
	return GROUP_WANTED;
}

static enum group_verdict build_tree(struct grouping *grouping, const struct val *spec, const struct val *list,
                                     const char *pod_job)
{
	bool good = true, found = false;
	int64_t children = 0;
	size_t index = 0;
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		struct replicated job = {0};
		if (!read_job(grouping, item, index, &job)) {
			good = false;
			continue;
		}
		bool member = strcmp(job.name, pod_job) == 0 && !found;
		found = found || member;
		if (job.replicas == 0)
			continue;
		children++;
		add_job(grouping, &job, member);
	}
	if (!set_minimum(grouping, spec, children) || !good)
		return GROUP_REFUSED;
	if (children == 0) {
		group_warn(grouping, GROUP_ABOUT_NO_REPLICATED_JOBS, "spec.replicatedJobs",
		           "give a replicated job replicas", "the JobSet has no replicated job with replicas");
		return GROUP_REFUSED;
	}
	if (!found)
		tree_leaf_unknown(grouping, LABEL_JOB_NAME);
	return GROUP_WANTED;
}

enum group_verdict family_jobset(struct grouping *grouping)
{
	static const char path[] = "spec.replicatedJobs";
	const struct val *spec = val_get(grouping->subject.id.object, "spec"), *list = val_get(spec, "replicatedJobs");
	group_inherit(grouping, CLASS_TRAIN);
	if (field_kind(grouping, list, VAL_LIST, path) == FIELD_WRONG)
		return GROUP_REFUSED;
	if (val_count(list) == 0) {
		group_warn(grouping, GROUP_ABOUT_NO_REPLICATED_JOBS, path, "add a replicated job",
		           "the JobSet has no replicated jobs");
		return GROUP_REFUSED;
	}
	const char *pod_job = group_pod_label(grouping, LABEL_JOB_NAME);
	if (is_flat(grouping, pod_job))
		return build_flat(grouping);
	if (!pod_job || !group_pod_label(grouping, LABEL_JOB_INDEX)) {
		tree_leaf_unknown(grouping, pod_job ? LABEL_JOB_INDEX : LABEL_JOB_NAME);
		return GROUP_REFUSED;
	}
	return build_tree(grouping, spec, list, pod_job);
}
