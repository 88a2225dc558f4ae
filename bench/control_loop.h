/* A store in memory with the objects of a cluster, and the scheduler at work on it, in virtual time. */
#ifndef BENCH_CONTROL_LOOP_H
#define BENCH_CONTROL_LOOP_H

#include "schedule/scheduler.h"

/* GPUs of a node, nodes of a rack, of which 8 are a block, and of a zone. */
enum { LOOP_GPUS = 8, LOOP_RACK = 16, LOOP_ZONE = 12800 };

struct control_loop {
	struct clock_virtual clock;
	struct store *store;
	struct scheduler *scheduler;
	int nodes, made; /* made: pods of the measurement so far */
};

/* A queue without limits, a topology of zones, blocks, racks and hosts, and empty nodes. */
void control_loop_open(struct control_loop *loop, int nodes);
void control_loop_start(struct control_loop *loop); /* creates the scheduler */
void control_loop_close(struct control_loop *loop);
bool control_loop_write(struct control_loop *loop, struct store_request request, const char *api_version,
                        const char *kind, const char *body);
/* On a node, or waiting (-1). */
void control_loop_make_pod(struct control_loop *loop, const char *name, const char *group, int gpus, int node);
/* `rack`: all of it in one rack, and nobody else may take its place. */
void control_loop_make_group(struct control_loop *loop, const char *name, int minimum, bool rack);
void control_loop_make_node(struct control_loop *loop, int number);
void control_loop_remove_pod(struct control_loop *loop, const char *name);
bool control_loop_is_bound(const struct control_loop *loop, const char *name);
void control_loop_commit(struct control_loop *loop);
/* Turns until the scheduler has nothing more to do; the microseconds of the processor for all of them. */
double control_loop_settle(struct control_loop *loop);

#endif
