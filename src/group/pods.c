/* Pods that stand alone, kinds without a rule of their own, and Spark, whose pods share one group by label. */
#include "group/internal.h"

#define LABEL_SPARK_APP "spark-app-name"
#define LABEL_SPARK_SELECTOR "spark-app-selector"

/* Number of pods of a kind that has no rule: the field such kinds usually have. 0 when unknown. */
static int64_t usual_replicas(const struct val *object)
{
	static const char *const fields[] = {"replicas", "parallelism"};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		int64_t number;
		if (val_int(val_path(object, "spec", fields[i], NULL), &number) == 0 && number > 0)
			return number;
	}
	return 0;
}

/* One group per owner that starts with its first pod; all further pods are elastic. */
enum group_verdict family_default(struct grouping *grouping)
{
	group_inherit(grouping, CLASS_TRAIN);
	struct segment_ask ask = {
		.template_ = val_path(grouping->subject.id.object, "spec", "template", NULL),
		.path = "spec.template",
		.root_too = true,
		.member = true,
	};
	segments_of_all(grouping, &ask, usual_replicas(grouping->subject.id.object), 1);
	return GROUP_WANTED;
}

/* A driver pod owns its executors, so both pods of an application and pods of pods come here. */
enum group_verdict family_pod(struct grouping *grouping)
{
	group_inherit(grouping, CLASS_TRAIN);
	const char *selector = group_pod_label(grouping, LABEL_SPARK_SELECTOR);
	if (selector && labels_get(&grouping->pod_labels, LABEL_SPARK_APP))
		grouping->out->name = tree_label(grouping, selector);
	struct segment_ask ask = {.path = "metadata", .root_too = true, .member = true};
	segments_refuse(grouping, &ask, "a pod that stands alone has no siblings to share a segment with");
	return GROUP_WANTED;
}
