/* PodGroup: reads the fields and runs the steps of a draft in order; answers questions about the finished tree. */
#include "admit/podgroup_draft.h"

#include "base/strings.h"
#include "kinds/names.h"

#include <stdlib.h>
#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

const char *draft_path(struct arena *arena, const struct draft *draft, int node)
{
	if (node == 0)
		return "spec";
	return arena_printf(arena,
	                    node <= draft->subgroups ? "spec.subGroups[%d]"
	                                             : "spec.topologyConstraints.subGroupSets[%d]",
	                    draft->nodes[node].written_at);
}

static void read_preemption(const struct decode *decode, const struct val *spec, struct podgroup *out)
{
	static const char *const names[] = {"preemptible", "non-preemptible", "semi-preemptible"};
	const char *text = decode_string(decode, spec_path, spec, "preemptibility");
	if (text) {
		int choice = decode_enum(decode, PATH_KEY(spec_path, "preemptibility"), text, names, 3);
		if (choice >= 0)
			out->preemptibility = (enum preemptibility)(PREEMPTIBLE + choice);
	}
	out->has_staleness_grace =
		decode_duration(decode, spec_path, spec, "stalenessGracePeriod", &out->staleness_grace_ns);
	out->has_preemption_delay =
		decode_duration(decode, spec_path, spec, "preemptionDelay", &out->preemption_delay_ns);
	if (out->has_preemption_delay && out->preemption_delay_ns < 0)
		decode_error(decode, PATH_KEY(spec_path, "preemptionDelay"), "write 0s or leave it out for no delay",
		             "the delay must not be negative");
}

static void read_fields(const struct decode *decode, const struct val *object, const struct val *spec,
                        struct podgroup *out)
{
	static const char *const names[] = {"minMember", "minSubGroup", "subGroups", "queue", "priorityClassName",
	                                    "preemptibility", "preemptionDelay", "stalenessGracePeriod",
	                                    "schedulingBackoff", "topologyConstraint", "topologyConstraints",
	                                    "markUnschedulable",
	                                    /* of earlier versions, where they had no effect either */
	                                    "parallelism", "completions", "backoffLimit"};
	decode_known(decode, spec_path, spec, names, sizeof(names) / sizeof(names[0]));
	struct metadata meta = decode_metadata(decode, object, true);
	out->namespace_ = meta.namespace_;
	out->name = meta.name;
	out->uid = meta.uid;
	out->creation_seconds = meta.creation_seconds;
	out->queue = decode_string(decode, spec_path, spec, "queue");
	out->priority_class = decode_string(decode, spec_path, spec, "priorityClassName");
	out->mark_unschedulable = decode_bool(decode, spec_path, spec, "markUnschedulable", true);
	int64_t backoff = -1;
	if (decode_int(decode, spec_path, spec, "schedulingBackoff", INT32_MIN, INT32_MAX, &backoff) && backoff != -1 &&
	    backoff != 1) {
		decode_warning(decode, PATH_KEY(spec_path, "schedulingBackoff"),
		               "write -1 (try for ever) or 1 (try once)",
		               "only -1 and 1 have a meaning; %d is read as -1", (int)backoff);
		backoff = -1;
	}
	out->scheduling_backoff = (int)backoff;
	read_preemption(decode, spec, out);
}

static struct draft_minimum read_minimum(const struct decode *decode, const struct decode_path *up,
                                         const struct val *map, const char *key)
{
	const struct val *val = val_get(map, key);
	struct draft_minimum minimum = {.present = val && val_kind(val) != VAL_NULL};
	int64_t value = 0;
	minimum.bad = minimum.present && !decode_int(decode, up, map, key, 0, INT32_MAX, &value);
	minimum.value = (int)value;
	return minimum;
}

static void read_node(struct draft *draft, const struct decode_path *path, const struct val *map, int node)
{
	struct draft_node *this = &draft->nodes[node];
	*this = (struct draft_node){.name = "", .parent = -1, .set = -1, .written_at = node - 1};
	this->min_member = read_minimum(&draft->decode, path, map, "minMember");
	this->min_subgroup = read_minimum(&draft->decode, path, map, "minSubGroup");
	this->constraint = draft_read_constraint(draft, PATH_KEY(path, "topologyConstraint"),
	                                         decode_map(&draft->decode, path, map, "topologyConstraint"));
}

static void read_subgroup(struct draft *draft, const struct decode_path *path, const struct val *map, int node)
{
	struct draft_node *this = &draft->nodes[node];
	if (!decode_is(&draft->decode, path, map, VAL_MAP)) {
		*this = (struct draft_node){.name = "", .parent = -1, .set = -1, .written_at = node - 1, .skip = true};
		return;
	}
	static const char *const names[] = {"name", "parent", "minMember", "minSubGroup", "topologyConstraint"};
	decode_known(&draft->decode, path, map, names, sizeof(names) / sizeof(names[0]));
	read_node(draft, path, map, node);
	size_t errors = draft->decode.problems->errors;
	const char *name = decode_string(&draft->decode, path, map, "name");
	/* A name or parent of the wrong type is reported once, as such. */
	this->name = name ? name : draft->decode.problems->errors > errors ? NULL : "";
	this->parent_name = decode_string(&draft->decode, path, map, "parent");
	if (!this->name) {
		this->name = "";
		this->skip = true;
	}
}

/* Room for the sets is made at once: nodes are pointed to while they are filled. */
static void read_subgroups(struct draft *draft)
{
	const struct val *list = decode_list(&draft->decode, spec_path, draft->spec, "subGroups");
	size_t sets = val_count(val_path(draft->spec, "topologyConstraints", "subGroupSets", NULL));
	draft->subgroups = (int)val_count(list);
	draft->count = draft->subgroups + 1;
	draft->nodes = arena_array(draft->decode.arena, struct draft_node, (size_t)draft->count + sets);
	read_node(draft, spec_path, draft->spec, 0);
	const struct val *item;
	const char *unused;
	int node = 1;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); node++)
		read_subgroup(draft, PATH_INDEX(PATH_KEY(spec_path, "subGroups"), (size_t)(node - 1)), item, node);
}

void draft_read(const struct val *object, struct draft *draft, struct podgroup *out)
{
	draft->spec = decode_spec(&draft->decode, object);
	*out = (struct podgroup){0};
	read_fields(&draft->decode, object, draft->spec, out);
	read_subgroups(draft);
	draft_link(draft);
	draft_constraints(draft);
	draft_arrange(draft);
	draft_minimums(draft);
	draft_inherit(draft);
}

static void read_annotations(const struct decode *decode, const struct val *object, struct podgroup *out)
{
	const struct decode_path *path = PATH_KEY(PATH_KEY(NULL, "metadata"), "annotations");
	const struct val *annotations = val_path(object, "metadata", "annotations", NULL);
	const char *mode = val_str(val_get(annotations, KINDS_DISRUPTION), NULL);
	const char *policy = val_str(val_get(annotations, KINDS_PREEMPTION), NULL);
	out->disruption = text_equal(mode, "all")      ? DISRUPT_WHOLE
	                  : text_equal(mode, "single") ? DISRUPT_SINGLE
	                                               : DISRUPT_USUAL;
	if (mode && out->disruption == DISRUPT_USUAL)
		decode_warning(decode, PATH_KEY(path, KINDS_DISRUPTION), "write all or single",
		               "%s is no disruption mode and is ignored", decode_show(decode->problems->arena, mode));
	const char *whole = val_str(val_get(annotations, KINDS_STARTS_WHOLE), NULL);
	out->starts_whole = text_equal(whole, "true");
	if (whole && !out->starts_whole && !text_equal(whole, "false"))
		decode_warning(decode, PATH_KEY(path, KINDS_STARTS_WHOLE), "write true or false", "%s is ignored",
		               decode_show(decode->problems->arena, whole));
	out->never_preempts = text_equal(policy, "Never");
	if (policy && !out->never_preempts)
		decode_warning(decode, PATH_KEY(path, KINDS_PREEMPTION), "write Never, or remove it", "%s is ignored",
		               decode_show(decode->problems->arena, policy));
}

void draft_finish(const struct draft *draft, const struct val *object, struct podgroup *out)
{
	draft_build_tree(draft, out);
	draft_read_expected(draft, object, out);
	read_annotations(&draft->decode, object, out);
}

int podgroup_decode(const struct val *object, struct arena *arena, struct podgroup *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct draft draft = {.decode = {.arena = arena, .problems = problems}};
	draft_read(object, &draft, out);
	if (problems->errors > errors)
		return -1;
	draft_finish(&draft, object, out);
	return 0;
}

int podgroup_leaf(const struct podgroup *group, const char *name)
{
	if (!name || !*name)
		return group->tree_count > 0 && group->tree[0].child_count == 0 ? 0 : -1;
	size_t low = 0, high = group->leaf_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(group->tree[group->leaves[middle]].name, name);
		if (order == 0)
			return group->leaves[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

static int compare_amounts(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

int64_t podgroup_minimum_pods(const struct podgroup *group, int node)
{
	const struct tree_node *tree = group->tree;
	if (node < 0 || (size_t)node >= group->tree_count)
		return 0;
	int end = node + 1;
	while ((size_t)end < group->tree_count && tree[end].parent >= node)
		end++;
	/* From the end of the subtree: when a parent is met, the amounts of its children lie on top of the stack. */
	int64_t *stack = base_calloc((size_t)(end - node), sizeof(*stack));
	size_t top = 0;
	for (int i = end - 1; i >= node; i--) {
		int64_t sum = tree[i].minimum;
		size_t children = (size_t)tree[i].child_count;
		if (children > 0) {
			top -= children;
			qsort(stack + top, children, sizeof(*stack), compare_amounts);
			sum = 0;
			for (size_t k = 0; k < children && k < (size_t)tree[i].minimum; k++)
				sum += stack[top + k];
		}
		stack[top++] = sum;
	}
	int64_t result = stack[0];
	free(stack);
	return result;
}
