/* An API server for tests: on loopback, in the thread of the test, it says what it was told to say. Requests that nobody
 * told it how to answer stay open, as a watch does, until something is sent or they are cut.
 *
 * A match is a part of the line "METHOD /path?query". */
#ifndef TEST_STORE_FAKE_H
#define TEST_STORE_FAKE_H

#include <stdbool.h>
#include <stddef.h>

struct fake;
struct ssl_ctx_st;

struct fake_request {
	char *line;       /* "GET /api/v1/pods?limit=2" */
	char *head;       /* the header lines */
	char *body;       /* "" when there is none */
	char client[128]; /* name in the client's certificate, "" when there is none or it is not good */
	bool answered;
};

struct fake_options {
	struct ssl_ctx_st *tls; /* NULL: plain */
	bool proxy;             /* plain until CONNECT, then the server itself */
};

struct fake *fake_create(const struct fake_options *options);
void fake_destroy(struct fake *fake);
const char *fake_url(const struct fake *fake); /* http://127.0.0.1:PORT, or https */
int fake_port(const struct fake *fake);
/* Accepts, reads and answers what can be done without waiting. */
void fake_step(struct fake *fake);

/* The next request that matches is answered so (and is for one request); rules are looked at in the order of their making.
 * `headers` are whole lines with their line ends, "" for none. ' in the body stands for ". */
void fake_on(struct fake *fake, const char *match, int code, const char *headers, const char *body);
/* The same for every request from now on that no other rule is for. */
void fake_always(struct fake *fake, const char *match, int code, const char *headers, const char *body);
/* Exactly these bytes, and then the connection is cut. */
void fake_on_bytes(struct fake *fake, const char *match, const char *bytes, size_t length);

/* The oldest open request that matches: one chunk of a 200, whose head is sent before the first; ' stands for ". */
void fake_send(struct fake *fake, const char *match, const char *text);
void fake_send_bytes(struct fake *fake, const char *match, const char *bytes, size_t length);
/* The same request is at its end, or its connection just ends. */
void fake_finish(struct fake *fake, const char *match);
void fake_cut(struct fake *fake, const char *match);
/* An answer to an open request, as fake_on gives. */
void fake_answer(struct fake *fake, const char *match, int code, const char *headers, const char *body);

/* Requests so far, those that match; the n-th of them from 0, NULL when there are fewer. */
size_t fake_count(const struct fake *fake, const char *match);
const struct fake_request *fake_request(const struct fake *fake, const char *match, size_t n);
size_t fake_open(const struct fake *fake, const char *match); /* of them without an answer */

#endif
