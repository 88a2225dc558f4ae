/* Owns the short words for levels, resources and taints. */
#include "engine/explain/internal.h"

#include <string.h>

const char *explain_level_word(const char *label)
{
	const char *slash = strrchr(label, '/');
	if (strcmp(label, HOSTNAME_LABEL) == 0)
		return "node";
	return slash && slash[1] ? slash + 1 : label;
}

const char *explain_resource_word(const char *resource)
{
	if (text_ends_with(resource, "/gpu"))
		return "GPUs";
	return strcmp(resource, "cpu") == 0 ? "CPU" : resource;
}

const char *explain_taint(const struct taint *taint, struct arena *arena)
{
	static const char *const effects[] = {[TAINT_NO_SCHEDULE] = "NoSchedule",
	                                      [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	                                      [TAINT_NO_EXECUTE] = "NoExecute"};
	bool value = taint->value && taint->value[0];
	return arena_printf(arena, "%s%s%s:%s", taint->key, value ? "=" : "", value ? taint->value : "",
	                    effects[taint->effect]);
}
