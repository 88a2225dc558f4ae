/* What the files of the HTTP server share: the server, its connections and the small steps between them. */
#ifndef SERVE_HTTP_INTERNAL_H
#define SERVE_HTTP_INTERNAL_H

#include "serve/http/parse.h"
#include "serve/http/server.h"
#include "serve/http/timer.h"

#include <sys/types.h>

struct ssl_st;

#define HTTP_READ_BYTES ((size_t)16 << 10) /* at a time; one TLS record */

enum http_conn_state {
	HTTP_CONN_HANDSHAKE,
	HTTP_CONN_IDLE,    /* nothing of the next request has come */
	HTTP_CONN_READING, /* part of a request is there */
	HTTP_CONN_ANSWER,  /* sending one answer; not reading */
	HTTP_CONN_STREAM,  /* sending pieces; not reading */
	HTTP_CONN_LINGER,  /* answered and shut down for writing; what still comes is thrown away */
	HTTP_CONN_CLOSED,  /* waits to be freed at the end of the turn */
};

/* Kept small: an open watch is one of these, and there may be thousands. */
struct http_conn {
	struct http_server *server;
	struct ssl_st *ssl;
	struct http_message *message;                /* the request under way */
	struct http_conn *previous, *next;           /* all connections, or the dead ones */
	struct http_conn *idle_previous, *idle_next; /* those that make room when all places are taken, longest first */
	struct http_conn *dirty_next;
	struct buffer out;  /* head and small pieces */
	struct buffer body; /* a large answer, behind `out` */
	size_t sent;        /* of both together */
	char *rest;         /* bytes behind a request that came with it */
	size_t rest_length;
	const struct http_stream_ops *ops;
	void *owner;
	struct http_timer timer;
	int64_t wake_at, stall_at;
	size_t stall_sent;
	size_t counted; /* of the request under way, in stats.input_bytes */
	int fd;
	uint32_t interest;
	uint8_t state;
	bool dirty, idle_listed;
	bool close_after;  /* the connection ends with this answer */
	bool linger_after; /* and what the client still sends must be read, or it may not see the answer */
	bool chunked;
	bool head_only;
	bool stream_lost; /* the backlog is full: closed() is due */
	bool fresh;       /* answered in this turn, not committed yet */
};

struct http_server {
	struct http_options options;
	struct http_limits limits;
	const struct clock_source *clock;
	int epoll, listener, signal, spare;
	uint16_t port;
	bool draining, in_loop, signalled, listening;
	struct http_timers timers;
	struct http_conn *all, *dead;
	struct http_conn *idle_first, *idle_last;
	struct http_conn *dirty;
	struct arena *arena; /* of the request being handled */
	char *scratch;       /* HTTP_READ_BYTES */
	struct http_stats stats;
	int64_t now;
	int64_t date_second;
	char date[40];
};

struct http_response {
	struct http_conn *conn;
	const struct http_request *request; /* NULL when there is none to speak of */
	struct buffer headers;
	int status;
	bool given, http10;
};

/* ---- http_io.c: bytes, with or without TLS. >0 bytes, 0 end of file, -1 would block, -2 broken. ---- */
ssize_t http_io_read(struct http_conn *conn, char *into, size_t size);
ssize_t http_io_write(struct http_conn *conn, const char *data, size_t length);
/* We have nothing to say before more comes. A client that bundles small pieces holds that back until what it sent is
 * acknowledged, which the system would put off for 40 ms. */
void http_io_wait(struct http_conn *conn);
/* 1 done, -1 would block, -2 broken. Sets the interest it waits for. */
int http_io_handshake(struct http_conn *conn);
void http_io_peer(const struct http_conn *conn, struct arena *arena, struct http_peer *peer);
/* Says that nothing more will be written. */
void http_io_finish(struct http_conn *conn);
void http_io_close(struct http_conn *conn);

/* ---- http_conn.c ---- */
struct http_conn *http_conn_create(struct http_server *server, int fd);
void http_conn_event(struct http_conn *conn, uint32_t events);
void http_conn_timer(struct http_conn *conn);
void http_conn_flush(struct http_conn *conn); /* sends; then the next request, or the end */
void http_conn_close(struct http_conn *conn);
void http_conn_dirty(struct http_conn *conn); /* flush at the end of the turn */
void http_conn_drain(struct http_conn *conn); /* the server stops */
/* Turns an answer that has not left yet into an error. */
void http_conn_retract(struct http_conn *conn);
void http_conn_problem(struct http_conn *conn, int status, const char *message);

/* ---- http_response.c ---- */
void http_response_begin(struct http_response *response, struct http_conn *conn, const struct http_request *request);
void http_response_end(struct http_response *response);

/* ---- http_gzip.c ---- */
/* Compresses into *out; -1 when that does not make it smaller. */
int http_gzip(const char *data, size_t length, struct buffer *out);

/* ---- http_server.c ---- */
void http_server_interest(struct http_conn *conn, uint32_t events);
/* Whether the connection may be closed for another one. */
void http_server_idle(struct http_conn *conn, bool is_idle);
const char *http_server_date(struct http_server *server);

#endif
