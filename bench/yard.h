/* A store in memory with the objects of a cluster, and the scheduler at work on it, in virtual time. */
#ifndef BENCH_YARD_H
#define BENCH_YARD_H

#include "schedule/scheduler.h"

/* GPUs of a node, nodes of a rack, of which 8 are a block, and of a zone. */
enum { YARD_GPUS = 8, YARD_RACK = 16, YARD_ZONE = 12800 };

struct yard {
	struct clock_virtual clock;
	struct store *store;
	struct scheduler *scheduler;
	int nodes, made; /* made: pods of the measurement so far */
};

/* A queue without limits, a topology of zones, blocks, racks and hosts, and empty nodes. */
void yard_open(struct yard *yard, int nodes);
void yard_start(struct yard *yard); /* creates the scheduler */
void yard_close(struct yard *yard);
bool yard_write(struct yard *yard, struct store_request request, const char *api_version, const char *kind,
                const char *body);
/* On a node, or waiting (-1). */
void yard_make_pod(struct yard *yard, const char *name, const char *group, int gpus, int node);
/* `rack`: all of it in one rack, and nobody else may take its place. */
void yard_make_group(struct yard *yard, const char *name, int minimum, bool rack);
void yard_make_node(struct yard *yard, int number);
void yard_remove_pod(struct yard *yard, const char *name);
bool yard_is_bound(const struct yard *yard, const char *name);
void yard_commit(struct yard *yard);
/* Turns until the scheduler has nothing more to do; the microseconds of the processor for all of them. */
double yard_settle(struct yard *yard);

#endif
