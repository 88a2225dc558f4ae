/* Owns what components of one instance say about each other, in annotations of the component or its template: which of them
 * start after which, and the addresses they are told. */
#include "rbg/render.h"

#include <string.h>

#define DEPENDS_ON "rolebasedgroup.workloads.x-k8s.io/component-depends-on"
#define DISCOVERY "rolebasedgroup.workloads.x-k8s.io/component-discovery"

/* The annotation as a document, NULL when there is none that can be read. */
static struct doc *read_annotation(const struct rbg_component *component, const char *name)
{
	struct error error = {0};
	const char *text = val_str(val_get(component->annotations, name), NULL);
	text = text ? text : val_str(val_path(component->template, "metadata", "annotations", name, NULL), NULL);
	return text ? doc_parse_json(text, strlen(text), &error) : NULL;
}

static size_t find_component(const struct rbg_role *role, const char *name)
{
	size_t i = 0;
	while (i < role->component_count && strcmp(role->components[i].name, name) != 0)
		i++;
	return i;
}

/* ---- order ---- */

/* before[a * count + b]: a starts after b. NULL when nothing is said, or what is said goes round in circles: then all start at
 * once. */
static const bool *read_order(struct rbg_turn *turn, const struct rbg_role *role)
{
	size_t count = role->component_count;
	bool *after = NULL, changed = true;
	for (size_t i = 0; i < count && role->components[0].name[0]; i++) {
		struct doc *doc = read_annotation(&role->components[i], DEPENDS_ON);
		const struct val *item;
		for (struct val_iter it = val_iter(doc ? val_get(doc_root(doc), "startAfter") : NULL);
		     val_next(&it, NULL, &item);) {
			size_t other = find_component(role, val_str(item, ""));
			after = after ? after : arena_array(turn->arena, bool, count *count);
			if (other < count)
				after[i * count + other] = true;
		}
		doc_destroy(doc);
	}
	if (!after)
		return NULL;
	/* Taken away from the front while some start after nobody. */
	bool *gone = arena_array(turn->arena, bool, count);
	for (size_t left = count; changed && left > 0;) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			bool is_free = !gone[i];
			for (size_t k = 0; k < count && is_free; k++)
				is_free = !after[i * count + k] || gone[k];
			gone[i] |= is_free;
			left -= is_free;
			changed |= is_free;
		}
	}
	return changed ? after : NULL;
}

int64_t rbg_first_pods(struct rbg_turn *turn, const struct rbg_role *role)
{
	const bool *after = read_order(turn, role);
	int64_t pods = role->pods;
	for (size_t i = 0; after && i < role->component_count; i++) {
		bool waits = false;
		for (size_t k = 0; k < role->component_count; k++)
			waits |= after[i * role->component_count + k];
		pods -= waits ? role->components[i].size : 0;
	}
	return pods;
}

bool *rbg_find_held(struct rbg_turn *turn, const struct rbg_role *role, const struct rbg_instance *instance)
{
	const bool *after = read_order(turn, role);
	size_t count = role->component_count;
	if (!after)
		return NULL;
	int64_t *ready = arena_array(turn->arena, int64_t, count);
	bool *held = arena_array(turn->arena, bool, count);
	for (size_t i = 0; instance && i < instance->pod_count; i++)
		if (instance->pods[i].is_ready && !instance->pods[i].is_terminating &&
		    instance->pods[i].index < role->pods)
			ready[rbg_part_at(role, instance->pods[i].index)]++;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			held[i] |= after[i * count + k] && ready[k] < role->components[k].size;
	return held;
}

/* ---- addresses ---- */

static void set_variable(struct arena *arena, struct tree *spec, const char *list, const char *name, const char *value)
{
	struct tree *container, *item;
	for (size_t at = 0; (container = tree_walk(arena, tree_get(arena, spec, list), &at, NULL));) {
		struct tree *env = rbg_need_list(arena, container, "env"), *own = NULL;
		for (size_t i = 0; !own && (item = tree_walk(arena, env, &i, NULL));)
			if (strcmp(tree_str(tree_get(arena, item, "name"), ""), name) == 0)
				own = item;
		if (!own) {
			own = tree_map(arena);
			tree_put_string(arena, own, "name", name);
			tree_append(arena, env, own);
		}
		tree_remove(arena, own, "valueFrom");
		tree_put_string(arena, own, "value", value);
	}
}

void rbg_put_siblings(struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal, size_t part,
                      struct tree *metadata, struct tree *spec)
{
	struct arena *arena = turn->arena;
	struct doc *doc = read_annotation(&role->components[part], DISCOVERY);
	const struct val *reference;
	if (!doc)
		return;
	for (struct val_iter it = val_iter(val_get(doc_root(doc), "addressRefs")); val_next(&it, NULL, &reference);) {
		const char *component = val_str(val_get(reference, "component"), "");
		const char *env = val_str(val_get(reference, "env"), ""), *service = NULL;
		size_t other = find_component(role, component);
		int64_t index = 0;
		val_int(val_get(reference, "index"), &index);
		if (other < role->component_count)
			service = rbg_part_service(turn, role, other);
		if (!service || !*env)
			continue; /* refused at admission */
		const char *address = arena_printf(arena, "%s-%s-%lld.%s.%s.svc.cluster.local",
		                                   rbg_instance_name(turn, role, ordinal), component, (long long)index,
		                                   service, turn->object->namespace_);
		set_variable(arena, spec, "containers", env, address);
		set_variable(arena, spec, "initContainers", env, address);
	}
	doc_destroy(doc);
	/* It was for us: pods have no use for it. */
	tree_remove(arena, tree_need_map(arena, metadata, "annotations"), DISCOVERY);
}
