/* Deployment, ReplicaSet, StatefulSet. */
#include "group/internal.h"

#define LABEL_POD_INDEX "apps.kubernetes.io/pod-index" /* of a StatefulSet: ordinals.start for its first pod */

static struct segment_ask ask_template(const struct grouping *grouping)
{
	return (struct segment_ask){
		.template_ = val_path(grouping->subject.id.object, "spec", "template", NULL),
		.path = "spec.template",
		.root_too = true,
		.member = true,
	};
}

/* Pods of a Deployment serve each for itself, so each is a group. */
enum group_verdict family_deployment(struct grouping *grouping)
{
	group_inherit(grouping, CLASS_INFERENCE);
	group_own_by_pod(grouping);
	struct segment_ask ask = ask_template(grouping);
	segments_refuse(grouping, &ask, "each pod of a Deployment is a group of its own");
	return GROUP_WANTED;
}

enum group_verdict family_replicas(struct grouping *grouping)
{
	const struct val *spec = val_get(grouping->subject.id.object, "spec");
	group_inherit(grouping, CLASS_TRAIN);
	int64_t replicas = 1;
	if (field_int(grouping, val_get(spec, "replicas"), "spec.replicas", &replicas) == FIELD_WRONG)
		replicas = 0;
	struct segment_ask ask = ask_template(grouping);
	bool stateful = text_equal(grouping->subject.id.kind, "StatefulSet");
	if (stateful) {
		ask.index_label = LABEL_POD_INDEX;
		if (field_int(grouping, val_path(spec, "ordinals", "start", NULL), "spec.ordinals.start",
		              &ask.first_index) == FIELD_WRONG)
			ask.first_index = 0;
	}
	tree_expect(grouping, GROUP_UNSET, replicas);
	segments_of_all(grouping, &ask, replicas, 1);
	/* An ordered StatefulSet makes its next pod when the one before is ready: a first segment that waits for all of
	 * its pods would wait for ever. */
	bool ordered = stateful && !text_equal(val_str(val_get(spec, "podManagementPolicy"), ""), "Parallel");
	for (size_t i = 0; ordered && i < grouping->out->subgroup_count; i++)
		if (grouping->out->subgroups[i].min_member > 1)
			grouping->out->subgroups[i].min_member = 1;
	return GROUP_WANTED;
}
