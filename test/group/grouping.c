/* Runs grouping cases: grouping [--strict] FILE.json...
 *
 * A file is {"cases": [{id, title, given, expect}]}; test/data/README.md has the format. Prints a line for each failed
 * case and ends with `N passed, N failed`. With --strict the cause of a warning (`about`) must match too. */
#include "given.h"

#include "base/clock.h"
#include "base/vec.h"
#include "object/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	struct arena *arena;
	const char *id;
	bool strict;
	bool failed;
};

static const char *show(struct run *run, const struct val *val)
{
	struct buffer text = {0};
	val_write(val, DOC_JSON_COMPACT, &text);
	const char *copy = arena_strdup(run->arena, text.text ? text.text : "null");
	buffer_free(&text);
	return copy;
}

static void fail(struct run *run, const char *field, const char *expected, const char *got)
{
	run->failed = true;
	printf("FAILED %s: %s: expected %s, got %s\n", run->id, field, expected, got);
}

static void check_val(struct run *run, const char *field, const struct val *expected, const struct val *got)
{
	bool both_empty = val_kind(expected) == VAL_MAP && val_count(expected) == 0 && val_count(got) == 0;
	if (!both_empty && !val_equal(expected, got))
		fail(run, field, show(run, expected), show(run, got));
}

static void check_text(struct run *run, const char *field, const char *expected, const char *got)
{
	if (!text_equal(expected, got))
		fail(run, field, expected ? expected : "none", got ? got : "none");
}

static bool same_duration(const struct val *expected, const struct val *got)
{
	int64_t a, b;
	return val_kind(expected) == VAL_STRING && val_kind(got) == VAL_STRING &&
	       clock_parse_duration(val_str(expected, ""), &a) == 0 &&
	       clock_parse_duration(val_str(got, ""), &b) == 0 && a == b;
}

static const struct val *by_name(const struct val *list, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return item;
	return NULL;
}

/* Same names, and under each name the fields that are given. Which of them are parents follows from the links; a parent
 * has no minMember. */
static void check_subgroups(struct run *run, const struct val *expected, const struct val *got)
{
	static const char *const fields[] = {"parent", "minMember", "topologyConstraint"};
	const struct val *item;
	if (val_count(expected) != val_count(got))
		fail(run, "subGroups", show(run, expected), show(run, got));
	for (struct val_iter it = val_iter(expected); val_next(&it, NULL, &item);) {
		const char *name = val_str(val_get(item, "name"), "");
		const struct val *found = by_name(got, name);
		if (!found) {
			fail(run, arena_printf(run->arena, "subGroups[%s]", name), show(run, item), "none");
			continue;
		}
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			check_val(run, arena_printf(run->arena, "subGroups[%s].%s", name, fields[i]),
			          val_get(item, fields[i]), val_get(found, fields[i]));
		if (val_get(item, "minSubGroup"))
			check_val(run, arena_printf(run->arena, "subGroups[%s].minSubGroup", name),
			          val_get(item, "minSubGroup"), val_get(found, "minSubGroup"));
	}
}

/* Where absence says something: a case that names the group lists all of these. */
static void check_absent(struct run *run, const struct val *expected, const struct val *spec)
{
	static const char *const fields[] = {"topologyConstraint", "subGroups", "minSubGroup"};
	if (!val_get(expected, "name"))
		return;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!val_get(expected, fields[i]) && val_get(spec, fields[i]))
			fail(run, fields[i], "none", show(run, val_get(spec, fields[i])));
}

static void check_group(struct run *run, const struct val *expected, const struct group_result *result,
                        const struct val *object)
{
	const struct val *metadata = val_get(object, "metadata"), *spec = val_get(object, "spec"), *item;
	const char *key;
	for (struct val_iter it = val_iter(expected); val_next(&it, &key, &item);) {
		if (strcmp(key, "subGroups") == 0) {
			check_subgroups(run, item, val_get(spec, key));
		} else if (strcmp(key, "minimumOverTree") == 0) {
			int64_t minimum = -1;
			val_int(item, &minimum);
			if (minimum != group_minimum(result))
				fail(run, key, show(run, item),
				     arena_printf(run->arena, "%lld", (long long)group_minimum(result)));
		} else if (strcmp(key, "ownerKind") == 0) {
			/* Typed objects of the sources have no kind: "" is the pod itself. */
			const char *kind = val_str(item, "");
			check_text(run, key, *kind ? kind : "Pod",
			           val_str(val_get(val_item(val_get(metadata, "ownerReferences"), 0), "kind"), ""));
		} else if (strcmp(key, "labels") == 0 || strcmp(key, "annotations") == 0 || strcmp(key, "name") == 0 ||
		           strcmp(key, "namespace") == 0) {
			check_val(run, key, item, val_get(metadata, key));
		} else if (!same_duration(item, val_get(spec, key))) {
			check_val(run, key, item, val_get(spec, key));
		}
	}
	check_absent(run, expected, spec);
}

static void check_warnings(struct run *run, const struct val *expect, const struct group_result *result)
{
	bool wanted = val_bool(val_get(expect, "warningEvent"), false);
	const char *about = val_str(val_get(expect, "about"), NULL);
	bool found = !about;
	struct buffer got = {0};
	buffer_puts(&got, result->warning_count ? "" : "no warning");
	for (size_t i = 0; i < result->warning_count; i++) {
		buffer_printf(&got, "%s%s", i ? ", " : "", group_about_name(result->warnings[i].about));
		found = found || strcmp(group_about_name(result->warnings[i].about), about) == 0;
	}
	if (wanted != (result->warning_count > 0))
		fail(run, "warningEvent", wanted ? "a warning" : "no warning", got.text);
	else if (run->strict && !found)
		fail(run, "about", about, got.text);
	buffer_free(&got);
}

/* A copy without everything that asks for segments. */
static struct node *without_segments(struct build *build, const struct val *val)
{
	const char *key;
	const struct val *item;
	if (val_kind(val) == VAL_LIST) {
		struct node *list = build_list(build);
		for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);)
			build_append(build, list, without_segments(build, item));
		return list;
	}
	if (val_kind(val) != VAL_MAP)
		return build_copy(build, val);
	struct node *map = build_map(build);
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);)
		if (strncmp(key, "kai.scheduler/segment-", 22) != 0 &&
		    strcmp(key, "kai.scheduler/pod-index-label") != 0 && strcmp(key, "subGroupPolicy") != 0)
			build_put(build, map, key, without_segments(build, item));
	return map;
}

static void check_no_segments(struct run *run, const struct val *given, const struct group_result *result)
{
	if (result->verdict != GROUP_WANTED) {
		fail(run, "segments", "a group without segments", "no group");
		return;
	}
	struct build *build = build_create();
	struct doc *plain = build_finish(build, without_segments(build, given));
	struct given other;
	struct group_result wanted;
	given_read(doc_root(plain), run->arena, &other);
	group_build(other.pod, &other.owners, &other.source, &other.options, run->arena, &wanted);
	struct doc *expected = group_document(&wanted, &other.options, NULL);
	struct doc *got = group_document(result, NULL, NULL);
	check_val(run, "segments", val_get(doc_root(expected), "spec"), val_get(doc_root(got), "spec"));
	check_text(run, "podSubGroup", wanted.leaf, result->leaf);
	doc_destroy(expected);
	doc_destroy(got);
	doc_destroy(plain);
	build_destroy(build);
}

static void check_case(struct run *run, const struct val *one)
{
	const struct val *expect = val_get(one, "expect"), *group = val_get(expect, "podGroup");
	struct given given;
	struct group_result result;
	given_read(val_get(one, "given"), run->arena, &given);
	group_build(given.pod, &given.owners, &given.source, &given.options, run->arena, &result);
	bool written = result.verdict == GROUP_WANTED;
	if (val_get(expect, "warningEvent"))
		check_warnings(run, expect, &result);
	if (val_get(expect, "segments"))
		check_no_segments(run, val_get(one, "given"), &result);
	if (val_kind(group) == VAL_MAP && !written) {
		fail(run, "podGroup", show(run, group),
		     result.warning_count ? result.warnings[0].message
		     : result.reason      ? result.reason
		                          : "none");
	} else if (val_kind(group) == VAL_MAP) {
		/* The label of the node pool is the controller's, not the workload's. */
		result.node_pool = NULL;
		struct doc *doc = group_document(&result, &given.options, NULL);
		check_group(run, group, &result, doc_root(doc));
		doc_destroy(doc);
	} else if (group && written) {
		fail(run, "podGroup", "none", result.name);
	}
	if (val_get(expect, "podSubGroup") || val_get(group, "name"))
		check_text(run, "podSubGroup", val_str(val_get(expect, "podSubGroup"), NULL), result.leaf);
}

static char *read_file(const char *path, size_t *length)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return NULL;
	}
	VEC(char) bytes = {0};
	for (size_t got = 1; got > 0;) {
		vec_reserve(&bytes, bytes.count + 65536);
		got = fread(bytes.items + bytes.count, 1, bytes.capacity - bytes.count, file);
		bytes.count += got;
	}
	if (file != stdin)
		fclose(file);
	*length = bytes.count;
	return bytes.items;
}

static int run_file(const char *path, bool strict, size_t *passed, size_t *failed)
{
	size_t length;
	char *text = read_file(path, &length);
	if (!text)
		return -1;
	struct error error;
	struct doc *doc = doc_parse_json(text, length, &error);
	free(text);
	if (!doc) {
		fprintf(stderr, "%s: %s\n", path, error.text);
		return -1;
	}
	const struct val *cases = val_get(doc_root(doc), "cases"), *item;
	if (val_kind(cases) != VAL_LIST)
		cases = doc_root(doc);
	for (struct val_iter it = val_iter(cases); val_next(&it, NULL, &item);) {
		struct run run = {.arena = arena_create(), .id = val_str(val_get(item, "id"), "?"), .strict = strict};
		if (val_kind(val_get(item, "given")) != VAL_MAP || val_kind(val_get(item, "expect")) != VAL_MAP)
			fail(&run, "case", "given and expect", show(&run, item));
		else
			check_case(&run, item);
		*(run.failed ? failed : passed) += 1;
		arena_destroy(run.arena);
	}
	doc_destroy(doc);
	return 0;
}

int main(int argc, char **argv)
{
	size_t passed = 0, failed = 0;
	bool strict = false;
	int status = 0;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--strict") == 0)
			strict = true;
		else if (run_file(argv[i], strict, &passed, &failed) < 0)
			status = 2;
	}
	printf("%zu passed, %zu failed\n", passed, failed);
	return failed || passed == 0 ? 1 : status;
}
