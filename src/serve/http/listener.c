/* Owns the HTTP server of a process whose main loop is elsewhere, and the paths others answer there. */
#include "serve/http/listener.h"

#include <stdlib.h>
#include <string.h>

struct listener {
	struct http_server *http;
	struct http_routes routes;
	const struct logger *logger;
	struct buffer url;
};

static void handle(void *context, struct http_request *request, struct http_response *response)
{
	struct listener *listener = context;
	const struct http_route *route = http_routes_find(&listener->routes, request->path);
	if (route) {
		route->handler(route->context, request, response);
		return;
	}
	struct buffer body = {0};
	buffer_puts(&body, "404 page not found\n");
	http_respond(response, 404, "text/plain; charset=utf-8", &body);
}

/* "" is every address: with IPv6 where the machine has it, which takes IPv4 too. */
static struct http_server *open_server(struct listener *listener, const struct listener_options *options, uint16_t port,
                                       struct error *error)
{
	struct http_options http = {
		.address = options->address,
		.port = port,
		.tls = options->tls,
		.limits = options->limits,
		.hooks = {.context = listener, .handle = handle},
		.clock = options->clock,
		.logger = options->logger,
	};
	bool every = options->address && !options->address[0];
	if (every)
		http.address = "::";
	struct http_server *server = http_server_create(&http, error);
	if (server || !every)
		return server;
	http.address = "0.0.0.0";
	return http_server_create(&http, error);
}

struct listener *listener_create(const struct listener_options *options, struct error *error)
{
	struct listener *listener = base_calloc(1, sizeof(*listener));
	listener->logger = options->logger;
	listener->http = open_server(listener, options, options->port, error);
	if (!listener->http && options->or_free)
		listener->http = open_server(listener, options, 0, error);
	if (!listener->http) {
		listener_destroy(listener);
		return NULL;
	}
	const char *address = options->address && options->address[0] ? options->address : "127.0.0.1";
	bool six = strchr(address, ':') != NULL;
	buffer_printf(&listener->url, "%s://%s%s%s:%u", options->tls ? "https" : "http", six ? "[" : "", address,
	              six ? "]" : "", (unsigned)http_server_port(listener->http));
	return listener;
}

void listener_destroy(struct listener *listener)
{
	if (!listener)
		return;
	http_server_destroy(listener->http);
	http_routes_free(&listener->routes);
	buffer_free(&listener->url);
	free(listener);
}

void listener_route(struct listener *listener, const char *path, serve_handler *handler, void *context)
{
	http_routes_add(&listener->routes, path, 0, handler, context);
}

int listener_fd(const struct listener *listener)
{
	return http_server_fd(listener->http);
}

int listener_wait_ms(const struct listener *listener)
{
	return http_server_wait_ms(listener->http);
}

void listener_step(struct listener *listener)
{
	struct error error = {0};
	/* The controllers go on without it: metrics are no reason to stop scheduling. */
	if (http_server_run_once(listener->http, 0, &error) < 0)
		log_write(listener->logger, LOG_ERROR, 0, "the HTTP server failed", "error", error.text, NULL);
}

void listener_drain(struct listener *listener)
{
	http_server_drain(listener->http);
}

const char *listener_url(const struct listener *listener)
{
	return listener->url.text;
}
