/* Owns which pods of the live state need a ConfigMap: they are read again when it comes or goes. What it says concerns nobody. */
#include "schedule/live_internal.h"

#include <assert.h>
#include <stdlib.h>

/* Pods that need one ConfigMap, whether it exists or not. */
struct live_config_map {
	UT_hash_handle hh;
	char *key; /* "namespace/name" */
	VEC(struct live_object *) pods;
};

static struct live_config_map *find(const struct live *live, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	struct live_config_map *map;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, live->config_maps, key.text, key.length, map);
	buffer_free(&key);
	return map;
}

static struct live_config_map *need(struct live *live, const char *namespace_, const char *name)
{
	struct live_config_map *map = find(live, namespace_, name);
	if (map)
		return map;
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, name);
	map = base_calloc(1, sizeof(*map));
	map->key = base_strdup(key.text);
	HASH_ADD_KEYPTR(hh, live->config_maps, map->key, key.length, map);
	buffer_free(&key);
	return map;
}

void live_config_maps_join(struct live *live, struct live_object *pod, const struct pod_spec *spec)
{
	if (!live->options.settings->config_maps || spec->config_map_count == 0)
		return;
	pod->config_maps = base_calloc(spec->config_map_count, sizeof(struct live_config_map *));
	for (size_t i = 0; i < spec->config_map_count; i++) {
		struct live_config_map *map = need(live, pod->namespace_, spec->config_maps[i]);
		pod->config_maps[pod->config_map_count++] = map;
		vec_push(&map->pods, pod);
	}
}

void live_config_maps_leave(struct live *live, struct live_object *pod)
{
	for (size_t i = 0; i < pod->config_map_count; i++) {
		struct live_config_map *map = pod->config_maps[i];
		for (size_t p = map->pods.count; p-- > 0;)
			if (map->pods.items[p] == pod) {
				map->pods.items[p] = map->pods.items[--map->pods.count];
				break;
			}
		if (map->pods.count > 0)
			continue;
		assert(live->config_maps); /* the map is one of them */
		HASH_DEL(live->config_maps, map);
		vec_free(&map->pods);
		free(map->key);
		free(map);
	}
	free(pod->config_maps);
	pod->config_maps = NULL;
	pod->config_map_count = 0;
}

void live_config_maps_clear(struct live *live)
{
	struct live_object *pod, *next;
	HASH_ITER(hh, live->objects[KIND_POD], pod, next)
		live_config_maps_leave(live, pod);
}

void live_config_map_changed(struct live *live, const char *namespace_, const char *name)
{
	const struct live_config_map *map = live->stale ? NULL : find(live, namespace_, name);
	VEC(struct live_object *) pods = {0};
	for (size_t i = 0; map && i < map->pods.count; i++)
		vec_push(&pods, map->pods.items[i]);
	for (size_t i = 0; i < pods.count; i++) /* reading a pod moves it in the list */
		live_pod_update(live, pods.items[i]);
	vec_free(&pods);
}

bool live_has_config_map(const void *context, const char *namespace_, const char *name)
{
	return live_find(context, KIND_CONFIG_MAP, namespace_, name);
}
