/* Owns the format `kai` of a translation: PodGroups of KAI-Scheduler, which are those of Platoon without what only Platoon reads. */
#include "cli/translate.h"

#include "group/group.h"
#include "kinds/kinds.h"

#include <ctype.h>

/* Levels without a Topology object are one of node labels, which KAI has to be given. */
static const char *topology_name(struct translation *translation, const char *name)
{
	struct topology_spec labels;
	if (!topology_of_labels(name, translation->arena, &labels))
		return name;
	char *made = arena_strdup(translation->arena, name);
	for (char *at = made; *at; at++)
		*at = isalnum((unsigned char)*at) || *at == '.' ? (char)tolower((unsigned char)*at) : '-';
	uint32_t known = interner_count(translation->made);
	if (interner_id(translation->made, made) != known)
		return made;
	struct build *build = translation->build;
	struct node *metadata, *list = build_list(build);
	struct node *spec = translate_object(translation, NULL, KINDS_API_TOPOLOGY, "Topology", made, &metadata);
	for (size_t i = 0; i < labels.level_count; i++) {
		struct node *level = build_map(build);
		build_put_string(build, level, "nodeLabel", labels.levels[i]);
		build_append(build, list, level);
	}
	build_put(build, spec, "levels", list);
	return made;
}

static void put_constraint(struct translation *translation, struct node *map, const struct constraint_spec *constraint)
{
	struct build *build = translation->build;
	if (!constraint->required && !constraint->preferred)
		return;
	struct node *object = build_map(build);
	build_put_string(build, object, "topology", topology_name(translation, constraint->topology));
	if (constraint->required)
		build_put_string(build, object, "requiredTopologyLevel",
		                 translate_level(translation, constraint, constraint->required));
	if (constraint->preferred)
		build_put_string(build, object, "preferredTopologyLevel",
		                 translate_level(translation, constraint, constraint->preferred));
	build_put(build, map, "topologyConstraint", object);
}

static void put_minimum(struct build *build, struct node *map, const struct tree_node *node)
{
	build_put_int(build, map, node->child_count ? "minSubGroup" : "minMember", node->minimum);
}

static void put_terms(struct translation *translation, const struct translated_group *group, struct node *spec)
{
	static const char *const words[] = {"preemptibility", "preemptionDelay", "stalenessGracePeriod",
	                                    "schedulingBackoff", "markUnschedulable"};
	struct build *build = translation->build;
	const struct val *from = val_get(group->manifest->object, "spec");
	if (group->spec.queue)
		build_put_string(build, spec, "queue", group->spec.queue);
	if (group->class)
		build_put_string(build, spec, "priorityClassName", group->class);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (val_get(from, words[i]))
			build_put(build, spec, words[i], build_copy(build, val_get(from, words[i])));
}

static void lose(struct translation *translation, const struct translated_group *group)
{
	static const char mode[] = "metadata.annotations[" KINDS_DISRUPTION "]";
	if (group->spec.disruption == DISRUPT_SINGLE)
		translate_lose(translation, group, mode, "KAI evicts the minimum of a group as a whole");
	if (group->spec.disruption == DISRUPT_WHOLE &&
	    (int64_t)group->pod_count > podgroup_minimum_pods(&group->spec, 0))
		translate_lose(translation, group, mode, "KAI evicts pods beyond the minimum one by one");
	if (group->spec.never_preempts)
		translate_lose(translation, group, "metadata.annotations[" KINDS_PREEMPTION "]",
		               "KAI preempts for any group of higher priority");
}

static void write_group(struct translation *translation, const struct translated_group *group)
{
	struct build *build = translation->build;
	const struct podgroup *from = &group->spec;
	struct node *metadata, *list = build_list(build);
	/* Topologies stand before who names them. */
	for (size_t i = 0; i < from->tree_count; i++)
		if (from->tree[i].constraint.topology)
			topology_name(translation, from->tree[i].constraint.topology);
	struct node *spec =
		translate_object(translation, group, KINDS_API_POD_GROUP, "PodGroup", group->name, &metadata);
	put_terms(translation, group, spec);
	put_minimum(build, spec, &from->tree[0]);
	put_constraint(translation, spec, &from->tree[0].constraint);
	for (size_t i = 1; i < from->tree_count; i++) {
		struct node *item = build_map(build);
		build_put_string(build, item, "name", group->names[i]);
		if (from->tree[i].parent > 0)
			build_put_string(build, item, "parent", group->names[from->tree[i].parent]);
		put_minimum(build, item, &from->tree[i]);
		put_constraint(translation, item, &from->tree[i].constraint);
		build_append(build, list, item);
	}
	if (from->tree_count > 1)
		build_put(build, spec, "subGroups", list);
	lose(translation, group);
}

static void mark(struct translation *translation, const struct translated_group *group,
                 const struct translated_pod *pod, struct node *labels, struct node *annotations, struct node *spec)
{
	(void)spec;
	build_put_string(translation->build, annotations, GROUP_KEY_POD_GROUP, group->name);
	if (pod->leaf > 0)
		build_put_string(translation->build, labels, GROUP_KEY_SUBGROUP, group->names[pod->leaf]);
}

const struct translate_target translate_kai = {.name = "kai",
                                               .scheduler = "kai-scheduler",
                                               .group = write_group,
                                               .mark = mark};
