/* Groups of plain pods as Kueue has them: what a group asks for stands on each of its pods. Its levels are labels of nodes, and its
 * slices are segments. */
#include "group/kueue.h"
#include "group/neighbours.h"

#include <string.h>

#define TOTAL KUEUE "pod-group-total-count"
#define INDEX KUEUE "pod-group-pod-index"
#define INDEX_LABEL KUEUE "pod-group-pod-index-label"

static const char *annotation(const struct neighbour *neighbour, const char *key)
{
	return meta_get(&neighbour->grouping->pod_annotations, key);
}

/* A positive number in an annotation; 0, with a problem, when there is none. */
static int64_t read_number(struct neighbour *neighbour, const char *key, enum group_about about, const char *missing)
{
	const char *text = annotation(neighbour, key);
	const char *path = arena_printf(neighbour->grouping->arena, "metadata.annotations[%s]", key);
	int64_t number;
	if (text && meta_parse_int(text, &number) && number > 0)
		return number;
	neighbour_refuse(neighbour, about, path, "write a number from 1 on, in quotes",
	                 text ? "it is no number of pods" : missing);
	return 0;
}

/* A label of nodes is a level, without a Topology object, unless an annotation names one. */
static struct group_constraint constraint_of(const struct neighbour *neighbour, const char *required,
                                             const char *preferred)
{
	struct grouping *grouping = neighbour->grouping;
	const char *topology = annotation(neighbour, KEY_TOPOLOGY);
	if (!topology)
		topology = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY);
	if (!required && !preferred)
		return (struct group_constraint){0};
	if (!topology)
		topology = arena_printf(grouping->arena, KINDS_LABEL_TOPOLOGY "%s", required ? required : preferred);
	return (struct group_constraint){.topology = topology, .required = required, .preferred = preferred};
}

static void read_levels(struct neighbour *neighbour)
{
	struct group_constraint *constraint = &neighbour->grouping->out->constraint;
	const char *required = annotation(neighbour, KUEUE_REQUIRED),
		   *preferred = annotation(neighbour, KUEUE_PREFERRED);
	if (required && preferred)
		neighbour_refuse(neighbour, GROUP_ABOUT_UNSUPPORTED, "metadata.annotations[" KUEUE_PREFERRED "]",
		                 "remove one of the two", "a group has a required level or a preferred one, not both");
	if (!constraint->required && !constraint->preferred)
		*constraint = constraint_of(neighbour, required, required ? NULL : preferred);
}

static void read_slices(struct neighbour *neighbour, int64_t total)
{
	struct grouping *grouping = neighbour->grouping;
	const char *level = annotation(neighbour, KUEUE_SLICE_LEVEL), *index = annotation(neighbour, INDEX_LABEL);
	if (annotation(neighbour, KUEUE_SLICE_LAYERS)) {
		neighbour_refuse(neighbour, GROUP_ABOUT_UNSUPPORTED, "metadata.annotations[" KUEUE_SLICE_LAYERS "]",
		                 "write " KUEUE_SLICE_LEVEL " and " KUEUE_SLICE_SIZE " instead",
		                 "slices inside of slices are not served");
		return;
	}
	if (!level && annotation(neighbour, KUEUE_SLICE_SIZE))
		neighbour_lose(neighbour, "metadata.annotations[" KUEUE_SLICE_SIZE "]", "add " KUEUE_SLICE_LEVEL,
		               "a size of slices says nothing without their level");
	if (!level)
		return;
	struct segments segments = {.index_label = index ? index : INDEX,
	                            .constraint = constraint_of(neighbour, level, NULL)};
	segments.size = read_number(neighbour, KUEUE_SLICE_SIZE, GROUP_ABOUT_SEGMENT_SIZE, "the slices have no size");
	if (segments.size == 0 || !tree_has_room(grouping, total / segments.size + 2, "metadata"))
		return;
	int role = tree_add(grouping, "worker", GROUP_UNSET, total);
	segments_add(grouping, &segments, role, total, total, true, "metadata");
}

static void lose_rest(struct neighbour *neighbour)
{
	struct grouping *grouping = neighbour->grouping;
	static const char fix[] = "leave it for Kueue";
	if (annotation(neighbour, KUEUE "podset-group-name"))
		neighbour_lose(neighbour, "metadata.annotations[" KUEUE "podset-group-name]", fix,
		               "sets of pods are not bundled: levels are those of the whole group");
	if (annotation(neighbour, KUEUE "pod-group-fast-admission"))
		neighbour_lose(neighbour, "metadata.annotations[" KUEUE "pod-group-fast-admission]", fix,
		               "the group waits for all of its pods");
	if (group_pod_label(grouping, KUEUE "priority-class"))
		neighbour_lose(neighbour, "metadata.labels[" KUEUE "priority-class]",
		               "name a PriorityClass in the pods", "a WorkloadPriorityClass is not read");
	if (group_pod_label(grouping, KUEUE "queue-name") &&
	    text_equal(grouping->out->queue, group_default_queue(grouping->options)))
		neighbour_lose(neighbour, "metadata.labels[" KUEUE "queue-name]",
		               arena_printf(grouping->arena, "name a queue in the label %s",
		                            group_queue_label(grouping->options)),
		               arena_printf(grouping->arena, "a LocalQueue is not read; the queue is %s",
		                            grouping->out->queue));
}

void neighbour_read_kueue(struct neighbour *neighbour)
{
	int64_t total = read_number(neighbour, TOTAL, GROUP_ABOUT_MIN_MEMBER_NOT_A_NUMBER,
	                            "the group does not say how many pods it has");
	neighbour->grouping->out->min_member = total > 0 ? (int)total : 1;
	read_levels(neighbour);
	if (total > 0)
		read_slices(neighbour, total);
	lose_rest(neighbour);
}
