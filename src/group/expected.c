/* The size that a workload declares, as an annotation of its PodGroup: a scheduler that sees the first pods of it learns how
 * many are to come. It is written only where it says more than the minimums do, and where some level confines the pods; always for
 * those that start whole, whose minimums change on the way. And what these pods will ask for, where nobody asks for it yet. */
#include "group/internal.h"

#include "object/build.h"

#include <string.h>

#define LONGEST_TEXT (64 << 10) /* all annotations of an object have 256 KiB together */

static bool has_levels(const struct group_constraint *constraint)
{
	return constraint->required || constraint->preferred;
}

static bool is_confined(const struct group_result *result, const struct val *stored)
{
	bool confined = has_levels(&result->constraint) || val_get(stored, "topologyConstraint") ||
	                val_get(stored, "topologyConstraints");
	for (size_t i = 0; i < result->subgroup_count && !confined; i++)
		confined = has_levels(&result->subgroups[i].constraint);
	return confined;
}

static int expected_of(const struct group_result *result, size_t leaf)
{
	const struct group_subgroup *subgroup = &result->subgroups[leaf];
	if (subgroup->expected != GROUP_UNSET || subgroup->parent == GROUP_UNSET)
		return subgroup->expected;
	return result->subgroups[subgroup->parent].expected;
}

/* What a reader learns from the minimums alone: segments without one are as large as those of their role that have one. */
static int guess_of(const struct group_result *result, const int *largest, size_t leaf)
{
	const struct group_subgroup *subgroup = &result->subgroups[leaf];
	return subgroup->min_member > 0 || subgroup->parent < 0 ? subgroup->min_member : largest[subgroup->parent];
}

/* Whether the minimums do not say it all: some leaf will have other pods than they let guess, or children may come later. */
static bool says_more(const struct group_result *result, struct arena *arena)
{
	if (result->subgroup_count == 0)
		return result->expected > result->min_member;
	bool more = result->min_sub_group != GROUP_UNSET;
	int *largest = arena_array(arena, int, result->subgroup_count);
	for (size_t i = 0; i < result->subgroup_count; i++) {
		const struct group_subgroup *subgroup = &result->subgroups[i];
		if (subgroup->parent >= 0 && subgroup->min_member > largest[subgroup->parent])
			largest[subgroup->parent] = subgroup->min_member;
	}
	for (size_t i = 0; i < result->subgroup_count && !more; i++) {
		const struct group_subgroup *subgroup = &result->subgroups[i];
		int expected = subgroup->min_member == GROUP_UNSET ? GROUP_UNSET : expected_of(result, i);
		more = subgroup->min_sub_group != GROUP_UNSET ||
		       (expected != GROUP_UNSET && expected != guess_of(result, largest, i));
	}
	return more;
}

static const char *write_map(const struct group_result *result, struct arena *arena)
{
	struct build *build = build_create();
	struct node *map = build_map(build);
	size_t count = 0;
	for (size_t i = 0; i < result->subgroup_count; i++) {
		const struct group_subgroup *subgroup = &result->subgroups[i];
		bool leaf = subgroup->min_member != GROUP_UNSET;
		int above = leaf && subgroup->parent >= 0 ? result->subgroups[subgroup->parent].expected : GROUP_UNSET;
		if (subgroup->expected == GROUP_UNSET || (leaf && subgroup->expected == above))
			continue;
		build_put_int(build, map, subgroup->name, subgroup->expected);
		count++;
	}
	struct doc *doc = build_finish(build, map);
	struct buffer text = {0};
	val_write(doc_root(doc), DOC_JSON_COMPACT, &text);
	const char *written = count > 0 && text.length <= LONGEST_TEXT ? arena_strdup(arena, text.text) : NULL;
	buffer_free(&text);
	doc_destroy(doc);
	build_destroy(build);
	return written;
}

/* Copies these fields of a map. */
static void copy_fields(struct build *build, struct node *to, const struct val *from, const char *const *names)
{
	for (; *names; names++)
		if (val_get(from, *names))
			build_put(build, to, *names, build_copy(build, val_get(from, *names)));
}

static void copy_containers(struct build *build, struct node *to, const struct val *spec, const char *field)
{
	static const char *const fields[] = {"name", "image", "resources", "restartPolicy", "ports", NULL};
	struct node *list = build_list(build);
	const struct val *container;
	for (struct val_iter it = val_iter(val_get(spec, field)); val_next(&it, NULL, &container);) {
		struct node *copy = build_map(build);
		copy_fields(build, copy, container, fields);
		build_append(build, list, copy);
	}
	build_put_filled(build, to, field, list);
}

const char *group_coming_text(const struct group_result *result, struct arena *arena)
{
	static const char *const of_spec[] = {"nodeSelector", "affinity",  "tolerations", "topologySpreadConstraints",
	                                      "overhead",     "resources", NULL};
	static const char *const of_metadata[] = {"labels", NULL};
	if (!result->coming)
		return NULL;
	const struct val *spec = val_get(result->coming, "spec");
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *copy = build_map(build);
	build_put_string(build, metadata, "name", "coming");
	copy_fields(build, metadata, val_get(result->coming, "metadata"), of_metadata);
	copy_fields(build, copy, spec, of_spec);
	copy_containers(build, copy, spec, "initContainers");
	copy_containers(build, copy, spec, "containers");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", copy);
	struct buffer text = {0};
	build_write(build, root, DOC_JSON_COMPACT, &text);
	const char *written = text.length <= LONGEST_TEXT ? arena_strdup(arena, text.text) : NULL;
	buffer_free(&text);
	build_destroy(build);
	return written;
}

const char *group_expected_text(const struct group_result *result, const struct val *stored, struct arena *arena)
{
	if (!result->starts_whole && (!is_confined(result, stored) || !says_more(result, arena)))
		return NULL;
	return result->subgroup_count ? write_map(result, arena) : arena_printf(arena, "%d", result->expected);
}
