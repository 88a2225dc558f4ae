/* Owns the format `native` of a translation: PodGroups and CompositePodGroups of scheduling.k8s.io, and the Workload that they
 * name. */
#include "cli/translate.h"

#include "group/group.h"
#include "kinds/kinds.h"

#include <string.h>

#define DEEPEST 4        /* levels of a tree */
#define MOST_TEMPLATES 8 /* of each kind in one place of a Workload */
#define SCHEDULER "kube-scheduler"

/* A part of the tree has an object of its own, so its name is that of the group with its own behind. */
static const char *object_name(struct translation *translation, const struct translated_group *group, int node)
{
	return node == 0 ? group->name : arena_printf(translation->arena, "%s-%s", group->name, group->names[node]);
}

static void put_policy(struct translation *translation, const struct tree_node *node, struct node *spec)
{
	struct build *build = translation->build;
	struct node *policy = build_map(build), *rule = build_map(build);
	if (node->minimum > 0)
		build_put_int(build, rule, node->child_count ? "minGroupCount" : "minCount", node->minimum);
	build_put(build, policy, node->minimum > 0 ? "gang" : "basic", rule);
	build_put(build, spec, "schedulingPolicy", policy);
}

static void put_constraint(struct translation *translation, const struct tree_node *node, struct node *spec)
{
	struct build *build = translation->build;
	const struct constraint_spec *asked = &node->constraint;
	if (!asked->required)
		return;
	struct node *constraints = build_map(build), *list = build_list(build), *item = build_map(build);
	build_put_string(build, item, "key", translate_level(translation, asked, asked->required));
	build_append(build, list, item);
	build_put(build, constraints, "topology", list);
	build_put(build, spec, "schedulingConstraints", constraints);
}

/* A gang of ours goes whole; what is beyond its minimum goes first, for which there are no words there. */
static void put_mode(struct translation *translation, const struct translated_group *group, struct node *spec)
{
	struct build *build = translation->build;
	struct node *mode = build_map(build);
	build_put(build, mode, group->spec.disruption == DISRUPT_SINGLE ? "single" : "all", build_map(build));
	build_put(build, spec, "disruptionMode", mode);
}

/* Objects and templates say the same. */
static void put_terms(struct translation *translation, const struct translated_group *group, int number,
                      struct node *spec)
{
	struct build *build = translation->build;
	const struct tree_node *node = &group->spec.tree[number];
	put_policy(translation, node, spec);
	put_constraint(translation, node, spec);
	if (number == 0)
		put_mode(translation, group, spec);
	if (group->class)
		build_put_string(build, spec, "priorityClassName", group->class);
	if (group->spec.never_preempts)
		build_put_string(build, spec, "preemptionPolicy", "Never");
}

/* What only Platoon reads there: with it nothing is lost on the way back. */
static void put_annotations(struct translation *translation, const struct translated_group *group, int number,
                            struct node *metadata)
{
	struct build *build = translation->build;
	const struct tree_node *node = &group->spec.tree[number];
	struct node *annotations = build_map(build), *labels = build_map(build);
	if (node->constraint.preferred)
		build_put_string(build, annotations, "kai.scheduler/topology-preferred-placement",
		                 translate_level(translation, &node->constraint, node->constraint.preferred));
	if (node->constraint.preferred && !text_starts_with(node->constraint.topology, KINDS_LABEL_TOPOLOGY))
		build_put_string(build, annotations, "kai.scheduler/topology", node->constraint.topology);
	if (!node->child_count && node->minimum == 0)
		build_put_string(build, annotations, "kai.scheduler/batch-min-member", "0");
	if (number == 0 && group->queue)
		build_put_string(build, labels, GROUP_KEY_QUEUE, group->queue);
	build_put_filled(build, metadata, "labels", labels);
	build_put_filled(build, metadata, "annotations", annotations);
}

/* ---- the Workload ---- */

static void put_templates(struct translation *translation, const struct translated_group *group, int parent,
                          struct node *map);

static struct node *write_template(struct translation *translation, const struct translated_group *group, int number)
{
	struct build *build = translation->build;
	struct node *item = build_map(build);
	build_put_string(build, item, "name", number == 0 ? "root" : group->names[number]);
	put_terms(translation, group, number, item);
	if (group->spec.tree[number].child_count)
		put_templates(translation, group, number, item);
	return item;
}

static void put_templates(struct translation *translation, const struct translated_group *group, int parent,
                          struct node *map)
{
	struct build *build = translation->build;
	struct node *leaves = build_list(build), *composites = build_list(build);
	size_t leaf_count = 0, composite_count = 0;
	for (int i = 0; i < (int)group->spec.tree_count; i++) {
		if (group->spec.tree[i].parent != parent)
			continue;
		bool composite = group->spec.tree[i].child_count > 0;
		build_append(build, composite ? composites : leaves, write_template(translation, group, i));
		composite_count += composite;
		leaf_count += !composite;
	}
	if (leaf_count > 0)
		build_put(build, map, "podGroupTemplates", leaves);
	if (composite_count > 0)
		build_put(build, map, "compositePodGroupTemplates", composites);
}

static bool has_few_children(const struct translated_group *group)
{
	for (size_t i = 0; i < group->spec.tree_count; i++)
		if (group->spec.tree[i].child_count > MOST_TEMPLATES)
			return false;
	return true;
}

static int depth_of(const struct translated_group *group)
{
	int deepest = 0;
	for (size_t i = 0; i < group->spec.tree_count; i++) {
		int depth = 1;
		for (int up = group->spec.tree[i].parent; up >= 0; up = group->spec.tree[up].parent)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

/* Nobody resolves the name of a Workload, so a tree that is too wide for one can do without. */
static void write_workload(struct translation *translation, const struct translated_group *group)
{
	struct node *metadata;
	if (!has_few_children(group)) {
		translate_lose(translation, group, "spec.subGroups",
		               "a Workload has at most %d templates in one place: none is written, the groups name one "
		               "that is not "
		               "there",
		               MOST_TEMPLATES);
		return;
	}
	struct node *spec =
		translate_object(translation, group, KINDS_API_NATIVE_COMPOSITE, "Workload", group->name, &metadata);
	put_templates(translation, group, -1, spec);
}

/* ---- losses ---- */

static void lose_of_node(struct translation *translation, const struct translated_group *group, int number)
{
	const struct tree_node *node = &group->spec.tree[number];
	if (node->constraint.preferred)
		translate_lose(translation, group,
		               translate_path(translation, node, "topologyConstraint.preferredTopologyLevel"),
		               SCHEDULER " prefers no levels: %s stands in an annotation that only Platoon reads",
		               node->constraint.preferred);
	if (node->minimum == 0 && node->child_count)
		translate_lose(translation, group, translate_path(translation, node, "minSubGroup"),
		               "0 becomes 1: a part of a tree cannot be optional");
	else if (node->minimum == 0)
		translate_lose(translation, group, translate_path(translation, node, "minMember"),
		               "0 becomes 1, but for Platoon, which reads an annotation");
}

static void lose(struct translation *translation, const struct translated_group *group)
{
	struct podgroup spec = group->spec;
	if (depth_of(group) > DEEPEST)
		translate_lose(translation, group, "spec.subGroups",
		               "a tree has at most %d levels: an API server will refuse it", DEEPEST);
	for (int i = 0; i < (int)spec.tree_count; i++)
		lose_of_node(translation, group, i);
	if (spec.disruption == DISRUPT_USUAL && (int64_t)group->pod_count > podgroup_minimum_pods(&spec, 0))
		translate_lose(translation, group, "spec",
		               "pods beyond the minimum are not evicted first: the group goes whole");
	translate_lose_terms(translation, group, SCHEDULER);
}

/* ---- the groups ---- */

static void write_group(struct translation *translation, const struct translated_group *group)
{
	struct build *build = translation->build;
	bool tree = group->spec.tree_count > 1;
	if (tree)
		write_workload(translation, group);
	for (int i = 0; i < (int)group->spec.tree_count; i++) {
		const struct tree_node *node = &group->spec.tree[i];
		bool composite = node->child_count > 0;
		struct node *metadata, *ref = build_map(build);
		struct node *spec = translate_object(translation, group,
		                                     composite ? KINDS_API_NATIVE_COMPOSITE : KINDS_API_NATIVE_GROUP,
		                                     composite ? "CompositePodGroup" : "PodGroup",
		                                     object_name(translation, group, i), &metadata);
		put_annotations(translation, group, i, metadata);
		if (tree) {
			build_put_string(build, ref, "workloadName", group->name);
			build_put_string(build, ref, "templateName", i == 0 ? "root" : group->names[i]);
			build_put(build, spec, "workloadRef", ref);
		}
		if (node->parent >= 0)
			build_put_string(build, spec, "parentCompositePodGroupName",
			                 object_name(translation, group, node->parent));
		put_terms(translation, group, i, spec);
	}
	lose(translation, group);
}

/* Members have the priority of their root. */
static void mark(struct translation *translation, const struct translated_group *group,
                 const struct translated_pod *pod, struct node *labels, struct node *annotations, struct node *spec)
{
	(void)labels;
	(void)annotations;
	struct build *build = translation->build;
	struct node *name = build_map(build);
	build_put_string(build, name, "podGroupName", object_name(translation, group, pod->leaf));
	build_put(build, spec, "schedulingGroup", name);
	if (group->class)
		build_put_string(build, spec, "priorityClassName", group->class);
}

const struct translate_target translate_native = {.name = "native", .group = write_group, .mark = mark};
