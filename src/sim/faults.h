/* Random runs of a whole cluster with faults: a seed decides the cluster, a stream of workloads and what goes wrong and
 * when. Invariants are checked after every turn; when the faults stop, the cluster must come to rest. The same seed and
 * options give the same trace, byte for byte. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "base/arena.h"
#include "base/log.h"
#include "object/manifest.h"
#include "loop/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind {
	FAULT_CONFLICT,   /* writes are refused, or carried out and their answer is lost */
	FAULT_WATCH_LOSS, /* open watches end with 410 */
	FAULT_CRASH,      /* the process ends, between two turns or in the middle of one, and starts again */
	FAULT_SLOW_API,   /* writes take time, and changes reach watches late */
	FAULT_NODE_FLAP,  /* nodes fail, come back, are cordoned, leave the cluster */
	FAULT_CLOCK_JUMP, /* the clock is set forward or back */
	FAULT_KINDS,
};
#define FAULT_ALL ((1u << FAULT_KINDS) - 1)

const char *fault_name(enum fault_kind kind);
/* Comma-separated names, "all" or "none". -1 when one is unknown: *bad and *length say which. */
int faults_parse(const char *text, unsigned *faults, const char **bad, size_t *length);

struct fault_options {
	uint64_t seed;
	unsigned faults;                 /* bits of fault_kind */
	int zones, racks, nodes;         /* 0: the seed decides */
	int gpus;                        /* per node; negative: the seed decides */
	const struct manifest *scenario; /* its objects and steps instead of generated ones; NULL: generated */
	const struct logger *logger;     /* NULL: silent */
	const struct settings *settings; /* borrowed; NULL: the usual */
};

struct fault_outcome {
	const char **violations; /* none: passed */
	size_t violation_count;
	const char **trace; /* a line per step */
	size_t trace_count;
	uint64_t turns;
	size_t injected[FAULT_KINDS]; /* how often each kind struck */
};

/* Texts of the outcome are in the arena. */
void faults_run(const struct fault_options *options, struct arena *arena, struct fault_outcome *outcome);

#endif
