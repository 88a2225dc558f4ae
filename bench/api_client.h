/* The least of an HTTP client: requests one after the other on a connection, and watches that are only counted. */
#ifndef BENCH_API_CLIENT_H
#define BENCH_API_CLIENT_H

#include "base/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct client {
	int fd;
	struct buffer in;
	size_t events; /* of a watch: lines */
	char last;     /* the byte before what comes next */
	bool head;     /* of a watch: the head of the answer is through */
	bool lost;
};

/* Starts `run` in a process of its own, which writes its port to the pipe before it serves. The port is 0 when it did
 * not; -1 when there is no process. */
pid_t client_start_server(int (*run)(int pipe), uint16_t *port);
/* -1 when nobody listens. */
int client_open(struct client *client, uint16_t port);
void client_close(struct client *client);
bool client_send(struct client *client, const char *method, const char *path, const char *body);
/* Waits for one answer; its status, 0 when the connection broke. The body stands in `in` until the next call. */
int client_answer(struct client *client, const char **body, size_t *length);
/* Reads what is there of a watch and counts its events. */
void client_count(struct client *client);

/* Sends `count` requests over several connections, each with one under way. `make` writes method, path and body of
 * request i. False when an answer is not `status`. */
typedef void client_make(size_t i, const char **method, struct buffer *path, struct buffer *body);
bool client_flood(struct client *clients, size_t client_count, size_t count, int status, client_make *make);

#endif
