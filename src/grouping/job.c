/* Owns what becomes of a new Job: its evictions are not failures of its program. */
#include "grouping/internal.h"

#include "object/build.h"

#include <string.h>

#define DISRUPTION "DisruptionTarget"

/* A controller that makes Jobs counts failures in a way of its own; a CronJob does not. */
static bool is_of_controller(const struct val *job)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(job, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);)
		if (val_bool(val_get(owner, "controller"), false) &&
		    strcmp(val_str(val_get(owner, "kind"), ""), "CronJob") != 0)
			return true;
	return false;
}

static struct node *write_policy(struct build *build)
{
	struct node *policy = build_map(build), *rules = build_list(build), *rule = build_map(build),
		    *conditions = build_list(build), *condition = build_map(build);
	build_put_string(build, condition, "type", DISRUPTION);
	build_put_string(build, condition, "status", "True");
	build_append(build, conditions, condition);
	build_put_string(build, rule, "action", "Ignore");
	build_put(build, rule, "onPodConditions", conditions);
	build_append(build, rules, rule);
	build_put(build, policy, "rules", rules);
	return policy;
}

struct doc *grouping_admit_job(const struct settings *settings, const struct val *job)
{
	const struct val *spec = val_get(job, "spec"), *pod = val_path(spec, "template", "spec", NULL);
	const struct val *policy = val_get(spec, "podFailurePolicy");
	if (!settings_is_ours(settings, val_str(val_get(pod, "schedulerName"), NULL)) || val_kind(policy) != VAL_NULL ||
	    is_of_controller(job) || strcmp(val_str(val_get(pod, "restartPolicy"), ""), "Never") != 0)
		return NULL; /* only pods that are never restarted may have a policy */
	struct build *build = build_create();
	struct node *root = build_copy(build, job), *copy = build_copy(build, spec);
	build_put(build, copy, "podFailurePolicy", write_policy(build));
	build_put_string(build, copy, "podReplacementPolicy", "Failed"); /* the only one beside a failure policy */
	build_put(build, root, "spec", copy);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}
