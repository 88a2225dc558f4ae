/* Owns where pods of a role go when they are made anew and the role asks for in-place scheduling: to the node they ran on, or to
 * those that its component ran on. An instance remembers the nodes of its pods in an annotation, so that whoever runs the
 * group next knows them as well. */
#include "rbg/render.h"

#include <string.h>

#define NODES_ANNOTATION RBG_LABEL "instance-nodes" /* {"<pod>": "<node>"} */
#define PREFERENCE 100

static const char *setting(const struct rbg_role *role, const char *name)
{
	return val_str(val_get(role->annotations, name), "");
}

bool rbg_keeps_places(const struct rbg_role *role)
{
	return *setting(role, RBG_LABEL "role-inplace-scheduling");
}

static struct doc *read_nodes(const struct store_object *instance)
{
	struct error error = {0};
	const char *text = val_str(val_path(instance->root, "metadata", "annotations", NODES_ANNOTATION, NULL), "");
	struct doc *doc = *text ? doc_parse_json(text, strlen(text), &error) : NULL;
	return doc;
}

/* ---- what is remembered ---- */

void rbg_note_places(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_instance *instance)
{
	const struct store_object *object = rbg_instance_object(turn, role, instance->ordinal);
	if (!object || !rbg_keeps_places(role->spec))
		return;
	struct doc *nodes = read_nodes(object);
	struct build *build = build_create();
	struct node *known = nodes ? build_copy(build, doc_root(nodes)) : build_map(build);
	bool differs = false;
	for (size_t i = 0; i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		const char *node = val_str(val_path(pod->object->root, "spec", "nodeName", NULL), "");
		const char *had = nodes ? val_str(val_get(doc_root(nodes), pod->object->name), "") : "";
		if (!pod->is_ready || pod->is_terminating || !*node || strcmp(node, had) == 0)
			continue;
		build_put_string(build, known, pod->object->name, node);
		differs = true;
	}
	if (differs) {
		struct buffer text = {0};
		build_write(build, known, DOC_JSON_COMPACT, &text);
		struct node *patch = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
		build_put_string(build, annotations, NODES_ANNOTATION, text.text);
		build_put(build, metadata, "annotations", annotations);
		build_put(build, patch, "metadata", metadata);
		rbg_patch(turn, object, build, patch);
		buffer_free(&text);
	}
	build_destroy(build);
	doc_destroy(nodes);
}

/* ---- what follows ---- */

static void add_value(struct arena *arena, struct tree *values, const char *node)
{
	struct tree *item;
	size_t at = 0, index = 0;
	for (; (item = tree_walk(arena, values, &at, NULL)); index++) {
		int order = strcmp(tree_str(item, ""), node);
		if (order == 0)
			return;
		if (order > 0)
			break;
	}
	tree_insert(arena, values, index, tree_string(arena, node));
}

/* Names of pods of a component begin alike. */
static void add_nodes(struct arena *arena, struct tree *values, const struct store_object *instance, const char *begin)
{
	const char *pod;
	const struct val *node;
	struct doc *nodes = read_nodes(instance);
	for (struct val_iter it = val_iter(nodes ? doc_root(nodes) : NULL); val_next(&it, &pod, &node);)
		if (strncmp(pod, begin, strlen(begin)) == 0)
			add_value(arena, values, val_str(node, ""));
	doc_destroy(nodes);
}

/* The node of the pod alone, or those of all pods of its component in the role. */
static struct tree *find_nodes(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_role *as,
                               int64_t ordinal, int64_t index, const char *name)
{
	struct tree *values = tree_list(turn->arena);
	bool is_shared = strcmp(setting(as, RBG_LABEL "role-inplace-scheduling-granularity"), "Component") == 0;
	if (!is_shared) {
		const struct store_object *object = rbg_instance_object(turn, role, ordinal);
		struct doc *nodes = object ? read_nodes(object) : NULL;
		const char *node = nodes ? val_str(val_get(doc_root(nodes), name), "") : "";
		if (*node)
			add_value(turn->arena, values, node);
		doc_destroy(nodes);
		return values;
	}
	size_t own = rbg_part_at(as, index);
	for (int64_t at = 0; at < role->object_span; at++) {
		const struct store_object *object = rbg_instance_object(turn, role, at);
		int64_t first = 0;
		for (size_t i = 0; i < own; i++)
			first += as->components[i].size;
		for (int64_t i = first; object && i < first + as->components[own].size; i++)
			add_nodes(turn->arena, values, object, rbg_pod_name(turn, as, at, i));
	}
	return values;
}

static struct tree *make_expression(struct arena *arena, const char *key, const char *operator, struct tree * values)
{
	struct tree *expression = tree_map(arena);
	tree_put_string(arena, expression, "key", key);
	tree_put_string(arena, expression, "operator", operator);
	if (values)
		tree_put(arena, expression, "values", values);
	return expression;
}

/* Every alternative gets it: beside them it would be one more. */
static void require(struct arena *arena, struct tree *affinity, const struct tree *expressions)
{
	struct tree *required = tree_need_map(arena, affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	struct tree *terms = rbg_need_list(arena, required, "nodeSelectorTerms"), *term, *one;
	if (tree_count(terms) == 0)
		tree_append(arena, terms, tree_map(arena));
	for (size_t at = 0; (term = tree_walk(arena, terms, &at, NULL));) {
		struct tree *list = rbg_need_list(arena, term, "matchExpressions"),
			    *copy = tree_copy(arena, expressions);
		for (size_t i = 0; (one = tree_walk(arena, copy, &i, NULL));)
			tree_append(arena, list, one);
	}
}

void rbg_put_place(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_role *as, int64_t ordinal,
                   int64_t index, const char *name, struct tree *spec)
{
	struct arena *arena = turn->arena;
	if (!rbg_keeps_places(as))
		return;
	struct tree *nodes = find_nodes(turn, role, as, ordinal, index, name), *must = tree_list(arena);
	struct tree *affinity = tree_need_map(arena, tree_need_map(arena, spec, "affinity"), "nodeAffinity");
	bool is_required = strcmp(setting(as, RBG_LABEL "role-inplace-scheduling"), "Required") == 0;
	struct tree *there = make_expression(arena, "kubernetes.io/hostname", "In", nodes);
	if (is_required && tree_count(nodes) > 0)
		tree_append(arena, must, there);
	char *rest = arena_strdup(arena, setting(as, RBG_LABEL "role-inplace-scheduling-avoid")), *key;
	while ((key = strsep(&rest, ",")))
		if (*(key += strspn(key, " ")))
			tree_append(arena, must, make_expression(arena, key, "DoesNotExist", NULL));
	if (tree_count(must) > 0)
		require(arena, affinity, must);
	if (is_required || tree_count(nodes) == 0)
		return;
	struct tree *wish = tree_map(arena), *term = tree_map(arena), *list = tree_list(arena);
	tree_append(arena, list, there);
	tree_put(arena, term, "matchExpressions", list);
	tree_put(arena, wish, "weight", tree_int(arena, PREFERENCE));
	tree_put(arena, wish, "preference", term);
	tree_append(arena, rbg_need_list(arena, affinity, "preferredDuringSchedulingIgnoredDuringExecution"), wish);
}
