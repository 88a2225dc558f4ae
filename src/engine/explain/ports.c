/* Owns the words for host ports, which the cluster counts as resources of its own. */
#include "engine/explain/internal.h"
#include "engine/place/solver.h"

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

static bool asks_for(const struct shape *shape, int resource)
{
	for (int i = 0; i < shape->request_count; i++)
		if (shape->resource[i] == resource)
			return true;
	return false;
}

static const char *port_in_common(const struct solver *solver, struct arena *arena)
{
	const struct cluster *cluster = solver->cluster;
	for (int s = 1; s < solver->shape_count; s++) {
		const struct shape *shape = &cluster->shapes.items[solver->shapes[s].shape];
		for (int i = 0; i < shape->request_count; i++) {
			const char *port = explain_port_name(cluster->resources.items[shape->resource[i]].name, arena);
			for (int other = 0; other < s && port; other++)
				if (asks_for(&cluster->shapes.items[solver->shapes[other].shape], shape->resource[i]))
					return port;
		}
	}
	return NULL;
}

const char *explain_common_port(const struct solver *solver, struct arena *arena)
{
	const char *port = port_in_common(solver, arena);
	return port ? arena_printf(arena, ": several want %s", port) : "";
}
