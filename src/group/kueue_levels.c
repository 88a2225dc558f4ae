/* Levels and slices in the words of Kueue, which stand on templates of pods: read as if they were written in ours. */
#include "group/kueue.h"

#include "group/internal.h"

#include <string.h>

/* A label of nodes is a level, without a Topology object. The level of the group is above that of its slices. */
static const char *topology_of(const struct grouping *grouping, const struct labels *annotations)
{
	const char *outer = meta_get(annotations, KUEUE_REQUIRED), *inner = meta_get(annotations, KUEUE_SLICE_LEVEL);
	if (meta_get(&grouping->subject.annotations, KEY_TOPOLOGY))
		return NULL; /* it is known already */
	if (!outer)
		outer = meta_get(annotations, KUEUE_PREFERRED);
	if (!outer && !inner)
		return NULL;
	if (!outer || !inner || text_equal(outer, inner))
		return arena_printf(grouping->arena, KINDS_LABEL_TOPOLOGY "%s", outer ? outer : inner);
	return arena_printf(grouping->arena, KINDS_LABEL_TOPOLOGY "%s,%s", outer, inner);
}

const char *group_place_value(const struct grouping *grouping, const struct labels *annotations, const char *key)
{
	static const struct {
		const char *ours, *theirs;
	} words[] = {
		{KEY_TOPOLOGY_REQUIRED, KUEUE_REQUIRED},
		{KEY_TOPOLOGY_PREFERRED, KUEUE_PREFERRED},
		{KEY_SEGMENT_REQUIRED, KUEUE_SLICE_LEVEL},
		{KEY_SEGMENT_SIZE, KUEUE_SLICE_SIZE},
	};
	const char *value = meta_get(annotations, key);
	for (size_t i = 0; !value && i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].ours, key) == 0)
			value = meta_get(annotations, words[i].theirs);
	return !value && strcmp(key, KEY_TOPOLOGY) == 0 ? topology_of(grouping, annotations) : value;
}

struct group_constraint group_template_level(const struct grouping *grouping, const struct val *template_)
{
	struct labels annotations = meta_labels(grouping->arena, template_, "annotations");
	const char *topology = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY);
	const char *required = meta_get(&annotations, KUEUE_REQUIRED),
		   *preferred = meta_get(&annotations, KUEUE_PREFERRED);
	if (!required && !preferred)
		return (struct group_constraint){0};
	return (struct group_constraint){.topology = topology ? topology : topology_of(grouping, &annotations),
	                                 .required = required,
	                                 .preferred = preferred};
}

/* Whether the group, or a part of it that the pod is in, has the level. */
static bool is_said(const struct grouping *grouping, const char *level)
{
	const struct group_result *out = grouping->out;
	const struct group_constraint *constraint;
	for (int at = grouping->leaf;; at = out->subgroups[at].parent) {
		constraint = at == GROUP_UNSET ? &out->constraint : &out->subgroups[at].constraint;
		if (text_equal(constraint->required, level) || text_equal(constraint->preferred, level))
			return true;
		if (at == GROUP_UNSET)
			return false;
	}
}

void group_report_levels(struct grouping *grouping)
{
	static const char *const keys[] = {KUEUE_REQUIRED, KUEUE_PREFERRED, KUEUE_SLICE_LEVEL};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *level = meta_get(&grouping->pod_annotations, keys[i]);
		if (level && !is_said(grouping, level))
			group_warn(grouping, GROUP_ABOUT_NO_COUNTERPART,
			           arena_printf(grouping->arena, "metadata.annotations[%s]", keys[i]),
			           "name a level for the workload in " KEY_TOPOLOGY_REQUIRED,
			           "on templates of pods of %s the level %s is not read", grouping->subject.id.kind,
			           level);
	}
	if (meta_get(&grouping->pod_annotations, KUEUE_SLICE_LAYERS))
		group_warn(grouping, GROUP_ABOUT_NO_COUNTERPART, "metadata.annotations[" KUEUE_SLICE_LAYERS "]",
		           "write " KUEUE_SLICE_LEVEL " and " KUEUE_SLICE_SIZE " instead",
		           "slices inside of slices are not served");
}
