/* Requests to a Kubernetes API server over HTTPS: many at a time on pooled connections, one thread.
 *
 * Knows credentials (also rotating ones) and transport; what an answer means is the caller's business. Secrets are never
 * put into messages. */
#ifndef REMOTE_CLIENT_H
#define REMOTE_CLIENT_H

#include "base/clock.h"
#include "remote/config.h"

struct remote_client;
struct remote_request;

/* Valid during the call of `done`. */
struct remote_answer {
	int code; /* HTTP status, 0 when there was no answer, 401 also when there are no credentials to ask with */
	const char *problem; /* why there was none, or why it ended early; "" when all is well */
	const char *body;    /* NUL-terminated; "" for streams, unless the status is an error */
	size_t length;
	int64_t retry_after; /* seconds the server asks to wait, 0 when it does not */
	struct arena *arena; /* for the texts of this answer */
};

struct remote_call {
	const char *method;       /* "GET", "POST", "PATCH", "PUT", "DELETE" */
	const char *path;         /* from the root, with query */
	const char *content_type; /* of the body, NULL: application/json */
	const char *accept;       /* NULL: application/json */
	const char *body;         /* copied; NULL: none */
	size_t length;
	int64_t timeout_ms; /* for the whole call; 0: 30 s; < 0: none, but a silence of two minutes ends it */
	bool compressed;    /* a stream may be; bodies that are collected always */
	/* NULL: the body is collected. Otherwise called with each piece of a successful answer; false ends the call. */
	bool (*data)(void *context, const char *bytes, size_t length);
	/* Asked when a connection is there and nothing was sent: false, and the call ends with 409. NULL: it may. */
	bool (*may_go)(void *context);
	void (*done)(void *context, const struct remote_answer *answer); /* once, never from remote_client_send */
	void *context;
};

/* `access` must outlive the client. `clock` NULL: the system's. */
struct remote_client *remote_client_create(const struct remote_access *access, const struct clock_source *clock,
                                           struct error *error);
/* Ends all connections at once, also from a signal handler; calls find that out and fail. */
void remote_client_cut(struct remote_client *client);
/* Calls in flight are dropped without `done`. NULL is a no-op. */
void remote_client_destroy(struct remote_client *client);
/* The request lives until its `done`. */
struct remote_request *remote_client_send(struct remote_client *client, const struct remote_call *call);
void remote_client_cancel(struct remote_request *request); /* without `done` */
/* Why the credentials in use cannot be renewed; NULL when nothing is wrong, or when there are none at all: then calls fail. */
const char *remote_client_warning(const struct remote_client *client);
/* Moves data and calls `done`s; waits at most timeout_ms for something to happen, also on extra_fd (-1: none). */
void remote_client_run(struct remote_client *client, int timeout_ms, int extra_fd);

/* What to accept of a list of which only the metadata are wanted; servers that do not know it answer with all. */
#define REMOTE_ACCEPT_NAMES "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
/* One GET, waited for: the document, or NULL and *error with what to do about it. `accept` NULL: JSON. */
struct doc *remote_client_get(struct remote_client *client, const char *path, const char *accept, struct error *error);
/* What an answer that is no success says, for people: the message of a Status, or the problem. */
const char *remote_answer_message(const struct remote_answer *answer);

#endif
