/* Grouping stories: parse, group, describe in one line, compare. */
#include "story.h"

#include "admit/podgroup.h"
#include "base/strings.h"

#include <stdio.h>
#include <string.h>

static const struct val *get(void *context, const char *api_version, const char *kind, const char *namespace_,
                             const char *name)
{
	const struct manifests *manifests = context;
	for (size_t i = 0; i < manifests->count; i++) {
		const struct manifest *item = &manifests->items[i];
		if (strcmp(item->api_version, api_version) == 0 && strcmp(item->kind, kind) == 0 &&
		    strcmp(item->namespace_, namespace_) == 0 && strcmp(item->name, name) == 0)
			return item->object;
	}
	return NULL;
}

static const struct val *next_pod(void *context, const char *namespace_, const char *label, const char *value,
                                  size_t *cursor)
{
	const struct manifests *manifests = context;
	for (; *cursor < manifests->count; ++*cursor) {
		const struct manifest *item = &manifests->items[*cursor];
		if (strcmp(item->kind, "Pod") == 0 && strcmp(item->namespace_, namespace_) == 0 &&
		    strcmp(val_str(val_path(item->object, "metadata", "labels", label, NULL), ""), value) == 0)
			return manifests->items[(*cursor)++].object;
	}
	return NULL;
}

static const struct val *next_object(void *context, const char *api_version, const char *kind, size_t *cursor)
{
	const struct manifests *manifests = context;
	for (; *cursor < manifests->count; ++*cursor) {
		const struct manifest *item = &manifests->items[*cursor];
		if (strcmp(item->kind, kind) == 0 && strcmp(item->api_version, api_version) == 0)
			return manifests->items[(*cursor)++].object;
	}
	return NULL;
}

static bool waits_for_member(const struct group_result *result)
{
	for (size_t i = 0; i < result->warning_count; i++)
		if (result->warnings[i].about == GROUP_ABOUT_MEMBER_MISSING)
			return true;
	return false;
}

/* A parent never has minMember, a leaf always. */
static void check_tree(struct arena *arena, const struct group_result *result)
{
	bool *parent = arena_array(arena, bool, result->subgroup_count);
	for (size_t i = 0; i < result->subgroup_count; i++)
		if (result->subgroups[i].parent != GROUP_UNSET)
			parent[result->subgroups[i].parent] = true;
	for (size_t i = 0; i < result->subgroup_count; i++)
		assert_int_equal(parent[i], result->subgroups[i].min_member == GROUP_UNSET);
	assert_int_equal(result->subgroup_count > 0, result->min_member == GROUP_UNSET);
}

static void check_admitted(struct story_run *run)
{
	struct doc *doc = group_document(&run->result, NULL, NULL);
	struct podgroup group;
	struct problems problems = {.arena = run->arena};
	int status = podgroup_decode(doc_root(doc), run->arena, &group, &problems);
	for (size_t i = 0; i < problems.count && status < 0; i++)
		print_error("%s: %s\n", problems.items[i].path, problems.items[i].message);
	assert_int_equal(status, waits_for_member(&run->result) ? -1 : 0);
	/* Nobody wrote the PodGroup, so nobody wants to be told how to write it better. */
	const struct group_subgroup *last =
		run->result.subgroup_count ? &run->result.subgroups[run->result.subgroup_count - 1] : NULL;
	if (last && last->constraint.required && text_equal(last->constraint.topology, run->result.constraint.topology))
		assert_int_equal(problems.count, problems.errors);
	if (status == 0)
		assert_int_equal(podgroup_minimum_pods(&group, 0), group_minimum(&run->result));
	doc_destroy(doc);
}

/* The short way must say the same about the pod. */
static void check_marks(struct story_run *run, const struct group_options *options)
{
	const struct group_result *whole = &run->result;
	struct group_result marks;
	group_pod_marks(run->pod, &run->source, options, run->arena, &marks);
	assert_int_equal(marks.verdict, whole->verdict);
	assert_int_equal(marks.segment, whole->segment);
	assert_int_equal(marks.warning_count, whole->warning_count);
	if (whole->verdict != GROUP_WANTED)
		return;
	assert_string_equal(marks.name, whole->name);
	assert_true(text_equal(marks.leaf, whole->leaf));
	assert_int_equal(marks.pod_labels.count, whole->pod_labels.count);
	for (size_t i = 0; i < marks.pod_labels.count; i++)
		assert_string_equal(marks.pod_labels.items[i].value, whole->pod_labels.items[i].value);
	if (whole->subgroup_count > 100)
		assert_true(marks.subgroup_count < 10);
}

void story_open(struct story_run *run, const char *objects, const struct group_options *options)
{
	*run = (struct story_run){.arena = arena_create()};
	struct problems problems = {.arena = run->arena};
	manifests_init(&run->manifests);
	manifests_parse(&run->manifests, objects, strlen(objects), "story.yaml", &problems);
	for (size_t i = 0; i < problems.count; i++)
		print_error("%s: %s\n%s\n", problems.items[i].path, problems.items[i].message, objects);
	assert_int_equal(problems.errors, 0);
	assert_true(run->manifests.count > 0);
	run->source = (struct group_source){.context = &run->manifests,
	                                    .get = get,
	                                    .next_pod = next_pod,
	                                    .next_object = next_object};
	run->pod = run->manifests.items[run->manifests.count - 1].object;
	group_pod(run->pod, &run->source, options, run->arena, &run->result);
	for (size_t i = 0; i < run->result.warning_count; i++) {
		const struct group_warning *warning = &run->result.warnings[i];
		assert_true(*warning->object && warning->path && *warning->message && *warning->fix);
	}
	check_marks(run, options);
	if (run->result.verdict != GROUP_WANTED)
		return;
	check_tree(run->arena, &run->result);
	check_admitted(run);
}

void story_close(struct story_run *run)
{
	manifests_free(&run->manifests);
	arena_destroy(run->arena);
}

static void describe_constraint(struct buffer *out, const struct group_constraint *constraint)
{
	if (!constraint->topology && !constraint->required && !constraint->preferred)
		return;
	buffer_printf(out, "@%s,%s,%s", constraint->topology ? constraint->topology : "",
	              constraint->required ? constraint->required : "",
	              constraint->preferred ? constraint->preferred : "");
}

static void describe_group(struct buffer *out, const struct group_result *result)
{
	buffer_printf(out, "%s min=%lld", result->name, (long long)group_minimum(result));
	describe_constraint(out, &result->constraint);
	if (result->min_sub_group != GROUP_UNSET)
		buffer_printf(out, "/%d", result->min_sub_group);
	for (size_t i = 0; i < result->subgroup_count; i++) {
		const struct group_subgroup *subgroup = &result->subgroups[i];
		buffer_printf(out, " %s", subgroup->name);
		if (subgroup->parent != GROUP_UNSET)
			buffer_printf(out, "<%s", result->subgroups[subgroup->parent].name);
		if (subgroup->min_member != GROUP_UNSET)
			buffer_printf(out, ":%d", subgroup->min_member);
		if (subgroup->min_sub_group != GROUP_UNSET)
			buffer_printf(out, "/%d", subgroup->min_sub_group);
		describe_constraint(out, &subgroup->constraint);
	}
	if (result->leaf)
		buffer_printf(out, " -> %s", result->leaf);
	if (result->segment != GROUP_UNSET)
		buffer_printf(out, " #%d", result->segment);
}

static void describe(struct buffer *out, const struct group_result *result)
{
	if (result->verdict == GROUP_NONE)
		buffer_printf(out, "none: %s", result->reason);
	else if (result->verdict == GROUP_REFUSED)
		buffer_puts(out, "refused");
	else
		describe_group(out, result);
	for (size_t i = 0; i < result->warning_count; i++)
		buffer_printf(out, "%s%s", i ? " " : " ! ", group_about_name(result->warnings[i].about));
}

void story_check(const struct story *story, const struct group_options *options)
{
	struct story_run run;
	struct buffer got = {0};
	story_open(&run, story->objects, options);
	describe(&got, &run.result);
	if (strcmp(got.text, story->expect) != 0) {
		print_error("%s\n  expected: %s\n  got:      %s\n", story->name, story->expect, got.text);
		for (size_t i = 0; i < run.result.warning_count; i++)
			print_error("  %s %s: %s (%s)\n", run.result.warnings[i].object, run.result.warnings[i].path,
			            run.result.warnings[i].message, run.result.warnings[i].fix);
	}
	assert_string_equal(got.text, story->expect);
	buffer_free(&got);
	story_close(&run);
}

void story_check_all(const struct story *stories, size_t count)
{
	for (size_t i = 0; i < count; i++)
		story_check(&stories[i], NULL);
}
