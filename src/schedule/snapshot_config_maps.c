/* Owns ConfigMaps that pods need: where the settings say so, a pod waits while one of them does not exist. */
#include "schedule/snapshot_build.h"

void build_config_maps(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_CONFIG_MAP];
	build->config_maps = interner_create();
	for (size_t i = 0; i < slice->count; i++)
		interner_id(build->config_maps, build_key(build, slice->items[i]->namespace_, slice->items[i]->name));
}

bool build_has_config_map(const void *context, const char *namespace_, const char *name)
{
	const struct snapshot_build *build = context;
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, name);
	bool found = interner_find(build->config_maps, key.text) != UINT32_MAX;
	buffer_free(&key);
	return found;
}

void build_config_maps_block(const struct snapshot_build *build, const struct pod_spec *pod, build_has_name *has,
                             const void *context, struct arena *arena, const struct pod_block **block)
{
	for (size_t i = 0; build->settings->config_maps && i < pod->config_map_count; i++)
		if (!has(context, build_namespace(pod->namespace_), pod->config_maps[i]))
			pod_block_add(block, arena, BLOCK_MISSING, "configmap \"%s\" not found", pod->config_maps[i]);
}
