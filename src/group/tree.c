/* The subgroups of a group: valid and unique names, limits, which one the pod joins. */
#include "group/internal.h"

#include "base/grow.h"
#include "base/hash.h"

#include <ctype.h>
#include <string.h>

#define LONGEST_LABEL 63
#define HASH_DIGITS 8

static bool is_label(const char *name)
{
	size_t length = strlen(name);
	if (length == 0 || length > LONGEST_LABEL || name[0] == '-' || name[length - 1] == '-')
		return false;
	for (const char *at = name; *at; at++)
		if (!(*at >= 'a' && *at <= 'z') && !(*at >= '0' && *at <= '9') && *at != '-')
			return false;
	return true;
}

/* Subgroup names are DNS labels. Users write others (a Ray group gpu_workers): those are changed just enough, with a
 * hash so that two of them stay apart. */
static const char *make_label(struct grouping *grouping, const char *name, uint64_t salt)
{
	char text[LONGEST_LABEL + 1];
	size_t length = 0;
	for (const char *at = name; *at && length < LONGEST_LABEL - HASH_DIGITS - 1; at++) {
		char letter = (char)tolower((unsigned char)*at);
		bool good = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
		if (good || length > 0)
			text[length++] = good ? letter : '-';
	}
	while (length > 0 && text[length - 1] == '-')
		length--;
	text[length] = '\0';
	uint32_t hash = (uint32_t)hash_mix(XXH3_64bits(name, strlen(name)), salt);
	return arena_printf(grouping->arena, "%s%s%08x", text, length ? "-" : "", hash);
}

const char *tree_label(struct grouping *grouping, const char *name)
{
	return is_label(name) ? name : make_label(grouping, name, 0);
}

static const char *unique_name(struct grouping *grouping, const char *wanted)
{
	const char *name = tree_label(grouping, wanted);
	/* Salted by position: many equal names need one try each. */
	for (uint64_t salt = grouping->out->subgroup_count + 1; interner_find(grouping->names, name) != UINT32_MAX;
	     salt++)
		name = make_label(grouping, wanted, salt);
	interner_id(grouping->names, name);
	return name;
}

/* "worker-12": what segments are called. */
static bool looks_numbered(const char *name)
{
	size_t length = strlen(name);
	while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
		length--;
	return name[length] && length > 0 && name[length - 1] == '-';
}

static int add(struct grouping *grouping, const char *name, int parent, int64_t min_member)
{
	struct group_result *out = grouping->out;
	if (out->subgroup_count == grouping->subgroup_capacity)
		out->subgroups = grow_array(grouping->arena, out->subgroups, out->subgroup_count,
		                            &grouping->subgroup_capacity, sizeof(*out->subgroups));
	out->subgroups[out->subgroup_count] = (struct group_subgroup){
		.name = unique_name(grouping, name),
		.parent = parent,
		.min_member = min_member < 0 ? GROUP_UNSET : tree_pods(grouping, min_member, "spec"),
		.min_sub_group = GROUP_UNSET,
		.expected = GROUP_UNSET,
	};
	out->min_member = GROUP_UNSET;
	if (parent >= 0)
		out->subgroups[parent].min_member = GROUP_UNSET;
	return (int)out->subgroup_count++;
}

int tree_add(struct grouping *grouping, const char *name, int parent, int64_t min_member)
{
	grouping->ambiguous |= grouping->marks_only && looks_numbered(name);
	return add(grouping, name, parent, min_member);
}

int tree_add_numbered(struct grouping *grouping, const char *name, int64_t number, int parent, int64_t min_member)
{
	return add(grouping, arena_printf(grouping->arena, "%s-%lld", name, (long long)number), parent, min_member);
}

bool tree_has_room(struct grouping *grouping, int64_t count, const char *path)
{
	if (count <= GROUP_MAX_SUBGROUPS - (int64_t)grouping->out->subgroup_count - grouping->left_out)
		return true;
	group_warn(grouping, GROUP_ABOUT_TOO_LARGE, path, "use larger segments or fewer replicas per workload",
	           "%lld subgroups would be needed, the limit is %d; the pods are grouped without them",
	           (long long)count, GROUP_MAX_SUBGROUPS);
	return false;
}

int tree_pods(struct grouping *grouping, int64_t pods, const char *path)
{
	if (pods <= INT32_MAX)
		return (int)pods;
	group_warn(grouping, GROUP_ABOUT_TOO_LARGE, path, "lower the number of replicas",
	           "%lld pods are more than a PodGroup can ask for; %d is taken", (long long)pods, INT32_MAX);
	return INT32_MAX;
}

void tree_join(struct grouping *grouping, int subgroup)
{
	grouping->leaf = subgroup;
}

void tree_expect(struct grouping *grouping, int subgroup, int64_t pods)
{
	int expected = pods < INT32_MAX ? (int)pods : INT32_MAX;
	if (subgroup < 0)
		grouping->out->expected = expected;
	else
		grouping->out->subgroups[subgroup].expected = expected;
}

void tree_leaf_unknown(struct grouping *grouping, const char *label)
{
	const char *value = group_pod_label(grouping, label);
	const char *path = arena_printf(grouping->arena, "metadata.labels[%s]", label);
	if (value)
		group_warn_pod(grouping, GROUP_ABOUT_UNKNOWN_SUBGROUP, path,
		               "correct the label, or add that part to the workload",
		               "no part of %s %s is called \"%s\": the pod joins no subgroup and stays pending",
		               grouping->subject.id.kind, grouping->subject.id.name, value);
	else
		group_warn_pod(
			grouping, GROUP_ABOUT_POD_LABEL_MISSING, path,
			"set the label on the pod (the workload's own controller does that)",
			"the label that says which part of %s %s this is, is missing: the pod joins no subgroup and "
			"stays pending",
			grouping->subject.id.kind, grouping->subject.id.name);
}

/* Children before parents need no order here: sums go up level by level through the parent links, and a parent may ask
 * for only some of its children, so the cheapest ones are taken. */
struct cost {
	int parent;
	int64_t pods;
};

static int by_parent_then_pods(const void *a, const void *b)
{
	const struct cost *left = a, *right = b;
	if (left->parent != right->parent)
		return left->parent < right->parent ? -1 : 1;
	return (left->pods > right->pods) - (left->pods < right->pods);
}

static int64_t cheapest(struct cost *costs, size_t count, int wanted)
{
	int64_t pods = 0;
	for (size_t i = 0; i < count && (wanted == GROUP_UNSET || i < (size_t)wanted); i++)
		pods += costs[i].pods;
	return pods;
}

static int depth_of(const struct group_result *result, size_t index)
{
	int depth = 0;
	for (int at = (int)index; at >= 0; at = result->subgroups[at].parent)
		depth++;
	return depth;
}

int64_t group_minimum(const struct group_result *result)
{
	size_t count = result->subgroup_count;
	if (count == 0)
		return result->min_member;
	int64_t *pods = base_calloc(count, sizeof(*pods));
	struct cost *costs = base_calloc(count, sizeof(*costs));
	int deepest = 0;
	for (size_t i = 0; i < count; i++) {
		int depth = depth_of(result, i);
		deepest = depth > deepest ? depth : deepest;
		pods[i] = result->subgroups[i].min_member == GROUP_UNSET ? 0 : result->subgroups[i].min_member;
	}
	int64_t total = 0;
	for (int level = deepest; level > 0; level--) {
		size_t found = 0;
		for (size_t i = 0; i < count; i++)
			if (depth_of(result, i) == level)
				costs[found++] = (struct cost){result->subgroups[i].parent, pods[i]};
		qsort(costs, found, sizeof(*costs), by_parent_then_pods);
		for (size_t from = 0, to; from < found; from = to) {
			for (to = from; to < found && costs[to].parent == costs[from].parent; to++)
				;
			int parent = costs[from].parent;
			int wanted = parent < 0 ? result->min_sub_group : result->subgroups[parent].min_sub_group;
			int64_t sum = cheapest(costs + from, to - from, wanted);
			if (parent < 0)
				total = sum;
			else
				pods[parent] = sum;
		}
	}
	free(pods);
	free(costs);
	return total;
}
