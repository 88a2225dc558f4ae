/* Segments: the pods of one role in groups of equal size, each with its own topology constraint. A pod belongs to
 * segment index / size, where the index comes from a label.
 *
 * Segments that hold mandatory pods need all of theirs; segments beyond the role's minimum need none (elastic). */
#include "group/internal.h"

#define KEY_SIZE KEY_SEGMENT_SIZE
#define KEY_REQUIRED KEY_SEGMENT_REQUIRED
#define KEY_PREFERRED KEY_SEGMENT_PREFERRED
#define KEY_INDEX_LABEL "kai.scheduler/pod-index-label"

static const char *template_value(struct grouping *grouping, const struct segment_ask *ask, const char *key)
{
	struct labels annotations = meta_labels(grouping->arena, ask->template_, "annotations");
	return group_place_value(grouping, &annotations, key);
}

/* Most specific first: the pod, its template, the workload. */
static const char *ask_value(struct grouping *grouping, const struct segment_ask *ask, const char *key, bool root)
{
	const char *value = ask->member ? group_place_value(grouping, &grouping->pod_annotations, key) : NULL;
	if (!value)
		value = template_value(grouping, ask, key);
	if (!value && root)
		value = meta_get(&grouping->subject.annotations, key);
	return value;
}

static const char *annotation_path(struct grouping *grouping, const struct segment_ask *ask, const char *key)
{
	if (!template_value(grouping, ask, key) && ask->root_too && meta_get(&grouping->subject.annotations, key))
		return arena_printf(grouping->arena, "metadata.annotations[%s]", key);
	return arena_printf(grouping->arena, "%s.metadata.annotations[%s]", ask->path, key);
}

bool segments_mentioned(struct grouping *grouping, const struct segment_ask *ask)
{
	return ask_value(grouping, ask, KEY_SIZE, ask->root_too) ||
	       ask_value(grouping, ask, KEY_REQUIRED, ask->root_too) ||
	       ask_value(grouping, ask, KEY_PREFERRED, ask->root_too);
}

static bool read_size(struct grouping *grouping, const struct segment_ask *ask, int64_t *size)
{
	const char *text = ask_value(grouping, ask, KEY_SIZE, ask->root_too);
	if (!text) {
		group_warn(grouping, GROUP_ABOUT_SEGMENT_SIZE, annotation_path(grouping, ask, KEY_SIZE),
		           "add the annotation " KEY_SIZE ": the number of pods in a segment",
		           "a level for segments is given but no segment size; the pods are grouped without segments");
		return false;
	}
	if (meta_parse_int(text, size) && *size > 0)
		return true;
	group_warn(grouping, GROUP_ABOUT_SEGMENT_SIZE, annotation_path(grouping, ask, KEY_SIZE),
	           "write a positive whole number, in quotes",
	           "the segment size \"%s\" is no positive number; the pods are grouped without segments", text);
	return false;
}

struct group_constraint segments_constraint(struct grouping *grouping, const struct segment_ask *ask)
{
	return (struct group_constraint){
		.topology = ask_value(grouping, ask, KEY_TOPOLOGY, true),
		.required = ask_value(grouping, ask, KEY_REQUIRED, ask->root_too),
		.preferred = ask_value(grouping, ask, KEY_PREFERRED, ask->root_too),
	};
}

bool segments_wanted(struct grouping *grouping, const struct segment_ask *ask, struct segments *out)
{
	if (!segments_mentioned(grouping, ask) || !read_size(grouping, ask, &out->size))
		return false;
	const char *label = ask_value(grouping, ask, KEY_INDEX_LABEL, ask->root_too);
	out->index_label = label ? label : ask->index_label;
	out->first_index = text_equal(out->index_label, ask->index_label) ? ask->first_index : 0;
	if (!out->index_label) {
		group_warn(grouping, GROUP_ABOUT_SEGMENTS_UNSUPPORTED, annotation_path(grouping, ask, KEY_INDEX_LABEL),
		           "add the annotation " KEY_INDEX_LABEL ": the pod label that holds the index of the pod",
		           "it is not known where pods of %s keep their index; they are grouped without segments",
		           grouping->subject.id.kind);
		return false;
	}
	out->constraint = segments_constraint(grouping, ask);
	if (!out->constraint.topology) {
		group_warn(grouping, GROUP_ABOUT_SEGMENT_TOPOLOGY_MISSING, annotation_path(grouping, ask, KEY_TOPOLOGY),
		           "add the annotation " KEY_TOPOLOGY " with the name of a Topology, there or on the workload",
		           "segments are asked for but no Topology is named; the pods are grouped without segments");
		return false;
	}
	if (!out->constraint.required && !out->constraint.preferred) {
		group_warn(grouping, GROUP_ABOUT_SEGMENT_LEVEL_MISSING, annotation_path(grouping, ask, KEY_REQUIRED),
		           "add the annotation " KEY_REQUIRED " or " KEY_PREFERRED,
		           "segments without a topology level do not bring pods closer together");
		out->constraint.topology = NULL;
	}
	return true;
}

bool segments_pod_index(struct grouping *grouping, const char *label, int64_t *out)
{
	/* Jobs of clusters before 1.28 have their completion index as an annotation only. */
	const char *text = group_pod_label(grouping, label);
	if (!text)
		text = meta_get(&grouping->pod_annotations, label);
	const char *path = arena_printf(grouping->arena, "metadata.labels[%s]", label);
	if (!text) {
		group_warn_pod(grouping, GROUP_ABOUT_INDEX_LABEL_MISSING, path,
		               "set the label to the index of the pod, counted from 0",
		               "the pod has no index, so it belongs to no segment and stays pending");
		return false;
	}
	if (meta_parse_int(text, out) && *out >= 0)
		return true;
	group_warn_pod(grouping, GROUP_ABOUT_INDEX_NOT_A_NUMBER, path,
	               "set the label to the index of the pod, counted from 0",
	               "the index \"%s\" is no number from 0 on, so the pod belongs to no segment and stays pending",
	               text);
	return false;
}

/* The segment of the pod, GROUP_UNSET with a warning when it has none. */
static int segment_of_pod(struct grouping *grouping, const struct segments *segments, int64_t count)
{
	int64_t index;
	if (!segments_pod_index(grouping, segments->index_label, &index))
		return GROUP_UNSET;
	int64_t segment = (index - segments->first_index) / segments->size;
	if (index >= segments->first_index && segment < count)
		return (int)segment;
	group_warn_pod(
		grouping, GROUP_ABOUT_INDEX_BEYOND,
		arena_printf(grouping->arena, "metadata.labels[%s]", segments->index_label),
		"correct the index, or raise the replicas of the workload",
		"index %lld lies outside of %lld segments of %lld pods, counted from %lld: the pod joins no subgroup "
		"and stays pending",
		(long long)index, (long long)count, (long long)segments->size, (long long)segments->first_index);
	return GROUP_UNSET;
}

void segments_add(struct grouping *grouping, const struct segments *segments, int subgroup, int64_t replicas,
                  int64_t minimum, bool member, const char *path)
{
	int64_t size = segments->size, count = replicas / size + (replicas % size != 0);
	if (count == 0 || !tree_has_room(grouping, count, path)) {
		if (member)
			tree_join(grouping, subgroup);
		return;
	}
	const char *name = grouping->out->subgroups[subgroup].name;
	int mine = member ? segment_of_pod(grouping, segments, count) : GROUP_UNSET;
	tree_expect(grouping, subgroup, size);
	for (int64_t i = grouping->marks_only ? mine : 0; i >= 0 && i < count; i++) {
		int64_t pods = i == count - 1 ? replicas - i * size : size;
		int added = tree_add_numbered(grouping, name, i, subgroup, i * size < minimum ? pods : 0);
		grouping->out->subgroups[added].constraint = segments->constraint;
		if (pods != size)
			tree_expect(grouping, added, pods);
		if (i == mine) {
			grouping->out->segment = mine;
			tree_join(grouping, added);
		}
		if (grouping->marks_only)
			break;
	}
	if (grouping->marks_only)
		grouping->left_out += count - (mine != GROUP_UNSET);
}

void segments_refuse(struct grouping *grouping, const struct segment_ask *ask, const char *why)
{
	if (segments_mentioned(grouping, ask))
		group_warn(grouping, GROUP_ABOUT_SEGMENTS_UNSUPPORTED, annotation_path(grouping, ask, KEY_SIZE),
		           "remove the segment annotations", "segments are ignored: %s", why);
}

bool segments_of_all(struct grouping *grouping, const struct segment_ask *ask, int64_t replicas, int64_t minimum)
{
	struct segments segments;
	if (!segments_wanted(grouping, ask, &segments))
		return false;
	if (replicas <= 0) {
		group_warn(grouping, GROUP_ABOUT_SEGMENTS_UNSUPPORTED, "spec.replicas", "give the number of replicas",
		           "it is not known how many pods there will be; they are grouped without segments");
		return false;
	}
	int count_before = (int)grouping->out->subgroup_count;
	if (!tree_has_room(grouping, replicas / segments.size + 2, ask->path))
		return false;
	int role = tree_add(grouping, "worker", GROUP_UNSET, minimum);
	segments_add(grouping, &segments, role, replicas, minimum, true, ask->path);
	return (int)grouping->out->subgroup_count > count_before;
}
