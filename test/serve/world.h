/* The API over a store in memory, in virtual time, on one thread with the test. */
#ifndef TEST_SERVE_WORLD_H
#define TEST_SERVE_WORLD_H

#include "serve/api/admission.h"
#include "serve/api/serve.h"
#include "wire.h"

struct world {
	struct clock_virtual clock;
	struct admission *admission;
	struct store *store;
	struct serve *serve;
	struct wire wire; /* one connection, kept open */
	struct buffer head, body;
};

/* history: changes kept for watches, 0 for the store's default. */
void world_start(struct world *world, size_t history);
void world_stop(struct world *world);
/* Sends a request and reads the answer into head and body; the status. Headers each end with \r\n; body may be NULL. */
int world_ask(struct world *world, const char *method, const char *path, const char *headers, const char *body);
/* The same without reading an answer, on a connection of its own. */
void world_watch(struct world *world, struct wire *wire, const char *path, const char *headers);
void world_pass(struct world *world, int64_t seconds);

#endif
