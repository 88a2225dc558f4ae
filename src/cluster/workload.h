/* Workload controllers of the embedded cluster: stand-ins for those that a real cluster has (Deployments, Jobs, training
 * jobs, ...). They make the pods with the names, labels and indexes of the originals, scale and replace them, and write
 * status. Nothing here runs against a real cluster. */
#ifndef CLUSTER_WORKLOAD_H
#define CLUSTER_WORKLOAD_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

struct workloads;

struct workloads_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

struct workloads *workloads_create(const struct workloads_options *options);
void workloads_destroy(struct workloads *workloads); /* NULL is a no-op */
/* As reconciler_step. */
int workloads_step(struct workloads *workloads);
/* Whether there is a controller that makes pods for the kind. */
bool workloads_know(const char *api_version, const char *kind);

#endif
