/* Knative Service: pods of a revision, each a group of its own, or the revision as one gang if so configured. */
#include "group/internal.h"
#include "kinds/names.h"

#include <string.h>

#define LABEL_REVISION "serving.knative.dev/revision"
#define KEY_MIN_SCALE "autoscaling.knative.dev/min-scale"

/* Two pods in one PodGroup: a gang. Two pods in two: not. One alone: the owner of its PodGroup tells. */
static bool runs_pod_by_pod(const struct grouping *grouping, const char *revision)
{
	const struct group_source *source = grouping->source;
	const char *only = NULL;
	size_t cursor = 0;
	const struct val *pod;
	bool several = false;
	struct interner *seen = interner_create();
	while (source && source->next_pod &&
	       (pod = source->next_pod(source->context, grouping->namespace_, LABEL_REVISION, revision, &cursor))) {
		const char *name = val_str(val_path(pod, "metadata", "annotations", GROUP_KEY_POD_GROUP, NULL), "");
		if (!*name)
			continue;
		if (interner_find(seen, name) != UINT32_MAX) {
			interner_destroy(seen);
			return false;
		}
		interner_id(seen, name);
		several = only != NULL;
		only = name;
	}
	interner_destroy(seen);
	if (several || !only)
		return several;
	const struct val *owners = val_path(group_stored(grouping, only), "metadata", "ownerReferences", NULL);
	return strcmp(val_str(val_get(val_item(owners, 0), "kind"), ""), "Pod") == 0;
}

static int64_t min_scale(struct grouping *grouping)
{
	const char *text = meta_get(&grouping->subject.annotations, KEY_MIN_SCALE);
	int64_t scale;
	if (!text)
		return 1;
	if (meta_parse_int(text, &scale) && scale >= 0)
		return scale;
	group_warn(grouping, GROUP_ABOUT_MIN_SCALE, "metadata.annotations[" KEY_MIN_SCALE "]",
	           "write a whole number from 0 on", "\"%s\" is no number of pods; 1 is taken", text);
	return 1;
}

enum group_verdict family_knative(struct grouping *grouping)
{
	const char *name = group_pod_label(grouping, LABEL_REVISION);
	if (!name) {
		tree_leaf_unknown(grouping, LABEL_REVISION);
		return GROUP_REFUSED;
	}
	const struct val *revision = group_get(grouping, KINDS_API_REVISION, "Revision", grouping->namespace_, name);
	if (!revision) {
		group_warn_pod(grouping, GROUP_ABOUT_OBJECT_NOT_FOUND, "metadata.labels[" LABEL_REVISION "]",
		               "wait until the Revision is there", "there is no Revision %s", name);
		return GROUP_REFUSED;
	}
	grouping->subject = (struct subject){
		.id = meta_owner(revision, KINDS_API_REVISION, "Revision"),
		.labels = meta_labels(grouping->arena, revision, "labels"),
		.annotations = meta_labels(grouping->arena, revision, "annotations"),
	};
	group_inherit(grouping, CLASS_INFERENCE);
	if (!grouping->options->knative_gang || runs_pod_by_pod(grouping, name))
		group_own_by_pod(grouping);
	else
		grouping->out->min_member = (int)min_scale(grouping);
	struct segment_ask ask = {.path = "spec.template", .member = true};
	segments_refuse(grouping, &ask, "pods of a Knative Service have no index");
	return GROUP_WANTED;
}
