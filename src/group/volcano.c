/* The PodGroup of Volcano: a minimum over all pods, minimums of tasks, and tiers of its network topology, which become levels of a
 * Topology. */
#include "group/neighbours.h"

#include <string.h>

#define TASK "volcano.sh/task-spec"
#define QUEUE_OF_ALL "default" /* filled in by Volcano where none is named */
#define HOST "kubernetes.io/hostname"
#define PATH "spec.networkTopology"

static void read_queue(struct neighbour *neighbour)
{
	struct grouping *grouping = neighbour->grouping;
	const char *queue = val_str(val_path(neighbour->id.object, "spec", "queue", NULL), "");
	/* A label of ours comes first. */
	if (*queue && !text_equal(queue, QUEUE_OF_ALL) &&
	    text_equal(grouping->out->queue, group_default_queue(grouping->options)))
		grouping->out->queue = queue;
}

static void read_priority(struct neighbour *neighbour)
{
	const char *class = val_str(val_path(neighbour->id.object, "spec", "priorityClassName", NULL), "");
	if (*class)
		neighbour->grouping->out->priority_class = class;
}

/* A map of the spec, or nothing there; otherwise false, with a problem. */
static bool is_map(struct neighbour *neighbour, const struct val *val, const char *path)
{
	if (!val || val_kind(val) == VAL_NULL || val_kind(val) == VAL_MAP)
		return true;
	neighbour_refuse(neighbour, GROUP_ABOUT_WRONG_FIELD_TYPE, path, "write a map there", "it is no map");
	return false;
}

/* ---- tasks ---- */

static void join_task(struct neighbour *neighbour, int mine, const char *task)
{
	struct grouping *grouping = neighbour->grouping;
	const char *path = "metadata.annotations[" TASK "]";
	tree_join(grouping, mine);
	if (mine != GROUP_UNSET || !grouping->pod)
		return;
	if (task)
		group_warn_pod(grouping, GROUP_ABOUT_UNKNOWN_SUBGROUP, path,
		               "correct the annotation, or add that task to minTaskMember",
		               "minTaskMember of PodGroup %s has no task \"%s\": the pod joins no subgroup and stays "
		               "pending",
		               neighbour->name, task);
	else
		group_warn_pod(grouping, GROUP_ABOUT_POD_LABEL_MISSING, path, "name the task of the pod there",
		               "PodGroup %s has minimums of tasks, but the pod names no task: it joins no subgroup and "
		               "stays pending",
		               neighbour->name);
}

/* The sum of the minimums; -1, with a problem, when one is none. */
static int64_t sum_tasks(struct neighbour *neighbour, const struct val *tasks)
{
	int64_t sum = 0, number;
	const struct val *item;
	const char *key;
	for (struct val_iter it = val_iter(tasks); val_next(&it, &key, &item); sum += number) {
		if (val_int(item, &number) == 0 && number >= 0 && number <= INT32_MAX)
			continue;
		neighbour_refuse(neighbour, GROUP_ABOUT_WRONG_FIELD_TYPE,
		                 arena_printf(neighbour->grouping->arena, "spec.minTaskMember.%s", key),
		                 "write a number from 0 on", "it is no number of pods");
		return -1;
	}
	return sum;
}

/* As in Volcano, minimums of tasks count where that of the group is not below their sum. */
static void read_tasks(struct neighbour *neighbour)
{
	struct grouping *grouping = neighbour->grouping;
	const struct val *tasks = val_path(neighbour->id.object, "spec", "minTaskMember", NULL), *item;
	if (!is_map(neighbour, tasks, "spec.minTaskMember"))
		return;
	int64_t least = grouping->out->min_member, sum = sum_tasks(neighbour, tasks), number;
	size_t count = val_kind(tasks) == VAL_MAP ? val_count(tasks) : 0;
	const char *key, *task = meta_get(&grouping->pod_annotations, TASK);
	int mine = GROUP_UNSET;
	if (count == 0 || sum < 0 || !tree_has_room(grouping, (int64_t)count, "spec.minTaskMember"))
		return;
	if (least < sum) {
		neighbour_lose(neighbour, "spec.minTaskMember", "raise minMember to the sum of minTaskMember",
		               "minimums of tasks do not count while minMember is below their sum, as in Volcano");
		return;
	}
	if (least > sum && count > 1)
		neighbour_lose(neighbour, "spec.minMember", "raise the minimums of tasks until their sum is minMember",
		               arena_printf(grouping->arena,
		                            "%lld pods beyond the minimums of tasks are not waited for: they start "
		                            "when they fit",
		                            (long long)(least - sum)));
	for (struct val_iter it = val_iter(tasks); val_next(&it, &key, &item);) {
		val_int(item, &number);
		int added = tree_add(grouping, key, GROUP_UNSET, count == 1 ? least : number);
		if (text_equal(key, task))
			mine = added;
	}
	join_task(neighbour, mine, task);
}

/* ---- tiers ---- */

/* The Topology that an annotation names, else the only one that there is. */
static const struct val *find_topology(const struct grouping *grouping, const char **name)
{
	const struct group_source *source = grouping->source;
	const struct val *found = NULL, *object;
	size_t cursor = 0;
	*name = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY);
	if (*name)
		return group_get(grouping, KINDS_API_TOPOLOGY, "Topology", "", *name);
	while (source && source->next_object &&
	       (object = source->next_object(source->context, KINDS_API_TOPOLOGY, "Topology", &cursor))) {
		if (!meta_api_group_is(val_str(val_get(object, "apiVersion"), ""), KINDS_KAI))
			continue;
		if (found)
			return NULL;
		found = object;
	}
	*name = meta_text(found, "name");
	return found;
}

static const char *level_label(const struct val *levels, size_t number)
{
	return val_str(val_get(val_item(levels, number), "nodeLabel"), "");
}

/* By the last part of its label: "rack" is example.com/rack. */
static const char *level_of_name(const struct val *levels, const char *name)
{
	for (size_t i = 0; i < val_count(levels); i++) {
		const char *label = level_label(levels, i), *slash = strrchr(label, '/');
		if (text_equal(slash ? slash + 1 : label, name))
			return label;
	}
	return NULL;
}

/* Tier 1 is the narrowest level above single nodes. */
static const char *level_of_tier(const struct val *levels, int64_t tier)
{
	for (size_t i = val_count(levels); i > 0 && tier > 0; i--) {
		const char *label = level_label(levels, i - 1);
		if (!text_equal(label, HOST) && --tier == 0)
			return label;
	}
	return NULL;
}

/* The label by which a HyperNode gathers its nodes; NULL: it is written in another way. */
static const char *label_of_hypernode(const struct val *spec)
{
	const struct val *members = val_get(spec, "members"), *member = val_item(members, 0), *ignored;
	const struct val *match = val_path(member, "selector", "labelMatch", NULL),
			 *labels = val_get(match, "matchLabels");
	const char *label = NULL;
	if (val_count(members) != 1 || !text_equal(val_str(val_get(member, "type"), ""), "Node") ||
	    val_count(labels) != 1 || val_count(val_get(match, "matchExpressions")) > 0)
		return NULL;
	struct val_iter it = val_iter(labels);
	val_next(&it, &label, &ignored);
	return label;
}

static bool is_of_tier(const struct val *spec, const struct val *asked)
{
	const char *name = val_str(val_get(asked, "highestTierName"), "");
	int64_t tier, wanted;
	if (*name)
		return text_equal(val_str(val_get(spec, "tierName"), NULL), name);
	return val_int(val_get(spec, "tier"), &tier) == 0 &&
	       val_int(val_get(asked, "highestTierAllowed"), &wanted) == 0 && tier == wanted;
}

/* The label whose values the HyperNodes of the tier are; NULL, and *there, when there are such but no label says what they are. */
static const char *find_hypernodes(const struct grouping *grouping, const struct val *asked, bool *there)
{
	const struct group_source *source = grouping->source;
	const struct val *object;
	const char *label = NULL;
	size_t cursor = 0;
	*there = false;
	while (source && source->next_object &&
	       (object = source->next_object(source->context, KINDS_API_HYPERNODE, "HyperNode", &cursor))) {
		const struct val *spec = val_get(object, "spec");
		if (!is_of_tier(spec, asked))
			continue;
		const char *one = label_of_hypernode(spec);
		if (!one || (*there && !text_equal(one, label)))
			label = NULL;
		else if (!*there)
			label = one;
		*there = true;
		if (!label)
			return NULL;
	}
	return label;
}

/* The level of the tier that is asked for, NULL when none can be told. */
static const char *find_level(const struct val *asked, const struct val *levels, bool soft)
{
	const char *name = val_str(val_get(asked, "highestTierName"), "");
	const struct val *number = val_get(asked, "highestTierAllowed");
	int64_t tier;
	if (*name)
		return level_of_name(levels, name);
	if (!number || val_kind(number) == VAL_NULL)
		return soft ? level_of_tier(levels, 1) : NULL;
	return val_int(number, &tier) == 0 ? level_of_tier(levels, tier) : NULL;
}

static struct group_constraint level_of_label(const struct grouping *grouping, const char *label, bool soft)
{
	return (struct group_constraint){.topology = arena_printf(grouping->arena, KINDS_LABEL_TOPOLOGY "%s", label),
	                                 .required = soft ? NULL : label,
	                                 .preferred = soft ? label : NULL};
}

static void read_topology(struct neighbour *neighbour)
{
	struct grouping *grouping = neighbour->grouping;
	struct group_constraint *constraint = &grouping->out->constraint;
	const struct val *asked = val_path(neighbour->id.object, "spec", "networkTopology", NULL);
	const char *mode = val_str(val_get(asked, "mode"), "hard"), *name;
	bool soft = text_equal(mode, "soft");
	if (!is_map(neighbour, asked, PATH) || val_kind(asked) != VAL_MAP || constraint->required ||
	    constraint->preferred)
		return; /* levels that are annotated say it better */
	if (!soft && !text_equal(mode, "hard")) {
		neighbour_refuse(neighbour, GROUP_ABOUT_WRONG_FIELD_TYPE, PATH ".mode", "write hard or soft",
		                 "it is no mode");
		return;
	}
	bool hypernodes = false, annotated = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY) != NULL;
	const char *label = annotated ? NULL : find_hypernodes(grouping, asked, &hypernodes);
	if (label) {
		*constraint = level_of_label(grouping, label, soft);
		return;
	}
	const struct val *topology = find_topology(grouping, &name);
	const char *level =
		annotated || !hypernodes ? find_level(asked, val_path(topology, "spec", "levels", NULL), soft) : NULL;
	static const char fix[] = "name the Topology in the annotation " KEY_TOPOLOGY
				  " and the level in " KEY_TOPOLOGY_REQUIRED " or " KEY_TOPOLOGY_PREFERRED;
	if (level)
		*constraint = (struct group_constraint){.topology = name,
		                                        .required = soft ? NULL : level,
		                                        .preferred = soft ? level : NULL};
	else if (soft)
		neighbour_lose(neighbour, PATH, fix,
		               "no level of a Topology corresponds to the tier: none is preferred");
	else
		neighbour_refuse(
			neighbour, topology ? GROUP_ABOUT_UNSUPPORTED : GROUP_ABOUT_OBJECT_NOT_FOUND, PATH, fix,
			hypernodes
				? "the HyperNodes of the tier are not the nodes of one label: its pods are not placed"
			: topology ? "no level of the Topology corresponds to the tier: its pods are not placed"
				   : "it is not told which Topology has the tier: its pods are not placed");
}

void neighbour_read_volcano(struct neighbour *neighbour)
{
	static const char *const read[] = {"minMember",         "minTaskMember",   "queue",
	                                   "priorityClassName", "networkTopology", NULL};
	static const struct neighbour_loss losses[] = {
		{"minResources", NEIGHBOUR_NO_SUM},
		{"subGroupPolicy", "parts of a task with minimums and tiers of their own are not read"},
		{NULL, NEIGHBOUR_UNKNOWN},
	};
	neighbour->grouping->out->min_member = neighbour_count(neighbour, "minMember");
	read_queue(neighbour);
	read_priority(neighbour);
	read_topology(neighbour);
	read_tasks(neighbour);
	neighbour_lose_fields(neighbour, read, losses);
}
