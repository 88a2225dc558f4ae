/* Runs many random instances, each in a worker process, so that a crash or an endless loop of the engine counts as one
 * failed instance and can be shrunk like any other. What an instance is, is up to the caller.
 *
 * PLATOON_PROPERTY_SEED is the seed of the first instance (instance i uses seed + i), PLATOON_PROPERTY_COUNT their
 * number, PLATOON_PROPERTY_FAILURES the number of failures after which it stops. */
#ifndef PROPERTY_RUNNER_H
#define PROPERTY_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct result {
	int failure; /* 0: none */
	char text[400];
};

struct property {
	const char *name; /* of the files: NAME-SEED.json */
	uint64_t count;   /* instances, unless the environment says otherwise */
	size_t instance_size, tally_size;
	int crash; /* the failure that stands for a violent end */
	const char *(*failure_name)(int failure);
	void (*generate)(uint64_t seed, void *instance);
	void (*check)(const void *instance, struct result *result, void *tally);
	/* Makes the instance smaller while it still fails; `still_fails` does not change it. */
	void (*shrink)(void *instance, bool (*still_fails)(const void *instance, void *context), void *context);
	/* As people and the test of the judge read it, into the file of a failure too; or, without it, the two below. */
	void (*write)(const void *instance, FILE *out);
	void (*print)(const void *instance);
	int (*save)(const void *instance, const struct result *result, const char *path); /* -1: cannot be written */
	void (*print_tally)(const void *tally);
};

/* The exit status of the program. The last line it prints is "N passed, N failed". */
int property_run(const struct property *given);

#endif
