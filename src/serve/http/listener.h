/* Listener: a small HTTP server beside a loop that belongs to somebody else, as `platoon run` has it. Others give it
 * paths to answer (health, metrics, webhooks, the dashboard); it knows none itself.
 *
 * The owner of the loop waits for listener_fd, at most listener_wait_ms, and calls listener_step every turn. */
#ifndef SERVE_HTTP_LISTENER_H
#define SERVE_HTTP_LISTENER_H

#include "serve/http/routes.h"
#include "serve/http/server.h"

struct listener;

struct listener_options {
	const char *address;    /* numeric; NULL is 127.0.0.1, "" is every address of the machine */
	uint16_t port;          /* 0: a free one */
	bool or_free;           /* when the port is taken, a free one will do */
	struct ssl_ctx_st *tls; /* borrowed; NULL: plain */
	struct http_limits limits;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

/* Listens at once. NULL and *error when the address cannot be used. */
struct listener *listener_create(const struct listener_options *options, struct error *error);
/* Closes everything at once; NULL is a no-op. */
void listener_destroy(struct listener *listener);

/* Answers a path and everything below it. Nobody is asked who they are: what must not be seen by everybody who can
 * connect, the handler protects itself. Other paths get 404. `path` is copied. */
void listener_route(struct listener *listener, const char *path, serve_handler *handler, void *context);

int listener_fd(const struct listener *listener);
/* Milliseconds until there is something to do without a client, 0 for now, -1 for never. */
int listener_wait_ms(const struct listener *listener);
/* Handles what is there, without waiting. */
void listener_step(struct listener *listener);
/* Accepts nobody any more; answers under way are still sent by listener_step. */
void listener_drain(struct listener *listener);

const char *listener_url(const struct listener *listener);

#endif
