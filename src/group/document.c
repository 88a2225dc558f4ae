/* Results as documents: the PodGroup to create or update, and the patch that marks the pod. */
#include "group/internal.h"

#include "object/build.h"

#include <string.h>

static struct node *write_labels(struct build *build, const struct labels *labels)
{
	struct node *map = build_map(build);
	for (size_t i = 0; i < labels->count; i++)
		build_put_string(build, map, labels->items[i].key, labels->items[i].value);
	return map;
}

static void put_text(struct build *build, struct node *map, const char *key, const char *text)
{
	if (text)
		build_put_string(build, map, key, text);
}

static void put_constraint(struct build *build, struct node *map, const struct group_constraint *constraint)
{
	if (!constraint->topology && !constraint->required && !constraint->preferred)
		return;
	struct node *object = build_map(build);
	put_text(build, object, "topology", constraint->topology);
	put_text(build, object, "requiredTopologyLevel", constraint->required);
	put_text(build, object, "preferredTopologyLevel", constraint->preferred);
	build_put(build, map, "topologyConstraint", object);
}

/* Of each subgroup how many children it has; GROUP_UNSET for a leaf. */
static int *count_children(struct arena *arena, const struct group_result *result)
{
	int *counts = arena_array(arena, int, result->subgroup_count);
	for (size_t i = 0; i < result->subgroup_count; i++)
		counts[i] = GROUP_UNSET;
	for (size_t i = 0; i < result->subgroup_count; i++) {
		int parent = result->subgroups[i].parent;
		if (parent != GROUP_UNSET)
			counts[parent] = counts[parent] == GROUP_UNSET ? 1 : counts[parent] + 1;
	}
	return counts;
}

static void write_minimums(struct build *build, struct node *map, int min_member, int min_sub_group)
{
	if (min_member != GROUP_UNSET)
		build_put_int(build, map, "minMember", min_member);
	if (min_sub_group != GROUP_UNSET)
		build_put_int(build, map, "minSubGroup", min_sub_group);
}

/* The pods of all leaves: what a PodGroup that needs all its children may say of itself. */
static int leaf_pods(const struct group_result *result)
{
	int64_t pods = 0;
	for (size_t i = 0; i < result->subgroup_count; i++)
		if (result->subgroups[i].min_member != GROUP_UNSET)
			pods += result->subgroups[i].min_member;
	return pods > INT32_MAX ? GROUP_UNSET : (int)pods;
}

static struct node *write_subgroups(struct build *build, struct arena *arena, const struct group_result *result,
                                    bool as_kai)
{
	const int *children = as_kai ? count_children(arena, result) : NULL;
	struct node *list = build_list(build);
	for (size_t i = 0; i < result->subgroup_count; i++) {
		const struct group_subgroup *subgroup = &result->subgroups[i];
		struct node *item = build_map(build);
		build_put_string(build, item, "name", subgroup->name);
		if (subgroup->parent != GROUP_UNSET)
			build_put_string(build, item, "parent", result->subgroups[subgroup->parent].name);
		bool all = subgroup->min_sub_group == GROUP_UNSET;
		write_minimums(build, item, subgroup->min_member,
		               all && as_kai ? children[i] : subgroup->min_sub_group);
		put_constraint(build, item, &subgroup->constraint);
		build_append(build, list, item);
	}
	return list;
}

static struct node *write_owner(struct build *build, const struct group_owner *owner)
{
	struct node *list = build_list(build), *item = build_map(build);
	build_put_string(build, item, "apiVersion", owner->api_version);
	build_put_string(build, item, "kind", owner->kind);
	build_put_string(build, item, "name", owner->name);
	build_put_string(build, item, "uid", owner->uid);
	build_append(build, list, item);
	return list;
}

/* Copies the entries of a stored map that we do not write ourselves. */
static void keep_fields(struct build *build, struct node *to, const struct val *from, const char *const *ours)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(from); val_next(&it, &key, &item);) {
		bool own = false;
		for (const char *const *name = ours; *name && !own; name++)
			own = strcmp(*name, key) == 0;
		if (!own)
			build_put(build, to, key, build_copy(build, item));
	}
}

static struct labels merged(struct arena *arena, const struct val *stored, const char *field, struct labels wanted)
{
	return meta_merge(arena, wanted, meta_labels(arena, stored, field));
}

static struct node *write_metadata(struct build *build, struct arena *arena, const struct group_result *result,
                                   const struct group_options *options, const struct val *existing)
{
	static const char *const ours[] = {"name", "namespace", "labels", "annotations", "ownerReferences", NULL};
	struct node *metadata = build_map(build);
	build_put_string(build, metadata, "name", result->name);
	if (*result->namespace_)
		build_put_string(build, metadata, "namespace", result->namespace_);
	struct labels labels = merged(arena, existing, "labels", result->labels);
	/* What was declared before is not foreign: it goes when there is nothing to declare. */
	struct labels stored = meta_without(arena, meta_labels(arena, existing, "annotations"), KINDS_EXPECTED_PODS);
	stored = meta_without(arena, stored, KINDS_COMING_POD);
	struct labels foreign = meta_without(arena, stored, KINDS_STARTS_WHOLE);
	struct labels annotations = meta_merge(arena, result->annotations, foreign);
	const char *expected = group_expected_text(result, val_get(existing, "spec"), arena);
	if (expected)
		meta_put(arena, &annotations, KINDS_EXPECTED_PODS, expected);
	if (result->starts_whole)
		meta_put(arena, &annotations, KINDS_STARTS_WHOLE, "true");
	const char *coming = group_coming_text(result, arena);
	if (coming)
		meta_put(arena, &annotations, KINDS_COMING_POD, coming);
	const char *pool = options ? group_pool_label(options) : GROUP_KEY_NODE_POOL;
	const char *stored_pool = val_str(val_path(existing, "metadata", "labels", pool, NULL), NULL);
	if (stored_pool)
		meta_put(arena, &labels, pool, stored_pool);
	else if (result->node_pool && !labels_get(&labels, pool))
		meta_put(arena, &labels, pool, result->node_pool);
	if (labels.count)
		build_put(build, metadata, "labels", write_labels(build, &labels));
	if (annotations.count)
		build_put(build, metadata, "annotations", write_labels(build, &annotations));
	build_put(build, metadata, "ownerReferences", write_owner(build, &result->owner));
	keep_fields(build, metadata, val_get(existing, "metadata"), ours);
	return metadata;
}

static struct node *write_spec(struct build *build, struct arena *arena, const struct group_result *result,
                               const struct val *stored, bool as_kai)
{
	static const char *const ours[] = {
		"queue",     "priorityClassName", "preemptibility", "preemptionDelay",    "stalenessGracePeriod",
		"minMember", "minSubGroup",       "subGroups",      "topologyConstraint", "topologyConstraints",
		NULL};
	struct node *spec = build_map(build);
	const char *queue = val_str(val_get(stored, "queue"), "");
	build_put_string(build, spec, "queue", *queue ? queue : result->queue);
	put_text(build, spec, "priorityClassName", result->priority_class);
	put_text(build, spec, "preemptibility", result->preemptibility);
	put_text(build, spec, "preemptionDelay", result->preemption_delay);
	put_text(build, spec, "stalenessGracePeriod", result->staleness_grace);
	bool all = result->min_sub_group == GROUP_UNSET && result->subgroup_count;
	write_minimums(build, spec, all && as_kai ? leaf_pods(result) : result->min_member, result->min_sub_group);
	put_constraint(build, spec, &result->constraint);
	const struct group_constraint *constraint = &result->constraint;
	static const char *const forms[] = {"topologyConstraint", "topologyConstraints"};
	for (size_t i = 0; i < 2 && !constraint->topology && !constraint->required && !constraint->preferred; i++)
		if (val_get(stored, forms[i]))
			build_put(build, spec, forms[i], build_copy(build, val_get(stored, forms[i])));
	if (result->subgroup_count)
		build_put(build, spec, "subGroups", write_subgroups(build, arena, result, as_kai));
	keep_fields(build, spec, stored, ours);
	return spec;
}

struct doc *group_document(const struct group_result *result, const struct group_options *options,
                           const struct val *existing)
{
	static const char *const ours[] = {"apiVersion", "kind", "metadata", "spec", NULL};
	struct build *build = build_create();
	struct arena *arena = arena_create();
	struct node *root = build_map(build);
	build_put_string(build, root, "apiVersion", GROUP_API_VERSION);
	build_put_string(build, root, "kind", "PodGroup");
	build_put(build, root, "metadata", write_metadata(build, arena, result, options, existing));
	build_put(build, root, "spec",
	          write_spec(build, arena, result, val_get(existing, "spec"), options && options->kai_minimums));
	keep_fields(build, root, existing, ours);
	struct doc *doc = build_finish(build, root);
	arena_destroy(arena);
	build_destroy(build);
	return doc;
}

/* The marks of a place in another group, or in segments that are no more. A subgroup that a user wrote stays, and is
 * told to be wrong. */
static bool has_old_marks(const struct group_result *result, const struct val *pod)
{
	const char *group = val_str(val_path(pod, "metadata", "annotations", GROUP_KEY_POD_GROUP, NULL), "");
	return result->min_member != GROUP_UNSET &&
	       ((*group && strcmp(group, result->name) != 0) ||
	        val_path(pod, "metadata", "labels", GROUP_KEY_SEGMENT_INDEX, NULL));
}

static bool put_missing(struct build *build, struct node *metadata, const char *field, const struct labels *wanted,
                        const struct val *pod, bool unmark)
{
	static const char *const marks[] = {GROUP_KEY_SUBGROUP, GROUP_KEY_SEGMENT_INDEX};
	struct node *map = build_map(build);
	bool any = false;
	for (size_t i = 0; unmark && i < sizeof(marks) / sizeof(*marks); i++)
		if (val_path(pod, "metadata", field, marks[i], NULL)) {
			build_put(build, map, marks[i], build_null(build));
			any = true;
		}
	for (size_t i = 0; i < wanted->count; i++) {
		const struct label *label = &wanted->items[i];
		const char *has = val_str(val_path(pod, "metadata", field, label->key, NULL), NULL);
		if (text_equal(has, label->value))
			continue;
		build_put_string(build, map, label->key, label->value);
		any = true;
	}
	if (any)
		build_put(build, metadata, field, map);
	return any;
}

struct doc *group_pod_patch(const struct group_result *result, const struct val *pod)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	bool labels = put_missing(build, metadata, "labels", &result->pod_labels, pod, has_old_marks(result, pod));
	bool annotations = put_missing(build, metadata, "annotations", &result->pod_annotations, pod, false);
	build_put(build, root, "metadata", metadata);
	struct doc *doc = labels || annotations ? build_finish(build, root) : NULL;
	build_destroy(build);
	return doc;
}
