/* A scheduler over a store in memory, in virtual time, for tests: nodes, gangs, refused bindings, and what came of it. */
#ifndef TEST_CONTROL_TALE_H
#define TEST_CONTROL_TALE_H

#include "../store/kit.h"
#include "schedule/scheduler.h"

struct tale {
	struct kit kit;
	struct scheduler *scheduler;
	const char *fails; /* bindings of this pod are refused */
	int times;         /* so often; -1: always */
	/* several at once, each refused with its own code; and where it was to go */
	struct trouble {
		const char *pod;
		int code;
		bool always;
		char node[16];
	} troubles[4];
};

void tale_start(struct tale *tale);
void tale_node(struct tale *tale, const char *name, const char *rack);
int tale_begin(void **state);
int tale_end(void **state);
void tale_turns(struct tale *tale, int count);
void tale_group(struct tale *tale, const char *name, const char *spec);
void tale_pod(struct tale *tale, const char *name, const char *group, const char *subgroup);
void tale_gang(struct tale *tale, const char *name, int minimum, int pods, const char *more);
const char *tale_at(struct tale *tale, const char *resource, const char *namespace_, const char *name,
                    const char *path);
const char *tale_node_of(struct tale *tale, const char *pod);
const char *tale_group_at(struct tale *tale, const char *group, const char *path);
int tale_placed(struct tale *tale, const char *gang, int pods);
long tale_metric(struct tale *tale, const char *name);
void tale_phase(struct tale *tale, const char *pod, const char *phase);
void tale_nodes(struct tale *tale, int count);

#endif
