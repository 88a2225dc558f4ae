/* Kinds that differ from the default in one point: Notebook, SPOTRequest, AmlJob, RunaiJob. */
#include "group/internal.h"

#include <string.h>

enum group_verdict family_notebook(struct grouping *grouping)
{
	group_inherit(grouping, CLASS_BUILD);
	return GROUP_WANTED;
}

enum group_verdict family_spot_request(struct grouping *grouping)
{
	group_inherit(grouping, CLASS_INFERENCE);
	return GROUP_WANTED;
}

enum group_verdict family_aml(struct grouping *grouping)
{
	static const char path[] = "spec.job.options.envs.AZUREML_NODE_COUNT";
	group_inherit(grouping, CLASS_TRAIN);
	const struct val *count =
		val_path(grouping->subject.id.object, "spec", "job", "options", "envs", "AZUREML_NODE_COUNT", NULL);
	const char *text = meta_scalar(grouping->arena, count);
	int64_t nodes;
	if (!text) {
		group_warn(grouping, GROUP_ABOUT_NODE_COUNT_MISSING, path, "set it to the number of nodes of the job",
		           "the number of nodes is missing");
		return GROUP_REFUSED;
	}
	if (!meta_parse_int(text, &nodes) || nodes < 1) {
		group_warn(grouping, GROUP_ABOUT_WRONG_FIELD_TYPE, path, "set it to the number of nodes of the job",
		           "\"%s\" is no positive number", text);
		return GROUP_REFUSED;
	}
	grouping->out->min_member = (int)nodes;
	return GROUP_WANTED;
}

/* Instances of a RunaiJob are told apart by the pod name without its last part. */
enum group_verdict family_runai_job(struct grouping *grouping)
{
	const struct group_owner *job = &grouping->subject.id;
	group_inherit(grouping, CLASS_TRAIN);
	if (grouping->options->keep_old_names) {
		int64_t parallelism = 0;
		bool several = val_int(val_path(job->object, "spec", "parallelism", NULL), &parallelism) == 0 &&
		               parallelism > 1;
		group_name(grouping, several ? grouping->pod_name : job->name, job->uid);
		if (group_stored(grouping, grouping->out->name))
			return GROUP_WANTED;
	}
	const char *dash = strrchr(grouping->pod_name, '-');
	size_t length = dash ? (size_t)(dash - grouping->pod_name) : strlen(grouping->pod_name);
	group_name(grouping, arena_strndup(grouping->arena, grouping->pod_name, length), job->uid);
	return GROUP_WANTED;
}
