/* A plain HTTP client for tests, on the same thread as the server: it turns the server's loop while it waits. */
#ifndef TEST_SERVE_WIRE_H
#define TEST_SERVE_WIRE_H

#include "base/strings.h"
#include "serve/http/server.h"
#include "serve/api/serve.h"

struct wire {
	struct http_server *server; /* one of the two */
	struct serve *serve;
	int fd;
	bool ended; /* the server closed its side */
	struct buffer in;
};

void wire_open(struct wire *wire, struct http_server *server);
void wire_open_serve(struct wire *wire, struct serve *serve);
/* Also closes; the counterpart of wire_open. */
void wire_free(struct wire *wire);
/* Sends as much as the socket takes, turning the loop between; the number of bytes taken. */
size_t wire_send(struct wire *wire, const char *data, size_t length);
void wire_puts(struct wire *wire, const char *text);
/* Turns the loop and reads until the text appears, the connection ends or nothing happens for a while. */
bool wire_expect(struct wire *wire, const char *text);
/* The same until the connection ends. */
bool wire_ends(struct wire *wire);
/* Turns the loop a few times without reading. */
void wire_turn(struct http_server *server, int times);
void wire_turn_serve(struct serve *serve, int times);
/* Reads one whole answer (by its Content-Length) and removes it from `in`; the status, 0 when none comes. The body is
 * in `body`, whose old content is dropped. */
int wire_answer(struct wire *wire, struct buffer *head, struct buffer *body);
/* Forgets what was read. */
void wire_clear(struct wire *wire);

#endif
