/* Claims for devices in the embedded cluster: a stand-in for the resource claim controller. It makes claims from the templates
 * that pods name, forgets users that are gone, frees the devices of claims without users, and removes the claims of pods that
 * have ended. Nothing here runs against a real cluster, and nothing is kept that the store does not have. */
#ifndef CLUSTER_DEVICES_H
#define CLUSTER_DEVICES_H

#include "api/store.h"
#include "base/clock.h"
#include "base/log.h"
#include "loop/reconciler.h"

struct devices_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

/* Step and destroy it as any reconciler. */
struct reconciler *devices_create(const struct devices_options *options);

#endif
