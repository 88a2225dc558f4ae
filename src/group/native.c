/* Groups of Kubernetes itself: the PodGroup of scheduling.k8s.io that a pod names, and the CompositePodGroups above it, as one
 * tree. A PodGroup becomes a leaf, a CompositePodGroup what is above leaves; the root is the PodGroup that is written. */
#include "group/native.h"

#include "group/internal.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 4      /* levels of a tree, the PodGroup included */
#define MOST_FAULTY 16 /* groups above each other that are told that their tree is wrong */
#define PARENT_FIELD "parentCompositePodGroupName"

enum { LEAF, COMPOSITE };

/* One object of the tree. */
struct part {
	struct group_owner id;
	const struct val *spec;
	const char *parent; /* name of the CompositePodGroup above, NULL for none */
	bool composite;
	int subgroup;   /* number in the result, GROUP_UNSET for the root */
	bool carries;   /* leaves, below it */
	int64_t filled; /* children in the result */
};

struct native {
	struct grouping *grouping;
	struct part leaf, root;   /* of the pod */
	struct part *parts;       /* of the whole tree without its root, by kind and name */
	size_t count, composites; /* the composites stand first */
	bool good;
	struct group_owner path[MOST_FAULTY]; /* of the pod's PodGroup and what is above it */
	size_t path_count;
	enum group_fault fault;
};

static const char *kind_of(bool composite)
{
	return composite ? "CompositePodGroup" : "PodGroup";
}

static const char *version_of(bool composite)
{
	return composite ? KINDS_API_NATIVE_COMPOSITE : KINDS_API_NATIVE_GROUP;
}

static void native_warn(struct native *native, const struct part *part, enum group_about about, const char *path,
                        const char *fix, const char *message)
{
	group_warn_object(native->grouping, &part->id, about, path, fix, "%s", message);
	native->good = false;
	if (about == GROUP_ABOUT_INVALID_TREE)
		native->fault = GROUP_FAULT_INVALID;
}

const char *group_native_parent(const struct val *group)
{
	const char *parent = val_str(val_path(group, "spec", PARENT_FIELD, NULL), "");
	return *parent ? parent : NULL;
}

/* {all: {}} since 1.37, "PodGroup" before. */
bool group_native_goes_whole(const struct val *group)
{
	const struct val *mode = val_path(group, "spec", "disruptionMode", NULL);
	return val_kind(val_get(mode, "all")) == VAL_MAP || text_equal(val_str(mode, NULL), "PodGroup");
}

static struct part read_part(const struct val *object, bool composite)
{
	const char *version = val_str(val_get(object, "apiVersion"), version_of(composite));
	return (struct part){.id = meta_owner(object, version, kind_of(composite)),
	                     .spec = val_get(object, "spec"),
	                     .parent = group_native_parent(object),
	                     .composite = composite,
	                     .subgroup = GROUP_UNSET};
}

const char *group_native_label(const char *name, struct arena *arena)
{
	struct grouping grouping = {.arena = arena};
	return tree_label(&grouping, name);
}

const char *group_native_name(const struct val *pod)
{
	return val_str(val_path(pod, "spec", "schedulingGroup", "podGroupName", NULL), NULL);
}

/* ---- from the pod up ---- */

static bool find_part(struct native *native, const char *name, bool composite, const struct part *below,
                      struct part *out)
{
	struct grouping *grouping = native->grouping;
	const struct val *object =
		group_get(grouping, version_of(composite), kind_of(composite), grouping->namespace_, name);
	if (object) {
		*out = read_part(object, composite);
		return true;
	}
	if (below)
		group_warn_object(grouping, &below->id, GROUP_ABOUT_OBJECT_NOT_FOUND, "spec." PARENT_FIELD,
		                  "wait until it is created, or correct the name",
		                  "there is no CompositePodGroup \"%s\"", name);
	else
		group_warn_pod(grouping, GROUP_ABOUT_OBJECT_NOT_FOUND, "spec.schedulingGroup.podGroupName",
		               "wait until it is created, or correct the name",
		               "waiting for the PodGroup \"%s\" of scheduling.k8s.io, which does not exist", name);
	native->good = false;
	return false;
}

static bool is_on_path(const struct native *native, const char *name)
{
	for (size_t i = 1; i < native->path_count; i++)
		if (text_equal(native->path[i].name, name))
			return true;
	return false;
}

/* What is above the last one of a path that is too long or a circle is told as well. */
static void follow_path(struct native *native, const char *parent)
{
	struct grouping *grouping = native->grouping;
	while (parent && native->path_count < MOST_FAULTY && !is_on_path(native, parent)) {
		const struct val *object =
			group_get(grouping, version_of(COMPOSITE), kind_of(COMPOSITE), grouping->namespace_, parent);
		if (!object)
			return;
		struct part part = read_part(object, COMPOSITE);
		native->path[native->path_count++] = part.id;
		parent = part.parent;
	}
}

/* The PodGroup that the pod names, and the last object above it. */
static bool find_root(struct native *native)
{
	if (!find_part(native, group_native_name(native->grouping->pod), LEAF, NULL, &native->leaf))
		return false;
	native->root = native->leaf;
	native->path[native->path_count++] = native->leaf.id;
	for (int depth = 1; native->root.parent; depth++) {
		struct part above;
		if (depth == DEEPEST) {
			follow_path(native, native->root.parent);
			native_warn(native, &native->leaf, GROUP_ABOUT_INVALID_TREE, "spec." PARENT_FIELD,
			            "make the tree flatter, or cut the circle",
			            "the groups above it form a circle or more than 4 levels");
			return false;
		}
		if (!find_part(native, native->root.parent, COMPOSITE, &native->root, &above))
			return false;
		native->root = above;
		if (!is_on_path(native, above.id.name))
			native->path[native->path_count++] = above.id;
	}
	return true;
}

/* ---- from the root down ---- */

static int by_name(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->composite != b->composite)
		return a->composite ? -1 : 1;
	return strcmp(a->id.name, b->id.name);
}

/* All parts of the namespace that say they are below another. */
static size_t list_parts(struct native *native, bool composite, struct part *into)
{
	struct grouping *grouping = native->grouping;
	const struct group_source *source = grouping->source;
	const struct val *object;
	size_t cursor = 0, count = 0;
	while (source && source->next_object &&
	       (object = source->next_object(source->context, version_of(composite), kind_of(composite), &cursor))) {
		const char *namespace_ = meta_text(object, "namespace");
		if (!meta_api_group_is(val_str(val_get(object, "apiVersion"), ""), KINDS_SCHEDULING_K8S) ||
		    !text_equal(*namespace_ ? namespace_ : "default",
		                *grouping->namespace_ ? grouping->namespace_ : "default") ||
		    !group_native_parent(object))
			continue;
		if (into)
			into[count] = read_part(object, composite);
		count++;
	}
	return count;
}

/* Number of the CompositePodGroup with that name among the first `count`, which are sorted; -1: none. */
static int find_composite(const struct part *parts, size_t count, const char *name)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(parts[middle].id.name, name);
		if (order == 0)
			return (int)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* Levels from the root down to the part; 0 when it is not below the root, or too deep. */
static int depth_of(const struct native *native, const struct part *parts, size_t composites, const struct part *part)
{
	int depth = 2;
	while (part && !text_equal(part->parent, native->root.id.name)) {
		int above = part->parent ? find_composite(parts, composites, part->parent) : -1;
		part = above < 0 ? NULL : &parts[above];
		if (++depth > DEEPEST + 1)
			return 0;
	}
	return part ? depth : 0;
}

/* What is above a leaf is a parent; a CompositePodGroup without leaves is nothing yet. */
static void note_carriers(struct native *native, const struct part *part)
{
	int above = find_composite(native->parts, native->composites, part->parent);
	while (above >= 0 && !native->parts[above].carries) {
		native->parts[above].carries = true;
		above = find_composite(native->parts, native->composites, native->parts[above].parent);
	}
}

static void collect(struct native *native)
{
	size_t composites = list_parts(native, COMPOSITE, NULL), leaves = list_parts(native, LEAF, NULL);
	struct part *all = arena_array(native->grouping->arena, struct part, composites + leaves + 1);
	list_parts(native, COMPOSITE, all);
	list_parts(native, LEAF, all + composites);
	if (composites + leaves > 1)
		qsort(all, composites + leaves, sizeof(*all), by_name);
	native->parts = arena_array(native->grouping->arena, struct part, composites + leaves + 1);
	for (size_t i = 0; i < composites + leaves; i++) {
		int depth = depth_of(native, all, composites, &all[i]);
		if (depth > DEEPEST)
			native_warn(native, &all[i], GROUP_ABOUT_INVALID_TREE, "spec." PARENT_FIELD,
			            "make the tree flatter",
			            "the tree has more than 4 levels, so none of it is placed");
		if (depth == 0)
			continue;
		native->parts[native->count++] = all[i];
		native->composites += all[i].composite;
	}
	for (size_t i = native->composites; i < native->count; i++)
		note_carriers(native, &native->parts[i]);
}

/* ---- what a part asks for ---- */

/* minCount of a PodGroup, minGroupCount of a CompositePodGroup, 1 under the policy `basic`. */
static int read_minimum(struct native *native, const struct part *part)
{
	struct grouping *grouping = native->grouping;
	const struct val *policy = val_get(part->spec, "schedulingPolicy"), *gang = val_get(policy, "gang");
	const char *key = part->composite ? "minGroupCount" : "minCount";
	bool basic = val_kind(val_get(policy, "basic")) == VAL_MAP, is_gang = val_kind(gang) == VAL_MAP;
	int64_t minimum = 1;
	if (basic == is_gang) {
		native_warn(native, part, GROUP_ABOUT_WRONG_FIELD_TYPE, "spec.schedulingPolicy",
		            "write either basic: {} or gang", "exactly one scheduling policy is needed");
		return 1;
	}
	if (!is_gang) {
		/* How much of a group without a minimum starts together is for us to add. */
		const char *asked =
			part->composite
				? NULL
				: val_str(val_path(part->id.object, "metadata", "annotations", KEY_MIN_MEMBER, NULL),
		                          NULL);
		native->good &= group_min_member(grouping, asked, "metadata", 0, &minimum) != FIELD_WRONG;
		return (int)minimum;
	}
	if (val_int(val_get(gang, key), &minimum) < 0 || minimum < 1 || minimum > INT32_MAX) {
		native_warn(native, part, GROUP_ABOUT_WRONG_FIELD_TYPE,
		            arena_printf(grouping->arena, "spec.schedulingPolicy.gang.%s", key),
		            "write a number from 1 on", "the minimum of a gang is no number from 1 on");
		return 1;
	}
	return (int)minimum;
}

/* The key of the native constraint is a level of its own, unless an annotation names a Topology that it is a level of. */
static struct group_constraint read_constraint(struct native *native, const struct part *part)
{
	struct arena *arena = native->grouping->arena;
	const struct val *list = val_path(part->spec, "schedulingConstraints", "topology", NULL), *item;
	struct labels annotations = meta_labels(arena, part->id.object, "annotations");
	struct group_constraint constraint = {.topology = meta_get(&annotations, KEY_TOPOLOGY),
	                                      .preferred = meta_get(&annotations, KEY_TOPOLOGY_PREFERRED)};
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *key = val_str(val_get(item, "key"), "");
		if (!*key || constraint.required)
			native_warn(native, part, GROUP_ABOUT_WRONG_FIELD_TYPE, "spec.schedulingConstraints.topology",
			            "name the label of nodes in key, in one item",
			            "a topology constraint is one node label");
		else
			constraint.required = key;
	}
	if (!constraint.required)
		constraint.required = meta_get(&annotations, KEY_TOPOLOGY_REQUIRED);
	if (!constraint.required && !constraint.preferred)
		return (struct group_constraint){0};
	if (!constraint.topology)
		constraint.topology = arena_printf(arena, KINDS_LABEL_TOPOLOGY "%s%s%s",
		                                   constraint.required ? constraint.required : "",
		                                   constraint.required && constraint.preferred ? "," : "",
		                                   constraint.preferred ? constraint.preferred : "");
	return constraint;
}

static void refuse_claims(struct native *native, const struct part *part)
{
	if (val_count(val_get(part->spec, "resourceClaims")) > 0)
		native_warn(native, part, GROUP_ABOUT_UNSUPPORTED, "spec.resourceClaims",
		            "let kube-scheduler place its pods, or give the claims to the pods",
		            "claims that a whole group shares are not served");
}

/* ---- the result ---- */

static struct segment_ask ask_for(const struct part *part, bool member, bool root)
{
	return (struct segment_ask){.template_ = part->id.object,
	                            .path = "metadata",
	                            .index_label = "batch.kubernetes.io/job-completion-index",
	                            .root_too = root,
	                            .member = member};
}

/* A leaf below the root; its pods may be cut into segments. */
static void add_leaf(struct native *native, struct part *part)
{
	struct grouping *grouping = native->grouping;
	bool member = text_equal(part->id.name, native->leaf.id.name);
	int minimum = read_minimum(native, part);
	part->subgroup = tree_add(grouping, part->id.name, GROUP_UNSET, minimum);
	grouping->out->subgroups[part->subgroup].constraint = read_constraint(native, part);
	refuse_claims(native, part);
	if (member)
		tree_join(grouping, part->subgroup);
}

/* After all leaves, whose names come first. */
static void add_segments(struct native *native, const struct part *part)
{
	struct grouping *grouping = native->grouping;
	bool member = text_equal(part->id.name, native->leaf.id.name);
	struct segment_ask ask = ask_for(part, member, false);
	struct segments segments;
	int minimum = grouping->out->subgroups[part->subgroup].min_member;
	if (!segments_wanted(grouping, &ask, &segments))
		return;
	if (member)
		tree_join(grouping, GROUP_UNSET); /* it is no leaf any more */
	segments_add(grouping, &segments, part->subgroup, minimum, minimum, member, ask.path);
}

static void add_composites(struct native *native)
{
	struct group_result *out = native->grouping->out;
	for (size_t i = 0; i < native->count; i++) {
		struct part *part = &native->parts[i];
		refuse_claims(native, part);
		if (!part->composite || !part->carries)
			continue; /* who needs it waits */
		part->subgroup = tree_add(native->grouping, part->id.name, GROUP_UNSET, GROUP_UNSET);
		out->subgroups[part->subgroup].min_sub_group = read_minimum(native, part);
		out->subgroups[part->subgroup].constraint = read_constraint(native, part);
	}
	for (size_t i = 0; i < native->count; i++) {
		struct part *part = &native->parts[i];
		int above = text_equal(part->parent, native->root.id.name)
		                    ? -1
		                    : find_composite(native->parts, native->composites, part->parent);
		if (part->subgroup == GROUP_UNSET)
			continue;
		(above < 0 ? &native->root : &native->parts[above])->filled++;
		if (above >= 0)
			out->subgroups[part->subgroup].parent = native->parts[above].subgroup;
	}
}

/* Children may still come: until then the group cannot be met, which the engine is told as it is. */
static void await_children(struct native *native, const struct part *part, int minimum)
{
	if (part->filled < minimum)
		group_warn_object(native->grouping, &part->id, GROUP_ABOUT_MEMBER_MISSING,
		                  "spec.schedulingPolicy.gang.minGroupCount",
		                  "wait until they are created, or lower the minimum",
		                  "waiting for the tree to meet its quorum: %lld of %d groups are there",
		                  (long long)part->filled, minimum);
}

/* Leaves first: then their names depend on nothing else. Always the whole tree: whether a pod may be placed depends on all
 * of it. */
static void add_tree(struct native *native)
{
	struct grouping *grouping = native->grouping;
	grouping->marks_only = false;
	grouping->out->min_sub_group = read_minimum(native, &native->root);
	collect(native);
	if (!native->good || !tree_has_room(grouping, (int64_t)native->count, "spec")) {
		native->good = false;
		return;
	}
	for (size_t i = 0; i < native->count; i++)
		if (!native->parts[i].composite)
			add_leaf(native, &native->parts[i]);
	if (grouping->leaf == GROUP_UNSET)
		native_warn(native, &native->leaf, GROUP_ABOUT_INVALID_TREE, "metadata.name", "wait until it is listed",
		            "the group is not among those below its root");
	for (size_t i = 0; i < native->count; i++)
		if (!native->parts[i].composite)
			add_segments(native, &native->parts[i]);
	add_composites(native);
	await_children(native, &native->root, grouping->out->min_sub_group);
	for (size_t i = 0; i < native->count; i++)
		if (native->parts[i].composite && native->parts[i].subgroup != GROUP_UNSET)
			await_children(native, &native->parts[i],
			               grouping->out->subgroups[native->parts[i].subgroup].min_sub_group);
}

static void add_alone(struct native *native)
{
	struct grouping *grouping = native->grouping;
	struct segment_ask ask = ask_for(&native->root, true, true);
	int minimum = read_minimum(native, &native->root);
	grouping->out->min_member = minimum;
	refuse_claims(native, &native->root);
	if (native->good && segments_mentioned(grouping, &ask))
		segments_of_all(grouping, &ask, minimum, minimum);
}

/* Labels and annotations of the workload that made the groups count where the groups say nothing. */
static void choose_native_subject(struct native *native)
{
	struct grouping *grouping = native->grouping;
	struct arena *arena = grouping->arena;
	const struct val *root = native->root.id.object;
	struct labels annotations = meta_labels(arena, root, "annotations");
	/* Levels are read beside those of the group itself. */
	annotations = meta_without(arena, annotations, KEY_TOPOLOGY_REQUIRED);
	grouping->subject = (struct subject){.id = native->root.id,
	                                     .labels = meta_labels(arena, root, "labels"),
	                                     .annotations = meta_without(arena, annotations, KEY_TOPOLOGY_PREFERRED)};
	for (size_t i = 0; i < grouping->owners->count; i++) {
		const struct val *owner = grouping->owners->items[i].object;
		grouping->subject.labels =
			meta_merge(arena, grouping->subject.labels, meta_labels(arena, owner, "labels"));
	}
}

/* Anybody of higher priority may take the place of such a group, and what it lost it gets back pod by pod: it is not stale. */
static void take_over(struct native *native)
{
	struct grouping *grouping = native->grouping;
	struct group_result *out = grouping->out;
	const struct part *root = &native->root;
	choose_native_subject(native);
	group_inherit(grouping, CLASS_TRAIN);
	const char *class = val_str(val_get(root->spec, "priorityClassName"), "");
	if (*class)
		out->priority_class = class;
	if (!*out->owner.uid) /* not from a cluster */
		out->name = arena_printf(grouping->arena, "pg-%s", out->owner.name);
	out->preemptibility = out->preemptibility ? out->preemptibility : "preemptible";
	out->staleness_grace = out->staleness_grace ? out->staleness_grace : "-1s";
	out->constraint = read_constraint(native, root);
	meta_put(grouping->arena, &out->annotations, KINDS_DISRUPTION,
	         group_native_goes_whole(root->id.object) ? "all" : "single");
	if (text_equal(val_str(val_get(root->spec, "preemptionPolicy"), ""), "Never"))
		meta_put(grouping->arena, &out->annotations, KINDS_PREEMPTION, "Never");
}

/* Where an API server has filled in both, members are of the priority of the root. */
static void check_priority(struct native *native)
{
	int64_t pod, root;
	if (val_int(val_path(native->grouping->pod, "spec", "priority", NULL), &pod) < 0 ||
	    val_int(val_get(native->root.spec, "priority"), &root) < 0 || pod == root)
		return;
	group_warn_pod(native->grouping, GROUP_ABOUT_PRIORITY_DIFFERS, "spec.priority",
	               "give the pod and its group the same priority class",
	               "its priority is %lld, that of %s %s is %lld: the pod is not placed", (long long)pod,
	               native->root.id.kind, native->root.id.name, (long long)root);
	native->good = false;
	native->fault = GROUP_FAULT_MEMBER;
}

static void warn_second_group(struct native *native)
{
	struct grouping *grouping = native->grouping;
	const char *named = meta_get(&grouping->pod_annotations, GROUP_KEY_POD_GROUP);
	if (named && !text_equal(named, grouping->out->name) &&
	    !meta_get(&grouping->pod_annotations, KINDS_NATIVE_MARK))
		group_warn_pod(grouping, GROUP_ABOUT_SECOND_GROUP, "metadata.annotations." GROUP_KEY_POD_GROUP,
		               "remove the annotation",
		               "spec.schedulingGroup counts, not the PodGroup %s of the annotation", named);
}

static enum group_verdict refuse(const struct native *native)
{
	struct group_result *out = native->grouping->out;
	struct group_owner *faulty = arena_array(native->grouping->arena, struct group_owner, native->path_count + 1);
	out->fault = native->fault;
	for (size_t i = 0; native->fault != GROUP_FAULT_NONE && i < native->path_count; i++)
		faulty[out->faulty_count++] = native->path[i];
	out->faulty = faulty;
	return GROUP_REFUSED;
}

enum group_verdict group_native(struct grouping *grouping)
{
	struct native native = {.grouping = grouping, .good = true};
	if (!find_root(&native))
		return refuse(&native);
	take_over(&native);
	if (native.root.composite)
		add_tree(&native);
	else
		add_alone(&native);
	check_priority(&native);
	warn_second_group(&native);
	meta_put(grouping->arena, &grouping->out->pod_annotations, KINDS_NATIVE_MARK, native.leaf.id.name);
	return native.good ? GROUP_WANTED : refuse(&native);
}
