/* Disruption budgets of the embedded cluster: a stand-in for the disruption controller, which counts the pods of every
 * PodDisruptionBudget and says in its status how many may leave. Nothing here runs against a real cluster. */
#ifndef CLUSTER_DISRUPTION_H
#define CLUSTER_DISRUPTION_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

struct disruption;

struct disruption_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

struct disruption *disruption_create(const struct disruption_options *options);
void disruption_destroy(struct disruption *disruption); /* NULL is a no-op */
/* As reconciler_step. */
int disruption_step(struct disruption *disruption);

#endif
