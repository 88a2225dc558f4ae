/* Owns the grouping of a pod at the moment it is created: the only one at which its containers can be changed. */
#include "grouping/internal.h"

#include "object/build.h"

#include <string.h>

static struct node *copy_without(struct build *build, const struct val *map, const char *field_a, const char *field_b)
{
	struct node *copy = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		if (strcmp(key, field_a) != 0 && strcmp(key, field_b) != 0)
			build_put(build, copy, key, build_copy(build, item));
	return copy;
}

static bool has_env(const struct val *env, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(env); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return true;
	return false;
}

static struct node *container_with_env(struct build *build, const struct val *container, const struct labels *env)
{
	const struct val *old = val_get(container, "env"), *item;
	struct node *copy = copy_without(build, container, "env", ""), *list = build_list(build);
	for (struct val_iter it = val_iter(old); val_next(&it, NULL, &item);)
		build_append(build, list, build_copy(build, item));
	for (size_t i = 0; i < env->count; i++) {
		if (has_env(old, env->items[i].key))
			continue;
		struct node *one = build_map(build);
		build_put_string(build, one, "name", env->items[i].key);
		build_put_string(build, one, "value", env->items[i].value);
		build_append(build, list, one);
	}
	build_put(build, copy, "env", list);
	return copy;
}

static void put_containers(struct build *build, struct node *spec, const struct val *old, const char *field,
                           const struct labels *env)
{
	const struct val *list = val_get(old, field), *item;
	if (val_kind(list) != VAL_LIST)
		return;
	struct node *copies = build_list(build);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		build_append(build, copies,
		             val_kind(item) == VAL_MAP ? container_with_env(build, item, env)
		                                       : build_copy(build, item));
	build_put(build, spec, field, copies);
}

static void put_marks(struct build *build, struct node *metadata, const struct val *old, const char *field,
                      const struct labels *marks)
{
	struct node *map = val_kind(old) == VAL_MAP ? build_copy(build, old) : build_map(build);
	for (size_t i = 0; i < marks->count; i++)
		build_put_string(build, map, marks->items[i].key, marks->items[i].value);
	if (marks->count > 0)
		build_put(build, metadata, field, map);
	else if (old)
		build_put(build, metadata, field, build_copy(build, old));
}

static struct doc *mutate(const struct val *pod, const struct group_result *result)
{
	struct build *build = build_create();
	const struct val *old = val_get(pod, "metadata"), *old_spec = val_get(pod, "spec");
	struct node *root = copy_without(build, pod, "metadata", "spec");
	struct node *metadata = copy_without(build, old, "labels", "annotations");
	put_marks(build, metadata, val_get(old, "labels"), "labels", &result->pod_labels);
	put_marks(build, metadata, val_get(old, "annotations"), "annotations", &result->pod_annotations);
	struct node *spec = build_copy(build, old_spec);
	if (result->pod_env.count > 0) {
		put_containers(build, spec, old_spec, "initContainers", &result->pod_env);
		put_containers(build, spec, old_spec, "containers", &result->pod_env);
	}
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

void grouping_look(struct store *store, const struct settings *settings, const struct val *pod, bool whole,
                   struct arena *arena, struct group_result *out)
{
	struct grouping_source source;
	grouping_source_open(&source, store, arena, store_version(store));
	(whole ? group_pod : group_pod_marks)(pod, &source.source, &settings->group, arena, out);
	grouping_source_close(&source);
}

struct doc *grouping_admit(struct store *store, const struct settings *settings, const struct val *pod)
{
	if (!settings_owns_pod(settings, pod) || val_kind(val_get(pod, "spec")) != VAL_MAP)
		return NULL;
	struct arena *arena = arena_create();
	struct grouping_source source;
	struct group_result result;
	struct doc *doc = NULL;
	grouping_source_open(&source, store, arena, store_version(store));
	group_pod_marks(pod, &source.source, &settings->group, arena, &result);
	/* The name of a group that belongs to the pod itself is made of its uid, which it may not have yet: the
	 * controller marks those a moment later. */
	if (result.verdict == GROUP_WANTED && strcmp(result.owner.kind, "Pod") != 0)
		doc = mutate(pod, &result);
	grouping_source_close(&source);
	arena_destroy(arena);
	return doc;
}
