/* Grove: pods of a PodCliqueSet (before: PodGangSet) are gathered by a PodGang, which lists the cliques with their pods
 * and, in groups of cliques, the topology they share. */
#include "group/internal.h"
#include "kinds/names.h"

#include <string.h>

#define LABEL_GANG "grove.io/podgang"
#define LABEL_CLIQUE "grove.io/podclique"
#define KEY_TOPOLOGY_NAME "grove.io/topology-name"

struct clique {
	const char *name, *path;
	int64_t minimum;
	int group; /* subgroup above it, GROUP_UNSET for none */
	struct group_constraint constraint;
	bool member;
};

struct gang {
	struct group_owner id;
	const struct val *spec;
	const char *topology;
	struct clique *cliques;
	size_t count;
	struct interner *names;
	bool good;
};

static void gang_warn(struct grouping *grouping, struct gang *gang, enum group_about about, const char *path,
                      const char *fix, const char *message)
{
	group_warn_object(grouping, &gang->id, about, path, fix, "%s", message);
	gang->good = false;
}

/* NULL when absent, empty or of the wrong type (which is reported). */
static const char *read_text(struct grouping *grouping, struct gang *gang, const struct val *map, const char *key,
                             const char *path)
{
	const char *text = NULL;
	enum field given =
		field_text(grouping, val_get(map, key), arena_printf(grouping->arena, "%s.%s", path, key), &text);
	gang->good = gang->good && given != FIELD_WRONG;
	return text;
}

/* topologyConstraint.packConstraint {required, preferred} of the object at `path`. */
static struct group_constraint read_pack(struct grouping *grouping, struct gang *gang, const struct val *object,
                                         const char *path)
{
	struct group_constraint constraint = {0};
	const char *place = arena_printf(grouping->arena, "%s.topologyConstraint", path);
	const char *pack_place = arena_printf(grouping->arena, "%s.packConstraint", place);
	const struct val *outer = val_get(object, "topologyConstraint"), *pack = val_get(outer, "packConstraint");
	if (field_kind(grouping, outer, VAL_MAP, place) == FIELD_WRONG ||
	    field_kind(grouping, pack, VAL_MAP, pack_place) == FIELD_WRONG) {
		gang->good = false;
		return constraint;
	}
	constraint.required = read_text(grouping, gang, pack, "required", pack_place);
	constraint.preferred = read_text(grouping, gang, pack, "preferred", pack_place);
	if (!constraint.required && !constraint.preferred)
		return constraint;
	constraint.topology = gang->topology;
	if (!gang->topology)
		gang_warn(grouping, gang, GROUP_ABOUT_TOPOLOGY_NAME_MISSING, place,
		          "add the annotation " KEY_TOPOLOGY_NAME " with the name of a Topology to the PodGang",
		          "a topology level is asked for but no Topology is named");
	return constraint;
}

static void read_references(struct grouping *grouping, struct gang *gang, struct clique *clique, const struct val *list)
{
	const char *path = arena_printf(grouping->arena, "%s.podReferences", clique->path);
	enum field given = field_kind(grouping, list, VAL_LIST, path);
	gang->good = gang->good && given != FIELD_WRONG;
	if (given == FIELD_ABSENT)
		gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, path, "list the pods of the clique",
		          "the list of pods is missing");
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *namespace_ = val_str(val_get(item, "namespace"), NULL);
		const char *name = val_str(val_get(item, "name"), NULL);
		if (!namespace_ || !name) {
			gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, path,
			          "give namespace and name of each pod", "a pod is listed without namespace or name");
			return;
		}
		if (strcmp(namespace_, grouping->namespace_) != 0) {
			gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, path,
			          "list pods of the PodGang's namespace", "a pod of another namespace is listed");
			return;
		}
		clique->member = clique->member || strcmp(name, grouping->pod_name) == 0;
	}
}

static const char *read_name(struct grouping *grouping, struct gang *gang, const struct val *item, const char *path)
{
	const char *name = read_text(grouping, gang, item, "name", path);
	if (!name)
		gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, arena_printf(grouping->arena, "%s.name", path),
		          "give it a name", "the name is missing");
	return name ? name : "";
}

static void read_clique(struct grouping *grouping, struct gang *gang, const struct val *item, struct clique *clique)
{
	struct arena *arena = grouping->arena;
	clique->group = GROUP_UNSET;
	clique->name = read_name(grouping, gang, item, clique->path);
	if (interner_find(gang->names, clique->name) != UINT32_MAX)
		gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, arena_printf(arena, "%s.name", clique->path),
		          "give each clique its own name", "the name is used twice");
	const char *path = arena_printf(arena, "%s.minReplicas", clique->path);
	enum field given = field_int(grouping, val_get(item, "minReplicas"), path, &clique->minimum);
	gang->good = gang->good && given != FIELD_WRONG;
	if (given == FIELD_ABSENT || (given == FIELD_GIVEN && clique->minimum == 0))
		gang_warn(grouping, gang, GROUP_ABOUT_MIN_REPLICAS_NOT_POSITIVE, path, "write 1 or more",
		          "the smallest number of pods is missing or 0");
	read_references(grouping, gang, clique, val_get(item, "podReferences"));
	clique->constraint = read_pack(grouping, gang, item, clique->path);
}

static void read_cliques(struct grouping *grouping, struct gang *gang)
{
	const struct val *list = val_get(gang->spec, "podgroups"), *item;
	if (field_kind(grouping, list, VAL_LIST, "spec.podgroups") == FIELD_WRONG || val_count(list) == 0) {
		gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, "spec.podgroups",
		          "list the cliques of the gang", "the PodGang has no list of cliques");
		return;
	}
	if (!tree_has_room(grouping, (int64_t)val_count(list), "spec.podgroups")) {
		gang->good = false;
		return;
	}
	gang->cliques = arena_array(grouping->arena, struct clique, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		struct clique *clique = &gang->cliques[gang->count];
		clique->path = arena_printf(grouping->arena, "spec.podgroups[%zu]", gang->count);
		read_clique(grouping, gang, item, clique);
		gang->count++;
		/* Numbers of the interner are positions in the list, because names are unique. */
		if (gang->good)
			interner_id(gang->names, clique->name);
	}
}

/* A clique that is named but not listed may still come: Grove fills the list step by step. The group waits for it,
 * because a place chosen without it could be too small. */
static void add_members(struct grouping *grouping, struct gang *gang, const struct val *names, int group,
                        const char *path)
{
	const struct val *item;
	int64_t named = 0, found = 0;
	for (struct val_iter it = val_iter(names); val_next(&it, NULL, &item);) {
		const char *name = val_str(item, "");
		uint32_t at = interner_find(gang->names, name);
		gang->good = gang->good && field_kind(grouping, item, VAL_STRING, path) == FIELD_GIVEN;
		named++;
		if (at == UINT32_MAX) {
			group_warn_object(grouping, &gang->id, GROUP_ABOUT_MEMBER_MISSING, path,
			                  "list the clique in spec.podgroups, or take its name out",
			                  "the PodGang has no clique \"%s\", and its group waits for it", name);
			continue;
		}
		if (gang->cliques[at].group != GROUP_UNSET) {
			gang_warn(grouping, gang, GROUP_ABOUT_WRONG_FIELD_TYPE, path,
			          "name each clique in one group only", "a clique is named twice");
			continue;
		}
		gang->cliques[at].group = group;
		found++;
	}
	if (found < named)
		grouping->out->subgroups[group].min_sub_group = (int)(named < INT32_MAX ? named : INT32_MAX);
}

static bool any_known(const struct gang *gang, const struct val *names)
{
	const struct val *item;
	for (struct val_iter it = val_iter(names); val_next(&it, NULL, &item);)
		if (interner_find(gang->names, val_str(item, "")) != UINT32_MAX)
			return true;
	return false;
}

static void add_groups(struct grouping *grouping, struct gang *gang)
{
	static const char path[] = "spec.topologyConstraintGroupConfigs";
	const struct val *list = val_get(gang->spec, "topologyConstraintGroupConfigs"), *item;
	if (field_kind(grouping, list, VAL_LIST, path) == FIELD_WRONG ||
	    !tree_has_room(grouping, (int64_t)(val_count(list) + gang->count), path)) {
		gang->good = false;
		return;
	}
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const char *place = arena_printf(grouping->arena, "%s[%zu]", path, index);
		const struct val *names = val_get(item, "podGroupNames");
		if (field_kind(grouping, item, VAL_MAP, place) != FIELD_GIVEN ||
		    field_kind(grouping, names, VAL_LIST, arena_printf(grouping->arena, "%s.podGroupNames", place)) ==
		            FIELD_WRONG) {
			gang->good = false;
			continue;
		}
		const char *name = read_name(grouping, gang, item, place);
		if (!any_known(gang, names))
			continue; /* a parent without children would be a leaf */
		int group = tree_add(grouping, name, GROUP_UNSET, GROUP_UNSET);
		grouping->out->subgroups[group].constraint = read_pack(grouping, gang, item, place);
		add_members(grouping, gang, names, group, arena_printf(grouping->arena, "%s.podGroupNames", place));
	}
}

static void add_cliques(struct grouping *grouping, const struct gang *gang)
{
	const char *clique = group_pod_label(grouping, LABEL_CLIQUE);
	int by_label = GROUP_UNSET;
	for (size_t i = 0; i < gang->count; i++) {
		int leaf = tree_add(grouping, gang->cliques[i].name, gang->cliques[i].group, gang->cliques[i].minimum);
		grouping->out->subgroups[leaf].constraint = gang->cliques[i].constraint;
		if (gang->cliques[i].member)
			tree_join(grouping, leaf);
		if (clique && strcmp(clique, gang->cliques[i].name) == 0)
			by_label = leaf;
	}
	/* The list of pods lags behind the pods. */
	if (grouping->leaf == GROUP_UNSET && by_label != GROUP_UNSET)
		tree_join(grouping, by_label);
	if (grouping->leaf == GROUP_UNSET)
		group_warn_pod(grouping, GROUP_ABOUT_UNKNOWN_SUBGROUP, "metadata.name",
		               "wait until Grove lists the pod in the PodGang",
		               "PodGang %s does not list the pod: it joins no subgroup and stays pending",
		               gang->id.name);
}

/* Labels and annotations of the set above count where the PodGang says nothing, but its queue does not: a PodGang is
 * its own workload. */
static void inherit_gang(struct grouping *grouping, struct gang *gang)
{
	struct arena *arena = grouping->arena;
	struct subject above = grouping->subject;
	struct group_result *out = grouping->out;
	grouping->subject = (struct subject){
		.id = gang->id,
		.labels = meta_labels(arena, gang->id.object, "labels"),
		.annotations = meta_labels(arena, gang->id.object, "annotations"),
	};
	grouping->own_queue_only = true;
	group_inherit(grouping, CLASS_TRAIN);
	const char *queue = out->queue;
	grouping->subject.labels = meta_merge(arena, grouping->subject.labels, above.labels);
	grouping->subject.annotations = meta_merge(arena, grouping->subject.annotations, above.annotations);
	gang->topology = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY_NAME);
	if (!gang->topology)
		gang->topology = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY);
	out->warning_count = 0; /* the second time finds everything the first one did */
	group_inherit(grouping, CLASS_TRAIN);
	out->queue = queue;
	const char *class = read_text(grouping, gang, gang->spec, "priorityClassName", "spec");
	if (class)
		out->priority_class = class;
	if (meta_get(&grouping->subject.labels, KEY_PRIORITY_CLASS))
		out->priority_class = meta_get(&grouping->subject.labels, KEY_PRIORITY_CLASS);
	struct group_constraint pack = read_pack(grouping, gang, gang->spec, "spec");
	if (pack.required || pack.preferred)
		out->constraint = pack;
}

enum group_verdict family_grove(struct grouping *grouping)
{
	const char *name = group_pod_label(grouping, LABEL_GANG);
	if (!name) {
		tree_leaf_unknown(grouping, LABEL_GANG);
		return GROUP_REFUSED;
	}
	const struct val *object = group_get(grouping, KINDS_API_POD_GANG, "PodGang", grouping->namespace_, name);
	if (!object) {
		group_warn_pod(grouping, GROUP_ABOUT_OBJECT_NOT_FOUND, "metadata.labels[" LABEL_GANG "]",
		               "wait until Grove has made the PodGang", "there is no PodGang %s", name);
		return GROUP_REFUSED;
	}
	struct gang gang = {
		.id = meta_owner(object, KINDS_API_POD_GANG, "PodGang"),
		.spec = val_get(object, "spec"),
		.names = interner_create(),
		.good = true,
	};
	inherit_gang(grouping, &gang);
	read_cliques(grouping, &gang);
	if (gang.good)
		add_groups(grouping, &gang);
	if (gang.good)
		add_cliques(grouping, &gang);
	interner_destroy(gang.names);
	return gang.good ? GROUP_WANTED : GROUP_REFUSED;
}
