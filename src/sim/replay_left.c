/* Owns the minimums of gangs whose pods leave for good. */
#include "sim/replay_left.h"

#include <string.h>

void left_read(struct left_gang *left, const struct val *object, struct arena *arena)
{
	struct problems problems = {.arena = arena};
	if (podgroup_decode(object, arena, &left->group, &problems) == 0)
		left->pods = arena_array(arena, int64_t, left->group.tree_count);
}

int left_expect(struct left_gang *left, const char *subgroup)
{
	int leaf = left->pods ? podgroup_leaf(&left->group, subgroup) : -1;
	if (leaf >= 0)
		left->pods[leaf]++;
	return leaf;
}

void left_take(struct left_gang *left, int leaf)
{
	if (leaf >= 0 && --left->pods[leaf] < left->group.tree[leaf].minimum)
		left->lower = left->dirty = true;
}

static int64_t minimum_of(const struct left_gang *left, int leaf)
{
	int64_t minimum = left->group.tree[leaf].minimum;
	return left->pods[leaf] < minimum ? left->pods[leaf] : minimum;
}

/* A parent may count the pods below it, which would be too many now. How many children that asks for is known. */
static void put_children(const struct left_gang *left, int parent, const struct val *map, struct node *into,
                         struct build *build)
{
	const struct tree_node *node = &left->group.tree[parent];
	if (!val_get(map, "minMember"))
		return;
	build_put(build, into, "minMember", NULL);
	if (!val_get(map, "minSubGroup") && node->minimum < node->child_count)
		build_put_int(build, into, "minSubGroup", node->minimum);
}

static int parent_named(const struct podgroup *group, const char *name)
{
	for (size_t i = 1; i < group->tree_count; i++)
		if (group->tree[i].child_count > 0 && strcmp(group->tree[i].name, name) == 0)
			return (int)i;
	return -1;
}

struct node *left_spec(const struct left_gang *left, const struct val *spec, struct build *build)
{
	struct node *copy = build_copy(build, spec);
	if (left->group.tree_count == 1) {
		build_put_int(build, copy, "minMember", minimum_of(left, 0));
		return copy;
	}
	struct node *list = build_list(build);
	const struct val *item;
	const char *unused;
	for (struct val_iter it = val_iter(val_get(spec, "subGroups")); val_next(&it, &unused, &item);) {
		struct node *entry = build_copy(build, item);
		const char *name = val_str(val_get(item, "name"), "");
		int leaf = podgroup_leaf(&left->group, name), parent = leaf < 0 ? parent_named(&left->group, name) : -1;
		if (leaf >= 0)
			build_put_int(build, entry, "minMember", minimum_of(left, leaf));
		else if (parent >= 0)
			put_children(left, parent, item, entry, build);
		build_append(build, list, entry);
	}
	build_put(build, copy, "subGroups", list);
	put_children(left, 0, spec, copy, build);
	return copy;
}
