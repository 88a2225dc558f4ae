/* HTTP as a handler sees it: a request that is complete, a response that is either one piece or a stream.
 *
 * A handler answers before it returns, with http_respond or http_stream_open. A request and everything it points to
 * live until then; a stream lives on its own. All of this happens on one thread. */
#ifndef SERVE_HTTP_HTTP_H
#define SERVE_HTTP_HTTP_H

#include "base/arena.h"
#include "base/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_verb {
	HTTP_VERB_GET,
	HTTP_VERB_HEAD,
	HTTP_VERB_POST,
	HTTP_VERB_PUT,
	HTTP_VERB_PATCH,
	HTTP_VERB_DELETE,
	HTTP_VERB_OPTIONS,
	HTTP_VERB_OTHER,
};

struct http_field {
	const char *name; /* lower case */
	const char *value;
};

struct http_peer {
	bool tls;
	bool certificate;    /* the client showed a certificate that our authority signed and that is valid now */
	const char *subject; /* its common name; NULL without a certificate */
	const char *group;   /* its first organization; may be NULL */
};

struct http_request {
	enum http_verb verb;
	const char *path;  /* as sent: percent-encoded, starts with '/' */
	const char *query; /* without '?', "" when there is none */
	const struct http_field *headers;
	size_t header_count;
	const char *body; /* NUL-terminated; never NULL */
	size_t body_length;
	struct http_peer peer;
	struct arena *arena; /* memory until the response is given */
	const void *user;    /* what the head hook found out about who asks; from the arena */
	bool wants_upgrade;  /* asks for another protocol, such as WebSocket */
};

/* NULL when absent; `name` in lower case. The first one when there are several. */
const char *http_header(const struct http_request *request, const char *name);
/* Whether a comma-separated header names this token; parameters such as ;q=0.5 are skipped, q=0 means no. */
bool http_header_has(const struct http_request *request, const char *name, const char *token);

/* Decodes %XX in place of `length` bytes (and + as blank in queries). NULL when malformed or when it contains NUL. */
char *http_decode(struct arena *arena, const char *text, size_t length, bool plus_is_blank);

#define HTTP_MAX_PARAMS 64
struct http_query {
	struct http_field params[HTTP_MAX_PARAMS]; /* decoded, in order */
	size_t count;
};
/* -1 when malformed or with too many parameters. */
int http_query_parse(struct arena *arena, const char *text, struct http_query *query);
/* Replaces the parameter, or adds it when there is room. Strings are borrowed. */
void http_query_set(struct http_query *query, const char *name, const char *value);
/* NULL when absent, the first one otherwise. */
const char *http_query_get(const struct http_query *query, const char *name);

struct http_response;

/* Adds a header. Line breaks and control characters in the value become blanks. */
void http_response_header(struct http_response *response, const char *name, const char *value);
/* Answers. Takes over the memory of the body, which is empty afterwards; NULL sends none. */
void http_respond(struct http_response *response, int status, const char *content_type, struct buffer *body);

struct http_stream;

struct http_stream_ops {
	/* The reader is gone, too slow, or the server stops: the stream must not be used any more. Not called after
	 * http_stream_end, never from within a call of the owner. */
	void (*closed)(void *owner);
	/* Everything written so far has been handed to the system. May be NULL. */
	void (*drained)(void *owner);
	/* The time given to http_stream_wake_at has come. May be NULL. */
	void (*wake)(void *owner);
};

/* Sends the head at once; the body follows in pieces. NULL when the request was HEAD: then it is answered. */
struct http_stream *http_stream_open(struct http_response *response, int status, const char *content_type,
                                     const struct http_stream_ops *ops, void *owner);
/* Queues a piece; the loop sends it. -1 when more than the allowed backlog waits: the stream is then lost, closed()
 * follows. */
int http_stream_write(struct http_stream *stream, const char *data, size_t length);
size_t http_stream_backlog(const struct http_stream *stream);
/* Ends it properly: the reader sees a complete answer. The stream must not be used afterwards. */
void http_stream_end(struct http_stream *stream);
/* Nanoseconds of the server's clock; 0 for never. One time per stream, a later call replaces it. */
void http_stream_wake_at(struct http_stream *stream, int64_t at_ns);

#endif
