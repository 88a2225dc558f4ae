/* Kinds without a rule here that a Karta (run.ai) describes: which components make up the workload, how many pods each
 * has, how a pod tells its component, and which components are placed together.
 *
 * The newer form (gangScheduling.podGroup) gives one group with a leaf per listed component; the older one (podGroups)
 * gives groups of pods with equal keys, without leaves. */
#include "group/internal.h"
#include "kinds/names.h"

#include "object/query.h"

#include <string.h>

#define KARTA_API_VERSION KINDS_API_KARTA
#define MAX_COMPONENTS 100

struct component {
	const char *name, *path;
	int parent; /* index, GROUP_UNSET for the root */
	const struct val *definition;
	bool has_children;
	bool matches; /* the pod has the marks of this component */
	bool counted; /* pods is known */
	int64_t pods; /* fewest, over all instances and everything below */
};

struct karta {
	struct grouping *grouping;
	struct group_owner id;
	struct component *components; /* the root first */
	size_t count;
	bool scaled; /* a component says how many pods it has */
	bool good;
};

/* ---- what is wrong is told of the Karta, not of the workload ---- */

static void karta_warn(struct karta *karta, enum group_about about, const char *path, const char *fix,
                       const char *message)
{
	group_warn_object(karta->grouping, &karta->id, about, path, fix, "%s", message);
	karta->good = false;
}

static const char *join(struct karta *karta, const char *path, const char *field)
{
	return arena_printf(karta->grouping->arena, "%s.%s", path, field);
}

/* A text of the Karta; NULL when it is not there. */
static const char *karta_text(struct karta *karta, const struct val *map, const char *key, const char *path)
{
	const struct val *val = val_get(map, key);
	if (val_kind(val) != VAL_NULL && val_kind(val) != VAL_STRING)
		karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, path, key), "write a text", "it is no text");
	const char *text = val_str(val, "");
	return *text ? text : NULL;
}

/* Runs a query on the object. False after a warning. */
static bool run_query(struct karta *karta, const char *text, const char *path, const struct val *object,
                      struct query_values *out)
{
	struct arena *arena = karta->grouping->arena;
	struct error error;
	const struct query *query = query_parse(text, arena, &error);
	if (query && query_run(query, object, arena, out, &error) == 0)
		return true;
	karta_warn(karta, GROUP_ABOUT_KARTA_QUERY, path, "correct the query (docs/grouping.md says what is understood)",
	           arena_printf(arena, "`%s`: %s", text, error.text));
	return false;
}

/* Runs the query that `map` has under `key`. False when there is none, or after a warning. */
static bool karta_query(struct karta *karta, const struct val *map, const char *key, const char *path,
                        const struct val *object, struct query_values *out)
{
	const char *text = karta_text(karta, map, key, path);
	return text && run_query(karta, text, join(karta, path, key), object, out);
}

/* The one result of a query on the pod as text; NULL for none, null or several. */
static const char *pod_answer(struct karta *karta, const struct val *map, const char *key, const char *path)
{
	struct query_values values;
	if (!karta_query(karta, map, key, path, karta->grouping->pod, &values) || values.count != 1)
		return NULL;
	return query_value_text(&values.items[0], karta->grouping->arena);
}

/* ---- structure ---- */

static int component_find(const struct karta *karta, const char *name)
{
	for (size_t i = 0; i < karta->count; i++)
		if (strcmp(karta->components[i].name, name) == 0)
			return (int)i;
	return GROUP_UNSET;
}

static void component_add(struct karta *karta, const struct val *definition, const char *path)
{
	struct component *component = &karta->components[karta->count];
	*component = (struct component){.path = path, .definition = definition, .parent = GROUP_UNSET};
	component->name = karta_text(karta, definition, "name", path);
	if (!component->name) {
		karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, path, "name"), "give the component a name",
		           "the name is missing");
		component->name = "";
	} else if (component_find(karta, component->name) != GROUP_UNSET) {
		karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, path, "name"), "give each component its own name",
		           "the name is used twice");
	}
	const struct val *scale = val_get(definition, "scaleDefinition");
	karta->scaled |= val_get(scale, "replicasPath") || val_get(scale, "minReplicasPath");
	karta->count++;
}

/* Parents may stand below their children in the list, but never below themselves in the tree. */
static void link_parents(struct karta *karta)
{
	for (size_t i = 1; i < karta->count; i++) {
		struct component *component = &karta->components[i];
		const char *owner = karta_text(karta, component->definition, "ownerRef", component->path);
		component->parent = owner ? component_find(karta, owner) : 0;
		if (component->parent == GROUP_UNSET) {
			karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, component->path, "ownerRef"),
			           "name the root or another component", "there is no such component");
			component->parent = 0;
		}
		karta->components[component->parent].has_children = true;
	}
	for (size_t i = 1; i < karta->count; i++) {
		size_t steps = 0;
		for (int at = (int)i; at > 0 && steps <= karta->count; steps++)
			at = karta->components[at].parent;
		if (steps <= karta->count)
			continue;
		karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, karta->components[i].path, "ownerRef"),
		           "let one of them belong to the root", "the components own each other in a circle");
		return;
	}
}

static void read_structure(struct karta *karta)
{
	struct arena *arena = karta->grouping->arena;
	const struct val *structure = val_path(karta->id.object, "spec", "structureDefinition", NULL), *item;
	const struct val *children = val_get(structure, "childComponents");
	if (val_count(children) >= MAX_COMPONENTS) {
		karta_warn(karta, GROUP_ABOUT_KARTA, "spec.structureDefinition.childComponents",
		           "describe fewer components", "there are too many components");
		return;
	}
	karta->components = arena_array(arena, struct component, val_count(children) + 1);
	component_add(karta, val_get(structure, "rootComponent"), "spec.structureDefinition.rootComponent");
	for (struct val_iter it = val_iter(children); val_next(&it, NULL, &item);)
		component_add(karta, item,
		              arena_printf(arena, "spec.structureDefinition.childComponents[%zu]", karta->count - 1));
	link_parents(karta);
}

/* ---- how many pods ---- */

/* The numbers a query gives for the instances of a component; null is 0: said somewhere else. */
static bool read_counts(struct karta *karta, const struct component *component, const char *key,
                        struct query_values *out)
{
	const char *path = join(karta, component->path, "scaleDefinition");
	if (!karta_query(karta, val_get(component->definition, "scaleDefinition"), key, path,
	                 karta->grouping->subject.id.object, out))
		return false;
	for (size_t i = 0; i < out->count; i++) {
		struct query_value *value = &out->items[i];
		if (value->kind == QUERY_NULL)
			*value = (struct query_value){.kind = QUERY_INT};
		if (value->kind == QUERY_INT && value->number >= 0 && value->number <= INT32_MAX)
			continue;
		karta_warn(karta, GROUP_ABOUT_KARTA_QUERY, join(karta, path, key),
		           "let it give a number of pods for each instance",
		           "it gives something that is no number of pods for this workload");
		return false;
	}
	return true;
}

/* Which of the component's instances has that id; GROUP_UNSET when none has. */
static int64_t find_instance(struct karta *karta, const struct component *component, const char *instance)
{
	struct query_values ids;
	if (!karta_query(karta, component->definition, "instanceIdPath", component->path,
	                 karta->grouping->subject.id.object, &ids))
		return GROUP_UNSET;
	for (size_t i = 0; i < ids.count; i++)
		if (text_equal(query_value_text(&ids.items[i], karta->grouping->arena), instance))
			return (int64_t)i;
	return GROUP_UNSET;
}

/* Fewest pods of the component itself: of one instance, or of all of them. */
static int64_t own_pods(struct karta *karta, const struct component *component, int64_t instance)
{
	struct query_values minimum = {0}, replicas = {0};
	bool has_minimum = read_counts(karta, component, "minReplicasPath", &minimum);
	bool has_replicas = read_counts(karta, component, "replicasPath", &replicas);
	size_t count =
		has_replicas && (!has_minimum || replicas.count > minimum.count) ? replicas.count : minimum.count;
	int64_t pods = 0;
	for (size_t i = 0; i < count; i++) {
		if (count > 1 && instance != GROUP_UNSET && (int64_t)i != instance)
			continue;
		int64_t least = has_minimum && i < minimum.count ? minimum.items[i].number : 0;
		pods += least > 0 ? least : has_replicas && i < replicas.count ? replicas.items[i].number : 0;
	}
	return pods;
}

/* Without any scale in the Karta each component that has a pod template counts once per instance. */
static int64_t own_templates(struct karta *karta, const struct component *component, int64_t instance)
{
	struct query_values ids;
	if (val_kind(val_get(component->definition, "specDefinition")) != VAL_MAP)
		return 0;
	if (instance != GROUP_UNSET || !karta_query(karta, component->definition, "instanceIdPath", component->path,
	                                            karta->grouping->subject.id.object, &ids))
		return 1;
	return (int64_t)ids.count;
}

/* A component with children is so many copies of them all; one that does not say how many is one. */
static int64_t subtree_pods(struct karta *karta, int at, int64_t instance)
{
	struct component *component = &karta->components[at];
	if (component->counted && instance == GROUP_UNSET)
		return component->pods;
	int64_t own = karta->scaled ? own_pods(karta, component, instance) : own_templates(karta, component, instance);
	int64_t below = 0, pods;
	bool whole = !component->has_children || (!karta->scaled && own > 0);
	for (size_t i = 1; i < karta->count && !whole; i++)
		if (karta->components[i].parent == at)
			below += subtree_pods(karta, (int)i, GROUP_UNSET);
	if (below == 0 || own == 0)
		pods = below + own;
	else if (__builtin_mul_overflow(own, below, &pods) || pods > INT32_MAX)
		pods = (int64_t)INT32_MAX + 1; /* more than a group can count: told when it is written down */
	component->counted = instance == GROUP_UNSET;
	component->pods = pods;
	return pods;
}

/* ---- which component the pod is of ---- */

static bool is_of_type(struct karta *karta, const struct component *component)
{
	const struct val *selector = val_path(component->definition, "podSelector", "componentTypeSelector", NULL);
	if (val_kind(selector) != VAL_MAP)
		return false;
	const char *path = join(karta, component->path, "podSelector.componentTypeSelector");
	const char *wanted = karta_text(karta, selector, "value", path);
	const char *found = pod_answer(karta, selector, "keyPath", path);
	return found && *found && (!wanted || strcmp(found, wanted) == 0);
}

static bool is_below(const struct karta *karta, int at, int root)
{
	while (at != root && at > 0)
		at = karta->components[at].parent;
	return at == root;
}

/* ---- one group with leaves ---- */

static void read_constraint(struct karta *karta, const struct val *topology, const char *path,
                            struct group_constraint *out)
{
	if (val_kind(topology) == VAL_NULL)
		return;
	out->topology = karta_text(karta, topology, "topologyName", path);
	out->required = karta_text(karta, topology, "requiredTopologyLevel", path);
	out->preferred = karta_text(karta, topology, "preferredTopologyLevel", path);
	if (!out->topology)
		karta_warn(karta, GROUP_ABOUT_TOPOLOGY_NAME_MISSING, join(karta, path, "topologyName"),
		           "name a Topology", "the name of the Topology is missing");
	else if (!out->required && !out->preferred)
		karta_warn(karta, GROUP_ABOUT_KARTA, path, "set requiredTopologyLevel or preferredTopologyLevel",
		           "no level is given");
}

static void add_leaf(struct karta *karta, const struct val *item, const char *path)
{
	struct grouping *grouping = karta->grouping;
	const char *name = karta_text(karta, item, "componentName", path);
	int at = name ? component_find(karta, name) : GROUP_UNSET;
	if (at == GROUP_UNSET) {
		karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, path, "componentName"),
		           "name a component of the structureDefinition", "there is no such component");
		return;
	}
	int64_t pods = subtree_pods(karta, at, GROUP_UNSET);
	if (pods == 0 && karta->good) {
		karta_warn(karta, GROUP_ABOUT_KARTA, join(karta, karta->components[at].path, "scaleDefinition"),
		           "give replicasPath or minReplicasPath, or leave the component out",
		           "the component has no pods in this workload, so it cannot be waited for");
		return;
	}
	int leaf = tree_add(grouping, name, GROUP_UNSET, pods);
	read_constraint(karta, val_get(item, "topology"), join(karta, path, "topology"),
	                &grouping->out->subgroups[leaf].constraint);
	for (size_t i = 0; grouping->leaf == GROUP_UNSET && i < karta->count; i++)
		if (karta->components[i].matches && is_below(karta, (int)i, at))
			tree_join(grouping, leaf);
}

static enum group_verdict build_tree(struct karta *karta, const struct val *definition)
{
	static const char path[] = "spec.optimizationInstructions.gangScheduling.podGroup";
	struct grouping *grouping = karta->grouping;
	const struct val *leaves = val_get(definition, "subGroups"), *item;
	const char *name = karta_text(karta, definition, "name", path);
	struct group_constraint constraint = {0};
	read_constraint(karta, val_get(definition, "topology"), join(karta, path, "topology"), &constraint);
	if (constraint.topology)
		grouping->out->constraint = constraint;
	grouping->out->name = arena_printf(grouping->arena, "pg-%s-%s", grouping->subject.id.uid,
	                                   tree_label(grouping, name ? name : "group"));
	for (size_t i = 0; i < karta->count; i++)
		karta->components[i].matches = is_of_type(karta, &karta->components[i]);
	size_t index = 0;
	for (struct val_iter it = val_iter(leaves); val_next(&it, NULL, &item); index++)
		add_leaf(karta, item, arena_printf(grouping->arena, "%s.subGroups[%zu]", path, index));
	if (!karta->good)
		return GROUP_REFUSED;
	if (grouping->out->subgroup_count == 0) {
		int64_t pods = subtree_pods(karta, 0, GROUP_UNSET);
		grouping->out->min_member = tree_pods(grouping, pods > 0 ? pods : 1, path);
	} else {
		grouping->out->min_sub_group = (int)grouping->out->subgroup_count;
		if (grouping->leaf == GROUP_UNSET)
			group_warn_pod(grouping, GROUP_ABOUT_UNKNOWN_SUBGROUP, "metadata.labels",
			               "let a podSelector of the Karta match the pod",
			               "Karta %s has no component for this pod: it joins no subgroup and stays pending",
			               karta->id.name);
	}
	return karta->good ? GROUP_WANTED : GROUP_REFUSED;
}

/* ---- groups of pods with equal keys ---- */

/* The component with a pod template that the pod is of; the only one when there is just one. */
static int pod_component(struct karta *karta)
{
	int only = GROUP_UNSET, found = GROUP_UNSET;
	size_t templates = 0;
	for (size_t i = 0; i < karta->count; i++) {
		if (val_kind(val_get(karta->components[i].definition, "specDefinition")) != VAL_MAP)
			continue;
		templates++;
		only = (int)i;
		if (found == GROUP_UNSET && is_of_type(karta, &karta->components[i]))
			found = (int)i;
	}
	return templates == 1 ? only : found;
}

static bool passes(struct karta *karta, const struct val *member, const char *path)
{
	const struct val *filter;
	size_t index = 0;
	for (struct val_iter it = val_iter(val_get(member, "filters")); val_next(&it, NULL, &filter); index++) {
		struct query_values values;
		const char *place = arena_printf(karta->grouping->arena, "%s.filters[%zu]", path, index);
		if (!run_query(karta, val_str(filter, ""), place, karta->grouping->pod, &values))
			return false;
		for (size_t i = 0; i < values.count; i++)
			if (values.items[i].kind == QUERY_NULL ||
			    (values.items[i].kind == QUERY_BOOL && !values.items[i].truth))
				return false;
	}
	return true;
}

struct membership {
	const struct val *definition;
	const char *path;
	int component;
};

/* The nearest component at or above the pod's that is a member of a group and whose filters let the pod pass. */
static bool find_member(struct karta *karta, const struct val *groups, int of, struct membership *out)
{
	struct arena *arena = karta->grouping->arena;
	for (int at = of; at != GROUP_UNSET; at = karta->components[at].parent) {
		const struct val *group, *member;
		size_t group_index = 0;
		for (struct val_iter it = val_iter(groups); val_next(&it, NULL, &group); group_index++) {
			size_t index = 0;
			for (struct val_iter in = val_iter(val_get(group, "members")); val_next(&in, NULL, &member);
			     index++) {
				if (!text_equal(val_str(val_get(member, "componentName"), ""),
				                karta->components[at].name))
					continue;
				const char *path = arena_printf(
					arena,
					"spec.optimizationInstructions.gangScheduling.podGroups[%zu].members[%zu]",
					group_index, index);
				if (!passes(karta, member, path))
					continue;
				*out = (struct membership){.definition = member, .path = path, .component = at};
				return true;
			}
		}
	}
	return false;
}

/* pg-<uid>, and what the pod's keys say. */
static void name_by_keys(struct karta *karta, const struct membership *member)
{
	struct grouping *grouping = karta->grouping;
	struct buffer keys = {0};
	const struct val *key;
	size_t index = 0;
	for (struct val_iter it = val_iter(val_get(member->definition, "groupByKeyPaths")); val_next(&it, NULL, &key);
	     index++) {
		struct query_values values;
		const char *path = arena_printf(grouping->arena, "%s.groupByKeyPaths[%zu]", member->path, index);
		if (!run_query(karta, val_str(key, ""), path, grouping->pod, &values))
			continue;
		const char *text = values.count == 1 ? query_value_text(&values.items[0], grouping->arena) : NULL;
		if (text && *text)
			buffer_printf(&keys, "%s%s", keys.length ? "-" : "", text);
		else
			karta_warn(karta, GROUP_ABOUT_KARTA_QUERY, path,
			           "let it give one text for every pod of the component",
			           arena_printf(grouping->arena, "`%s`: it gives no single text for this pod",
			                        val_str(key, "")));
	}
	grouping->out->name = keys.length ? arena_printf(grouping->arena, "pg-%s-%s", grouping->subject.id.uid,
	                                                 tree_label(grouping, keys.text))
	                                  : arena_printf(grouping->arena, "pg-%s", grouping->subject.id.uid);
	buffer_free(&keys);
}

static enum group_verdict build_keyed(struct karta *karta, const struct val *groups)
{
	static const char path[] = "spec.optimizationInstructions.gangScheduling.podGroups";
	struct grouping *grouping = karta->grouping;
	struct membership member;
	int of = pod_component(karta);
	if (!karta->good)
		return GROUP_REFUSED;
	if (of == GROUP_UNSET || !find_member(karta, groups, of, &member)) {
		if (karta->good)
			karta_warn(karta, GROUP_ABOUT_KARTA, path,
			           "let a podSelector match the pod and list its component as a member",
			           "the pod is of no component that is a member of a group");
		return GROUP_REFUSED;
	}
	const struct component *component = &karta->components[of];
	int64_t instance = GROUP_UNSET;
	const char *id =
		member.component == of
			? pod_answer(karta,
	                             val_path(component->definition, "podSelector", "componentInstanceSelector", NULL),
	                             "idPath", join(karta, component->path, "podSelector.componentInstanceSelector"))
			: NULL;
	if (id)
		instance = find_instance(karta, component, id);
	name_by_keys(karta, &member);
	int64_t pods = subtree_pods(karta, member.component, instance);
	grouping->out->min_member = tree_pods(grouping, pods > 0 ? pods : 1, path);
	return karta->good ? GROUP_WANTED : GROUP_REFUSED;
}

/* ---- entry ---- */

static bool describes(const struct val *object, const struct group_owner *owner)
{
	const struct val *kind = val_path(object, "spec", "structureDefinition", "rootComponent", "kind", NULL);
	const struct val *gang = val_path(object, "spec", "optimizationInstructions", "gangScheduling", NULL);
	const char *slash = strchr(owner->api_version, '/');
	const char *version = slash ? slash + 1 : owner->api_version;
	return strcmp(val_str(val_get(kind, "kind"), ""), owner->kind) == 0 &&
	       strcmp(val_str(val_get(kind, "version"), ""), version) == 0 &&
	       meta_api_group_is(owner->api_version, val_str(val_get(kind, "group"), "")) &&
	       !*meta_text(object, "deletionTimestamp") &&
	       (val_kind(val_get(gang, "podGroup")) == VAL_MAP || val_count(val_get(gang, "podGroups")) > 0);
}

/* By name when several describe the kind: the first, with a warning. */
const struct val *karta_find(struct grouping *grouping)
{
	const struct group_source *source = grouping->source;
	const struct val *object, *found = NULL, *other = NULL;
	size_t cursor = 0;
	if (!source || !source->next_object || !grouping->subject.id.object || grouping->options->ignore_kartas)
		return NULL;
	while ((object = source->next_object(source->context, KARTA_API_VERSION, "Karta", &cursor))) {
		if (!describes(object, &grouping->subject.id))
			continue;
		bool first = !found || strcmp(meta_text(object, "name"), meta_text(found, "name")) < 0;
		other = first ? found : object;
		found = first ? object : found;
	}
	if (other)
		group_warn(grouping, GROUP_ABOUT_KARTA, "", "delete all Kartas of this kind but one",
		           "the kind is described by Karta %s and by Karta %s; the first is used",
		           meta_text(found, "name"), meta_text(other, "name"));
	return found;
}

enum group_verdict family_karta(struct grouping *grouping, const struct val *object)
{
	struct karta karta = {
		.grouping = grouping,
		.id = meta_owner(object, KARTA_API_VERSION, "Karta"),
		.good = true,
	};
	const struct val *gang = val_path(object, "spec", "optimizationInstructions", "gangScheduling", NULL);
	group_inherit(grouping, CLASS_TRAIN);
	read_structure(&karta);
	if (!karta.good)
		return GROUP_REFUSED;
	return val_kind(val_get(gang, "podGroup")) == VAL_MAP ? build_tree(&karta, val_get(gang, "podGroup"))
	                                                      : build_keyed(&karta, val_get(gang, "podGroups"));
}
