/* Grouping from arbitrary bytes: the `given` half of a grouping case. Whatever parses is grouped, twice with the same
 * result; a group that comes out is a tree with valid names that admission takes; writing it again changes nothing. */
#include "fuzz.h"

#include "../group/given.h"

#include "admit/podgroup.h"
#include "base/strings.h"

#include <string.h>

static bool waits_for_member(const struct group_result *result)
{
	for (size_t i = 0; i < result->warning_count; i++)
		if (result->warnings[i].about == GROUP_ABOUT_MEMBER_MISSING)
			return true;
	return false;
}

static void check_tree(const struct group_result *result, struct arena *arena)
{
	bool *parent = arena_array(arena, bool, result->subgroup_count + 1);
	bool leaf_found = !result->leaf;
	fuzz_require(result->subgroup_count <= GROUP_MAX_SUBGROUPS);
	for (size_t i = 0; i < result->subgroup_count; i++) {
		int up = result->subgroups[i].parent;
		fuzz_require(up == GROUP_UNSET || (up >= 0 && (size_t)up < result->subgroup_count && up != (int)i));
		if (up >= 0)
			parent[up] = true;
	}
	for (size_t i = 0; i < result->subgroup_count; i++) {
		fuzz_require(parent[i] == (result->subgroups[i].min_member == GROUP_UNSET));
		leaf_found = leaf_found || (!parent[i] && strcmp(result->subgroups[i].name, result->leaf) == 0);
	}
	fuzz_require(leaf_found && group_minimum(result) >= 0);
	fuzz_require((result->segment == GROUP_UNSET) == (result->pod_env.count == 0));
}

/* Names of objects and classes are taken over as they are, so admission may refuse them; the tree it must take. */
static void check_admitted(const struct val *object, const struct group_result *result, struct arena *arena)
{
	struct problems problems = {.arena = arena};
	struct podgroup group;
	if (podgroup_decode(object, arena, &group, &problems) == 0)
		fuzz_require(podgroup_minimum_pods(&group, 0) == group_minimum(result));
	for (size_t i = 0; i < problems.count && !waits_for_member(result); i++)
		fuzz_require(problems.items[i].severity == SEVERITY_WARNING ||
		             !text_starts_with(problems.items[i].path, "spec.subGroups") ||
		             strstr(problems.items[i].path, "topologyConstraint"));
}

static void check_document(const struct group_result *result, const struct given *given, struct arena *arena)
{
	struct doc *doc = group_document(result, &given->options, NULL);
	struct doc *again = group_document(result, &given->options, doc_root(doc));
	fuzz_require(val_equal(doc_root(doc), doc_root(again)));
	check_admitted(doc_root(doc), result, arena);
	doc_destroy(again);
	doc_destroy(doc);
	doc_destroy(group_pod_patch(result, given->pod));
}

static void check_warnings(const struct group_result *result)
{
	fuzz_require(result->verdict != GROUP_REFUSED || result->warning_count > 0);
	fuzz_require(result->verdict != GROUP_NONE || *result->reason);
	for (size_t i = 0; i < result->warning_count; i++) {
		const struct group_warning *warning = &result->warnings[i];
		fuzz_require(*warning->object && warning->path && *warning->message && *warning->fix);
		fuzz_require(strcmp(group_about_name(warning->about), "unknown") != 0);
	}
}

static void check_given(const struct val *input)
{
	struct arena *arena = arena_create();
	struct given given;
	struct group_result result, other;
	given_read(input, arena, &given);
	group_build(given.pod, &given.owners, &given.source, &given.options, arena, &result);
	check_warnings(&result);
	if (result.verdict == GROUP_WANTED) {
		check_tree(&result, arena);
		check_document(&result, &given, arena);
	}
	group_build(given.pod, &given.owners, &given.source, &given.options, arena, &other);
	fuzz_require(other.verdict == result.verdict && other.warning_count == result.warning_count);
	fuzz_require(text_equal(other.name, result.name) && text_equal(other.leaf, result.leaf));
	group_pod(given.pod, &given.source, NULL, arena, &other);
	check_warnings(&other);
	arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doc *doc = doc_parse_json((const char *)data, size, NULL);
	if (!doc)
		return 0;
	const struct val *given = val_get(doc_root(doc), "given");
	check_given(given ? given : doc_root(doc));
	doc_destroy(doc);
	return 0;
}
