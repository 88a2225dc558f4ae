/* Minimums: what each level of a PodGroup needs, and the finished tree.
 *
 * A subGroupSet becomes an anonymous parent. What its named parent needs is kept exactly: if all children are needed,
 * the set needs all its members and is itself needed; if none is needed, so it is with the set; if one set holds all
 * children, it takes over the number. Anything else ("2 of 4 children, two of which are a set") cannot be said with
 * one number per parent and is refused. */
#include "admit/podgroup_draft.h"

#include <inttypes.h>
#include <stdlib.h>

static struct problems *problems_of(const struct draft *draft)
{
	return draft->decode.problems;
}

static const char *field_path(const struct draft *draft, int node, const char *field)
{
	struct arena *arena = problems_of(draft)->arena;
	return arena_printf(arena, "%s.%s", draft_path(arena, draft, node), field);
}

static bool minimum_set(const struct draft_minimum *minimum)
{
	return minimum->present && !minimum->bad;
}

static void check_both(struct draft *draft, int node)
{
	const struct draft_node *this = &draft->nodes[node];
	bool zero = minimum_set(&this->min_member) && this->min_member.value == 0;
	if (this->min_member.present && this->min_subgroup.present && !zero)
		problem_add(problems_of(draft), SEVERITY_ERROR, field_path(draft, node, "minMember"),
		            this->children ? "remove minMember: a parent counts subgroups"
		                           : "remove minSubGroup: a leaf counts pods",
		            "minMember and minSubGroup exclude each other");
}

static void leaf_minimum(struct draft *draft, int node)
{
	struct draft_node *this = &draft->nodes[node];
	this->minimum = this->min_member.value;
	if (!this->min_member.present) {
		if (node == 0)
			this->minimum = 1; /* a PodGroup of nothing but pods: at least one of them */
		else
			problem_add(problems_of(draft), SEVERITY_ERROR, field_path(draft, node, "minMember"),
			            "add minMember, the number of pods needed (0 makes all of them optional)",
			            "a subgroup without children needs minMember");
	}
	if (this->min_subgroup.present)
		problem_add(problems_of(draft), SEVERITY_ERROR, field_path(draft, node, "minSubGroup"),
		            node == 0 ? "add subGroups, or use minMember"
		                      : "use minMember, or name this subgroup as a parent",
		            "minSubGroup counts child subgroups, but there are none");
	this->leaf_sum = this->minimum;
}

/* minMember on a parent, which manifests in the wild carry in two senses. Returns how many children are needed. */
static int read_parent_min_member(struct draft *draft, int node)
{
	const struct draft_node *this = &draft->nodes[node];
	int value = this->min_member.value;
	enum problem_cause cause = node == 0 ? PROBLEM_INVALID : PROBLEM_PARENT_MINIMUM;
	const char *path = field_path(draft, node, "minMember");
	const char *fix = "remove minMember; use minSubGroup to ask for fewer than all children";
	if (value == 0 || value == this->leaf_sum) {
		problem_add_cause(problems_of(draft), SEVERITY_WARNING, cause, path, fix,
		                  value == 0 ? "minMember %d on a parent counts as unset: all %d children are needed"
		                             : "minMember %d on a parent is read as the pods of all its leaves: all %d "
		                               "children are needed",
		                  value, this->children);
		return this->children;
	}
	if (value <= this->children) {
		problem_add_cause(problems_of(draft), SEVERITY_WARNING, cause, path, "write minSubGroup instead",
		                  "minMember %d on a parent is read as minSubGroup %d of %d children", value, value,
		                  this->children);
		return value;
	}
	problem_add_cause(problems_of(draft), node == 0 ? SEVERITY_WARNING : SEVERITY_ERROR, cause, path, fix,
	                  "minMember %d on a parent is neither the number of pods its leaves need (%" PRId64
	                  ") nor at most its %d children%s",
	                  value, this->leaf_sum, this->children,
	                  node == 0 ? "; it is ignored and all children are needed" : "");
	return this->children;
}

static void parent_minimum(struct draft *draft, int node)
{
	struct draft_node *this = &draft->nodes[node];
	this->minimum = this->children;
	if (minimum_set(&this->min_subgroup)) {
		this->minimum = this->min_subgroup.value;
		if (this->minimum > this->children) {
			problem_add_cause(problems_of(draft), SEVERITY_ERROR, PROBLEM_FEW_CHILDREN,
			                  field_path(draft, node, "minSubGroup"),
			                  "lower minSubGroup, or add subgroups with this parent",
			                  "minSubGroup (%d) exceeds the number of direct child SubGroups (%d)",
			                  this->minimum, this->children);
			this->minimum = this->children;
		}
	} else if (minimum_set(&this->min_member) && !this->min_subgroup.present && this->reached) {
		/* below a cycle the sum of the leaves is not known, and the cycle is reported */
		this->minimum = read_parent_min_member(draft, node);
	}
}

/* Children come after their parent in preorder, so one pass from the end sums every subtree. */
static void sum_leaves(struct draft *draft)
{
	for (int i = draft->ordered - 1; i > 0; i--) {
		int node = draft->order[i], parent = draft->nodes[node].set;
		if (parent < 0)
			parent = draft->nodes[node].parent;
		if (parent >= 0)
			draft->nodes[parent].leaf_sum += draft->nodes[node].leaf_sum;
	}
}

/* Moves the resolved number of a named parent to the sets among its children. */
static void split_minimum(struct draft *draft, int set)
{
	struct draft_node *this = &draft->nodes[set], *parent = &draft->nodes[this->parent];
	this->minimum = this->children;
	if (parent->minimum == 0)
		this->minimum = 0;
	else if (parent->minimum == parent->children)
		return;
	else if (this->children == parent->children)
		this->minimum = parent->minimum;
	else
		problem_add(problems_of(draft), SEVERITY_ERROR, draft_path(problems_of(draft)->arena, draft, set),
		            "put the members of the set under a parent subgroup of their own, or require all children",
		            "the set holds %d of the %d children of a parent that needs only %d of them",
		            this->children, parent->children, parent->minimum);
}

static void count_sets(struct draft *draft)
{
	for (int set = draft->subgroups + 1; set < draft->count; set++)
		split_minimum(draft, set);
	/* Only now the parents change from counting named children to counting those of the tree. */
	for (int set = draft->subgroups + 1; set < draft->count; set++) {
		struct draft_node *parent = &draft->nodes[draft->nodes[set].parent];
		if (parent->minimum > 0)
			parent->minimum = draft->child_start[draft->nodes[set].parent + 1] -
			                  draft->child_start[draft->nodes[set].parent];
	}
}

void draft_minimums(struct draft *draft)
{
	for (int node = 0; node <= draft->subgroups; node++) {
		if (draft->nodes[node].skip)
			continue;
		check_both(draft, node);
		if (draft->nodes[node].children == 0 && (node > 0 || draft->subgroups == 0))
			leaf_minimum(draft, node);
	}
	sum_leaves(draft);
	for (int node = 0; node <= draft->subgroups; node++)
		if (!draft->nodes[node].skip &&
		    (draft->nodes[node].children > 0 || (node == 0 && draft->subgroups > 0)))
			parent_minimum(draft, node);
	count_sets(draft);
}

void podgroup_judge_as_kai(struct problems *problems, bool is_new)
{
	for (size_t i = 0; i < problems->count; i++) {
		struct problem *problem = &problems->items[i];
		if (problem->cause == PROBLEM_PARENT_MINIMUM)
			problem_weigh(problems, problem, is_new ? SEVERITY_ERROR : SEVERITY_WARNING);
		else if (problem->cause == PROBLEM_FEW_CHILDREN)
			problem_weigh(problems, problem, SEVERITY_WARNING);
	}
}

void draft_build_tree(const struct draft *draft, struct podgroup *out)
{
	struct arena *arena = draft->decode.arena;
	out->tree_count = (size_t)draft->ordered;
	out->tree = arena_array(arena, struct tree_node, out->tree_count);
	struct draft_name *leaves = arena_array(arena, struct draft_name, out->tree_count);
	int *place = arena_array(arena, int, (size_t)draft->count);
	for (int i = 0; i < draft->ordered; i++) {
		int node = draft->order[i];
		const struct draft_node *this = &draft->nodes[node];
		struct tree_node *tree = &out->tree[i];
		place[node] = i;
		tree->name = this->name;
		tree->parent = node == 0 ? -1 : place[this->set >= 0 ? this->set : this->parent];
		tree->child_count = draft->child_start[node + 1] - draft->child_start[node];
		tree->minimum = this->minimum;
		tree->path = draft_path(arena, draft, node);
		if (draft_has_levels(&this->constraint))
			tree->constraint = (struct constraint_spec){.topology = this->constraint.effective,
			                                            .required = this->constraint.required,
			                                            .preferred = this->constraint.preferred};
		if (tree->child_count == 0 && node > 0)
			leaves[out->leaf_count++] = (struct draft_name){this->name, i};
	}
	draft_sort_names(leaves, out->leaf_count);
	out->leaves = arena_array(arena, int, out->leaf_count);
	for (size_t i = 0; i < out->leaf_count; i++)
		out->leaves[i] = leaves[i].node;
}
