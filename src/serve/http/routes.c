/* Owns finding who answers a path. */
#include "serve/http/routes.h"

#include <stdlib.h>
#include <string.h>

void http_routes_add(struct http_routes *routes, const char *path, unsigned access, serve_handler *handler,
                     void *context)
{
	vec_push(&routes->paths, (struct http_route){.path = base_strdup(path),
	                                             .handler = handler,
	                                             .context = context,
	                                             .access = access});
}

const struct http_route *http_routes_find(const struct http_routes *routes, const char *path)
{
	const struct http_route *found = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < routes->paths.count; i++) {
		const struct http_route *at = &routes->paths.items[i];
		size_t length = strlen(at->path);
		if (!text_starts_with(path, at->path) || length < longest)
			continue;
		if (path[length] == '/' || path[length] == '\0' || (length && at->path[length - 1] == '/')) {
			found = at;
			longest = length;
		}
	}
	return found;
}

void http_routes_free(struct http_routes *routes)
{
	for (size_t i = 0; i < routes->paths.count; i++)
		free(routes->paths.items[i].path);
	vec_free(&routes->paths);
}
