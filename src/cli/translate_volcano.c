/* Owns the format `volcano` of a translation: a PodGroup of Volcano, whose parts are tasks and whose levels are tiers. */
#include "cli/translate.h"

#include "kinds/kinds.h"

#include <string.h>

#define SCHEDULER "Volcano"
#define HOST "kubernetes.io/hostname"

/* Whether every parent needs all of its children: then the minimums of the leaves say everything. */
static bool needs_all(const struct podgroup *spec)
{
	for (size_t i = 0; i < spec->tree_count; i++)
		if (spec->tree[i].child_count > 0 && spec->tree[i].minimum != spec->tree[i].child_count)
			return false;
	return true;
}

static bool is_deep(const struct podgroup *spec)
{
	for (size_t i = 0; i < spec->tree_count; i++)
		if (spec->tree[i].parent > 0)
			return true;
	return false;
}

static void put_minimums(struct translation *translation, const struct translated_group *group, struct node *into)
{
	struct build *build = translation->build;
	const struct podgroup *spec = &group->spec;
	int64_t least = podgroup_minimum_pods(spec, 0);
	struct node *tasks = build_map(build);
	build_put_int(build, into, "minMember", least > 0 ? least : 1);
	if (least == 0)
		translate_lose(translation, group, "spec", "a minimum of 0 becomes 1");
	if (spec->tree_count == 1)
		return;
	if (!needs_all(spec)) {
		translate_lose(translation, group, "spec.minSubGroup",
		               "a choice among parts has no counterpart: any %lld pods start", (long long)least);
		return;
	}
	if (is_deep(spec))
		translate_lose(translation, group, "spec.subGroups", "parts of parts become tasks beside each other");
	for (size_t i = 1; i < spec->tree_count; i++)
		if (spec->tree[i].child_count == 0)
			build_put_int(build, tasks, group->names[i], spec->tree[i].minimum);
	build_put(build, into, "minTaskMember", tasks);
}

/* Tier 1 is the narrowest level above single nodes; 0 when it is not known which one a level is. */
static int tier_of(struct translation *translation, const struct constraint_spec *asked, const char *label)
{
	struct topology_spec topology;
	if (text_starts_with(asked->topology, KINDS_LABEL_TOPOLOGY) ||
	    !translate_topology(translation, asked, &topology))
		return 0;
	int tier = 0;
	for (size_t i = topology.level_count; i > 0; i--) {
		tier += strcmp(topology.levels[i - 1], HOST) != 0;
		if (strcmp(topology.levels[i - 1], label) == 0)
			return tier;
	}
	return 0;
}

static void put_topology(struct translation *translation, const struct translated_group *group, struct node *into,
                         struct node *annotations)
{
	struct build *build = translation->build;
	const struct constraint_spec *asked = &group->spec.tree[0].constraint;
	if (!asked->required && !asked->preferred)
		return;
	struct node *topology = build_map(build);
	const char *label = translate_level(translation, asked, asked->required ? asked->required : asked->preferred);
	if (strcmp(label, HOST) == 0) {
		translate_lose(translation, group, "spec.topologyConstraint", "a single node is no tier of HyperNodes");
		return;
	}
	int tier = tier_of(translation, asked, label);
	const char *slash = strrchr(label, '/'), *last = slash ? slash + 1 : label;
	build_put_string(build, topology, "mode", asked->required ? "hard" : "soft");
	if (tier > 0)
		build_put_int(build, topology, "highestTierAllowed", tier);
	else
		build_put_string(build, topology, "highestTierName", last);
	build_put(build, into, "networkTopology", topology);
	if (!text_starts_with(asked->topology, KINDS_LABEL_TOPOLOGY))
		build_put_string(build, annotations, "kai.scheduler/topology", asked->topology);
	if (tier == 0)
		translate_lose(translation, group, "spec.topologyConstraint",
		               "which tier the level %s is cannot be told without its Topology: HyperNodes need the "
		               "tier name %s",
		               label, last);
	if (asked->required && asked->preferred)
		translate_lose(translation, group, "spec.topologyConstraint.preferredTopologyLevel",
		               "a group has one tier: the preferred level %s is lost", asked->preferred);
}

static void lose_levels_of_parts(struct translation *translation, const struct translated_group *group)
{
	for (size_t i = 1; i < group->spec.tree_count; i++) {
		const struct tree_node *node = &group->spec.tree[i];
		if (node->constraint.required || node->constraint.preferred)
			translate_lose(translation, group, translate_path(translation, node, "topologyConstraint"),
			               "the level %s of a part is lost: tiers are those of the whole group",
			               node->constraint.required ? node->constraint.required
			                                         : node->constraint.preferred);
	}
}

static void write_group(struct translation *translation, const struct translated_group *group)
{
	struct build *build = translation->build;
	const struct podgroup *from = &group->spec;
	struct node *metadata, *annotations = build_map(build);
	struct node *spec =
		translate_object(translation, group, KINDS_API_VOLCANO_GROUP, "PodGroup", group->name, &metadata);
	put_minimums(translation, group, spec);
	if (group->queue)
		build_put_string(build, spec, "queue", group->queue);
	if (group->class)
		build_put_string(build, spec, "priorityClassName", group->class);
	put_topology(translation, group, spec, annotations);
	build_put_filled(build, metadata, "annotations", annotations);
	lose_levels_of_parts(translation, group);
	if (from->disruption != DISRUPT_USUAL)
		translate_lose(translation, group, "metadata.annotations[" KINDS_DISRUPTION "]",
		               "Volcano evicts pods beyond the minimum first");
	if (from->never_preempts)
		translate_lose(translation, group, "metadata.annotations[" KINDS_PREEMPTION "]",
		               "write it into the PriorityClass");
	struct translated_group terms = *group;
	terms.queue = NULL; /* Volcano has queues */
	translate_lose_terms(translation, &terms, SCHEDULER);
}

static void mark(struct translation *translation, const struct translated_group *group,
                 const struct translated_pod *pod, struct node *labels, struct node *annotations, struct node *spec)
{
	(void)labels;
	(void)spec;
	build_put_string(translation->build, annotations, KINDS_SCHEDULING_K8S "/group-name", group->name);
	if (pod->leaf > 0)
		build_put_string(translation->build, annotations, "volcano.sh/task-spec", group->names[pod->leaf]);
}

const struct translate_target translate_volcano = {.name = "volcano",
                                                   .scheduler = "volcano",
                                                   .group = write_group,
                                                   .mark = mark};
