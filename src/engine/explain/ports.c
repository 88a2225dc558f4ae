/* Owns the words for host ports, which the cluster counts as resources of its own. */
#include "engine/explain/internal.h"

#include <string.h>

const char *explain_port_name(const char *resource, struct arena *arena)
{
	static const char prefix[] = "hostPort/";
	if (strncmp(resource, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	const char *protocol = resource + sizeof(prefix) - 1, *slash = strchr(protocol, '/');
	return slash ? arena_printf(arena, "host port %s/%.*s", slash + 1, (int)(slash - protocol), protocol) : NULL;
}

const char *explain_port_shortage(const char *port, int64_t pods, int64_t free_nodes, const char *where,
                                  struct arena *arena)
{
	return arena_printf(arena, "%s is free on %lld usable node%s of %s, and %lld pod%s, one on a node", port,
	                    (long long)free_nodes, free_nodes == 1 ? "" : "s", where, (long long)pods,
	                    pods == 1 ? " needs it" : "s need it");
}
