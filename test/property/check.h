/* Runs the engine on one instance and compares everything it says with the exhaustive solver. */
#ifndef PROPERTY_CHECK_H
#define PROPERTY_CHECK_H

#include "instance.h"
#include "runner.h"

enum failure {
	FAILURE_NONE,
	FAILURE_CLUSTER,    /* domains, free resources or a changed cluster */
	FAILURE_MISSED,     /* a placement exists, the engine refused */
	FAILURE_FALSE,      /* no placement exists, the engine found one that passes the rules: the solver is wrong */
	FAILURE_OUTCOME,    /* the wrong kind of answer */
	FAILURE_INVALID,    /* a placement that breaks a rule */
	FAILURE_VERIFY,     /* engine_verify disagrees */
	FAILURE_PREFERENCE, /* a better preference vector exists */
	FAILURE_DISTANCE,   /* fewer outer domains or hosts are possible */
	FAILURE_GROWTH,     /* surplus was left out or placed wrongly */
	FAILURE_REASON,     /* a refusal without an explanation */
	FAILURE_CRASH,
	FAILURE_KINDS,
};

/* What the run looked at; sums over instances. */
struct tally {
	uint64_t placed, impossible, nothing, not_ready, undecided, extra_help;
	uint64_t preferences, distances, grown, full, reserved;
};

const char *failure_name(enum failure failure);
void check_instance(const struct instance *instance, struct result *result, struct tally *tally);

#endif
