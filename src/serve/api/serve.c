/* Putting it together: certificates, tokens, the HTTP server and the store. */
#include "serve/api/internal.h"

#include "serve/api/kubeconfig.h"
#include "serve/tls/secret_file.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define GARBAGE_PER_TURN 200

static bool commit(void *context)
{
	struct serve *serve = context;
	struct error error = {0};
	bool good = true;
	bool more = store_collect_garbage(serve->store, GARBAGE_PER_TURN);
	if (store_pending(serve->store) && store_commit(serve->store, &error)) {
		log_write(serve->options.logger, LOG_ERROR, 0, "changes could not be stored", "error", error.text,
		          NULL);
		good = false;
	}
	api_watch_pump(serve);
	serve->chores_left = more;
	return good;
}

/* Errors that the HTTP server answers itself look like those of the API. */
static void problem(void *context, int status, const char *message, struct buffer *body, const char **content_type)
{
	const char *reason = "BadRequest";
	if (status == 413)
		reason = "RequestEntityTooLarge";
	else if (status == 429)
		reason = "TooManyRequests";
	else if (status == 408)
		reason = "Timeout";
	else if (status >= 500)
		reason = "InternalError";
	struct store_error error = {.code = status,
	                            .reason = reason,
	                            .message = message,
	                            .name = "",
	                            .group = "",
	                            .kind = "",
	                            .uid = "",
	                            .continue_ = ""};
	store_error_write(&error, body);
	buffer_puts(body, "\n");
	*content_type = "application/json";
}

static int open_pki(struct serve *serve, const char *directory, struct error *error)
{
	const struct serve_options *options = &serve->options;
	if (!directory)
		return options->plain ? 0 : error_set(error, ERROR_USAGE, "TLS needs a directory for its certificates");
	if (secret_directory(directory, error) || pki_token(directory, "token", &serve->auth.token, error) ||
	    pki_token(directory, "read-only-token", &serve->auth.read_token, error))
		return -1;
	if (options->plain)
		return 0;
	serve->pki = pki_open(directory, options->address, clock_seconds(serve->clock), error);
	return serve->pki ? 0 : -1;
}

static bool is_loopback(const char *address)
{
	return !address || text_starts_with(address, "127.") || strcmp(address, "::1") == 0;
}

static int open_http(struct serve *serve, struct error *error)
{
	const struct serve_options *options = &serve->options;
	if ((options->plain || options->open) && !is_loopback(options->address))
		return error_set(error, ERROR_USAGE,
		                 "without TLS or tokens the server only listens on a loopback address, not on %s",
		                 options->address);
	struct http_options http = {
		.address = options->address,
		.port = options->port,
		.tls = serve->pki ? pki_tls(serve->pki) : NULL,
		.plain_too = serve->pki && is_loopback(options->address),
		.limits = options->limits,
		.hooks = {.context = serve,
	                  .head = api_head,
	                  .handle = api_handle,
	                  .commit = commit,
	                  .problem = problem},
		.clock = serve->clock,
		.logger = options->logger,
	};
	serve->http = http_server_create(&http, error);
	if (!serve->http)
		return -1;
	const char *address = options->address ? options->address : "127.0.0.1";
	if (strcmp(address, "0.0.0.0") == 0)
		address = "127.0.0.1";
	else if (strcmp(address, "::") == 0)
		address = "::1";
	bool six = strchr(address, ':') != NULL;
	buffer_printf(&serve->url, "%s://%s%s%s:%u", serve->pki ? "https" : "http", six ? "[" : "", address,
	              six ? "]" : "", (unsigned)http_server_port(serve->http));
	bool without = http.plain_too || !serve->pki;
	buffer_printf(&serve->browser_url, "%s%s", without ? "http" : "https", strchr(serve->url.text, ':'));
	return 0;
}

static int write_kubeconfig(struct serve *serve, const char *directory, struct error *error)
{
	if (!directory && !serve->options.kubeconfig)
		return 0;
	struct kubeconfig config = {.server = serve->url.text, .token = serve->auth.token.text};
	if (serve->pki) {
		config.authority = pki_authority(serve->pki);
		config.client_certificate = pki_client_certificate(serve->pki);
		config.client_key = pki_client_key(serve->pki);
	}
	if (serve->options.kubeconfig)
		buffer_puts(&serve->kubeconfig, serve->options.kubeconfig);
	else
		buffer_printf(&serve->kubeconfig, "%s/kubeconfig", directory);
	return kubeconfig_write(serve->kubeconfig.text, &config, error);
}

struct serve *serve_create(const struct serve_options *options, struct error *error)
{
	struct serve *serve = base_calloc(1, sizeof(*serve));
	serve->options = *options;
	serve->store = options->store;
	serve->clock = options->clock ? options->clock : clock_system();
	serve->auth.open = options->open;
	serve->scratch = arena_create();
	if (open_pki(serve, options->directory, error) == 0 && open_http(serve, error) == 0 &&
	    write_kubeconfig(serve, options->directory, error) == 0)
		return serve;
	serve_destroy(serve);
	return NULL;
}

void serve_destroy(struct serve *serve)
{
	if (!serve)
		return;
	http_server_destroy(serve->http);
	api_watch_end(serve);
	pki_close(serve->pki);
	auth_free(&serve->auth);
	buffer_free(&serve->url);
	buffer_free(&serve->browser_url);
	buffer_free(&serve->kubeconfig);
	http_routes_free(&serve->routes);
	arena_destroy(serve->scratch);
	free(serve);
}

void serve_route_with(struct serve *serve, const char *path, unsigned access, serve_handler *handler, void *context)
{
	http_routes_add(&serve->routes, path, access, handler, context);
}

void serve_route(struct serve *serve, const char *path, serve_handler *handler, void *context)
{
	serve_route_with(serve, path, 0, handler, context);
}

/* Milliseconds until there is something to do without a client, 0 for now, -1 for never. */
static int wait_ms(const struct serve *serve)
{
	if (serve->ready || serve->chores_left || store_pending(serve->store))
		return 0;
	return http_server_wait_ms(serve->http);
}

int serve_run_once(struct serve *serve, int timeout_ms, struct error *error)
{
	int wait = wait_ms(serve);
	if (wait == 0)
		timeout_ms = 0;
	return http_server_run_once(serve->http, timeout_ms, error);
}

bool serve_is_asked(const struct serve *serve)
{
	struct pollfd asked = {.fd = http_server_fd(serve->http), .events = POLLIN};
	return poll(&asked, 1, 0) > 0;
}

void serve_drain(struct serve *serve)
{
	serve->draining = true; /* /readyz says so to those who are still connected */
	http_server_drain(serve->http);
}

bool serve_idle(const struct serve *serve)
{
	return http_server_stats(serve->http).connections == 0;
}

uint16_t serve_port(const struct serve *serve)
{
	return http_server_port(serve->http);
}

const char *serve_url(const struct serve *serve)
{
	return serve->url.text;
}

const char *serve_browser_url(const struct serve *serve)
{
	return serve->browser_url.text;
}

const char *serve_token(const struct serve *serve, bool read_only)
{
	const struct buffer *token = read_only ? &serve->auth.read_token : &serve->auth.token;
	return token->text ? token->text : "";
}

const char *serve_kubeconfig(const struct serve *serve)
{
	return serve->kubeconfig.text ? serve->kubeconfig.text : "";
}

struct http_stats serve_stats(const struct serve *serve)
{
	return http_server_stats(serve->http);
}
