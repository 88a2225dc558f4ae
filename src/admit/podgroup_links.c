/* Names and parent links of subgroups: duplicates, missing parents, cycles, depth, and the order of the tree.
 * Everything is linear or n log n, and nothing recurses on input depth. */
#include "admit/podgroup_draft.h"

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CYCLE_NAMES_SHOWN 16
#define SPELLING_HINTS 8

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

#define SUBGROUP_PATH(node) PATH_INDEX(PATH_KEY(spec_path, "subGroups"), (size_t)((node)-1))

static int compare_names(const void *a, const void *b)
{
	const struct draft_name *left = a, *right = b;
	int order = strcmp(left->name, right->name);
	return order ? order : (left->node > right->node) - (left->node < right->node);
}

void draft_sort_names(struct draft_name *names, size_t count)
{
	if (count > 1)
		qsort(names, count, sizeof(*names), compare_names);
}

int draft_subgroup(const struct draft *draft, const char *name)
{
	size_t low = 0, high = draft->name_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(draft->names[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < draft->name_count && strcmp(draft->names[low].name, name) == 0 ? draft->names[low].node : -1;
}

static void check_name(struct draft *draft, int node)
{
	const char *name = draft->nodes[node].name;
	if (draft->nodes[node].skip)
		return;
	const struct decode_path *path = PATH_KEY(SUBGROUP_PATH(node), "name");
	const char *fix =
		"use lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 "
		"characters";
	if (!*name)
		decode_error(&draft->decode, path, fix, "a subgroup needs a name");
	else if (!name_is_label(name))
		decode_error(&draft->decode, path, fix, "%s is not a valid subgroup name",
		             decode_show(draft->decode.problems->arena, name));
}

static void index_names(struct draft *draft)
{
	draft->names = arena_array(draft->decode.arena, struct draft_name, (size_t)draft->subgroups);
	for (int node = 1; node <= draft->subgroups; node++)
		if (!draft->nodes[node].skip && *draft->nodes[node].name)
			draft->names[draft->name_count++] = (struct draft_name){draft->nodes[node].name, node};
	draft_sort_names(draft->names, draft->name_count);
}

static void find_duplicates(struct draft *draft)
{
	int *first = arena_array(draft->decode.arena, int, (size_t)draft->count);
	for (size_t i = 1; i < draft->name_count; i++) {
		const struct draft_name *before = &draft->names[i - 1], *here = &draft->names[i];
		if (strcmp(before->name, here->name) == 0)
			first[here->node] = first[before->node] ? first[before->node] : before->node;
	}
	/* In spec order, so that the report reads like the manifest. */
	for (int node = 1; node <= draft->subgroups; node++) {
		if (!first[node])
			continue;
		draft->nodes[node].skip = true;
		decode_error(&draft->decode, PATH_KEY(SUBGROUP_PATH(node), "name"), "give every subgroup its own name",
		             "duplicate subgroup name %s, first used in spec.subGroups[%d]",
		             decode_show(draft->decode.problems->arena, draft->nodes[node].name), first[node] - 1);
	}
}

static const char *spelling_hint(const struct draft *draft, const char *wanted, int *hints_left)
{
	if (*hints_left > 0) {
		--*hints_left;
		struct arena *arena = draft->decode.problems->arena;
		for (size_t i = 0; i < draft->name_count; i++)
			if (strcasecmp(draft->names[i].name, wanted) == 0)
				return arena_printf(arena, "write %s: names are case sensitive",
				                    decode_show(arena, draft->names[i].name));
	}
	return "name another entry of spec.subGroups, or leave parent out";
}

static void resolve_parents(struct draft *draft)
{
	int hints_left = SPELLING_HINTS;
	for (int node = 1; node <= draft->subgroups; node++) {
		struct draft_node *this = &draft->nodes[node];
		this->parent = 0;
		if (this->parent_name) {
			this->parent = draft_subgroup(draft, this->parent_name);
			if (this->parent < 0)
				decode_error(&draft->decode, PATH_KEY(SUBGROUP_PATH(node), "parent"),
				             spelling_hint(draft, this->parent_name, &hints_left),
				             "parent %s was not found",
				             decode_show(draft->decode.problems->arena, this->parent_name));
		}
		if (this->parent >= 0 && !this->skip)
			draft->nodes[this->parent].children++;
	}
}

static void report_cycle(struct draft *draft, int member)
{
	int first = member;
	for (int node = draft->nodes[member].parent; node != member; node = draft->nodes[node].parent)
		if (node < first)
			first = node;
	struct arena *arena = draft->decode.problems->arena;
	struct buffer text = {0};
	int length = 0;
	for (int node = first; node != first || length == 0; node = draft->nodes[node].parent) {
		if (length++ < CYCLE_NAMES_SHOWN)
			buffer_printf(&text, "%s -> ", decode_show(arena, draft->nodes[node].name));
	}
	if (length > CYCLE_NAMES_SHOWN)
		buffer_printf(&text, "(%d more) -> ", length - CYCLE_NAMES_SHOWN);
	const struct decode_path *path = PATH_KEY(SUBGROUP_PATH(first), "parent");
	const char *name = decode_show(arena, draft->nodes[first].name);
	if (length == 1)
		decode_error(&draft->decode, path, "name another subgroup, or leave parent out", "%s is its own parent",
		             name);
	else
		decode_error(&draft->decode, path, "remove one of these parent links",
		             "the parent links form a cycle: %s%s", text.text, name);
	buffer_free(&text);
}

/* Walks each chain of parents once; a chain that meets itself is a cycle. */
static void find_cycles(struct draft *draft)
{
	int *walk = arena_array(draft->decode.arena, int, (size_t)draft->count);
	for (int start = 1; start <= draft->subgroups; start++) {
		int node = start;
		while (node > 0 && walk[node] == 0) {
			walk[node] = start;
			node = draft->nodes[node].parent;
		}
		if (node > 0 && walk[node] == start)
			report_cycle(draft, node);
	}
}

void draft_link(struct draft *draft)
{
	for (int node = 1; node <= draft->subgroups; node++)
		check_name(draft, node);
	index_names(draft);
	find_duplicates(draft);
	resolve_parents(draft);
	find_cycles(draft);
}

/* The parent in the tree: a set stands between its members and their named parent. */
static int tree_parent(const struct draft *draft, int node)
{
	return draft->nodes[node].set >= 0 ? draft->nodes[node].set : draft->nodes[node].parent;
}

static void list_children(struct draft *draft)
{
	size_t count = (size_t)draft->count;
	int *start = draft->child_start = arena_array(draft->decode.arena, int, count + 1);
	int *list = draft->child_list = arena_array(draft->decode.arena, int, count);
	for (int node = 1; node < draft->count; node++)
		if (!draft->nodes[node].skip && tree_parent(draft, node) >= 0)
			start[tree_parent(draft, node) + 1]++;
	for (size_t i = 0; i < count; i++)
		start[i + 1] += start[i];
	int *fill = arena_array(draft->decode.arena, int, count);
	bool *listed = arena_array(draft->decode.arena, bool, count);
	for (int node = 1; node <= draft->subgroups; node++) {
		int set = draft->nodes[node].set;
		if (draft->nodes[node].skip || tree_parent(draft, node) < 0)
			continue;
		/* A set takes the place of its first member. */
		if (set >= 0 && !listed[set]) {
			int parent = draft->nodes[set].parent;
			list[start[parent] + fill[parent]++] = set;
			listed[set] = true;
		}
		int parent = tree_parent(draft, node);
		list[start[parent] + fill[parent]++] = node;
	}
}

void draft_arrange(struct draft *draft)
{
	list_children(draft);
	size_t count = (size_t)draft->count;
	int *stack = arena_array(draft->decode.arena, int, count);
	int *depth = arena_array(draft->decode.arena, int, count);
	draft->order = arena_array(draft->decode.arena, int, count);
	size_t top = 0;
	stack[top++] = 0;
	while (top > 0) {
		int node = stack[--top];
		draft->nodes[node].reached = true;
		draft->order[draft->ordered++] = node;
		if (depth[node] == PODGROUP_MAX_DEPTH && draft->child_start[node] < draft->child_start[node + 1]) {
			const char *path = draft_path(draft->decode.problems->arena, draft, node);
			problem_add(draft->decode.problems, SEVERITY_ERROR, path, "flatten the tree of subgroups",
			            "subgroups are nested deeper than %d levels below %s", PODGROUP_MAX_DEPTH,
			            decode_show(draft->decode.problems->arena, draft->nodes[node].name));
			continue;
		}
		for (int i = draft->child_start[node + 1] - 1; i >= draft->child_start[node]; i--) {
			depth[draft->child_list[i]] = depth[node] + 1;
			stack[top++] = draft->child_list[i];
		}
	}
}
