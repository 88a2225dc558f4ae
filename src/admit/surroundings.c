/* Owns judging pods by the nodes, claims and groups that were given with them. */
#include "admit/surroundings.h"

#include "admit/decode.h"
#include "admit/pod.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "kinds/kinds.h"

#include <stdlib.h>
#include <string.h>

struct surroundings {
	struct arena *arena;
	size_t node_count;
	struct interner *labels;    /* keys that some node has */
	struct interner *values;    /* "key=value" */
	struct interner *resources; /* names; the id is the place in `largest` */
	int64_t *largest;           /* that one node has of the resource */
	size_t capacity;
	struct interner *objects; /* "PodGroup/namespace/name", "PersistentVolumeClaim/namespace/name" */
};

static void add_node(struct surroundings *around, const struct val *object)
{
	struct node_spec node;
	struct problems ignored = {.arena = around->arena};
	if (node_decode(object, around->arena, &node, &ignored) < 0)
		return;
	around->node_count++;
	for (size_t i = 0; i < node.labels.count; i++) {
		interner_id(around->labels, node.labels.items[i].key);
		interner_id(around->values,
		            arena_printf(around->arena, "%s=%s", node.labels.items[i].key, node.labels.items[i].value));
	}
	for (size_t i = 0; i < node.allocatable_count; i++) {
		uint32_t id = interner_id(around->resources, node.allocatable[i].name);
		if (id >= around->capacity) {
			size_t more = around->capacity ? 2 * around->capacity : 16;
			int64_t *grown = arena_array(around->arena, int64_t, more);
			if (around->capacity)
				memcpy(grown, around->largest, around->capacity * sizeof(*grown));
			around->largest = grown;
			around->capacity = more;
		}
		if (node.allocatable[i].amount > around->largest[id])
			around->largest[id] = node.allocatable[i].amount;
	}
}

static const char *key_of(struct arena *arena, const char *kind, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s/%s", kind, *namespace_ ? namespace_ : "default", name);
}

struct surroundings *surroundings_create(const struct manifests *all)
{
	struct surroundings *around = base_calloc(1, sizeof(*around));
	around->arena = arena_create();
	around->labels = interner_create();
	around->values = interner_create();
	around->resources = interner_create();
	around->objects = interner_create();
	for (size_t i = 0; i < all->count; i++) {
		const struct manifest *object = &all->items[i];
		const struct kind_row *row = kinds_find(object->api_version, object->kind);
		enum kind_id kind = row ? row->id : KIND_OTHER;
		if (kind == KIND_NODE)
			add_node(around, object->object);
		if (kind == KIND_POD_GROUP || kind == KIND_CLAIM)
			interner_id(around->objects,
			            key_of(around->arena, row->kind, object->namespace_, object->name));
	}
	return around;
}

void surroundings_destroy(struct surroundings *around)
{
	if (!around)
		return;
	interner_destroy(around->labels);
	interner_destroy(around->values);
	interner_destroy(around->resources);
	interner_destroy(around->objects);
	arena_destroy(around->arena);
	free(around);
}

/* The nearest of all texts that begin with `prefix`, without it; NULL when none is near. */
static const char *nearest(const struct interner *texts, const char *prefix, const char *word)
{
	struct nearest_name near = {.word = word};
	for (uint32_t i = 0; i < interner_count(texts); i++) {
		const char *text = interner_text(texts, i);
		if (text_starts_with(text, prefix) && !text_equal(text + strlen(prefix), word))
			text_consider(&near, text + strlen(prefix));
	}
	return near.name;
}

static const char *fix(struct arena *arena, const char *near, const char *otherwise)
{
	return near ? arena_printf(arena, "did you mean %s?", near) : otherwise;
}

static void judge_selector(const struct surroundings *around, const struct val *spec, struct problems *problems)
{
	struct arena *arena = problems->arena;
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(spec, "nodeSelector")); val_next(&it, &key, &item);) {
		const char *value = val_str(item, ""), *path = arena_printf(arena, "spec.nodeSelector[%s]", key);
		const char *prefix = arena_printf(arena, "%s=", key);
		if (interner_find(around->labels, key) == UINT32_MAX)
			problem_add(problems, SEVERITY_WARNING, path,
			            fix(arena, nearest(around->labels, "", key), "label a node, or remove it"),
			            "no node has the label %s", key);
		else if (interner_find(around->values, arena_printf(arena, "%s%s", prefix, value)) == UINT32_MAX)
			problem_add(problems, SEVERITY_WARNING, path,
			            fix(arena, nearest(around->values, prefix, value), "label a node, or remove it"),
			            "no node has %s%s", prefix, value);
	}
}

/* "nvidia.com/gpu" for "amd.com/gpu": the same thing of another maker is nearer than any other word. */
static const char *nearest_resource(const struct surroundings *around, const char *name)
{
	const char *slash = strchr(name, '/');
	for (uint32_t i = 0; slash && i < interner_count(around->resources); i++)
		if (text_ends_with(interner_text(around->resources, i), slash))
			return interner_text(around->resources, i);
	return nearest(around->resources, "", name);
}

static void judge_requests(const struct surroundings *around, const struct val *pod, struct problems *problems)
{
	struct pod_spec spec;
	struct arena *arena = problems->arena;
	struct problems ignored = {.arena = arena};
	if (pod_decode(pod, arena, &spec, &ignored) < 0)
		return;
	for (size_t i = 0; i < spec.request_count; i++) {
		const struct resource_amount *request = &spec.requests[i];
		uint32_t id = interner_find(around->resources, request->name);
		if (request->amount <= 0 || (id != UINT32_MAX && request->amount <= around->largest[id]))
			continue;
		if (id == UINT32_MAX)
			problem_add(problems, SEVERITY_WARNING, "spec.containers",
			            fix(arena, nearest_resource(around, request->name), "add a node that has it"),
			            "no node has %s", request->name);
		else
			problem_add(problems, SEVERITY_WARNING, "spec.containers", "ask for less, or add a larger node",
			            "no node has %s of %s: the largest has %s",
			            quantity_print(arena, request->name, request->amount), request->name,
			            quantity_print(arena, request->name, around->largest[id]));
	}
}

static void judge_name(const struct surroundings *around, const char *kind, const char *namespace_, const char *name,
                       const char *path, struct problems *problems)
{
	struct arena *arena = problems->arena;
	const char *prefix = key_of(arena, kind, namespace_, "");
	if (interner_find(around->objects, arena_printf(arena, "%s%s", prefix, name)) != UINT32_MAX)
		return;
	problem_add(problems, SEVERITY_WARNING, path, fix(arena, nearest(around->objects, prefix, name), "create it"),
	            "%s %s does not exist; the pod waits until it does", kind, decode_show(arena, name));
}

void surroundings_judge(const struct surroundings *around, const struct val *pod, struct problems *problems)
{
	const struct val *spec = val_get(pod, "spec"), *item;
	const char *namespace_ = val_str(val_path(pod, "metadata", "namespace", NULL), "");
	const char *group = val_str(val_path(pod, "metadata", "annotations", "pod-group-name", NULL), "");
	if (around->node_count == 0 || *val_str(val_get(spec, "nodeName"), ""))
		return;
	judge_selector(around, spec, problems);
	judge_requests(around, pod, problems);
	for (struct val_iter it = val_iter(val_get(spec, "volumes")); val_next(&it, NULL, &item);) {
		const char *claim = val_str(val_path(item, "persistentVolumeClaim", "claimName", NULL), "");
		if (*claim)
			judge_name(around, "PersistentVolumeClaim", namespace_, claim,
			           arena_printf(problems->arena, "spec.volumes[%s].persistentVolumeClaim.claimName",
			                        val_str(val_get(item, "name"), "")),
			           problems);
	}
	if (*group && val_count(val_path(pod, "metadata", "ownerReferences", NULL)) == 0)
		judge_name(around, "PodGroup", namespace_, group, "metadata.annotations[pod-group-name]", problems);
}
