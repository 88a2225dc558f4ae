/* How many pods the leaves of a PodGroup will have when all have come: what the workload declares, in an annotation, and
 * what segments say of each other. */
#include "admit/pod.h"
#include "admit/podgroup_draft.h"

#include "kinds/names.h"

#include <string.h>

static const struct decode_path *const annotations_path =
	&(const struct decode_path){.up = &(const struct decode_path){.key = "metadata"}, .key = "annotations"};

static bool read_number(const struct decode *decode, const struct val *val, int *out)
{
	int64_t number;
	if (val_int(val, &number) == 0 && number >= 0 && number <= INT32_MAX) {
		*out = (int)number;
		return true;
	}
	decode_warning(decode, PATH_KEY(annotations_path, KINDS_EXPECTED_PODS),
	               "write a number of pods from 0 to 2147483647", "it is ignored where it is no number of pods");
	return false;
}

static int find_node(const struct podgroup *group, const char *name)
{
	int leaf = podgroup_leaf(group, name);
	if (leaf >= 0)
		return leaf;
	for (size_t i = 0; i < group->tree_count; i++)
		if (group->tree[i].child_count > 0 && strcmp(group->tree[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void read_map(const struct decode *decode, const struct val *map, struct podgroup *out)
{
	const char *name;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &name, &item);) {
		int node = find_node(out, name), number;
		if (node < 0)
			decode_warning(decode, PATH_KEY(annotations_path, KINDS_EXPECTED_PODS),
			               "name subgroups of this PodGroup", "there is no subgroup %s", name);
		else if (read_number(decode, item, &number))
			out->tree[node].expected = number;
	}
	/* Parents stand before their children. */
	for (size_t i = 1; i < out->tree_count; i++)
		if (out->tree[i].child_count == 0 && out->tree[i].expected < 0)
			out->tree[i].expected = out->tree[out->tree[i].parent].expected;
}

static void read_annotation(const struct decode *decode, const struct val *object, struct podgroup *out)
{
	const char *text = val_str(val_path(object, "metadata", "annotations", KINDS_EXPECTED_PODS, NULL), NULL);
	struct error error;
	struct doc *doc = text ? doc_parse_json(text, strlen(text), &error) : NULL;
	const struct val *root = doc_root(doc);
	if (val_kind(root) == VAL_MAP)
		read_map(decode, root, out);
	else if (text)
		read_number(decode, root, &out->tree[0].expected);
	doc_destroy(doc);
}

/* What the pods to come are: read where they are placed, and looked at here for whoever writes it. */
static void check_coming(const struct decode *decode, const struct val *object)
{
	const char *text = val_str(val_path(object, "metadata", "annotations", KINDS_COMING_POD, NULL), NULL);
	struct problems ignored = {.arena = decode->arena};
	struct error error;
	struct pod_spec spec;
	struct doc *doc = text ? doc_parse_json(text, strlen(text), &error) : NULL;
	if (text && (!doc || pod_decode(doc_root(doc), decode->arena, &spec, &ignored) < 0))
		decode_warning(decode, PATH_KEY(annotations_path, KINDS_COMING_POD),
		               "write a pod as JSON, with a name and its containers",
		               "it is ignored where it is no pod");
	doc_destroy(doc);
}

/* "worker-12" below "worker": a segment. */
static bool is_segment(const struct podgroup *group, size_t node)
{
	const struct tree_node *tree = &group->tree[node];
	if (tree->parent < 0 || tree->child_count > 0)
		return false;
	const char *parent = group->tree[tree->parent].name;
	size_t length = strlen(parent);
	if (length == 0 || strncmp(tree->name, parent, length) != 0 || tree->name[length] != '-')
		return false;
	const char *number = tree->name + length + 1;
	return *number && strspn(number, "0123456789") == strlen(number);
}

/* Segments of a role are of one size. Those beyond its minimum need no pods, so that the others say how large they are. */
static void learn_from_siblings(struct podgroup *group, struct arena *arena)
{
	int *size = arena_array(arena, int, group->tree_count);
	for (size_t i = 1; i < group->tree_count; i++)
		if (is_segment(group, i) && group->tree[i].minimum > size[group->tree[i].parent])
			size[group->tree[i].parent] = group->tree[i].minimum;
	for (size_t i = 1; i < group->tree_count; i++)
		if (group->tree[i].expected < 0 && group->tree[i].minimum == 0 && is_segment(group, i))
			group->tree[i].expected = size[group->tree[i].parent];
}

void draft_read_expected(const struct draft *draft, const struct val *object, struct podgroup *out)
{
	for (size_t i = 0; i < out->tree_count; i++)
		out->tree[i].expected = -1;
	read_annotation(&draft->decode, object, out);
	check_coming(&draft->decode, object);
	learn_from_siblings(out, draft->decode.arena);
	for (size_t i = 0; i < out->tree_count; i++)
		if (out->tree[i].expected < 0 || out->tree[i].child_count > 0)
			out->tree[i].expected = 0;
}
