/* HTTP/1.1 server: one thread, epoll, optional TLS, limits on everything a client can make us keep or wait for. */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "serve/http/http.h"

struct ssl_ctx_st;
struct http_server;

/* Every 0 means the default in brackets. */
struct http_limits {
	size_t connections;    /* open at a time [8192, and never more than the process may have files] */
	size_t head_bytes;     /* request line and headers [32 KiB] */
	size_t body_bytes;     /* one request body [3 MiB] */
	size_t input_total;    /* all requests under way together [256 MiB] */
	size_t output_total;   /* all answers waiting to be read [512 MiB] */
	size_t stream_backlog; /* what a slow reader of a stream may leave waiting [1 MiB] */
	int64_t head_ns;       /* from the first byte (or connection) to the end of the headers [10 s] */
	int64_t body_ns;       /* from there to the end of the body [60 s] */
	int64_t idle_ns;       /* between requests [180 s] */
	int64_t stall_ns;      /* a reader must take 64 KiB, or all there is, in this time [30 s] */
	int64_t linger_ns;     /* what is left of a refused request is read for this long [2 s] */
	size_t gzip_bytes;     /* answers from this size on are compressed for those who can read it [128 KiB] */
};

struct http_hooks {
	void *context;
	/* Called when the headers are there, before the body is read. Answering here refuses the request. May be NULL. */
	void (*head)(void *context, struct http_request *request, struct http_response *response);
	void (*handle)(void *context, struct http_request *request, struct http_response *response);
	/* Called once per turn, after the requests of the turn were handled and before any answer leaves. False: what was
	 * answered is not true after all, and everybody of this turn gets 500. May be NULL. */
	bool (*commit)(void *context);
	/* The body of an error the server itself answers with; may be NULL: plain text. *content_type is preset. */
	void (*problem)(void *context, int status, const char *message, struct buffer *body, const char **content_type);
};

struct http_options {
	const char *address;    /* numeric; NULL is 127.0.0.1 */
	uint16_t port;          /* 0: a free one */
	struct ssl_ctx_st *tls; /* borrowed; NULL: plain */
	bool plain_too;         /* whoever does not begin with TLS is served too; http_peer.tls tells */
	struct http_limits limits;
	struct http_hooks hooks;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

struct http_stats {
	uint64_t accepted, refused, requests, slow_readers, timeouts, bad_requests;
	size_t connections, streams, input_bytes, output_bytes;
};

struct http_server *http_server_create(const struct http_options *options, struct error *error);
/* Closes everything at once. NULL is a no-op. */
void http_server_destroy(struct http_server *server);
/* Becomes readable when http_server_run_once has something to do; see also http_server_wait_ms. */
int http_server_fd(const struct http_server *server);
uint16_t http_server_port(const struct http_server *server);
/* Milliseconds until a timer is due, 0 when work waits, -1 when there is nothing to wait for. */
int http_server_wait_ms(const struct http_server *server);
/* Waits up to timeout_ms (-1: for ever) and handles what is there. -1 only when the system fails us. */
int http_server_run_once(struct http_server *server, int timeout_ms, struct error *error);
/* Makes http_server_fd readable, for work that came from outside a turn. */
void http_server_wake(struct http_server *server);
/* Takes over a connected stream socket, as if it had been accepted. */
void http_server_adopt(struct http_server *server, int fd);
/* Accepts nobody any more, ends streams and idle connections; answers in progress are still sent. */
void http_server_drain(struct http_server *server);
struct http_stats http_server_stats(const struct http_server *server);

#endif
