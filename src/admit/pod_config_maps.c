/* Owns which ConfigMaps a pod needs to start: what its containers read into their environment, and what they mount. */
#include "admit/pod.h"
#include "admit/rules.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* Every namespace has it, written by the controller manager; all pods mount it with their token. */
#define EVERYWHERE "kube-root-ca.crt"

/* Names found so far. Those that KAI-Scheduler writes itself when it shares a GPU begin with `own`. */
struct names {
	struct arena *arena;
	const char **items;
	size_t count, capacity;
	const char *own; /* NULL: none */
};

static void add(struct names *names, const struct val *reference)
{
	const char *name = val_str(val_get(reference, "name"), "");
	if (val_bool(val_get(reference, "optional"), false) || !*name || strcmp(name, EVERYWHERE) == 0 ||
	    (names->own && text_starts_with(name, names->own)))
		return;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return;
	if (names->count == names->capacity)
		names->items =
			grow_array(names->arena, names->items, names->count, &names->capacity, sizeof(*names->items));
	names->items[names->count++] = name;
}

static void add_environment(struct names *names, const struct val *containers)
{
	const struct val *container, *item;
	for (struct val_iter it = val_iter(containers); val_next(&it, NULL, &container);) {
		for (struct val_iter env = val_iter(val_get(container, "env")); val_next(&env, NULL, &item);)
			add(names, val_path(item, "valueFrom", "configMapKeyRef", NULL));
		for (struct val_iter from = val_iter(val_get(container, "envFrom")); val_next(&from, NULL, &item);)
			add(names, val_get(item, "configMapRef"));
	}
}

static bool is_mounted_by(const struct val *containers, const char *volume)
{
	const struct val *container, *mount;
	for (struct val_iter it = val_iter(containers); val_next(&it, NULL, &container);)
		for (struct val_iter mounts = val_iter(val_get(container, "volumeMounts"));
		     val_next(&mounts, NULL, &mount);)
			if (strcmp(val_str(val_get(mount, "name"), ""), volume) == 0)
				return true;
	return false;
}

/* A volume that no container mounts is not set up by a kubelet. */
static void add_volumes(struct names *names, const struct val *spec)
{
	const struct val *volume, *source;
	for (struct val_iter it = val_iter(val_get(spec, "volumes")); val_next(&it, NULL, &volume);) {
		const char *name = val_str(val_get(volume, "name"), "");
		if ((!val_get(volume, "configMap") && !val_get(volume, "projected")) ||
		    (!is_mounted_by(val_get(spec, "containers"), name) &&
		     !is_mounted_by(val_get(spec, "initContainers"), name)))
			continue;
		add(names, val_get(volume, "configMap"));
		for (struct val_iter from = val_iter(val_path(volume, "projected", "sources", NULL));
		     val_next(&from, NULL, &source);)
			add(names, val_get(source, "configMap"));
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void rules_read_config_maps(const struct val *object, struct arena *arena, struct pod_spec *out)
{
	const struct val *spec = val_get(object, "spec");
	struct names names = {
		.arena = arena,
		.own = val_str(val_path(object, "metadata", "annotations", "runai/shared-gpu-configmap", NULL), NULL),
	};
	add_environment(&names, val_get(spec, "containers"));
	add_environment(&names, val_get(spec, "initContainers"));
	add_volumes(&names, spec);
	if (names.count > 1)
		qsort(names.items, names.count, sizeof(*names.items), compare);
	out->config_maps = names.items;
	out->config_map_count = names.count;
}
