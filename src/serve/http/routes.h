/* A table of paths and who answers them. "/metrics" is also "/metrics/x", not "/metricsx"; the longest path wins, and
 * "/" takes what nobody else has. */
#ifndef SERVE_HTTP_ROUTES_H
#define SERVE_HTTP_ROUTES_H

#include "base/vec.h"
#include "serve/http/http.h"

typedef void serve_handler(void *context, struct http_request *request, struct http_response *response);

struct http_route {
	char *path;
	serve_handler *handler;
	void *context;
	unsigned access; /* what the server makes of it; see serve.h */
};

struct http_routes {
	VEC(struct http_route) paths;
};

/* `path` is copied. */
void http_routes_add(struct http_routes *routes, const char *path, unsigned access, serve_handler *handler,
                     void *context);
/* NULL when nobody answers the path. */
const struct http_route *http_routes_find(const struct http_routes *routes, const char *path);
void http_routes_free(struct http_routes *routes);

#endif
