/* batch/v1 Job and CronJob: one group per Job. */
#include "group/internal.h"

#define LABEL_COMPLETION_INDEX "batch.kubernetes.io/job-completion-index"

/* Segments of pods that are made only when others have ended are not waited for. */
static void expect_at_once(struct grouping *grouping, int64_t at_once)
{
	struct group_result *out = grouping->out;
	int64_t before = 0;
	for (size_t i = 0; i < out->subgroup_count; i++) {
		struct group_subgroup *segment = &out->subgroups[i];
		if (segment->parent < 0)
			continue;
		int64_t size =
			segment->expected != GROUP_UNSET ? segment->expected : out->subgroups[segment->parent].expected;
		int64_t left = at_once > before ? at_once - before : 0;
		if (left < size)
			segment->expected = (int)left;
		before += size;
	}
}

/* Indexed Jobs number their pods; how many there are, and how many run at a time. */
static enum group_verdict add_pods(struct grouping *grouping, const struct val *spec, enum field asked,
                                   int64_t asked_minimum)
{
	bool indexed = text_equal(val_str(val_get(spec, "completionMode"), ""), "Indexed");
	struct segment_ask ask = {
		.template_ = val_get(spec, "template"),
		.path = "spec.template",
		.index_label = indexed ? LABEL_COMPLETION_INDEX : NULL,
		.root_too = true,
		.member = true,
	};
	bool segmented = segments_mentioned(grouping, &ask);
	int64_t parallelism = 1, completions = 0;
	if (field_int(grouping, val_get(spec, "parallelism"), "spec.parallelism", &parallelism) == FIELD_WRONG)
		return segmented ? GROUP_REFUSED : GROUP_WANTED;
	enum field given = field_int(grouping, val_get(spec, "completions"), "spec.completions", &completions);
	if (given == FIELD_WRONG)
		return segmented ? GROUP_REFUSED : GROUP_WANTED;
	if (given == FIELD_ABSENT)
		completions = parallelism;
	int64_t at_once = parallelism < completions ? parallelism : completions;
	tree_expect(grouping, GROUP_UNSET, at_once);
	if (segmented && segments_of_all(grouping, &ask, completions, asked == FIELD_GIVEN ? asked_minimum : at_once) &&
	    at_once < completions)
		expect_at_once(grouping, at_once);
	return GROUP_WANTED;
}

enum group_verdict family_job(struct grouping *grouping)
{
	const struct group_owner *job = &grouping->subject.id;
	group_inherit(grouping, CLASS_TRAIN);
	if (grouping->options->keep_old_names) {
		const char *now = grouping->out->name;
		group_name(grouping, grouping->pod_name, job->uid);
		if (group_stored(grouping, grouping->out->name))
			return GROUP_WANTED;
		grouping->out->name = now;
	}
	int64_t minimum = 1;
	enum field asked = group_min_member(grouping, meta_get(&grouping->subject.annotations, KEY_MIN_MEMBER),
	                                    "metadata", 0, &minimum);
	if (asked == FIELD_WRONG)
		return GROUP_REFUSED;
	grouping->out->min_member = (int)minimum;
	return add_pods(grouping, val_get(job->object, "spec"), asked, minimum);
}

/* Each run of a CronJob is a Job of its own. */
enum group_verdict family_cronjob(struct grouping *grouping)
{
	for (size_t i = 0; i < grouping->owners->count; i++) {
		const struct group_owner *owner = &grouping->owners->items[i];
		if (!text_equal(owner->kind, "Job") || !owner->object)
			continue;
		grouping->subject = (struct subject){
			.id = *owner,
			.labels = meta_labels(grouping->arena, owner->object, "labels"),
			.annotations = meta_labels(grouping->arena, owner->object, "annotations"),
		};
		return family_job(grouping);
	}
	group_warn_pod(grouping, GROUP_ABOUT_OWNER_NOT_FOUND, "metadata.ownerReferences", "wait for the Job to appear",
	               "no Job of CronJob %s owns the pod", grouping->subject.id.name);
	return GROUP_REFUSED;
}
